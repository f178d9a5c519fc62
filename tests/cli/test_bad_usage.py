"""Bad usage ends with a sentence and the documented exit code, before anything was started or written."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from kuberay_e2e import cli, samples
from kuberay_e2e.lifecycle import Workload
from kuberay_e2e.network import free_ports

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["kuberay-e2e", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code = ended.value.code
        assert isinstance(code, int)
        return code, capsys.readouterr().err

    return call


def test_no_such_file(run: Run, tmp_path: Path) -> None:
    code, said = run("lifecycle", str(tmp_path / "absent.yaml"))
    assert code == 2
    assert said.startswith(f"kuberay-e2e: {tmp_path / 'absent.yaml'}")
    assert not (tmp_path / "state").exists()


def test_not_yaml(run: Run, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text("kind: RayJob\n  name: [\n")
    code, said = run("lifecycle", str(tmp_path / "job.yaml"))
    assert code == 2
    assert f"{tmp_path / 'job.yaml'}:2" in said


def test_refused_by_kuberay(run: Run, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        samples.path().read_text().replace("  name: counter\nspec", f"  name: {'a' * 48}\nspec")
    )
    code, said = run("lifecycle", str(tmp_path / "job.yaml"))
    assert code == 2
    assert "KubeRay would refuse this RayJob by rule J1" in said


@pytest.mark.parametrize("write", ["Job", "create:Job@sideways", "explode:Job"])
def test_no_such_write(run: Run, write: str) -> None:
    code, said = run("lifecycle", "--kill-at", write)
    assert code == 2
    assert write in said


@pytest.mark.parametrize("arguments", [["--cluster", "moon"], ["--ray", "none"], ["--ttl", "-1"], ["--ttl", "soon"]])
def test_unknown_values(run: Run, arguments: list[str]) -> None:
    code, said = run("lifecycle", *arguments)
    assert code == 2
    assert arguments[0] in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "kind", "--ray", "local"], "--ray is for --cluster embedded only, not for kind"),
        (["--nodes", "2"], "--nodes is for --cluster kind only, not for embedded"),
        (["--cluster", "kind", "--context", "near", "--yes"], "--context, --yes is for --cluster existing only"),
        (["--operator", "pod"], "--operator pod needs real pods"),
    ],
)
def test_options_of_another_cluster(run: Run, arguments: list[str], said: str) -> None:
    code, printed = run("lifecycle", *arguments)
    assert code == 2
    assert said in printed


@pytest.mark.parametrize("write", ["create:Job@committed", "create:Pod@before", "submit:RayJobs"])
@pytest.mark.parametrize("cluster", ["kind", "existing"])
def test_a_position_that_a_pod_has_not(run: Run, cluster: str, write: str) -> None:
    code, said = run("lifecycle", "--cluster", cluster, "--operator", "pod", "--kill-at", write)
    assert code == 2
    assert "The operator runs in a pod and is killed when a watch shows its write" in said


def test_sidecar_mode_needs_real_pods(run: Run, tmp_path: Path) -> None:
    rayjob, config = yaml.safe_load_all(samples.path().read_text())
    del rayjob["spec"]["submitterPodTemplate"]
    rayjob["spec"]["submissionMode"] = "SidecarMode"
    (tmp_path / "job.yaml").write_text(yaml.safe_dump_all([rayjob, config]))
    code, said = run("lifecycle", str(tmp_path / "job.yaml"))
    assert code == 2
    assert "--cluster kind" in said
    assert Workload.read([tmp_path / "job.yaml"], real_pods=True).submission_mode == "SidecarMode"


def test_a_missing_kubeconfig(run: Run, tmp_path: Path) -> None:
    code, said = run("lifecycle", "--cluster", "existing", "--kubeconfig", str(tmp_path / "absent"))
    assert code == 2
    assert f"The kubeconfig {tmp_path / 'absent'} cannot be read" in said


def test_an_unknown_context(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump({"contexts": [{"name": "near", "context": {}}]}))
    code, said = run("lifecycle", "--cluster", "existing", "--kubeconfig", str(tmp_path / "config"), "--context", "far")
    assert code == 2
    assert "There is no context 'far'" in said


def test_a_cluster_that_does_not_answer(run: Run, tmp_path: Path) -> None:
    config = {
        "current-context": "gone",
        "contexts": [{"name": "gone", "context": {"cluster": "gone", "user": "me"}}],
        "clusters": [{"name": "gone", "cluster": {"server": f"http://127.0.0.1:{free_ports(1)[0]}"}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    code, said = run("lifecycle", "--cluster", "existing", "--kubeconfig", str(tmp_path / "config"), "--yes")
    assert code == 3
    assert "does not answer" in said and "secret" not in said


def test_unusable_name(run: Run) -> None:
    code, said = run("lifecycle", "--name", "Not A Name")
    assert code == 2
    assert "Expected a name of 1 to 40" in said


def test_report_folder_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, said = run("lifecycle", "--report", str(tmp_path / "file" / "report"))
    assert code == 3
    assert "Cannot write the report folder" in said


def _can_mount() -> bool:
    return shutil.which("unshare") is not None and subprocess.run(["unshare", "-rm", "true"]).returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="needs a mount namespace of its own (unshare -rm) for a full disk")
def test_full_disk(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=64k tmpfs "$0" && head -c 64k /dev/zero >"$0/fill"; exec "$@"'
    (tmp_path / "state").mkdir()
    command = ["unshare", "-rm", "sh", "-c", script, str(tmp_path / "state"), sys.executable, "-m", "kuberay_e2e.cli"]
    done = subprocess.run(
        [*command, "lifecycle", "--ray", "simulated"],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("command", ["", "lifecycle", "faults", "kueue", "kind", "doctor", "images build"])
def test_every_command_has_its_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.app([*command.split(), "--help"], prog_name="kuberay-e2e")
    assert ended.value.code == 0
    assert f"Usage: kuberay-e2e {command}" in capsys.readouterr().out


def test_help_loads_neither_pulumi_nor_clients_of_a_cluster() -> None:
    program = "import sys, kuberay_e2e.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pulumi", "kr8s", "aiohttp", "httpx", "kuberay_e2e.session"} & set(loaded)
