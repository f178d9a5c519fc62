"""A point is written as it is read, so that a report's line can be run again."""

import pytest

from kuberay_e2e.crash.point import Point, parse
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position


@pytest.mark.parametrize(
    "text",
    [
        "k8sjob",
        "k8sjob/create:Job#1@committed",
        "k8sjob/create:Pod~job-*-head-*#1@lost",
        "k8sjob/update:RayJob/status~job:jobDeploymentStatus=Complete#1@409",
        "k8sjob/update:RayJob~job:+ray.io/rayjob-finalizer#1@before+down=35",
        "http/submit:RayJobs#2@504",
        "delete-running/stop:RayJobs#1@after+down=2+again+delete+upgrade",
        "k8sjob/create:Job#1@before+failover",
        "k8sjob+upgrade",
        "http+failover",
    ],
)
def test_it_is_written_as_it_is_read(text: str) -> None:
    assert str(parse(text)) == text


def test_a_run_without_a_fault_has_only_a_scenario() -> None:
    assert parse("ttl") == Point("ttl")
    assert parse("ttl").fault() is None


def test_variants() -> None:
    point = parse("ttl/delete:RayCluster#1@committed+down=2.5+again")
    assert (point.down, point.again, point.delete) == (2.5, True, False)
    fault = point.fault()
    assert fault is not None and fault.position is Position.COMMITTED


@pytest.mark.parametrize(
    "text",
    ["", "k8sjob/", "/create:Job@lost", "k8sjob/create:Job@lost+never", "k8sjob/create:Job@lost+down", "k8sjob/x"],
)
def test_another_form_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="Expected a"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("k8sjob+again", "it names no write"),
        ("k8sjob/create:Job#1@lost+down=3", "at lost the operator lives on"),
        ("k8sjob/create:Job#1@409+delete", "at 409 the operator lives on"),
        ("k8sjob/create:Job#1@before+again+failover", "the standby goes on at once"),
    ],
)
def test_what_cannot_happen_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        parse(text)
