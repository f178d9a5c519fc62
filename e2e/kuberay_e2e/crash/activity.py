"""Whether anything still goes on in a run."""

import time

from kuberay_e2e.trace import Event, Trace

_OWN = frozenset({"object", "operator", "fault", "watch"})
"""Kinds of events each of which is something going on."""

_ASIDE = frozenset({"events", "leases"})
"""What an operator goes on writing when it has nothing to do."""


class Activity:
    """Notes when something last went on: an object changed, the operator came, went, looked around or wrote.

    What it asks Ray while a job runs is none, nor are its Kubernetes events and its Lease.

    Args:
        trace: The trace of one run.
    """

    def __init__(self, trace: Trace) -> None:
        self._last = time.monotonic()
        trace.listen(self._see)

    @property
    def quiet(self) -> float:
        """Seconds since something went on."""
        return time.monotonic() - self._last

    def _see(self, event: Event) -> None:
        if event.kind in _OWN or (event.kind == "request" and _does(event)):
            self._last = time.monotonic()


def _does(event: Event) -> bool:
    resource = event.data.get("resource", "")
    return resource not in _ASIDE and (event.data["verb"] != "get" or not resource)
