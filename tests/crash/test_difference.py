"""The end of a run is compared with that of runs without a fault, but for what differs between those."""

from typing import Any

import pytest

from kuberay_e2e.crash.difference import EndState, facts_of, normal
from kuberay_e2e.trace import Trace

NAMESPACE = "run-12ab34cd"


class Namespace:
    """What happened in a namespace with one RayJob."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.see("RayJob", "job", status={"jobId": "job-x2bcd", "jobStatus": "SUCCEEDED"})

    def see(self, kind: str, name: str, event: str = "MODIFIED", owner: str = "", **data: Any) -> None:
        known = {"owners": [owner] if owner else [], "labels": {}, "finalizers": [], "deletion": ""}
        identity = {"event": event, "object_kind": kind, "name": name, "uid": name, "namespace": NAMESPACE}
        self.trace.add("object", **{**identity, **known, **data})

    def facts(self) -> dict[str, Any]:
        return dict(facts_of(self.trace.events()))


def test_the_facts_of_an_object() -> None:
    namespace = Namespace()
    namespace.see("RayCluster", "job-x2bcd", owner="job")
    namespace.see(
        "Pod", "job-x2bcd-head-q9wzx", owner="job-x2bcd", labels={"ray.io/cluster": "job-x2bcd"}, phase="Running"
    )
    facts = namespace.facts()
    assert {subject: values for subject, values in facts.items() if subject.startswith("Pod")} == {
        "Pod job-*-head-*": ("there",),
        "Pod job-*-head-* owners": ("RayCluster job-*",),
        "Pod job-*-head-* finalizers": ("none",),
        "Pod job-*-head-* deletion": ("not asked for",),
        "Pod job-*-head-* phase": ("Running",),
        "Pod job-*-head-* label ray.io/cluster": ("job-*",),
    }
    assert facts["RayJob job status.jobId"] == ("job-*",)


def test_what_is_gone_is_no_fact() -> None:
    namespace = Namespace()
    namespace.see("Pod", "job-x2bcd", phase="Running")
    namespace.see("Pod", "job-x2bcd", "DELETED", phase="Running")
    assert not any(subject.startswith("Pod") for subject in namespace.facts())


@pytest.mark.parametrize("how", [{"deletion": "2026-01-01T00:00:45Z"}, {"event": "DELETED"}])
def test_the_end_is_before_the_rayjob_is_asked_to_go(how: dict[str, str]) -> None:
    namespace = Namespace()
    before = namespace.facts()
    namespace.see("RayJob", "job", **how)
    namespace.see("Pod", "late", phase="Running")
    assert namespace.facts() == before


def test_objects_of_one_normalised_name_are_counted() -> None:
    namespace = Namespace()
    namespace.see("Pod", "job-x2bcd", phase="Running")
    namespace.see("Pod", "job-q9wzx", phase="Failed")
    assert namespace.facts()["Pod job-* phase"] == ("Failed", "Running")


def test_status_is_compared_without_times_and_conditions_by_type() -> None:
    namespace = Namespace()
    condition = {"type": "HeadPodReady", "status": "True", "reason": "Running", "lastTransitionTime": "2026"}
    status = {
        "state": "ready",
        "lastUpdateTime": "2026",
        "endTime": "2026-01-01T00:00:45Z",
        "observedGeneration": 2,
        "ready": 0,
        "conditions": [condition],
        "head": {"podIP": "10.0.0.7", "serviceName": "job-x2bcd-head-svc"},
    }
    namespace.see("RayCluster", "job-x2bcd", status=status)
    prefix = "RayCluster job-* status"
    assert {subject: values for subject, values in namespace.facts().items() if subject.startswith(prefix)} == {
        f"{prefix}.state": ("ready",),
        f"{prefix}.conditions.HeadPodReady": ("True Running",),
        f"{prefix}.head.podIP": ("ADDRESS",),
        f"{prefix}.head.serviceName": ("job-*-head-svc",),
    }


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("job-x2bcd-head-svc.run-12ab34cd.svc.cluster.local:8265", "job-*-head-svc.NAMESPACE.svc.cluster.local:8265"),
        ("0b7a4b54-8b8e-4d0c-9a57-0f6f8b1c2d3e", "UID"),
        ("at 2026-01-01T00:00:45.123Z from 10.0.0.7", "at TIME from ADDRESS"),
        ("SUCCEEDED", "SUCCEEDED"),
    ],
)
def test_a_value_is_normalised(text: str, same: str) -> None:
    assert normal(text, NAMESPACE) == same


WITHOUT_A_FAULT = EndState.common(
    [
        {"Pod job-* phase": ("Running",), "Job job status.ready": ("1",), "RayJob job": ("there",)},
        {"Pod job-* phase": ("Running",), "RayJob job": ("there",)},
    ]
)


def test_what_differs_without_a_fault_is_left_out_by_name() -> None:
    assert (
        EndState({"Pod job-* phase": ("Running",), "RayJob job": ("there",)}, ("Job job status.ready",))
        == WITHOUT_A_FAULT
    )
    assert WITHOUT_A_FAULT.difference({**WITHOUT_A_FAULT.facts, "Job job status.ready": ("7",)}) == []


def test_every_difference_is_a_sentence() -> None:
    facts = {"Pod job-* phase": ("Running", "Running"), "Service other": ("there",)}
    assert WITHOUT_A_FAULT.difference(facts) == [
        "Pod job-* phase: 2 times 'Running' instead of 'Running'",
        "RayJob job: nothing instead of 'there'",
        "Service other: 'there' instead of nothing",
    ]


def test_end_states_that_were_learned_apart_come_together() -> None:
    other = EndState({"Pod job-* phase": ("Pending",), "RayJob job": ("there",)}, ("Service job-svc",))
    merged = EndState.merged([WITHOUT_A_FAULT, EndState(), other])
    assert merged == EndState(
        {"RayJob job": ("there",)}, ("Job job status.ready", "Pod job-* phase", "Service job-svc")
    )
    assert EndState.merged([EndState()]) == EndState()
