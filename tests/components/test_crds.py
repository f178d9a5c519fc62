import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from recording_engine import Run

from pulumi_kuberay import ArgumentError, KubeRayCrds, KubeRayCrdsArgs
from pulumi_kuberay.crd_manifests import checksum, crds_from_chart, crds_from_folder, crds_from_url

CRD_TYPE = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  creationTimestamp: null
  name: {name}.ray.io
spec:
  group: ray.io
  versions:
    - schema:
        openAPIV3Schema:
          x-kubernetes-validations: [{{rule: "self > 1"}}]
          x_snake_case: {{maximum: 2147483647}}
status: {{conditions: []}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    bases = tmp_path / "bases"
    bases.mkdir()
    (bases / "b.yaml").write_text(CRD.format(name="rayjobs"))
    (bases / "a.yaml").write_text(f"{CRD.format(name='rayclusters')}---\nkind: Kustomization\n")
    (bases / "README.md").write_text("not: [yaml")
    return bases


def test_a_folder_gives_each_crd_as_a_resource_with_its_keys_and_integers_as_they_are(run: Run, folder: Path) -> None:
    engine = run(lambda: KubeRayCrds("crds", KubeRayCrdsArgs(folder=str(folder))))

    crds = engine.inputs(CRD_TYPE)
    assert [crd["metadata"]["name"] for crd in crds] == ["rayclusters.ray.io", "rayjobs.ray.io"]
    schema = crds[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema == {
        "x-kubernetes-validations": [{"rule": "self > 1"}],
        "x_snake_case": {"maximum": 2147483647},
    }
    assert "status" not in crds[0] and "creationTimestamp" not in crds[0]["metadata"]


def test_pulumi_waits_until_each_crd_is_established(run: Run, folder: Path) -> None:
    engine = run(lambda: KubeRayCrds("crds", KubeRayCrdsArgs(folder=str(folder))))

    assert {crd["metadata"]["annotations"]["pulumi.com/waitFor"] for crd in engine.inputs(CRD_TYPE)} == {
        "condition=Established"
    }


def test_outputs_name_the_crds_and_their_checksum(run: Run, folder: Path) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        crds = KubeRayCrds("crds", KubeRayCrdsArgs(folder=str(folder)))
        crds.names.apply(lambda names: seen.update(names=names))
        crds.checksum.apply(lambda digest: seen.update(checksum=digest))

    run(program)
    assert seen == {
        "names": ["rayclusters.ray.io", "rayjobs.ray.io"],
        "checksum": checksum(crds_from_folder(folder)),
    }


def test_the_checksum_depends_on_the_content_alone(folder: Path) -> None:
    before = checksum(crds_from_folder(folder))
    (folder / "b.yaml").rename(folder / "c.yml")
    assert checksum(crds_from_folder(folder)) == before

    (folder / "c.yml").write_text(CRD.format(name="rayservices"))
    assert checksum(crds_from_folder(folder)) != before


def test_a_chart_gives_the_same_crds_unpacked_or_packed(folder: Path, tmp_path: Path) -> None:
    chart = tmp_path / "kuberay-operator"
    chart.mkdir()
    (chart / "Chart.yaml").write_text("name: kuberay-operator")
    folder.rename(chart / "crds")
    packed = tmp_path / "kuberay-operator-1.6.2.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(chart, arcname="kuberay-operator")

    assert crds_from_chart(chart) == crds_from_chart(packed) == crds_from_folder(chart / "crds")


def test_a_crd_that_was_read_before_is_read_the_same_from_the_cache(folder: Path) -> None:
    assert crds_from_folder(folder) == crds_from_folder(folder)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (KubeRayCrdsArgs(), "exactly one of folder, chart or url, but none of them is set"),
        (KubeRayCrdsArgs(folder="a", url="https://b"), "but folder and url are set"),
        (KubeRayCrdsArgs(folder="/does/not/exist"), "'/does/not/exist' does not exist"),
        (KubeRayCrdsArgs(chart="/does/not/exist"), "has no Chart.yaml"),
        (KubeRayCrdsArgs(url="file:///etc/passwd"), "https:// or http:// addresses"),
    ],
)
def test_a_source_that_cannot_be_used_is_refused(run: Run, args: KubeRayCrdsArgs, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        run(lambda: KubeRayCrds("crds", args))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="There is no CustomResourceDefinition in"):
        crds_from_folder(tmp_path)


def test_broken_yaml_is_refused_with_the_name_of_its_file(folder: Path) -> None:
    (folder / "broken.yaml").write_text("a: [")
    with pytest.raises(ArgumentError, match=r"broken\.yaml is not valid YAML"):
        crds_from_folder(folder)


def test_a_file_that_is_no_packed_chart_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "chart.tgz"
    file.write_bytes(io.BytesIO(b"no archive").getvalue())
    with pytest.raises(ArgumentError, match="is not a packed Helm chart"):
        crds_from_chart(file)


def test_an_address_that_nobody_answers_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"could not be fetched from http://127\.0\.0\.1:1/crds\.yaml"):
        crds_from_url("http://127.0.0.1:1/crds.yaml")


def test_another_checksum_than_the_expected_one_is_refused(run: Run, folder: Path) -> None:
    args = KubeRayCrdsArgs(folder=str(folder), expected_checksum="0" * 64)
    with pytest.raises(ArgumentError, match="but expected_checksum is 0000"):
        run(lambda: KubeRayCrds("crds", args))


def test_a_preview_without_network_leaves_out_crds_at_an_address(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_KUBERAY_OFFLINE", "1")
    with pytest.raises(ArgumentError, match="cannot be applied, because PULUMI_KUBERAY_OFFLINE is set"):
        run(lambda: KubeRayCrds("crds", KubeRayCrdsArgs(url="https://example.invalid/crds.yaml")))
