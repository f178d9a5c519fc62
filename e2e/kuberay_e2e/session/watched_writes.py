"""The operator's writes as a watch shows them: what is known of them where no gateway sees the requests.

A watch shows each version of an object, not who wrote it. A write is taken for the operator's where nobody else makes
it in the life of a RayJob: objects that a RayJob or RayCluster owns, and the status and the finalizers of those two.
Not visible are the operator's calls to Ray, writes that change nothing or that were refused, and writes to kinds that
are not watched.
"""

from collections.abc import Mapping
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Fault, Position, WriteIdentity
from kuberay_e2e.gateway.identity import Identifier
from kuberay_e2e.gateway.requests import ApiRequest
from kuberay_e2e.observer import WATCHED
from kuberay_e2e.trace import Event

_OWNERS = {"RayJob", "RayCluster"}
_RESOURCES = {kind: plural for kind, (_, plural) in WATCHED.items()}

_SEEN = {
    ("create", ""): set(WATCHED) - {"RayJob"},
    ("delete", ""): set(WATCHED) - {"RayJob", "Service"},
    ("update", ""): _OWNERS,
    ("update", "status"): _OWNERS,
}
"""Kinds whose writes are seen, by verb and subresource."""


class WatchedWrites:
    """Turns `object` events of a trace, in their order, into writes of the operator."""

    def __init__(self) -> None:
        self._identifier = Identifier()
        self._known: dict[str, Mapping[str, Any]] = {}

    def of(self, event: Event) -> list[WriteIdentity]:
        """The writes that an event shows; none for events of another kind."""
        if event.kind != "object":
            return []
        after = event.data
        before = self._known.get(after["uid"])
        self._known[after["uid"]] = after
        found = [self._identify(verb, subresource, after) for verb, subresource in self._changes(before, after)]
        self._identifier.learn(_request("get", "", after), _object(after))
        return found

    def _changes(self, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> list[tuple[str, str]]:
        kind = after["object_kind"]
        if before is None:
            return [("create", "")] if _OWNERS & set(after["owner_kinds"]) and after["event"] != "DELETED" else []
        found = []
        if kind in _OWNERS and before["finalizers"] != after["finalizers"]:
            found.append(("update", ""))
        if kind in _OWNERS and before.get("status") != after.get("status"):
            found.append(("update", "status"))
        if self._deleted(before, after):
            found.append(("delete", ""))
        return found

    def _deleted(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
        """True where the operator asked for a deletion, and not the garbage collector after that of an owner."""
        if after["object_kind"] not in _SEEN["delete", ""] or not _OWNERS & set(after["owner_kinds"]):
            return False
        owners = [self._known[uid] for uid in after["owners"] if uid in self._known]
        if any(owner["deletion"] or owner["event"] == "DELETED" for owner in owners):
            return False
        began = bool(after["deletion"]) or after["event"] == "DELETED"
        return began and not before["deletion"]

    def _identify(self, verb: str, subresource: str, data: Mapping[str, Any]) -> WriteIdentity:
        return self._identifier.identify(_request(verb, subresource, data), None, _object(data))


def check(fault: Fault) -> None:
    """Refuse a fault whose write or position a watch cannot show.

    Raises:
        InputError: It cannot be seen.
    """
    write = fault.write
    if fault.position is not Position.AFTER:
        raise InputError(
            f"The operator runs in a pod and is killed when a watch shows its write, so {fault} can only be "
            f"{write}@{Position.AFTER}. Use that, or --operator local, whose requests pass the gateway."
        )
    kinds = _SEEN.get((write.verb, write.subresource), set())
    if write.kind not in kinds:
        known = "; ".join(
            f"{verb}:KIND{'/' + subresource if subresource else ''} of {', '.join(sorted(kinds))}"
            for (verb, subresource), kinds in _SEEN.items()
        )
        raise InputError(
            f"The operator runs in a pod and is killed when a watch shows its write, which does not show {write}; it "
            f"shows {known}. Use one of these, or --operator local, whose requests pass the gateway."
        )


def _request(verb: str, subresource: str, data: Mapping[str, Any]) -> ApiRequest:
    return ApiRequest(
        verb,
        resource=_RESOURCES[data["object_kind"]],
        namespace=data["namespace"],
        name=data["name"],
        subresource=subresource,
    )


def _object(data: Mapping[str, Any]) -> dict[str, Any]:
    meta = {"name": data["name"], "uid": data["uid"], "finalizers": data["finalizers"]}
    return {"metadata": meta, "status": data.get("status") or {}}
