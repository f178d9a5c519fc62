"""What a user gives is read before anything starts; what cannot be driven is refused with file and line."""

from pathlib import Path

import pytest
import yaml

from kuberay_e2e import samples
from kuberay_e2e.errors import InputError
from kuberay_e2e.lifecycle import Workload


def write(folder: Path, text: str) -> Path:
    path = folder / "job.yaml"
    path.write_text(text)
    return path


def sample(**spec: object) -> str:
    documents = list(yaml.safe_load_all(samples.path().read_text()))
    documents[0]["spec"].update(spec)
    return yaml.safe_dump_all(documents)


def test_the_bundled_sample_is_accepted_and_complete() -> None:
    workload = Workload.bundled()
    assert (workload.namespace, workload.name, workload.namespaces) == ("ray-jobs", "counter", ["ray-jobs"])
    assert [item["kind"] for item in workload.others] == ["ConfigMap"]
    assert workload.expected_output[-1] == "test_counter got 5"


def test_cleanup_is_the_life_cycles_own(tmp_path: Path) -> None:
    path = write(tmp_path, sample(shutdownAfterJobFinishes=True, ttlSecondsAfterFinished=99))
    workload = Workload.read([path])
    assert "shutdownAfterJobFinishes" not in workload.kept()["spec"]
    shut = workload.shut_down(10)["spec"]
    assert (shut["shutdownAfterJobFinishes"], shut["ttlSecondsAfterFinished"]) == (True, 10)
    assert workload.rayjob["spec"]["ttlSecondsAfterFinished"] == 99


def test_objects_may_come_in_files_of_their_own(tmp_path: Path) -> None:
    rayjob, config = yaml.safe_load_all(samples.path().read_text())
    (tmp_path / "a.yaml").write_text(yaml.safe_dump(config))
    (tmp_path / "b.yaml").write_text(yaml.safe_dump(rayjob))
    workload = Workload.read([tmp_path / "a.yaml", tmp_path / "b.yaml"])
    assert (workload.name, len(workload.others)) == ("counter", 1)


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.yaml"):
        Workload.read([tmp_path / "absent.yaml"])


def test_not_yaml_names_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"job\.yaml:3"):
        Workload.read([write(tmp_path, "a: 1\nb: [\n")])


def test_no_rayjob(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="RayJob"):
        Workload.read([write(tmp_path, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")])


def test_two_rayjobs(tmp_path: Path) -> None:
    first, config = yaml.safe_load_all(samples.path().read_text())
    second = {**first, "metadata": {"name": "other"}}
    with pytest.raises(InputError, match="RayJob"):
        Workload.read([write(tmp_path, yaml.safe_dump_all([first, config, second]))])


def test_a_rayjob_that_kuberay_would_refuse_names_the_rule(tmp_path: Path) -> None:
    text = sample(backoffLimit=-1)
    with pytest.raises(InputError, match=r"job\.yaml:\d+: KubeRay would refuse this RayJob by rule .*J34"):
        Workload.read([write(tmp_path, text)])


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"suspend": True, "shutdownAfterJobFinishes": True}, "is suspended"),
        ({"clusterSelector": {"ray.io/cluster": "c"}}, "selects an existing RayCluster"),
        ({"submissionMode": "InteractiveMode"}, "InteractiveMode"),
        ({"submissionMode": "SidecarMode"}, "SidecarMode"),
    ],
)
def test_a_rayjob_that_cannot_be_driven(tmp_path: Path, spec: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=f"a life cycle cannot be driven with this RayJob.*{reason}"):
        Workload.read([write(tmp_path, sample(**spec))])
