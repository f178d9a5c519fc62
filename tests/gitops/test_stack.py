"""A stack is rendered by its own program, without a cluster: everything in it, its charts too, on any machine."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e import cli
from kuberay_e2e.gitops.declared import Declared, declared_objects
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.rendering import Order, rendered_stack
from kuberay_toolchain import Silent, Toolchain
from tests.gitops.bench import stack
from tests.gitops.stacks import REPOSITORY, project

Run = Callable[..., tuple[int, str, str]]

JOBS: dict[str, Any] = {
    "versions": {"ray": "2.52.0"},
    "namespaces": ["ml"],
    "namespace": "ml",
    "rayJobs": {"train": {"entrypoint": "python train.py", "cluster": {"tokenAuth": {}}}},
}
"""A stack without charts."""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kuberay-e2e", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capfd.readouterr()
        code = ended.value.code or 0
        assert isinstance(code, int)
        return code, said.out, said.err

    return call


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Declared]]:
    """A stack with CRDs, operator, Kueue, queues and jobs."""
    place = project(tmp_path_factory.mktemp("project"), stack(2))
    yield declared_objects(place, "dev", None, Toolchain(progress=Silent()))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_objects_of_charts_are_among_them(everything: list[Declared]) -> None:
    rendered = rendered_stack(everything, Order("dev", layout=Layout.ARGOCD, repository=REPOSITORY))
    paths = set(rendered.files)
    assert "objects/20-kueue/kueue-system/deployment.apps-kueue-controller-manager.yaml" in paths
    assert "objects/30-operator/ray-system/deployment.apps-kuberay-operator.yaml" in paths
    assert {"namespace-kueue-system.yaml", "namespace-ray-system.yaml", "namespace-ray-jobs.yaml"} <= {
        Path(path).name for path in paths
    }
    crds = [path for path in paths if path.startswith("objects/10-crds/")]
    assert {Path(path).name.rpartition("-")[2] for path in crds} >= {"rayjobs.ray.io.yaml", "rayclusters.ray.io.yaml"}
    for path in crds:
        metadata = yaml.load(rendered.files[path].partition("\nspec:")[0], yaml.SafeLoader)["metadata"]
        assert (
            metadata["annotations"]["argocd.argoproj.io/sync-options"]
            == "ServerSideApply=true,Prune=false,Delete=false"
        )


def test_nothing_of_pulumi_and_of_servers_is_left(everything: list[Declared]) -> None:
    rendered = rendered_stack(everything, Order("dev"))
    for path, text in rendered.files.items():
        assert "pulumi.com/" not in text, path
        assert ": null" not in text or path.startswith("objects/10-crds/"), path
        assert not text.startswith("status:") and "\nstatus:" not in text, path
    settings = rendered.files["objects/20-kueue/kueue-system/secret-kueue-webhook-server-cert.yaml"]
    assert set(yaml.safe_load(settings)) == {"apiVersion", "kind", "metadata"}


def test_a_render_is_the_same_from_another_folder_and_home(tmp_path: Path, run: Run) -> None:
    place = project(tmp_path / "project", JOBS)
    code, _, said = run("render", "dev", "--program", str(place), "--out", str(tmp_path / "here"))
    assert code == 0, said
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "KUBECONFIG": str(tmp_path / "absent"),
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "PYTHONHASHSEED": "7",
    }
    other = tmp_path / "other"
    other.mkdir()
    command = [
        str(Path(sys.executable).parent / "kuberay-e2e"),
        "render",
        "dev",
        "--program",
        "../project",
        "--out",
        "out",
    ]
    subprocess.run(command, cwd=other, env=environment, check=True, capture_output=True)
    assert contents(tmp_path / "here") == contents(other / "out")


def test_render_and_check_from_the_command_line(tmp_path: Path, run: Run) -> None:
    place = project(tmp_path / "project", JOBS)
    before, now, comment = (str(tmp_path / name) for name in ("before", "now", "comment.md"))
    code, said, _ = run("render", "dev", "--program", str(place), "--out", before, "--layout", "flux")
    assert (code, said) == (0, f"2 objects of the stack dev are in {before}, for flux.\n")
    jobs = {"train": {**JOBS["rayJobs"]["train"], "entrypoint": "python other.py"}}
    project(tmp_path / "project", {**JOBS, "rayJobs": jobs})
    assert run("render", "dev", "--program", str(place), "--out", now, "--layout", "flux")[0] == 0
    code, said, _ = run("gitops", "check", now, "--base", before, "--markdown", comment)
    assert code == 0, said
    assert "jobs that will be replaced: 1" in said
    assert "#### Jobs that will be replaced" in Path(comment).read_text()


def test_a_folder_with_an_error_fails_the_check(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place = project(tmp_path / "project", JOBS)
    out = tmp_path / "out"
    run("render", "dev", "--program", str(place), "--out", str(out))
    job = out / "objects/70-ray-jobs/ml/rayjob.ray.io-train.yaml"
    job.write_text(job.read_text().replace("entrypoint:", "entrypont:"))
    code, said, _ = run("gitops", "check", str(out))
    assert code == 1
    assert "objects/70-ray-jobs/ml/rayjob.ray.io-train.yaml:1: error [schema]" in said


@pytest.mark.parametrize(
    ("config", "program", "message"),
    [
        ({**JOBS, "rayJobs": {"train": {"entrypoint": "x", "recordRun": True}}}, None, "Render has no cluster"),
        ({**JOBS, "operator": {"install": "release"}}, None, "is installed by Helm"),
        ({**JOBS, "operator": {}, "charts": "nowhere"}, None, "the chart kuberay-operator is not in it"),
        (
            {},
            "import pulumi\n"
            "import pulumi_kubernetes as k8s\n"
            "found = k8s.core.v1.ConfigMap.get('there', 'ml/there')\n"
            "k8s.core.v1.ConfigMap('a', metadata={'name': 'a'}, data={'copy': found.metadata.uid})\n",
            "ConfigMap a: the value of data.copy is known only when the stack is deployed",
        ),
        (
            {},
            "import pulumi\n"
            "import pulumi_kubernetes as k8s\n"
            "k8s.core.v1.ConfigMap('a', metadata={'name': 'a'}, data={'copy': pulumi.Output.secret('hunter2')})\n",
            "ConfigMap a: data.copy is a secret of the program",
        ),
        (
            {},
            "import pulumi_kubernetes as k8s\n"
            "k8s.core.v1.Secret('a', metadata={'name': 'a'}, string_data={'token': 'hunter2'})\n",
            "Secret a has data",
        ),
        (
            {},
            "import pulumi\n"
            "import pulumi_kubernetes as k8s\n"
            "options = pulumi.ResourceOptions(transforms=[lambda args: None])\n"
            "k8s.core.v1.Namespace('a', metadata={'name': 'a'}, opts=options)\n",
            "has transforms, which only Pulumi's engine runs",
        ),
    ],
)
def test_what_cannot_be_rendered_is_a_sentence_and_writes_nothing(
    tmp_path: Path, run: Run, config: dict[str, Any], program: str | None, message: str
) -> None:
    place = project(tmp_path / "project", config, program=program)
    out = tmp_path / "out"
    code, _, said = run("render", "dev", "--program", str(place), "--out", str(out))
    assert code == 2, said
    assert message in said
    assert "hunter2" not in said.replace(program or "", "")
    assert not out.exists()


def test_encrypted_configuration_is_refused(tmp_path: Path, run: Run) -> None:
    program = "import pulumi_kubernetes as k8s\nk8s.core.v1.Namespace('a', metadata={'name': 'a'})\n"
    place = project(tmp_path / "project", {"token": {"secure": "v1:abc"}}, program=program)
    code, _, said = run("render", "dev", "--program", str(place), "--out", str(tmp_path / "out"))
    assert code == 2
    assert "encrypted configuration (kuberay:token)" in said


def test_no_such_stack_and_no_such_charts(tmp_path: Path, run: Run) -> None:
    place = project(tmp_path / "project", JOBS)
    out = ("--program", str(place), "--out", str(tmp_path / "out"))
    assert "There is no stack 'prod'" in run("render", "prod", *out)[2]
    assert "which is no folder" in run("render", "dev", *out, "--charts", str(tmp_path / "absent"))[2]
    assert run("render", "dev", *out, "--layout", "helm")[0] == 2


def test_a_chart_that_is_not_there_is_a_sentence(tmp_path: Path, run: Run) -> None:
    program = (
        "from pulumi_kubernetes.helm.v4 import Chart, ChartArgs\n"
        f"Chart('web', ChartArgs(chart={str(tmp_path / 'absent')!r}))\n"
    )
    place = project(tmp_path / "project", {}, program=program)
    code, _, said = run("render", "dev", "--program", str(place), "--out", str(tmp_path / "out"))
    assert code == 2
    assert "The Chart 'web' cannot be rendered" in said


def test_a_chart_that_makes_up_passwords_is_refused(tmp_path: Path, run: Run) -> None:
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (chart / "templates" / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {word: {{ randAlphaNum 20 }}}\n"
    )
    program = f"from pulumi_kubernetes.helm.v4 import Chart, ChartArgs\nChart('web', ChartArgs(chart={str(chart)!r}))\n"
    place = project(tmp_path / "project", {}, program=program)
    code, _, said = run("render", "dev", "--program", str(place), "--out", str(tmp_path / "out"))
    assert code == 2
    assert "gives other objects each time" in said
    (chart / "templates" / "map.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {n: 1}\n"
    )
    assert run("render", "dev", "--program", str(place), "--out", str(tmp_path / "out"))[0] == 0
