"""The oracles of what the API server has acknowledged: it is stored, or it is gone."""

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.gateway.identity import kind_of, pruned
from kuberay_e2e.observer import WATCHED
from kuberay_e2e.trace import Event
from kuberay_e2e.verdicts import Finding

_GOES_SECONDS = 2.0
"""Seconds after the answer within which a deletion is seen: the API server marks or removes the object first."""

_LAG_SECONDS = 10.0
"""The same where the record shows no object in between, since the whole machine stood still."""

_SEEN_SECONDS = 0.5
"""Seconds after the answer within which what was written is seen by the watches of the record."""


def writes_are_stored(evidence: Evidence) -> Finding:
    """Every write that was answered with success is seen stored in the version of the answer, with what was written.

    The removal of the last finalizer of an object that is being deleted is stored by the object's end. What is answered
    just before the record ends may not have been seen yet.
    """
    end = max((event.time for event in evidence.recorded.events), default=0.0) - _SEEN_SECONDS
    versions = {
        (event.data["uid"], event.data.get("resource_version", "")): event.data
        for event in evidence.recorded.events
        if event.kind == "object"
    }
    lost, count = [], 0
    for request, response in _answered(evidence, {"create", "update", "patch"}):
        if response.data.get("object_kind") not in WATCHED:
            continue
        version = versions.get((response.data["uid"], response.data["resource_version"]))
        releases = _releases(request.data)
        if version is None and response.time > end and not releases:
            continue
        count += 1
        if releases:
            if not _gone(evidence, response, _latest(evidence, request, response)):
                lost.append(f"{request.data['write']} does not let it go")
        elif version is None:
            lost.append(f"{request.data['write']} is not stored")
        elif why := _differs(request.data, version):
            lost.append(f"{request.data['write']} is stored with another {why}")
    return Finding("what is acknowledged is stored", not lost, "; ".join(lost) or f"{count} writes")


def deletions_are_kept(evidence: Evidence) -> Finding:
    """What the API server said it deleted is going or gone right after its answer."""
    lost, count = [], 0
    for request, response in _answered(evidence, {"delete"}):
        kind = kind_of(str(request.data["resource"]))
        if kind in WATCHED:
            count += 1
            if not _goes(evidence, kind, str(request.data["name"]), request, _latest(evidence, request, response)):
                lost.append(f"{kind} {request.data['name']}")
    expected = f"to be gone or going {_GOES_SECONDS:.0f} s after the answer"
    return Finding("deletions are kept", not lost, ", ".join(lost) or f"{count} deletions", expected)


def _answered(evidence: Evidence, verbs: set[str]) -> Iterator[tuple[Event, Event]]:
    """The operator's writes that were answered with success, whether it got the answer or not."""
    asked = {
        event.sequence: event
        for event in evidence.recorded.events
        if event.kind == "request" and event.data["verb"] in verbs and "write" in event.data
    }
    for event in evidence.recorded.events:
        if event.kind == "response" and event.data["of"] in asked and event.data["status"] < 300:
            yield asked[event.data["of"]], event


def _releases(request: Mapping[str, Any]) -> bool:
    meta = (request.get("body") or {}).get("metadata") or {}
    return request["verb"] == "update" and "deletionTimestamp" in meta and not meta.get("finalizers")


def _latest(evidence: Evidence, request: Event, response: Event) -> float:
    """Until when something is to be seen: what comes first after the answer, and was asked for once, may be late."""
    for event in evidence.recorded.events:
        if event.sequence <= response.sequence:
            continue
        if event.kind == "object":
            return max(response.time + _GOES_SECONDS, min(event.time, response.time + _LAG_SECONDS))
        if event.kind == "request" and (event.data["verb"], event.data.get("resource"), event.data.get("name")) == (
            request.data["verb"],
            request.data["resource"],
            request.data["name"],
        ):
            break
    return response.time + _GOES_SECONDS


def _gone(evidence: Evidence, response: Event, until: float) -> bool:
    """Whether the object of an answer is seen to end right after it."""
    return any(
        event.kind == "object"
        and event.data["event"] == "DELETED"
        and event.data["uid"] == response.data["uid"]
        and event.time <= until
        for event in evidence.recorded.events
    )


def _differs(request: Mapping[str, Any], version: Mapping[str, Any]) -> str:
    """What is stored otherwise than it was written, where the trace has both: status fields, or the finalizers."""
    body = request.get("body")
    if not isinstance(body, Mapping) or "metadata" not in body:
        return ""
    if request.get("subresource") != "status":
        written = body["metadata"].get("finalizers") or ()
        return "list of finalizers" if list(written) != list(version.get("finalizers") or ()) else ""
    written, stored = body.get("status") or {}, version.get("status") or {}
    differing = (field for field in {*written, *stored} if pruned(written.get(field)) != pruned(stored.get(field)))
    return ", ".join(sorted(differing))


def _goes(evidence: Evidence, kind: str, name: str, asked: Event, until: float) -> bool:
    uid, before = "", True
    for event in evidence.recorded.events:
        before = before and event.sequence < asked.sequence
        if event.kind != "object" or (event.data["object_kind"], event.data["name"]) != (kind, name):
            continue
        going = event.data["event"] == "DELETED" or bool(event.data["deletion"])
        if before:
            uid = "" if event.data["event"] == "DELETED" else event.data["uid"]
        if going and event.time <= until and event.data["uid"] == (uid or event.data["uid"]):
            return True
    return False
