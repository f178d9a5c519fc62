"""A user's manifest is a scenario: its RayJob is kept as it is, and its end is learned from runs without a fault."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e import samples
from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.authored import keep, kept, learned, scenario_of, settled
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.manifest import rayjob
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Expected, Scenario, cluster_gone, ended, rayjob_gone, workers_gone
from kuberay_e2e.errors import HarnessError, InputError
from tests.crash.recorded import RETRIED, Run, good

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(*others: dict[str, Any], annotations: dict[str, str] | None = None, **spec: Any) -> Path:
        template = {"spec": {"containers": [{"name": "ray", "image": "ray:1"}]}}
        manifest = {
            "apiVersion": "ray.io/v1",
            "kind": "RayJob",
            "metadata": {"name": "nightly", "labels": {"team": "ml"}, "annotations": annotations or {}},
            "spec": {
                "entrypoint": "python train.py",
                "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, "template": template}},
                **spec,
            },
        }
        path = tmp_path / "nightly.yaml"
        path.write_text(yaml.safe_dump_all([*others, manifest]))
        return path

    return write


def recorded(run: Run) -> Recorded:
    return Recorded(Point("x"), "job", tuple(run.trace.events()), run.ledger.entries, "", True, 1.0)


def test_the_rayjob_is_kept_but_for_its_name_and_namespace(make: Make) -> None:
    scenario = scenario_of(make(backoffLimit=1))
    created = rayjob(scenario, "run-1")
    assert scenario.name == "nightly"
    assert created["metadata"] == {"name": "job", "namespace": "run-1", "labels": {"team": "ml"}}
    assert created["spec"] == scenario.manifest["spec"] if scenario.manifest else None
    assert created["spec"]["backoffLimit"] == 1


def test_the_bundled_sample_is_a_scenario_with_its_config_map() -> None:
    scenario = scenario_of(samples.path())
    assert [item["kind"] for item in scenario.objects] == ["ConfigMap"]


@pytest.mark.parametrize(
    ("spec", "goal"),
    [
        ({}, ended),
        ({"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 20}, cluster_gone),
        ({"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": 3600}, ended),
        (
            {"deletionStrategy": {"onSuccess": {"policy": "DeleteWorkers"}, "onFailure": {"policy": "DeleteSelf"}}},
            workers_gone,
        ),
        (
            {
                "deletionStrategy": {
                    "deletionRules": [{"policy": "DeleteSelf", "condition": {"jobStatus": "SUCCEEDED"}}]
                }
            },
            rayjob_gone,
        ),
    ],
)
def test_it_is_over_when_kuberay_has_cleaned_up(make: Make, spec: dict[str, Any], goal: object) -> None:
    assert scenario_of(make(**spec)).goal is goal


def test_annotations_say_how_long_its_job_runs_and_how_it_ends(make: Make) -> None:
    [default] = scenario_of(make()).script
    [script] = scenario_of(make(annotations={"kuberay-e2e/duration": "2", "kuberay-e2e/end": "FAILED"})).script
    assert (default.duration, default.end) == (0.5, "SUCCEEDED")
    assert (script.duration, script.end) == (2.0, "FAILED")


@pytest.mark.parametrize(
    ("annotations", "sentence"),
    [
        ({"kuberay-e2e/duration": "soon"}, r"nightly.yaml:1: expected the annotation kuberay-e2e/duration .* 'soon'"),
        ({"kuberay-e2e/duration": "3600"}, "seconds from 0 to 30, got '3600'"),
        ({"kuberay-e2e/end": "STOPPED"}, "to be SUCCEEDED or FAILED, got 'STOPPED'"),
    ],
)
def test_annotations_of_another_form_are_refused(make: Make, annotations: dict[str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        scenario_of(make(annotations=annotations))


def test_a_rayjob_that_kuberay_would_refuse_is_refused_by_the_rule(make: Make) -> None:
    with pytest.raises(InputError, match="KubeRay would refuse this RayJob by rule J5"):
        scenario_of(make(ttlSecondsAfterFinished=5))


def test_an_object_that_no_run_can_have_of_its_own_is_refused(make: Make) -> None:
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x.y"}}
    with pytest.raises(
        InputError, match=r"cannot make the CustomResourceDefinition x.y for each run; it makes ConfigMap"
    ):
        scenario_of(make(crd))


def test_its_end_is_that_of_a_run_without_a_fault(make: Make) -> None:
    scenario = replace(scenario_of(make()), spec={"submissionMode": "HTTPMode"})
    found = settled(scenario, recorded(good(RETRIED)))
    assert found.expected == replace(RETRIED.expected, clusters=2, submitters=0)
    assert not found.learns
    assert settled(found, recorded(good())) is found


def test_runs_without_a_fault_that_do_not_end_alike_are_no_scenario(make: Make) -> None:
    scenario = scenario_of(make())
    runs = [recorded(good()), recorded(good(RETRIED))]
    with pytest.raises(HarnessError, match="nightly without a fault do not all come to the same end: attempts 1 and 2"):
        learned(scenario, runs)
    assert learned(scenario, runs[:1]).expected.attempts == 1


def test_a_sweep_keeps_it_with_what_it_learned(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    scenario = scenario_of(make())
    assert kept(folder) == []
    keep(folder, scenario)
    assert [(found.name, found.learns) for found in kept(folder)] == [("nightly", True)]
    keep(folder, replace(scenario, expected=Expected(failed=3), learns=False))
    keep(folder, scenario)
    [found] = kept(folder)
    assert (found.expected.failed, found.learns, found.manifest) == (3, False, scenario.manifest)


def test_a_sweep_does_not_mix_two_rayjobs_of_one_name(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    keep(folder, scenario_of(make()))
    with pytest.raises(InputError, match=r"has runs of another RayJob nightly. Choose another folder with --report"):
        keep(folder, scenario_of(make(backoffLimit=2)))


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "x.json").write_text("{}")
    with pytest.raises(InputError, match="to be a scenario that a sweep has kept"):
        kept(tmp_path)


def test_it_is_chosen_by_its_path_and_known_by_its_name(make: Make) -> None:
    [scenario] = catalogue.select([str(make())])
    assert catalogue.select(["nightly"]) == (scenario,)


def test_it_cannot_have_the_name_of_a_scenario_of_the_catalogue(make: Make) -> None:
    with pytest.raises(InputError, match="The RayJob http has the name of a scenario of the catalogue"):
        catalogue.register(replace(scenario_of(make()), name="http"))


def test_a_scenario_is_a_value(make: Make) -> None:
    scenario: Scenario = scenario_of(make())
    assert scenario == scenario_of(make())
