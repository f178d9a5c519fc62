"""`kuberay-policies preview`: what a program declares, without engine, provider, cluster or network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from kuberay_policies.program.preview import Preview, preview
from kuberay_policies.program.project import ENCRYPTED, Project, ProjectError
from kuberay_policies.subjects import UNKNOWN

REPOSITORY = Path(__file__).parents[2]

JOB = """
import pulumi
from pulumi_kuberay import KubernetesObject

def job(name, opts=None, **spec):
    container = {"name": "ray", "image": "rayproject/ray:2.52.0"}
    cluster = {"headGroupSpec": {"template": {"spec": {"containers": [container]}}}}
    body = {"entrypoint": "python a.py", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster, **spec}
    metadata = {"name": name, "namespace": "ml"}
    manifest = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata, "spec": body}
    return KubernetesObject(name, manifest, opts)
"""


@dataclass(frozen=True)
class Folder:
    """A Pulumi project."""

    path: Path

    def program(self, text: str) -> Folder:
        (self.path / "__main__.py").write_text(JOB + textwrap.dedent(text))
        return self

    def stack(self, text: str, name: str = "dev") -> Folder:
        (self.path / f"Pulumi.{name}.yaml").write_text(textwrap.dedent(text))
        return self

    def preview(self, stack: str = "dev") -> Preview:
        return preview(Project.read(self.path, stack))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    return Folder(tmp_path).stack("config: {}\n")


def test_objects_have_what_the_program_says_and_urns_as_the_engine_gives_them(folder: Folder) -> None:
    [found] = folder.program("job('train', backoffLimit=2)").preview().subjects
    assert found.title == "RayJob ml/train"
    assert found.manifest["spec"]["backoffLimit"] == 2
    assert found.source.urn == "urn:pulumi:dev::demo::kubernetes:ray.io/v1:RayJob::train"


def test_what_only_the_cluster_could_tell_is_unknown(folder: Folder) -> None:
    program = """
        first = job("first")
        job("second", jobId=first.id, entrypoint=first.metadata.apply(lambda m: "run " + m["name"]))
        made = KubernetesObject("made", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})
        job("third", entrypoint=made.metadata.apply(lambda m: "run " + m["name"]))
    """
    objects = {found.name: found for found in folder.program(program).preview().subjects}
    second, third = objects["second"], objects["third"]
    assert second.manifest["spec"]["jobId"] is UNKNOWN
    assert second.manifest["spec"]["entrypoint"] == "run first", "a name that the program gives is known"
    assert third.manifest["spec"]["entrypoint"] is UNKNOWN, "a name that the provider makes is not invented"


def test_all_resource_options_are_seen(folder: Folder) -> None:
    program = """
        class Team(pulumi.ComponentResource):
            def __init__(self, name, opts=None):
                super().__init__("demo:index:Team", name, {}, opts)
                first = job("first", pulumi.ResourceOptions(parent=self))
                options = pulumi.ResourceOptions(
                    parent=self, depends_on=[first], replace_on_changes=["spec"], delete_before_replace=True,
                    ignore_changes=["spec.suspend"], retain_on_delete=True,
                )
                job("second", options)

        Team("ml", pulumi.ResourceOptions(protect=True))
    """
    second = next(found for found in folder.program(program).preview().subjects if found.name == "second")
    assert second.source.urn == "urn:pulumi:dev::demo::demo:index:Team$kubernetes:ray.io/v1:RayJob::second"
    options = second.options
    assert options is not None
    assert (options.protect, options.retain_on_delete, options.delete_before_replace) == (True, True, True)
    assert (options.replace_on_changes, options.ignore_changes) == (("spec",), ("spec.suspend",))
    assert options.parent == "urn:pulumi:dev::demo::demo:index:Team::ml"
    assert options.depends_on == ("urn:pulumi:dev::demo::demo:index:Team$kubernetes:ray.io/v1:RayJob::first",)


def test_the_configuration_is_that_of_the_stack(folder: Folder) -> None:
    folder.stack(
        """
        config:
          demo:retries: 2
          demo:labels: {team: ml}
          demo:token: {secure: AAABBB}
          aws:region: eu-west-1
        """
    )
    program = """
        config = pulumi.Config()
        assert pulumi.get_stack() == "dev" and pulumi.get_project() == "demo"
        assert pulumi.Config("aws").require("region") == "eu-west-1"
        assert config.require_object("labels") == {"team": "ml"}
        job("train", backoffLimit=config.require_int("retries"))
    """
    found = folder.program(program).preview()
    assert found.subjects[0].manifest["spec"]["backoffLimit"] == 2
    assert list(found.notes) == ["The value of demo:token is encrypted, and a placeholder stood for it."]


def test_values_can_be_set_and_left_out(folder: Folder) -> None:
    folder.stack("config: {demo:a: 1, demo:b: 2}\n")
    project = Project.read(folder.path, "dev", {"c": '{"d": 1}'}, ("a",))
    assert dict(project.config) == {"demo:b": "2", "demo:c": '{"d": 1}'}
    with pytest.raises(ProjectError, match=r"no configuration demo:bb to leave out; did you mean demo:b\?"):
        Project.read(folder.path, "dev", {}, ("bb",))


def test_defaults_of_the_project_and_its_folders_count(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text(
        "name: demo\nruntime: {name: python}\nmain: program\nstackConfigDir: stacks\n"
        "config: {a: {type: integer, default: 3}, b: {value: x}, c: {type: string}}\n"
    )
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text("config: {demo:b: y, demo:s: {secure: Z}}\n")
    project = Project.read(tmp_path / "program", "dev")
    assert dict(project.config) == {"demo:a": "3", "demo:b": "y", "demo:s": ENCRYPTED}
    assert (project.root, project.folder) == (tmp_path, tmp_path / "program")


def test_charts_are_named_as_not_seen(folder: Folder) -> None:
    program = """
        from pulumi_kubernetes.helm import v3, v4
        v4.Chart("operator", v4.ChartArgs(chart="oci://example/operator"))
        v3.Release("queue", v3.ReleaseArgs(chart="kueue"))
    """
    found = folder.program(program).preview()
    assert found.subjects == ()
    assert [(unseen.title, unseen.name) for unseen in found.unseen] == [
        ("Helm chart", "operator"),
        ("Helm release", "queue"),
    ]
    assert all("helm template" in note and "--policy-pack" in note for note in found.notes)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("pulumi.Config().require('missing')", "demo:missing"),
        ("raise ValueError('no such queue')", r"ValueError: no such queue \(__main__.py:\d+\)"),
        ("raise pulumi.RunError('The quota is too small.')", "fails: The quota is too small."),
        ("pulumi.Output.from_input(1).apply(lambda n: n / 0)", "ZeroDivisionError"),
        ("import os; os._exit(7)", "ended with exit code 7"),
        ("pulumi.runtime.invoke('aws:index:getRegion', {})", "aws:index:getRegion, whose answer only the provider"),
    ],
)
def test_a_program_that_fails_is_told_in_a_sentence(folder: Folder, program: str, message: str) -> None:
    with pytest.raises(ProjectError, match=message):
        folder.program(program).preview()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name: demo\nruntime: nodejs\n", "runtime nodejs"),
        ("name: [\n", "is no YAML"),
        ("- a\n", "is a mapping"),
        ("name: demo\nruntime: {name: python, options: {virtualenv: venv}}\n", "no .*venv/bin/python; create it"),
        ("name: demo\nruntime: python\nmain: nowhere\n", "no program in .*nowhere"),
    ],
)
def test_a_project_that_cannot_be_run_is_told_in_a_sentence(folder: Folder, content: str, message: str) -> None:
    (folder.path / "Pulumi.yaml").write_text(content)
    with pytest.raises(ProjectError, match=message):
        folder.program("").preview()


def test_unknown_stacks_and_folders_are_told_with_those_there_are(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"no stack 'live'.*there is dev"):
        folder.preview("live")
    with pytest.raises(ProjectError, match="which stack to check with --stack: dev"):
        folder.preview("")
    with pytest.raises(ProjectError, match="There is no folder"):
        Project.read(tmp_path / "none", "dev")


def command(*arguments: str, cwd: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run the command as in a pull request: no home, no credentials, no Pulumi on the PATH."""
    env = {"PATH": os.defpath, "HOME": str(home)}
    words = [sys.executable, "-m", "kuberay_policies", "preview", *arguments]
    code = "import sys; from kuberay_policies.cli import main; sys.argv = sys.argv[1:]; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "kuberay-policies", *words[3:]],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_command_reports_as_check_does(folder: Folder, tmp_path: Path) -> None:
    folder.program("print('the program says hello'); job('train', ttlSecondsAfterFinished=-1)")
    done = command("--stack", "dev", "--format", "json", cwd=folder.path, home=tmp_path)
    assert done.returncode == 1, done.stderr
    findings = json.loads(done.stdout)
    assert "J4" in json.dumps(findings) and "the program says hello" in done.stderr
    sarif = command("--stack", "dev", "--format", "sarif", cwd=folder.path, home=tmp_path)
    assert json.loads(sarif.stdout)["version"] == "2.1.0"


def test_a_wrong_configuration_is_one_sentence_and_exit_code_2(folder: Folder, tmp_path: Path) -> None:
    folder.program("pulumi.Config().require_int('retries')").stack("config: {demo:retries: many}\n")
    done = command("--stack", "dev", cwd=folder.path, home=tmp_path)
    assert done.returncode == 2
    assert "The program of the stack dev fails" in done.stderr and "retries" in done.stderr


@pytest.mark.parametrize("stack", ["dev", "staging", "prod", "kind"])
def test_the_stacks_of_the_repository_are_checked_with_an_empty_home_and_no_network(stack: str, tmp_path: Path) -> None:
    done = command("--stack", stack, cwd=REPOSITORY, home=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "are made by the provider and not seen here" in done.stdout
    assert "are not downloaded here and not seen" in done.stdout
    assert list(tmp_path.iterdir()) == []
