"""What drives a scenario waits, acts for its user and says what did not come about; whole runs are in tests/e2e."""

import time
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kuberay_e2e.crash import execution
from kuberay_e2e.crash.execution import Execution, Recorded
from kuberay_e2e.crash.manifest import raycluster
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.scenario import Act, Action, Scenario, ended, rayjob_gone, state
from kuberay_e2e.crash.slot import NAME
from kuberay_e2e.crash.user import UNMAKE
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.trace import Trace

HTTP = {"submissionMode": "HTTPMode"}


class Place:
    """A slot in which a RayJob goes from one status to the next whenever its user does something."""

    namespace = "run-1"
    gateway = SimpleNamespace(tampered=False)

    def __init__(self, *statuses: Mapping[str, Any]) -> None:
        self.trace = Trace()
        self.did: list[str] = []
        self.operators = SimpleNamespace(make=lambda *_, **__: self)
        self._statuses: Iterator[Mapping[str, Any]] = iter(statuses)
        self.running, self.doomed, self.incarnation = True, False, 1

    def start(self) -> None:
        self.did.append("start the operator")

    def check(self) -> None: ...

    def last_lines(self) -> str:
        return "the last line"

    def create(self, manifest: Mapping[str, Any]) -> str:
        self.did.append(f"create {manifest['metadata']['name']}")
        self._see("RayJob", NAME, "ADDED")
        return NAME

    def make(self, _: str, manifest: Mapping[str, Any]) -> None:
        self.did.append(f"make {manifest['metadata']['name']}")
        self._see(manifest["kind"], manifest["metadata"]["name"], "ADDED")

    def unmake(self, _: str, name: str) -> None:
        self.did.append(f"unmake {name}")
        self._see("RayCluster", name, "DELETED")

    def patch(self, change: Mapping[str, Any]) -> None:
        self.did.append(f"patch {change['spec']}")
        self._see("RayJob", NAME, "MODIFIED")

    def delete(self) -> None:
        self.did.append("delete")
        self._see("RayJob", NAME, "DELETED")

    def _see(self, kind: str, name: str, event: str) -> None:
        status = next(self._statuses, {}) if kind == "RayJob" else {}
        data = {"uid": name, "owners": [], "labels": {}, "deletion": "", "status": status}
        self.trace.add("object", object_kind=kind, name=name, event=event, **data)


STAGE: Any = SimpleNamespace(pace=1.0, workload=lambda manifest: manifest, ledger=lambda: ())


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SETTLE_SECONDS", "GONE_SETTLE_SECONDS"):
        monkeypatch.setattr(execution, name, 0.0)


def run(place: Any, scenario: Scenario) -> Recorded:
    return Execution(place, scenario, Point(scenario.name), STAGE).run()


def acts(recorded: Recorded) -> list[str]:
    return [event.data["event"] for event in recorded.events if event.kind == "user"]


def test_its_user_acts_in_order_and_the_rayjob_is_deleted_after_the_goal() -> None:
    place = Place({}, {"jobDeploymentStatus": "Suspended"}, {"jobDeploymentStatus": "Complete"})
    actions = (
        Action(Act.SUSPEND, state(jobDeploymentStatus="")),
        Action(Act.RESUME, state(jobDeploymentStatus="Suspended")),
    )
    recorded = run(place, Scenario("s", "Is suspended.", ended, HTTP, actions=actions))
    assert place.did == [
        "start the operator",
        "create job",
        "patch {'suspend': True}",
        "patch {'suspend': False}",
        "delete",
    ]
    assert recorded.unmet == ""
    assert acts(recorded) == ["create", "suspend", "resume"]


def test_its_user_waits_before_an_act() -> None:
    place = Place({})
    action = Action(Act.DELETE, state(jobDeploymentStatus=""), after=0.3)
    recorded = run(place, Scenario("s", "Is deleted.", rayjob_gone, actions=(action,)))
    assert recorded.spans["delete"] >= 0.3


def test_what_was_there_before_the_rayjob_is_deleted_after_it() -> None:
    place = Place({"jobDeploymentStatus": "Complete"})
    recorded = run(place, Scenario("s", "Selects.", ended, objects=(raycluster("shared"),)))
    assert place.did == ["start the operator", "make shared", "create job", "delete", "unmake shared"]
    assert acts(recorded) == ["create", UNMAKE]


@pytest.mark.parametrize(
    ("actions", "awaited"),
    [
        ((), "until the RayJob is Complete or Failed;"),
        (
            (Action(Act.RESUME, state(jobDeploymentStatus="Suspended")),),
            "until the status has jobDeploymentStatus Suspended, for its user to resume;",
        ),
    ],
)
def test_a_scenario_that_never_ends_says_what_it_waited_for(actions: tuple[Action, ...], awaited: str) -> None:
    scenario = Scenario("stuck", "Never ends.", ended, actions=actions, patience=0.2)
    with pytest.raises(HarnessError) as caught:
        run(Place({"jobDeploymentStatus": "Running"}), scenario)
    said = str(caught.value)
    assert said.startswith("The scenario stuck did not come to its end although nothing disturbed it: waited 0 s ")
    assert awaited in said
    assert "the RayJob is there, its last status {'jobDeploymentStatus': 'Running'}" in said
    assert said.endswith("The operator's last lines:\nthe last line")


def test_what_does_not_go_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "GONE_SECONDS", 0.2)
    place = Place({"jobDeploymentStatus": "Complete"})

    def leave() -> None:
        place._see("Pod", "left-behind", "ADDED")

    monkeypatch.setattr(place, "delete", leave)
    assert run(place, Scenario("s", "Leaves a pod.", ended)).unmet == (
        "not gone 0 s after the deletion: RayJob job, Pod left-behind"
    )


class Restless(Place):
    """A place in which something goes on for some seconds after the RayJob was made."""

    def __init__(self, seconds: float, kind: str, **data: str) -> None:
        super().__init__({"jobDeploymentStatus": "Complete"})
        self._until, self._kind, self._data = time.monotonic() + seconds, kind, data

    def check(self) -> None:
        if time.monotonic() < self._until:
            self.trace.add(self._kind, **self._data)


UPDATE = {"verb": "update", "resource": "rayclusters"}
LOOKING_AROUND = {"verb": "get", "resource": ""}
ASKING_RAY = {"verb": "get", "resource": "services"}
TELLING = {"verb": "patch", "resource": "events"}


@pytest.mark.parametrize(
    ("kind", "data", "waits"),
    [
        ("request", UPDATE, True),
        ("request", LOOKING_AROUND, True),
        ("request", ASKING_RAY, False),
        ("request", TELLING, False),
        ("watch", {}, True),
        ("response", {}, False),
    ],
)
def test_a_run_has_settled_once_nothing_goes_on(
    monkeypatch: pytest.MonkeyPatch, kind: str, data: Mapping[str, str], waits: bool
) -> None:
    """An operator that was killed at the goal is back and has written what there was to write."""
    monkeypatch.setattr(execution, "SETTLE_SECONDS", 0.1)
    recorded = run(Restless(0.5, kind, **data), Scenario("s", "Ends.", ended))
    assert (recorded.spans["settled"] >= 0.5) == waits


def test_it_is_not_waited_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "SETTLE_SECONDS", 0.1)
    monkeypatch.setattr(execution, "UNREST_SECONDS", 0.3)
    recorded = run(Restless(60, "request", **UPDATE), Scenario("s", "Ends.", ended))
    assert recorded.spans["settled"] < 5
