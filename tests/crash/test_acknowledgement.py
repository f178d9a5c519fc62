"""What the API server has acknowledged is stored or gone; where it is not, that is found."""

from typing import Any

import pytest

from kuberay_e2e.crash.acknowledgement import deletions_are_kept, writes_are_stored
from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.point import Point
from kuberay_e2e.trace import Trace
from tests.crash.recorded import HTTP


class Writes:
    """Writes of an operator, their answers and what was seen stored, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.trace = Trace(clock=lambda: self.now)

    def ask(self, verb: str, status: int = 200, version: str = "7", **data: Any) -> None:
        request = {"verb": verb, "resource": "rayjobs", "name": "job", "write": f"{verb}:RayJob#1"}
        asked = self.trace.add("request", **{**request, **data})
        self.trace.add(
            "response", of=asked.sequence, status=status, object_kind="RayJob", uid="job", resource_version=version
        )

    def see(self, event: str = "MODIFIED", version: str = "7", deletion: str = "", **data: Any) -> None:
        identity = {"event": event, "object_kind": "RayJob", "name": "job", "uid": "job", "owners": []}
        self.trace.add("object", **{**identity, "resource_version": version, "deletion": deletion, **data})

    def later(self, seconds: float, meanwhile: str = "nothing") -> None:
        """Let time pass in which nothing is seen, something else is, or the operator asks for the same again."""
        self.now += seconds / 2
        if meanwhile == "another object":
            self.see(uid="other", object_kind="Pod", name="other")
        if meanwhile == "asked again":
            self.trace.add("request", verb="delete", resource="rayjobs", name="job", write="delete:RayJob#2")
            self.trace.add("request", verb="update", resource="rayjobs", name="job", write="update:RayJob#2")
        self.now += seconds / 2

    @property
    def evidence(self) -> Evidence:
        return Evidence.of(HTTP, Recorded(Point("http"), "job", tuple(self.trace.events()), (), "", True, 1.0))


def test_a_write_that_is_stored() -> None:
    writes = Writes()
    writes.ask("create")
    writes.see("ADDED")
    finding = writes_are_stored(writes.evidence)
    assert (finding.held, finding.seen) == (True, "1 writes")


def test_a_write_that_is_not_stored() -> None:
    writes = Writes()
    writes.ask("create", version="8")
    writes.now += 1.0
    writes.see("ADDED")
    finding = writes_are_stored(writes.evidence)
    assert (finding.held, finding.seen) == (False, "create:RayJob#1 is not stored")


def test_a_write_just_before_the_record_ends_may_not_have_been_seen() -> None:
    writes = Writes()
    writes.ask("create")
    writes.see("ADDED")
    writes.now += 1.0
    writes.ask("create", version="9")
    finding = writes_are_stored(writes.evidence)
    assert (finding.held, finding.seen) == (True, "1 writes")


def test_a_write_that_was_refused_need_not_be_stored() -> None:
    writes = Writes()
    writes.ask("create", status=409, version="8")
    assert writes_are_stored(writes.evidence).held


def test_a_status_that_is_stored_with_other_values() -> None:
    writes = Writes()
    body = {"metadata": {}, "status": {"jobStatus": "RUNNING", "jobId": "a", "failed": 0}}
    writes.ask("update", subresource="status", body=body)
    writes.see(status={"jobStatus": "PENDING", "jobId": "a"})
    finding = writes_are_stored(writes.evidence)
    assert (finding.held, finding.seen) == (False, "update:RayJob#1 is stored with another jobStatus")


@pytest.mark.parametrize("stored", [[], ["ray.io/rayjob-finalizer"]])
def test_the_removal_of_a_finalizer_has_to_be_stored(stored: list[str]) -> None:
    writes = Writes()
    writes.ask("update", body={"metadata": {"name": "job"}})
    writes.see(finalizers=stored)
    assert writes_are_stored(writes.evidence).held is not bool(stored)


LATENESS = pytest.mark.parametrize(
    ("seconds", "meanwhile", "kept"),
    [
        (1.0, "another object", True),
        (3.0, "another object", False),
        (1.0, "asked again", True),
        (3.0, "asked again", False),
        (3.0, "nothing", True),
        (11.0, "nothing", False),
    ],
)
"""A machine that stood still for seconds has seen nothing at all meanwhile."""


@LATENESS
def test_what_loses_its_last_finalizer_while_it_is_deleted_ends(seconds: float, meanwhile: str, kept: bool) -> None:
    writes = Writes()
    writes.see("ADDED", version="6", finalizers=["ray.io/rayjob-finalizer"])
    writes.ask("update", version="6", body={"metadata": {"deletionTimestamp": "2026-01-01T00:00:45Z"}})
    assert not writes_are_stored(writes.evidence).held
    writes.later(seconds, meanwhile)
    writes.see("DELETED", version="8")
    assert writes_are_stored(writes.evidence).held is kept


def test_what_nobody_watches_is_not_asked_for() -> None:
    writes = Writes()
    asked = writes.trace.add("request", verb="create", resource="roles", name="r", write="create:Role#1")
    writes.trace.add("response", of=asked.sequence, status=201, object_kind="Role", uid="r", resource_version="9")
    assert writes_are_stored(writes.evidence).held


@pytest.mark.parametrize("how", [{"event": "DELETED"}, {"deletion": "2026-01-01T00:00:45Z"}])
@LATENESS
def test_a_deletion_is_seen_right_after_its_answer(
    how: dict[str, str], seconds: float, meanwhile: str, kept: bool
) -> None:
    writes = Writes()
    writes.see("ADDED")
    writes.ask("delete")
    writes.later(seconds, meanwhile)
    writes.see(**how)
    assert deletions_are_kept(writes.evidence).held is kept


def test_a_deletion_that_never_comes() -> None:
    writes = Writes()
    writes.see("ADDED")
    writes.ask("delete")
    finding = deletions_are_kept(writes.evidence)
    assert (finding.held, finding.seen) == (False, "RayJob job")


def test_the_deletion_of_another_object_of_the_name_does_not_count() -> None:
    writes = Writes()
    writes.see("ADDED", uid="first")
    writes.ask("delete")
    writes.see("DELETED", uid="second")
    assert not deletions_are_kept(writes.evidence).held


def test_what_goes_already_may_be_deleted_again() -> None:
    writes = Writes()
    writes.see(deletion="2026-01-01T00:00:45Z")
    writes.ask("delete")
    assert deletions_are_kept(writes.evidence).held


def test_a_deletion_that_was_refused_need_not_come() -> None:
    writes = Writes()
    writes.see("ADDED")
    writes.ask("delete", status=404)
    assert deletions_are_kept(writes.evidence).held
