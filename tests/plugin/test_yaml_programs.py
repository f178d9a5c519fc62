"""Programs in YAML use the components: the examples run, and what cannot work is refused with one sentence."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e.operator_process import OperatorProcess
from kuberay_e2e.session import Session
from kuberay_toolchain.toolchain import Toolchain
from pulumi_kuberay.hosting.exports import exported_components
from tests.e2e.jobs import Job
from tests.plugin.yaml_project import EXAMPLES, PLUGIN, Said, YamlProject, yaml_project

pytestmark = pytest.mark.e2e


@pytest.fixture
def project(tmp_path: Path, kuberay_session: Session) -> YamlProject:
    """A project on the shared cluster."""
    return yaml_project(tmp_path, kuberay_session.cluster.kubeconfig)


@pytest.fixture
def offline(tmp_path: Path) -> YamlProject:
    """A project without a cluster."""
    return yaml_project(tmp_path, tmp_path / "no-kubeconfig")


def ray_job(**properties: Any) -> Mapping[str, Any]:
    """A program of one RayJob."""
    return {"resources": {"job": {"type": "kuberay:RayJob", "properties": {"entrypoint": "ray status", **properties}}}}


def refusal(said: Said) -> str:
    """What a preview says in its error."""
    assert said.code != 0, said.text
    assert "Traceback" not in said.text and ".py" not in said.text, said.text
    return said.text.rpartition("Diagnostics:")[2].partition("has a problem: ")[2]


def test_the_job_runs_and_a_second_update_changes_nothing(
    project: YamlProject, kuberay_session: Session, kuberay_operator: OperatorProcess, kuberay_namespace: str
) -> None:
    assert kuberay_operator.running
    namespace = f"{kuberay_namespace}-yaml"
    project.copy("job", {"namespaceName": namespace, "workers": 2})
    assert project.run("stack", "init").code == 0
    up = project.run("up", "--yes", "--skip-preview")
    try:
        assert up.code == 0, up.text
        assert 'job: "primes"' in up.text
        job = Job.find(kuberay_session, namespace, "primes")
        spec = job.read()["spec"]
        [workers] = spec["rayClusterSpec"]["workerGroupSpecs"]
        assert (workers["replicas"], workers["minReplicas"], workers["maxReplicas"]) == (2, 2, 2)
        assert (spec["shutdownAfterJobFinishes"], spec["ttlSecondsAfterFinished"]) == (True, 60)
        assert job.wait_end().succeeded
        again = project.run("preview", "--expect-no-changes")
        assert again.code == 0, again.text
    finally:
        down = project.run("destroy", "--yes", "--skip-preview")
    assert down.code == 0, down.text
    assert kuberay_session.reader.get("RayJob", namespace, "primes") is None


def test_the_operator_of_the_platform_is_previewed_with_its_settings(project: YamlProject) -> None:
    """The CRDs are left out: their preview is no different in YAML, and takes half a minute."""
    program = yaml.safe_load((EXAMPLES / "platform" / "Pulumi.yaml").read_text())
    del program["resources"]["crds"], program["resources"]["operator"]["options"], program["outputs"]["checksumOfCrds"]
    chart = Toolchain().files("kuberay-operator") / "chart"
    project.write(program, {"chart": str(chart), "watchedNamespace": "team-a"})
    project.run("stack", "init")
    said = project.run("preview", "--diff")
    assert said.code == 0, said.text
    assert 'operator: "kuberay-operator"' in said.text
    for argument in ('"--watch-namespace"', '"team-a"', '"--reconcile-concurrency=2"', "RayJobDeletionPolicy=true"):
        assert argument in said.text, said.text


def test_pulumi_finds_the_schema_valid(offline: YamlProject) -> None:
    said = offline.call("package", "get-schema", str(PLUGIN))
    schema = json.loads(said.text[said.text.index("{\n") :])
    assert {token.rpartition(":")[2] for token in schema["resources"]} == {
        component.__name__ for component in exported_components()
    }
    path = offline.folder / "schema.json"
    path.write_text(json.dumps(schema))
    checked = offline.call("schema", "check", str(path))
    assert checked.code == 0, checked.text


def test_a_job_that_cannot_work_is_refused_at_preview_with_a_sentence_and_no_traceback(offline: YamlProject) -> None:
    said = refusal(offline.preview(ray_job(cleanup={"keep": True, "shutDownAfterSeconds": 5})))
    assert said.startswith("The cleanup of a RayJob is exactly one of keep, shutDownAfterSeconds")


def test_what_only_an_output_shows_is_refused_in_the_same_words(offline: YamlProject) -> None:
    program = {
        "resources": {
            "namespace": {"type": "kubernetes:core/v1:Namespace", "properties": {"metadata": {"name": "team"}}},
            **ray_job(namespace="${namespace.metadata.name}", backoffLimit=-1)["resources"],
        }
    }
    assert refusal(offline.preview(program)).startswith("The RayJob 'job' cannot work on KubeRay")


def test_an_output_where_the_value_must_be_known_is_refused(offline: YamlProject) -> None:
    jobs = ray_job()["resources"]
    after = ray_job(jobName="${job.jobName}")["resources"]["job"]
    said = refusal(offline.preview({"resources": {**jobs, "after": after}}))
    assert "property jobName" in said and "it must be known before anything is created" in said
