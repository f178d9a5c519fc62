"""Whatever is given to be checked: it is read, or somebody is told why not. Nothing passes unseen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_policies.reading import Inputs, read
from kuberay_policies.subjects import UNKNOWN

from .objects import cluster, job

Write = Callable[[str, str | bytes], Path]

JOB = "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: train}\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def titles(inputs: Inputs) -> list[str]:
    return [subject.title for subject in inputs.subjects]


def problems(inputs: Inputs) -> list[tuple[int | None, str]]:
    return [(problem.line, problem.message) for problem in inputs.problems]


def test_documents_lists_and_json_are_read(write: Write) -> None:
    item = json.dumps(cluster())
    listing = f"apiVersion: v1\nkind: List\nitems:\n- {item}\n- apiVersion: ray.io/v1\n  kind: RayJobList\n  items:\n"
    write("a.yaml", f"# Source: chart/templates/job.yaml\n---\n{JOB}---\n# nothing\n---\n{JOB.replace('train', 'b')}")
    write("b.yml", listing + f"  - {json.dumps(job())}\n")
    write("c.json", json.dumps(job()))
    inputs = read([str(write("d.txt", "no manifest").parent)])
    assert problems(inputs) == []
    assert titles(inputs) == ["RayJob train", "RayJob b", "RayCluster ml/shared", "RayJob ml/train", "RayJob ml/train"]
    assert [subject.source.line for subject in inputs.subjects] == [3, 9, 4, 8, 1]
    assert inputs.subjects[3].source.pointer == ("items", 1, "items", 0)


def test_anchors_and_merge_keys_are_expanded(write: Write) -> None:
    text = f"{JOB}spec:\n  a: &a {{cpu: 1, memory: 2Gi}}\n  b: {{<<: *a, cpu: 2}}\n  c: *a\n"
    (subject,) = read([str(write("a.yaml", text))]).subjects
    spec = subject.manifest["spec"]
    assert (spec["b"], spec["c"]) == ({"cpu": 2, "memory": "2Gi"}, {"cpu": 1, "memory": "2Gi"})


def test_keys_that_are_no_strings_become_strings_as_in_kubernetes(write: Write) -> None:
    (subject,) = read([str(write("a.yaml", f"{JOB}spec: {{1: a, true: b}}\n"))]).subjects
    assert subject.manifest["spec"] == {"1": "a", "true": "b"}


LAUGHS = "\n".join(["a0: &a0 [1, 2]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40))])


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        pytest.param("a: [1\n", 2, "This is no YAML", id="malformed"),
        pytest.param("", None, "The file is empty", id="empty"),
        pytest.param("# only a comment\n---\n", None, "The file is empty", id="comments"),
        pytest.param(JOB + "spec: {a: 1, a: 2}\n", 4, "The key 'a' is already given at line 4", id="duplicate key"),
        pytest.param(JOB + "spec: {? [1] : 2}\n", 4, "A key is a mapping or a list", id="key of a list"),
        pytest.param(JOB + "spec: {~: 2}\n", 4, "A key is null", id="null key"),
        pytest.param(JOB + "spec: &s {a: *s}\n", 4, "The alias *s is inside of what it stands for", id="recursion"),
        pytest.param(JOB + LAUGHS, 10, "Aliases expand the document to more than", id="billion laughs"),
        pytest.param("[" * 300 + "]" * 300, 1, "nested deeper than 200 levels", id="depth"),
        pytest.param(JOB + "spec: {a: .inf}\n", 4, "a number that JSON, and so Kubernetes, does not have", id="inf"),
        pytest.param(JOB + "spec: !!python/name:os.system x\n", 4, "This is no YAML", id="tag"),
        pytest.param("kind: RayJob\nmetadata: {name: a}\n", 1, "The object has no apiVersion", id="no apiVersion"),
        pytest.param("\n\nmetadata: {name: a}\nspec: {}\n", 3, "The object has no apiVersion", id="no kind"),
        pytest.param("apiVersion: v1\nmetadata: {name: a}\n", 1, "The object has no kind", id="kind"),
        pytest.param("apiVersion: 1\nkind: A\n", 1, "apiVersion is 1, and it must be a string", id="apiVersion"),
        pytest.param("apiVersion: v1\nkind: A\nmetadata: a\n", 1, "metadata of the A is 'a'", id="metadata"),
        pytest.param("a: 1\n", 1, "This is no Kubernetes object", id="values"),
        pytest.param("- 1\n", 1, "This is no Kubernetes object", id="list"),
        pytest.param(JOB.replace("train", "{{ .Values.name }}"), 3, "is a template ({{ at line 3)", id="template"),
        pytest.param(JOB.replace("train", "'{{ .Release.Name }}'"), 1, "{{ .Release.Name }}", id="quoted template"),
        pytest.param("{% if x %}\n" + JOB, 1, "The file is a template", id="jinja"),
        pytest.param(b"\x7fELF\x00\x01", 1, "This is no text file", id="binary"),
        pytest.param(JOB.encode("utf-16"), None, "The file is in UTF-16; save it as UTF-8", id="UTF-16"),
        pytest.param(JOB.encode() + b"# \xe9\n", 4, "The file is not in UTF-8", id="Latin-1"),
        pytest.param('{"apiVersion": "v1", "kind"', 1, "This is no YAML", id="JSON"),
    ],
)
def test_bad_files_are_problems_with_a_line(write: Write, content: str | bytes, line: int | None, message: str) -> None:
    path = write("bad.yaml", content)
    inputs = read([str(path)])
    ((seen_line, seen_message),) = problems(inputs)
    assert message in seen_message
    assert seen_line == line
    assert inputs.problems[0].file == str(path)


def test_a_byte_order_mark_is_no_problem(write: Write) -> None:
    assert titles(read([str(write("a.yaml", JOB.encode("utf-8-sig")))])) == ["RayJob train"]


def test_braces_of_an_entrypoint_are_no_template(write: Write) -> None:
    inputs = read([str(write("a.yaml", JOB + "spec: {entrypoint: 'echo {{ x }}'}\n"))])
    assert (titles(inputs), problems(inputs)) == (["RayJob train"], [])


def test_good_objects_of_a_bad_file_are_checked_too(write: Write) -> None:
    inputs = read([str(write("a.yaml", f"{JOB}---\nkind: RayJob\n"))])
    assert titles(inputs) == ["RayJob train"]
    assert problems(inputs) == [(5, "The object has no apiVersion; every Kubernetes object has one.")]


def test_other_yaml_of_a_folder_is_named(write: Write) -> None:
    write("chart/values.yaml", "replicas: 1\n")
    inputs = read([str(write("job.yaml", JOB).parent)])
    assert titles(inputs) == ["RayJob train"]
    assert [Path(file).name for file in inputs.others] == ["values.yaml"]
    assert problems(inputs) == []


def test_a_folder_without_manifests_is_a_problem(write: Write, tmp_path: Path) -> None:
    write("values.yaml", "replicas: 1\n")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path, tmp_path / "empty"):
        ((line, message),) = problems(read([str(folder)]))
        assert line is None and message.startswith("The folder has no manifests")


def test_links_that_form_a_loop_are_followed_once(write: Write, tmp_path: Path) -> None:
    write("a/job.yaml", JOB)
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "gone.yaml").symlink_to("nowhere")
    inputs = read([str(tmp_path)])
    assert titles(inputs) == ["RayJob train"]
    assert problems(inputs) == [(None, "There is no such file; check the path.")]
    ((_, message),) = problems(read([str(tmp_path / "a" / "self")]))
    assert "symbolic links" in message


def test_files_that_are_missing_or_may_not_be_read(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems(read([str(tmp_path / "gone.yaml")])) == [(None, "There is no such file; check the path.")]
    path = write("a.yaml", JOB)

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything, so permissions cannot be set
    assert problems(read([str(path)])) == [(None, "The file may not be read; check its permissions.")]


def test_devices_and_sockets_are_not_read() -> None:
    ((_, message),) = problems(read([os.devnull]))
    assert message.startswith("This is no file")


def test_a_file_of_10_megabytes_is_read(write: Write) -> None:
    text = "---\n".join([yaml.dump(job(), Dumper=yaml.CSafeDumper)] * 100) + "# " + "x" * 10_000_000 + "\n"
    assert len(read([str(write("big.yaml", text))]).subjects) == 100


def test_files_that_are_too_large_are_not_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuberay_policies.reading.files.LARGEST", 20)
    ((_, message),) = problems(read([str(write("big.yaml", JOB))]))
    assert "at most 0 are read; split it" in message


def test_excluded_files_and_hidden_folders_are_left_out(write: Write, tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "old/c.yaml", ".git/d.yaml", "node_modules/e.yaml"):
        write(name, JOB)
    inputs = read([str(tmp_path)], excluded=["b.*", "*/old"])
    assert [Path(file).name for file in inputs.files] == ["a.yaml"]


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"manifest": {}, "resources": list(resources)}}


def resource(kind: str, name: str, inputs: Any, **more: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:dev::demo::{kind}::{name}"
    return {"urn": urn, "custom": True, "type": kind, "inputs": inputs, **more}


SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}


def test_a_state_of_pulumi_is_recognised(write: Write) -> None:
    content = state(
        {"urn": "urn:pulumi:dev::demo::pulumi:pulumi:Stack::demo-dev", "custom": False, "type": "pulumi:pulumi:Stack"},
        resource("kubernetes:ray.io/v1:RayJob", "train", job(), protect=True, ignoreChanges=["spec.suspend"]),
        resource("kubernetes:ray.io/v1:RayJob", "old", job(), delete=True),
        resource("kubernetes:core/v1:Secret", "s", {"metadata": {"name": "s"}, "data": SECRET, "__fieldManager": "x"}),
        resource("kubernetes:helm.sh/v3:Release", "kuberay", {"chart": "kuberay-operator"}),
        resource("aws:s3:Bucket", "b", {}),
    )
    inputs = read([str(write("state.json", json.dumps(content)))])
    train, secret = inputs.subjects
    assert (train.title, train.options and train.options.protect) == ("RayJob ml/train", True)
    assert train.options is not None and train.options.ignore_changes == ("spec.suspend",)
    assert train.source.urn == "urn:pulumi:dev::demo::kubernetes:ray.io/v1:RayJob::train"
    assert secret.manifest == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": UNKNOWN}
    assert "Helm Release kuberay are not in the state" in inputs.notes[0]


def test_a_file_of_the_state_backend_is_recognised(write: Write) -> None:
    latest = state(resource("kubernetes:ray.io/v1:RayJob", "train", job()))["deployment"]
    path = write("dev.json", json.dumps({"version": 3, "checkpoint": {"stack": "dev", "latest": latest}}))
    assert titles(read([str(path)])) == ["RayJob ml/train"]


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"deployment": {"resources": 1}}', "a: 1", "[" * 100_000])
def test_what_is_no_state_is_a_problem(write: Write, content: str) -> None:
    ((_, message),) = problems(read([str(write("state.json", content))], state=True))
    assert "state of Pulumi" in message
