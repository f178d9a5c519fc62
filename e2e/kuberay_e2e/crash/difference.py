"""The end state of a run, and how it differs from that of the runs without a fault.

The exact oracles ask about what KubeRay promises. This one asks about everything else that is left: objects, owners,
labels, finalizers and status of whatever is there before the RayJob is deleted. What differs between two runs without
a fault is left out, by name.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kuberay_e2e.gateway.identity import normalise
from kuberay_e2e.trace import Event

Facts = Mapping[str, Sequence[str]]
"""What is there: by subject, such as `RayCluster job-* status.state`, the values of all objects of that name."""

_UNCOMPARED = {"lastUpdateTime", "observedGeneration", "rayClusterStatus", "stateTransitionTimes"}
"""Status fields that say when, or that copy the status of another object."""

_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")


@dataclass(frozen=True)
class EndState:
    """The end state that all runs without a fault have in common.

    Attributes:
        facts: What is there in each of them.
        unstable: The subjects in which they differ.
    """

    facts: Facts = field(default_factory=dict)
    unstable: tuple[str, ...] = ()

    @classmethod
    def common(cls, runs: Sequence[Facts]) -> "EndState":
        """What runs have in common.

        Args:
            runs: The facts of each run without a fault.
        """
        subjects = sorted({subject for facts in runs for subject in facts})
        values = {subject: [tuple(facts.get(subject, ())) for facts in runs] for subject in subjects}
        stable = {subject: seen[0] for subject, seen in values.items() if len(set(seen)) == 1}
        return cls(stable, tuple(subject for subject in subjects if subject not in stable))

    @classmethod
    def merged(cls, states: Sequence["EndState"]) -> "EndState":
        """What end states that were learned apart have in common; those that are not known count for nothing."""
        known = [state for state in states if state.facts]
        common = cls.common([state.facts for state in known])
        unstable = sorted({*common.unstable, *(subject for state in known for subject in state.unstable)})
        facts = {subject: values for subject, values in common.facts.items() if subject not in unstable}
        return cls(facts, tuple(unstable))

    def difference(self, facts: Facts) -> list[str]:
        """How an end state differs from this one, a sentence for each subject.

        Args:
            facts: What is there in the end of a run with a fault.
        """
        subjects = sorted({*self.facts, *facts} - set(self.unstable))
        return [
            f"{subject}: {_words(facts.get(subject, ()))} instead of {_words(self.facts.get(subject, ()))}"
            for subject in subjects
            if tuple(facts.get(subject, ())) != tuple(self.facts.get(subject, ()))
        ]


def facts_of(events: Iterable[Event]) -> Facts:
    """What was there when the RayJob was asked to go.

    Args:
        events: The trace of a run, which has one RayJob.
    """
    there: dict[str, Mapping[str, Any]] = {}
    for event in events:
        if event.kind != "object":
            continue
        data = event.data
        if data["object_kind"] == "RayJob" and (data["deletion"] or data["event"] == "DELETED"):
            break
        if data["event"] == "DELETED":
            there.pop(data["uid"], None)
        else:
            there[data["uid"]] = data
    found: defaultdict[str, list[str]] = defaultdict(list)
    names = {one: f"{data['object_kind']} {normalise(data['name'])}" for one, data in there.items()}
    for one, data in there.items():
        for what, value in _facts(data, names):
            found[f"{names[one]} {what}".rstrip()].append(value)
    return {subject: tuple(sorted(values)) for subject, values in found.items()}


def _facts(data: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    namespace = str(data.get("namespace") or "")
    yield "", "there"
    yield "owners", ", ".join(sorted(names.get(owner, "something that is gone") for owner in data["owners"])) or "none"
    yield "finalizers", ", ".join(sorted(data.get("finalizers") or ())) or "none"
    yield "deletion", "asked for" if data["deletion"] else "not asked for"
    if "phase" in data:
        yield "phase", data["phase"]
    for label, value in (data.get("labels") or {}).items():
        yield f"label {label}", normal(str(value), namespace)
    for path, value in _leaves("status", data.get("status") or {}):
        yield path, normal(value, namespace)


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            if name not in _UNCOMPARED and not name.endswith(("Time", "Timestamp")):
                yield from _leaves(f"{path}.{name}", item)
    elif isinstance(value, list) and all(isinstance(item, Mapping) and "type" in item for item in value):
        for item in value:
            said = f"{item.get('status', '')} {item.get('reason', '')}".strip()
            yield f"{path}.{item['type']}", said
    elif isinstance(value, list):
        yield path, ", ".join(str(item) for item in value)
    elif value not in ("", None, 0, False):
        yield path, str(value)


def normal(text: str, namespace: str) -> str:
    """A value without what differs from run to run: names and ids made at random, times, addresses, the namespace."""
    if namespace:
        text = text.replace(namespace, "NAMESPACE")
    for pattern, word in ((_UUID, "UID"), (_TIME, "TIME"), (_ADDRESS, "ADDRESS")):
        text = pattern.sub(word, text)
    return normalise(text)


def _words(values: Sequence[str]) -> str:
    counts = Counter(values)
    return (
        ", ".join(f"{count} times {value!r}" if count > 1 else repr(value) for value, count in counts.items())
        or "nothing"
    )
