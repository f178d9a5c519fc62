"""`kuberay-e2e crash job` before it does anything: bad input, a cluster that is not fit, consent, `--print`."""

import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import yaml

from kuberay_e2e import cli
from kuberay_e2e.access import Access
from kuberay_e2e.crash.indexed.looking import look
from kuberay_e2e.errors import HarnessError, InputError

Run = Callable[..., tuple[int, str, str]]
JOB = ("--image", "registry.example.com/harness:1", "--parts", "2")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kuberay-e2e", "crash", "job", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        code, said = ended.value.code, capsys.readouterr()
        return int(code or 0), said.out, said.err

    return call


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (JOB[:2], "Missing option '--parts'"),
        (("--image", "a b", "--parts", "2"), "--image as the reference of an image"),
        ((*JOB, "--namespace", "Sweep"), "--namespace as the name of a namespace"),
        ((*JOB, "--memory", "3"), "--memory as an amount in Mi or Gi"),
        ((*JOB, "--time-budget", "1h"), "--time-budget as a number of seconds or minutes"),
        ((*JOB, "--scenario", "k8s"), "no scenario called 'k8s'"),
        ((*JOB, "--scenario", "mine.yaml"), "A manifest of your own cannot be run in the pods of a Job"),
        (JOB, "absent cannot be read"),
    ],
)
def test_bad_input_starts_nothing(run: Run, arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    code, _, said = run(*arguments)
    assert code == 2
    assert sentence in said
    assert not (tmp_path / "state" / "pulumi-kuberay" / "runs").exists()


def test_a_report_folder_with_something_in_it_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "mine").touch()
    code, _, said = run(*JOB, "--report", str(tmp_path / "report"))
    assert code == 2
    assert "to be a new or an empty folder" in said


def test_the_manifests_can_be_read_first(run: Run) -> None:
    code, said, _ = run(
        *JOB, "--namespace", "sweep", "--scenario", "http", "--time-budget", "2m", "--workers", "3", "--print"
    )
    namespace, job = yaml.safe_load_all(said)
    assert code == 0
    assert (namespace["kind"], namespace["metadata"]["name"]) == ("Namespace", "sweep")
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["--scenario", "http", "--workers", "3", "--time-budget", "2m"]
    assert job["spec"]["activeDeadlineSeconds"] > 120
    assert "&id" not in said


def kubeconfig(path: Path) -> Path:
    config = {
        "current-context": "mine",
        "contexts": [{"name": "mine", "context": {"cluster": "mine", "user": "me"}}],
        "clusters": [{"name": "mine", "cluster": {"server": "http://api"}}],
        "users": [{"name": "me", "user": {}}],
    }
    path.write_text(yaml.safe_dump(config))
    return path


def api(version: str = "v1.34.4", *namespaces: str) -> tuple[httpx.Client, list[str]]:
    """An API server, and what it was asked for."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url.path}")
        if request.url.path == "/version":
            return httpx.Response(200, json={"gitVersion": version})
        name = request.url.path.rpartition("/")[2]
        return httpx.Response(200, json={}) if name in namespaces else httpx.Response(404)

    return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://api"), asked


def test_without_consent_nothing_is_done(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client, asked = api()
    monkeypatch.setattr(Access, "client", lambda *_, **__: client)
    code, said, error = run(*JOB, "--namespace", "sweep", "--kubeconfig", str(kubeconfig(tmp_path / "config")))
    assert code == 2
    assert "Cluster 'mine' at http://api, Kubernetes v1.34.4." in said
    assert "the namespace sweep with a Job of 2 pods, 2 at a time, each of 2 CPUs and 3Gi memory" in said
    assert "Agree by --yes" in error
    assert asked == ["GET /version", "GET /api/v1/namespaces/sweep"]


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("v1.30.9", "has Kubernetes v1.30.9; the Job needs 1.31"), ("", "the Job needs 1.31"), ("v1.34.4", "exists on")],
)
def test_a_cluster_that_is_not_fit_is_refused(version: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        look(api(version, "sweep")[0], "sweep")


def test_an_old_letter_in_the_version_does_not_matter() -> None:
    assert look(api("v1.31.2-gke.100")[0], "sweep") == "v1.31.2-gke.100"


def test_a_cluster_that_forbids_to_look_is_named() -> None:
    client = httpx.Client(
        transport=httpx.MockTransport(lambda _: httpx.Response(401, text="who?")), base_url="http://a"
    )
    with pytest.raises(HarnessError, match=r"Expected to read /version .*got 401: who"):
        look(client, "sweep")


def test_a_cluster_that_does_not_answer_is_named() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    client = httpx.Client(transport=httpx.MockTransport(broken), base_url="http://api")
    with pytest.raises(HarnessError, match=r"cluster at http://api does not answer \(refused\)"):
        look(client, "sweep")
