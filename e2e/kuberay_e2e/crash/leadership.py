"""Who leads among the operators of a run, told from the Lease that they write: pure functions over a trace."""

from collections.abc import Sequence

from kuberay_e2e.trace import Event

ENDED = "ended"
"""What the trace says of an operator that ended although nobody killed or stopped it."""

_WRITES = ("create", "update", "patch")


def leader(events: Sequence[Event]) -> int | None:
    """The incarnation that wrote the Lease last; None before the first."""
    written = _leases(events)
    return written[-1][1] if written else None


def writes_beside_the_leader(events: Sequence[Event]) -> list[str]:
    """Writes that were forwarded for an operator that did not hold the Lease, in a run whose operators elect a leader.

    An operator is the leader from the moment the API server stored its first write of the Lease until another has
    written it. One that was killed stays the leader so long, and writes nothing.
    """
    leases = _leases(events)
    if not leases:
        return []
    wrong = []
    for event in events:
        if event.kind != "request" or "write" not in event.data or "refused" in event.data:
            continue
        holders = [incarnation for position, incarnation in leases if position < event.sequence]
        if not holders or holders[-1] != event.data["incarnation"]:
            wrong.append(f"{event.data['write']} by {event.data['incarnation']} under {holders[-1:] or 'nobody'}")
    return wrong


def _leases(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Position in the trace and incarnation of each write of the Lease that was stored."""
    asked = {
        event.sequence: int(event.data["incarnation"])
        for event in events
        if event.kind == "request" and event.data.get("resource") == "leases" and event.data["verb"] in _WRITES
    }
    return [
        (event.sequence, asked[event.data["of"]])
        for event in events
        if event.kind == "response" and event.data["of"] in asked and 200 <= int(event.data["status"]) < 300
    ]
