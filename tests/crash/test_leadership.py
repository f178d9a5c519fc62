"""Who leads is told from the Lease, and a write beside the leader is found."""

from kuberay_e2e.crash.leadership import leader, writes_beside_the_leader
from kuberay_e2e.trace import Trace


class Replicas:
    """Two operators, as the gateway records them."""

    def __init__(self) -> None:
        self.trace = Trace()

    def lease(self, incarnation: int, verb: str = "update", status: int = 200) -> None:
        asked = self.trace.add("request", incarnation=incarnation, verb=verb, resource="leases", path="/l")
        self.trace.add("response", of=asked.sequence, status=status, delivered=True)

    def write(self, incarnation: int, **data: str) -> None:
        self.trace.add(
            "request", incarnation=incarnation, verb="create", resource="jobs", path="/j", write="create:Job#1", **data
        )

    def wrong(self) -> list[str]:
        return writes_beside_the_leader(self.trace.events())


def test_the_last_who_wrote_the_lease_leads() -> None:
    replicas = Replicas()
    assert leader(replicas.trace.events()) is None
    replicas.lease(1, "create", 201)
    replicas.lease(2, "get")
    assert leader(replicas.trace.events()) == 1
    replicas.lease(2)
    assert leader(replicas.trace.events()) == 2


def test_a_lease_that_was_refused_changes_nothing() -> None:
    replicas = Replicas()
    replicas.lease(1, "create", 201)
    replicas.lease(2, "update", 409)
    assert leader(replicas.trace.events()) == 1


def test_the_leader_writes_and_after_the_takeover_the_other() -> None:
    replicas = Replicas()
    replicas.lease(1, "create", 201)
    replicas.write(1)
    replicas.lease(2)
    replicas.write(2)
    assert replicas.wrong() == []


def test_a_standby_that_writes_is_found() -> None:
    replicas = Replicas()
    replicas.lease(1, "create", 201)
    replicas.write(2)
    assert replicas.wrong() == ["create:Job#1 by 2 under [1]"]


def test_a_leader_that_writes_after_the_takeover_is_found() -> None:
    replicas = Replicas()
    replicas.lease(1, "create", 201)
    replicas.lease(2)
    replicas.write(1)
    replicas.write(1, refused="the incarnation is dead")
    assert replicas.wrong() == ["create:Job#1 by 1 under [2]"]


def test_without_a_lease_nobody_leads_and_nothing_is_wrong() -> None:
    replicas = Replicas()
    replicas.write(1)
    assert replicas.wrong() == []
