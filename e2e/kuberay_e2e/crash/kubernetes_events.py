"""The oracle of the Kubernetes Events that the operator records: they tell what happened."""

import re
from collections import Counter

from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.verdicts import Finding

_REASON = re.compile(r"(?P<what>Created|Deleted)(?P<kind>RayCluster|RayJobSubmitter|HeadPod|WorkerPod|Service)")
_KINDS = {"RayJobSubmitter": "Job", "HeadPod": "Pod", "WorkerPod": "Pod"}
_OBJECT = re.compile(r"(?P<word>\w+) [a-z0-9-]+/(?P<name>[a-z0-9.-]+)")
"""Where a message names an object: a word for its kind, and NAMESPACE/NAME. Some messages name an owner instead: of
the pods of a suspended worker group that are deleted the RayCluster (reconcilePods in raycluster_controller.go)."""

_WORDS = {"raycluster": "RayCluster", "cluster": "RayCluster", "job": "Job", "pod": "Pod", "service": "Service"}


def events_tell_what_happened(evidence: Evidence) -> Finding:
    """An Event of a creation or deletion names an object that was created or deleted, each creation once at most."""
    made: Counter[tuple[str, str]] = Counter()
    gone: set[tuple[str, str]] = set()
    for event in evidence.recorded.events:
        if event.kind == "object":
            key = (str(event.data["object_kind"]), str(event.data["name"]))
            made[key] += event.data["event"] == "ADDED"
            if event.data["deletion"] or event.data["event"] == "DELETED":
                gone.add(key)
    told = _told(evidence)
    wrong = [
        f"{kind} {name} is said to be created {count} times and was created {made[kind, name]} times"
        for (what, kind, name), count in told.items()
        if what == "Created" and count > made[kind, name]
    ]
    wrong += [
        f"{kind} {name} is said to be deleted and was not"
        for what, kind, name in told
        if what == "Deleted" and (kind, name) not in gone
    ]
    return Finding("Events tell what happened", not wrong, "; ".join(wrong) or f"{sum(told.values())} Events do")


def _told(evidence: Evidence) -> Counter[tuple[str, str, str]]:
    """How often each creation and deletion is told of, by what, kind and name."""
    counts: dict[str, tuple[tuple[str, str, str], int]] = {}
    for event in evidence.recorded.events:
        if event.kind != "event":
            continue
        reason, named = _REASON.fullmatch(event.data["reason"]), _OBJECT.search(event.data["message"])
        if reason and named:
            kind = _KINDS.get(reason["kind"], reason["kind"])
            if _WORDS.get(named["word"].lower()) == kind:
                counts[event.data["uid"]] = (reason["what"], kind, named["name"]), event.data["count"]
    told: Counter[tuple[str, str, str]] = Counter()
    for key, count in counts.values():
        told[key] += count
    return told
