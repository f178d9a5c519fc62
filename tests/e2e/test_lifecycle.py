"""The ten steps as the command line drives them, on a cluster of their own."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from kuberay_e2e import samples, state
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.lifecycle import LifeCycle, Settings, State, Workload
from kuberay_e2e.ray.script import Script, always
from kuberay_e2e.session import Programs, embedded
from tests.e2e.commands import lifecycle

pytestmark = [pytest.mark.e2e, pytest.mark.usefixtures("kuberay_programs")]


def test_bundled_sample(tmp_path: Path) -> None:
    report = tmp_path / "report"
    with lifecycle(tmp_path, "--ray", "simulated", "--report", str(report)) as command:
        code, said = command.end(500)
        assert code == 0, said
        assert command.leftovers() == []
    result = json.loads((report / "result.json").read_text())
    assert [step["state"] for step in result["steps"]] == ["held"] * 10
    assert all(invariant["held"] for invariant in result["invariants"])
    assert result["fault"] == "create:Job#1@committed"
    [suite] = ET.parse(report / "junit.xml").getroot()
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", "0")
    kinds = {json.loads(line)["kind"] for line in (report / "trace.jsonl").read_text().splitlines()}
    assert kinds == {"request", "response", "watch", "fault", "operator", "ray", "object"}
    assert (report / "logs" / "operator-1.log").exists()
    assert (report / "logs" / "operator-2.log").exists()
    assert (report / "ledger.jsonl").exists()


@pytest.mark.nightly
def test_a_users_own_manifest_in_http_mode(tmp_path: Path) -> None:
    rayjob, config = yaml.safe_load_all(samples.path().read_text())
    rayjob["metadata"] = {"name": "users-own", "namespace": "team-a"}
    del rayjob["spec"]["submitterPodTemplate"]
    rayjob["spec"] |= {"submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 3600}
    config["metadata"]["namespace"] = "team-a"
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": "team-a"},
        "stringData": {"key": "value"},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump_all([config, secret, rayjob]))
    arguments = ("--ray", "simulated", "--kill-at", "submit:RayJobs@before", "--ttl", "5")
    with lifecycle(tmp_path, str(tmp_path / "job.yaml"), *arguments) as command:
        code, said = command.end(500)
        assert code == 0, said
        assert command.leftovers() == []


@pytest.mark.nightly
def test_a_failed_job_is_reported_as_the_jobs_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kuberay_programs: Programs
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    script = always(Script(duration=0.5, end="FAILED", output=("Traceback: the job's own words",)))
    with state.claim("fails") as run:
        cycle = LifeCycle(
            Workload.bundled(),
            Settings(parse("create:Job@committed")),
            lambda: embedded(run, kuberay_programs, script=script),
            ray="simulated",
        )
        result = cycle.run()
    assert result.exit_code == 1
    states = {step.number: step.state for step in result.steps}
    assert (states[3], states[4], states[5], states[10]) == (State.HELD, State.FAILED, State.SKIPPED, State.HELD)
    detail = result.steps[3].detail
    assert "AppFailed" in detail or "failed" in detail
    assert "Traceback: the job's own words" in detail
