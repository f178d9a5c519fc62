"""The oracles of what goes, what stays and when: cleanup after the end, and suspension."""

from collections.abc import Iterator

from kuberay_e2e.clusters.stages import RAY_NODE_TYPE
from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.crash.user import UNMAKE
from kuberay_e2e.lifecycle.invariants import TTL_BUFFER, parse_time
from kuberay_e2e.trace import Event
from kuberay_e2e.verdicts import Finding

_SCHEDULING = 3.0
"""Seconds that something may come late, beside twice the longest that the API server took to answer in the run."""

_RESYNC = 3.0
"""Seconds after which KubeRay looks at a RayJob again (RayJobDefaultRequeueDuration)."""

_WATCH = 0.5
"""Seconds by which events of different kinds may be out of order: each kind has a watch of its own."""

_NEVER = float("inf")


def ttl_kept(evidence: Evidence) -> Finding:
    """Workers, RayCluster and RayJob go at endTime + their TTL, or as soon as the operator is back.

    Not a moment before: KubeRay reckons with the endTime that is stored, which is cut to whole seconds.
    """
    name, cleanup, end = "the TTL is kept", evidence.scenario.cleanup, _end(evidence)
    ttls = {"workers": cleanup.workers, "RayCluster": cleanup.cluster, "RayJob": cleanup.rayjob}
    held, seen, wanted = True, [], []
    for what, ttl in ttls.items():
        if ttl is None:
            continue
        if end is None:
            return Finding(name, False, "endTime was never written")
        due, asked = end + ttl, _asked(evidence)
        first, last = _going(evidence, what)
        latest = _latest(evidence, due, first)
        early = first < (due if what == "RayJob" else min(due, asked))
        late = asked >= due and min(last, asked) > latest
        held = held and not early and not late
        seen.append(f"{what} {_after(first, end)}" + (", with the RayJob" if asked < due else ""))
        wanted.append(f"{what} {ttl:g} s to {latest - end:.0f} s")
    return Finding(name, held, ", ".join(seen) or "none is set", ", ".join(wanted))


def stays(evidence: Evidence) -> Finding:
    """What has no TTL stays until its user deletes the RayJob, and a RayCluster that was selected stays after that."""
    cleanup, end, asked = evidence.scenario.cleanup, _end(evidence), _asked(evidence)
    lost = []
    if cleanup.rayjob is None and any(_self_deletions(evidence)):
        lost.append("KubeRay deletes the RayJob")
    if cleanup.cluster is None and end is not None:
        first, _ = _going(evidence, "RayCluster")
        if first < asked:
            lost.append(f"the RayCluster is gone {_after(first, end)}")
        elif cleanup.workers is None and _workers(evidence, end) and not _workers(evidence, asked):
            lost.append("no worker is left")
    lost += _lost_selected(evidence)
    return Finding("what is to stay stays", not lost, "; ".join(lost) or "it does")


def nothing_while_suspended(evidence: Evidence) -> Finding:
    """While a RayJob is Suspended it has no RayCluster and no submitter Job; its pods go with the RayCluster."""
    found = []
    for begin, until in _suspensions(evidence):
        for event in evidence.recording.owned:
            data = event.data
            if data["object_kind"] not in ("RayCluster", "Job") or data["event"] != "ADDED":
                continue
            ends = (e.time for e in evidence.recording.deleted(data["object_kind"]) if e.data["uid"] == data["uid"])
            shared = min(until, next(ends, _NEVER)) - max(begin, event.time)
            if shared > _WATCH:
                found.append(f"{data['object_kind']} {data['name']}")
    return Finding("nothing runs while it is Suspended", not found, ", ".join(found) or "nothing does")


def _end(evidence: Evidence) -> float | None:
    times = evidence.recording.values("endTime")
    return parse_time(times[-1]) if times else None


def _asked(evidence: Evidence) -> float:
    """When the RayJob was first seen to be deleted."""
    return next(
        (e.time for e in evidence.recording.rayjob if e.data["deletion"] or e.data["event"] == "DELETED"), _NEVER
    )


def _going(evidence: Evidence, what: str) -> tuple[float, float]:
    """When, after the end, the first and the last of something were seen to go.

    Workers are gone with their RayCluster: when the garbage collector deletes their pods is not KubeRay's affair.
    """
    if what == "RayJob":
        return min(_self_deletions(evidence), default=_NEVER), _asked(evidence)
    end = _end(evidence) or 0.0
    clusters = [event.time for event in evidence.recording.deleted("RayCluster") if event.time >= end]
    times = clusters
    if what == "workers":
        pods = [event for event in evidence.recording.deleted("Pod") if event.time >= end]
        workers = [event.time for event in pods if event.data["labels"].get(RAY_NODE_TYPE) == "worker"]
        times = [min([time, *clusters]) for time in workers]
    return min(times, default=_NEVER), max(times, default=_NEVER)


def _latest(evidence: Evidence, due: float, gone: float) -> float:
    """When something that is due, or its RayJob, has to go: counted from when the operator last came back before."""
    back = max([due, *(time for time in _returns(evidence) if time < gone)])
    return back + TTL_BUFFER + _RESYNC + _SCHEDULING + 2 * _slowness(evidence)


def _slowness(evidence: Evidence) -> float:
    """The longest that the API server took to answer the operator, seconds: it tells how loaded the machine was."""
    asked = {event.sequence: event.time for event in evidence.recorded.events if event.kind == "request"}
    answers = [event for event in evidence.recorded.events if event.kind == "response" and event.data["of"] in asked]
    return max((event.time - asked[event.data["of"]] for event in answers), default=0.0)


def _returns(evidence: Evidence) -> Iterator[float]:
    """When each life of the operator began to watch RayJobs, or was started where that is not known."""
    watches: dict[int, float] = {}
    for event in evidence.recorded.events:
        if event.kind == "request" and (event.data["verb"], event.data.get("resource")) == ("watch", "rayjobs"):
            watches.setdefault(event.data["incarnation"], event.time)
    for event in evidence.recorded.events:
        if event.kind == "operator" and event.data["event"] == "started":
            yield watches.get(event.data["incarnation"], event.time)


def _self_deletions(evidence: Evidence) -> Iterator[float]:
    """When the operator asked for the deletion of the RayJob."""
    for event in evidence.recorded.events:
        data = event.data
        if event.kind == "request" and (data["verb"], data.get("resource")) == ("delete", "rayjobs"):
            yield event.time


def _workers(evidence: Evidence, time: float) -> int:
    """How many worker pods there were at a time."""
    last: dict[str, str] = {}
    for event in evidence.recording.owned:
        worker = event.data["object_kind"] == "Pod" and event.data["labels"].get(RAY_NODE_TYPE) == "worker"
        if worker and event.time <= time:
            last[event.data["uid"]] = event.data["event"]
    return sum(event != "DELETED" for event in last.values())


def _lost_selected(evidence: Evidence) -> list[str]:
    """RayClusters that the RayJob does not own and that went before their user deleted them."""
    owned = {event.data["uid"] for event in evidence.recording.owned}
    lost = {}
    for event in evidence.recorded.events:
        if event.kind == "user" and event.data["event"] == UNMAKE:
            break
        going = event.kind == "object" and (event.data["deletion"] or event.data["event"] == "DELETED")
        if going and event.data["object_kind"] == "RayCluster" and event.data["uid"] not in owned:
            lost[event.data["uid"]] = f"the selected RayCluster {event.data['name']} is deleted"
    return list(lost.values())


def _suspensions(evidence: Evidence) -> Iterator[tuple[float, float]]:
    """From when to when the RayJob was Suspended."""
    begin: Event | None = None
    for event in evidence.recording.rayjob:
        suspended = (event.data.get("status") or {}).get("jobDeploymentStatus") == "Suspended"
        if suspended and begin is None:
            begin = event
        elif begin is not None and not suspended:
            yield begin.time, event.time
            begin = None


def _after(time: float, end: float) -> str:
    return "never gone" if time == _NEVER else f"gone {time - end:.1f} s after endTime"
