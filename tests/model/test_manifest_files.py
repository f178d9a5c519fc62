"""YAML files are read with file and line, and what is wrong with them is said in a sentence."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from kuberay_model.manifests import ManifestError, load, rayjob

JOB = "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: train}\n"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: code}\n"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    return tmp_path / "job.yaml"


def write(path: Path, *documents: str) -> Path:
    path.write_text("---\n".join(documents))
    return path


def test_each_document_knows_its_line(written: Path) -> None:
    code, job = load(write(written, MAP, JOB))
    assert (code.kind, code.name, code.group, code.line) == ("ConfigMap", "code", "", 1)
    assert (job.api_version, job.group, job.namespace, job.line) == ("ray.io/v1", "ray.io", "", 5)
    assert job.location == f"{written}:5"
    assert rayjob([code, job]) is job


def test_empty_documents_are_skipped(written: Path) -> None:
    assert [document.line for document in load(write(written, "# nothing\n", "", JOB, "null\n"))] == [4]
    assert load(write(written, "")) == []


def test_lists_are_replaced_by_their_items(written: Path) -> None:
    text = dedent("""\
        apiVersion: v1
        kind: List
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata: {name: code}
        - apiVersion: ray.io/v1
          kind: RayJobList
          items:
          - apiVersion: ray.io/v1
            kind: RayJob
            metadata: {name: train}
        """)
    assert [(document.kind, document.line) for document in load(write(written, text))] == [
        ("ConfigMap", 4),
        ("RayJob", 10),
    ]


def test_dates_stay_strings(written: Path) -> None:
    (job,) = load(write(written, JOB + "spec: {jobId: 2024-01-01}\n"))
    assert job.manifest["spec"]["jobId"] == "2024-01-01"


def test_merged_keys_are_no_duplicates(written: Path) -> None:
    (job,) = load(write(written, "x: &x {kind: Other}\n" + JOB + "spec: {<<: *x, kind: Mine}\n"))
    assert job.manifest["spec"] == {"kind": "Mine"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: [1\nb: 2\n", 2, "This is no YAML at column"),
        ("a: b: c\n", 1, "This is no YAML at column 5"),
        ("a: *nowhere\n", 1, "There is no anchor &nowhere"),
        ("a: !mine 1\n", 1, "This is no YAML at column 4"),
        ("a: \x01\n", 1, "This is no YAML"),
        ("- 1\n", 1, "A Kubernetes object is a mapping, but this is a list."),
        (JOB + "---\nword\n", 5, "this is a single value 'word'"),
        ("kind: RayJob\n", 1, "The object has no apiVersion"),
        ("apiVersion: ray.io/v1\n", 1, "The object has no kind"),
        ("apiVersion: ray.io/v1\nkind: RayJob\n", 1, "The RayJob has no metadata.name; set one."),
        ("apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: ''}\n", 1, "has no metadata.name"),
        (
            "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: 1}\n",
            1,
            "is 1, which is no string; quote it",
        ),
        (
            "apiVersion: ray.io/v1\nkind: RayJob\nmetadata: {generateName: t-}\n",
            1,
            "has generateName instead of name",
        ),
        (
            JOB + "spec:\n  suspend: true\n  suspend: false\n",
            6,
            "The key 'suspend' is already given at line 5",
        ),
        (JOB + "kind: RayJob\n", 4, "The key 'kind' is already given at line 2"),
        (JOB + "spec: {a: 1, a: 2}\n", 4, "The key 'a' is already given at line 4"),
        (JOB + "---\n" + JOB, 5, "RayJob train is already given at line 1; remove one."),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(written: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(ManifestError) as raised:
        load(write(written, text))
    assert (raised.value.path, raised.value.line) == (written, line)
    assert message in raised.value.message
    assert str(raised.value) == f"{written}:{line}: {raised.value.message}"


def test_the_same_name_in_another_namespace_is_another_object(written: Path) -> None:
    other = JOB.replace("{name: train}", "{name: train, namespace: other}")
    assert len(load(write(written, JOB, other))) == 2


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.yaml: There is no such file"):
        load(tmp_path / "none.yaml")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="This is a folder"):
        load(tmp_path)


def test_a_file_below_a_file_is_refused(written: Path) -> None:
    with pytest.raises(ManifestError, match="The file cannot be read: Not a directory"):
        load(write(written, JOB) / "job.yaml")


def test_an_unreadable_file_is_refused(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(ManifestError, match="may not be read"):
        load(written)


def test_a_file_in_another_encoding_is_refused_with_its_line(written: Path) -> None:
    written.write_bytes(JOB.encode() + b"# caf\xe9\n")
    with pytest.raises(ManifestError, match="not in UTF-8") as raised:
        load(written)
    assert raised.value.line == 4


def test_no_rayjob_is_an_error(written: Path) -> None:
    with pytest.raises(ManifestError, match=r"job\.yaml: One RayJob of ray\.io/v1 is expected, but there is ConfigMap"):
        rayjob(load(write(written, MAP)))
    with pytest.raises(ManifestError, match="there is nothing"):
        rayjob([])


def test_several_rayjobs_are_an_error(written: Path) -> None:
    with pytest.raises(ManifestError, match=r"there are 2: train \(.*:1\) and other \(.*:5\)"):
        rayjob(load(write(written, JOB, JOB.replace("train", "other"))))
