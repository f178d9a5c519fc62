"""A write is known by what it does, not by its random names nor by its place among the others."""

from typing import Any

import pytest

from kuberay_e2e.gateway.identity import Identifier, normalise, random_part, stem
from kuberay_e2e.gateway.objects import decode
from kuberay_e2e.gateway.requests import ApiRequest


def rayjob(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "counter"}, "status": status}


STATUS = ApiRequest("update", "ray.io", "v1", "rayjobs", "n", "counter", "status")


@pytest.mark.parametrize(
    ("name", "normalised"),
    [
        ("counter-x2bcd", "counter-*"),
        ("counter-x2bcd-head-svc", "counter-*-head-svc"),
        ("counter-x2bcd-head-q9wzx", "counter-*-head-*"),
        ("counter", "counter"),
        ("my-words-are-words", "my-words-are-words"),
    ],
)
def test_random_parts_of_names(name: str, normalised: str) -> None:
    assert normalise(name) == normalised


def test_the_stem_of_a_name_has_no_random_part_at_its_end() -> None:
    assert [stem(name) for name in ("counter-x2bcd", "counter", "counter-x2bcd-head")] == [
        "counter",
        "counter",
        "counter-x2bcd-head",
    ]


def test_a_random_part_is_recognised_as_one() -> None:
    assert normalise(f"counter-{random_part(max)}") == normalise(f"counter-{random_part(min)}") == "counter-*"


def test_status_write_is_known_by_the_state_it_reaches() -> None:
    identifier = Identifier()
    first = identifier.identify(STATUS, None, rayjob(jobDeploymentStatus="Initializing", jobId="counter-abcde"))
    assert str(first) == "update:RayJob/status:jobDeploymentStatus=Initializing#1"


def test_a_status_write_that_changes_only_details_names_them() -> None:
    identifier = Identifier()
    identifier.learn(STATUS, rayjob(jobDeploymentStatus="Initializing"))
    write = identifier.identify(STATUS, None, rayjob(jobDeploymentStatus="Initializing", rayClusterStatus={"a": 1}))
    assert write.change == "rayClusterStatus"


def test_the_same_write_again_is_its_next_occurrence() -> None:
    identifier = Identifier()
    create = ApiRequest("create", "", "v1", "pods", "n")
    one, _ = decode(b'{"kind":"Pod","metadata":{"generateName":"counter-x2bcd-workers-worker-"}}')
    two, _ = decode(b'{"kind":"Pod","metadata":{"generateName":"counter-z4wqk-workers-worker-"}}')
    assert identifier.identify(create, one, None).occurrence == 1
    again = identifier.identify(create, two, None)
    assert (again.name, again.occurrence) == ("counter-*-workers-worker-*", 2)


def test_finalizers_that_come_and_go() -> None:
    identifier = Identifier()
    update = ApiRequest("update", "ray.io", "v1", "rayjobs", "n", "counter")
    bare: dict[str, Any] = {"metadata": {"name": "counter"}, "spec": {}}
    held: dict[str, Any] = {"metadata": {"name": "counter", "finalizers": ["ray.io/rayjob-finalizer"]}, "spec": {}}
    identifier.learn(update, bare)
    assert identifier.identify(update, None, held).change == "+ray.io/rayjob-finalizer"
    identifier.learn(update, held)
    assert identifier.identify(update, None, bare).change == "-ray.io/rayjob-finalizer"


def test_how_a_deletion_went_is_not_taken_for_the_object() -> None:
    identifier = Identifier()
    delete = ApiRequest("delete", "ray.io", "v1", "rayjobs", "n", "counter")
    identifier.learn(STATUS, rayjob(jobDeploymentStatus="Complete"))
    identifier.learn(delete, {"kind": "Status", "metadata": {}, "status": "Success", "details": {"name": "counter"}})
    again = identifier.identify(STATUS, None, rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED"))
    assert again.change == "jobStatus=SUCCEEDED"
