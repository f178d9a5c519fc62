"""The command: what it prints, and with which exit code it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_policies.cli import main
from tests.model.rayjobs import Manifest, labelled, put, spec, without

from .objects import HEAD_CONTAINER, PRIORITY_LABEL, job, queued

LEAKING = job(spec(shutdownAfterJobFinishes=False, ttlSecondsAfterFinished=0))


class Command:
    """Runs the command in this process, in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)

    def write(self, name: str, *manifests: Manifest) -> None:
        (self.folder / name).write_text(yaml.safe_dump_all(manifests, sort_keys=False))

    def settings(self, text: str) -> None:
        (self.folder / "kuberay-policies.yaml").write_text(text)

    def __call__(self, *arguments: str, standard_input: str = "") -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["kuberay-policies", *arguments])
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(standard_input.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err

    def json(self, *arguments: str, **more: str) -> Any:
        return json.loads(self("check", "--format", "json", *arguments, **more)[1])


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    return Command(tmp_path, capsys, monkeypatch)


def test_nothing_wrong_is_exit_code_0(command: Command) -> None:
    command.write("a.yaml", job(), job(put("metadata.name", "other")))
    code, out, _ = command("check", "a.yaml")
    assert code == 0
    assert out.startswith("2 objects in 1 file, 1") and out.endswith("policies, KubeRay 1.6.2: 0 errors, 0 warnings.\n")


def test_an_error_is_exit_code_1_with_the_line_of_the_field(command: Command) -> None:
    command.write("a.yaml", job(put("metadata.name", "good")), LEAKING)
    code, out, _ = command("check", "a.yaml")
    line = 1 + next(
        number
        for number, text in enumerate((command.folder / "a.yaml").read_text().splitlines())
        if "shutdownAfterJobFinishes: false" in text
    )
    assert code == 1
    assert f"error   P101  a.yaml:{line}:3  spec.shutdownAfterJobFinishes" in out
    assert "Set shutdownAfterJobFinishes: true" in out


def test_warnings_pass_unless_strict(command: Command) -> None:
    command.write("a.yaml", job(without("spec.activeDeadlineSeconds")))
    assert command("check", "a.yaml")[0] == 0
    assert command("check", "a.yaml", "--strict")[0] == 1


def test_what_cannot_be_read_is_exit_code_2_and_the_rest_is_checked(command: Command) -> None:
    command.write("a.yaml", LEAKING)
    (command.folder / "b.yaml").write_text("a: [1\n")
    code, out, _ = command("check", ".")
    assert code == 2
    assert "P101" in out and "b.yaml:2: This is no YAML" in out and "1 input unreadable" in out


def test_standard_input_is_checked_with_lines(command: Command) -> None:
    text = yaml.safe_dump(LEAKING, sort_keys=False)
    (finding,) = command.json("-", standard_input=text)["findings"]
    assert (finding["file"], finding["policy"]) == ("-", "P101")
    assert text.splitlines()[finding["line"] - 1].strip() == "shutdownAfterJobFinishes: false"


def test_a_missing_field_is_shown_at_what_lacks_it(command: Command) -> None:
    command.write("a.yaml", job(without("spec.activeDeadlineSeconds")))
    (finding,) = command.json("a.yaml")["findings"]
    assert (command.folder / "a.yaml").read_text().splitlines()[finding["line"] - 1] == "spec:"


def test_objects_of_lists_and_labels_with_dots_have_their_lines(command: Command) -> None:
    priority = queued(labelled(PRIORITY_LABEL, "high"), without("spec.activeDeadlineSeconds"), spec(suspend=True))
    command.write("a.yaml", {"apiVersion": "v1", "kind": "List", "items": [job(), priority]})
    lines = (command.folder / "a.yaml").read_text().splitlines()
    shown = {f["policy"]: lines[f["line"] - 1].strip() for f in command.json("a.yaml")["findings"]}
    assert shown["P203"] == "suspend: true"


def test_settings_are_those_of_the_environment(command: Command) -> None:
    command.write("a.yaml", job(spec(ttlSecondsAfterFinished=700)))
    command.settings("""\
        policies:
          ttl-limit: {severity: error, maxSeconds: 800}
        environments:
          dev: {policies: {P103: warning}}
          prod: {policies: {P103: {maxSeconds: 600}}}
        """)
    assert command("check", "a.yaml", "-e", "dev")[0] == 0
    code, out, _ = command("check", "a.yaml", "-e", "prod")
    assert code == 1 and "at most 600 s are allowed" in out and "KubeRay 1.6.2 for prod" in out
    code, _, err = command("check", "a.yaml")
    assert code == 2 and "Say for which environment to check: dev or prod" in err
    code, _, err = command("check", "a.yaml", "-e", "test")
    assert code == 2 and "kuberay-policies.yaml:3: There is no environment 'test'; there is dev and prod." in err


def test_waived_findings_are_shown_and_pass(command: Command) -> None:
    command.write("a.yaml", LEAKING)
    command.settings(
        "waivers:\n- {policies: [P101], targets: ['RayJob ml/*'], reason: moves, expires: 9999-12-31}\n"
        "- {policies: [P102], targets: ['RayJob x/*'], reason: old, expires: 9999-12-31}\n"
    )
    code, out, _ = command("check", "a.yaml")
    assert code == 0
    assert "P101 RayJob ml/train: moves (until 9999-12-31)" in out and "1 waived" in out
    assert "Unused waiver (kuberay-policies.yaml:3): P102 on RayJob x/*." in out


def test_an_expired_waiver_covers_nothing_and_is_an_error_of_its_own(command: Command) -> None:
    command.write("a.yaml", LEAKING)
    command.settings("waivers:\n- {policies: [P101], targets: ['RayJob *'], reason: moves, expires: 2020-01-31}\n")
    report = command.json("a.yaml")
    assert {finding["policy"] for finding in report["findings"]} == {"P101", "P500"}
    (expired,) = [finding for finding in report["findings"] if finding["policy"] == "P500"]
    assert (expired["file"], expired["line"]) == ("kuberay-policies.yaml", 2)


def test_version_gates_and_crds_can_be_given(command: Command) -> None:
    command.write("a.yaml", job(spec(preRunningDeadlineSeconds=60, networkPolicy={})))
    _, out, _ = command("check", "a.yaml", "--kuberay-version", "1.5.2", "--gates", "RayJobDeletionPolicy=true")
    assert "KubeRay 1.5.2" in out and "has no field 'preRunningDeadlineSeconds'" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check",), "Missing argument"),
        (("check", "a.yaml", "--nonsense"), "No such option"),
        (("check", "a.yaml", "--format", "xml"), "xml"),
        (("check", "a.yaml", "--kuberay-version", "2.0.0"), "KubeRay 2.0.0 is not supported: use one of 1.5"),
        (("check", "a.yaml", "--kuberay-version", "new"), "A KubeRay version is three numbers"),
        (("check", "a.yaml", "--gates", "RayCronJob"), "RayCronJob=true,Other=false"),
        (("check", "a.yaml", "--gates", "Nothing=true"), "has no feature gate 'Nothing'"),
        (("check", "a.yaml", "-e", "prod"), "there is no kuberay-policies.yaml here; give --config"),
        (("check", "a.yaml", "-c", "gone.yaml"), "gone.yaml: There is no such file"),
        (("check", "a.yaml", "--crds", "gone"), "gone"),
        (("check", "a.yaml", "-o", "no/folder/report"), "cannot be written"),
        (("explain", "P1011"), "There is no policy 'P1011'. Did you mean"),
        (("list", "--family", "x"), "There is no family 'x'"),
        (("nothing",), "No such command"),
    ],
)
def test_wrong_usage_is_exit_code_2_with_a_sentence(command: Command, arguments: tuple[str, ...], message: str) -> None:
    command.write("a.yaml", job())
    code, _, err = command(*arguments)
    assert code == 2
    assert message in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("a: [1\n", ["kuberay-policies.yaml:2: This is no YAML"]),
        ("- 1\n", ["kuberay-policies.yaml:1: Settings are a mapping of keys"]),
        ("{}\n---\n{}\n", ["kuberay-policies.yaml:3: One YAML document is expected"]),
        ("\nkuberayVersion: 1.6\n", ["kuberay-policies.yaml:2: kuberayVersion: Input should be a valid string"]),
        ("kuberayVersion: 9.9.9\n", ["kuberay-policies.yaml:1: kuberayVersion: KubeRay 9.9.9 is not supported"]),
        ("featureGates: {Nothing: true}\n", ["kuberay-policies.yaml:1: featureGates: KubeRay 1.6.2 has no feature"]),
        ("policy: {}\n", ["kuberay-policies.yaml:1: policy: There is no 'policy' here; did you mean policies?"]),
        ("policies:\n  P1011: off\n", ["kuberay-policies.yaml:2: policies.P1011: There is no policy 'P1011'."]),
        ("policies:\n  P101: bad\n", ["kuberay-policies.yaml:2: policies.P101.severity: Input should be 'error'"]),
        (
            "policies:\n  P103:\n    maxSecond: 1\n  P320:\n    digest: 3\n",
            ["kuberay-policies.yaml:3: policies.P103.maxSecond: There is no 'maxSecond' here; did you mean maxSeconds?",
             "kuberay-policies.yaml:5: policies.P320.digest: Input should be a valid boolean, but 3 was given."],
        ),
        (
            "waivers:\n- {policies: [P101], targets: [], reason: '', expires: soon}\n",
            ["waivers[0].targets: List should have at least 1 item", "waivers[0].expires: Input should be a"],
        ),
        ("environments: {dev: {waiver: []}}\ndefaultEnvironment: dev\n", ["did you mean waivers?"]),
    ],
)  # fmt: skip
def test_wrong_settings_are_told_with_their_lines(command: Command, text: str, messages: list[str]) -> None:
    command.write("a.yaml", job())
    command.settings(text)
    code, _, err = command("check", "a.yaml")
    assert code == 2
    for message in messages:
        assert message in err


@pytest.mark.parametrize("arguments", [("check", "a.yaml"), ("preview", "--stack", "dev")])
def test_what_ends_the_command_is_an_annotation_where_annotations_are_asked_for(
    command: Command, arguments: tuple[str, ...]
) -> None:
    command.settings("policies: {no-such-policy: off}\n")
    (command.folder / "Pulumi.yaml").write_text("name: jobs\nruntime: python\n")
    (command.folder / "Pulumi.dev.yaml").write_text("config: {}\n")
    command.write("a.yaml", job())
    code, out, err = command(*arguments, "--format", "github")
    assert code == 2
    assert out.startswith("::error title=Not checked::") and "no-such-policy" in out
    assert "no-such-policy" in err
    assert command(*arguments)[1] == ""


def test_the_report_goes_to_a_file_and_the_summary_to_the_terminal(command: Command) -> None:
    command.write("a.yaml", LEAKING)
    code, out, _ = command("check", "a.yaml", "-f", "json", "-o", "report.json")
    assert code == 1
    assert out.count("\n") == 1 and "1 error" in out
    assert json.loads((command.folder / "report.json").read_text())["summary"]["errors"] == 1


def test_values_known_only_at_deployment_are_named(command: Command) -> None:
    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}
    resource = {
        "urn": "urn:pulumi:dev::demo::kubernetes:ray.io/v1:RayJob::train",
        "custom": True,
        "type": "kubernetes:ray.io/v1:RayJob",
        "inputs": job(put(f"{HEAD_CONTAINER}.image", secret)),
    }
    (command.folder / "state.json").write_text(json.dumps({"version": 3, "deployment": {"resources": [resource]}}))
    report = command.json("state.json")
    (deferred,) = report["deferred"]
    assert deferred["path"] == "spec.rayClusterSpec.headGroupSpec.template.spec.containers[0].image"
    assert {"P320", "P322"} <= set(deferred["policies"])


def test_every_policy_is_listed_and_explained(command: Command) -> None:
    code, out, _ = command("list", "--json")
    listed = json.loads(out)
    assert code == 0
    code, out, _ = command("explain", *(policy["id"] for policy in listed))
    assert code == 0
    assert all(f"{policy['id']} {policy['name']}\n{policy['title']}." in out for policy in listed)
    assert "maxSeconds: Longest time until cleanup, in seconds. Default one day." in out


def test_rules_that_are_other_names_or_only_explained_are_explained_too(command: Command) -> None:
    assert "C25" in command("explain", "U14")[1]
    assert "A manifest cannot show it" in command("explain", "u18")[1]


def test_yaml_is_checked_without_pulumi() -> None:
    program = (
        "import sys; from kuberay_policies.commands.check import check; from kuberay_policies.cli import app; "
        "sys.exit(sum(name.split('.')[0] in ('pulumi', 'pulumi_policy', 'grpc') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
