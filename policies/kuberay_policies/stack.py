"""All objects that are checked together, and the settings they are checked with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kuberay_policies.guarding import NotYetKnown
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Targets

KUEUE_GROUP = "kueue.x-k8s.io"


@dataclass(frozen=True)
class Stack:
    """All objects that are checked together.

    Attributes:
        objects: The objects, taken apart.
    """

    objects: tuple[Targets, ...]

    def of_kind(self, group: str, kind: str) -> Sequence[Targets]:
        """Return the objects of an API group and a kind."""
        return self._by_kind.get((group, kind), ())

    def named(self, group: str, kind: str, name: str, namespace: str = "") -> Targets | None:
        """Return an object, None if there is none.

        Args:
            group: API group.
            kind: `kind`.
            name: `metadata.name`.
            namespace: `metadata.namespace`; empty for a cluster-scoped kind, and for an object without namespace.

        Raises:
            NotYetKnown: It is not there, but the name of an object of that kind is known only at deployment.
        """
        found = self._by_name.get((group, kind, namespace, name))
        if found is None:
            for parts in self.of_kind(group, kind):
                for path in ("metadata", "metadata.name", "metadata.namespace"):
                    if path in parts.original.unknown_paths:
                        raise NotYetKnown(parts.original, path)
        return found

    @cached_property
    def _by_kind(self) -> dict[tuple[str, str], list[Targets]]:
        found: dict[tuple[str, str], list[Targets]] = {}
        for parts in self.objects:
            found.setdefault((parts.original.group, parts.original.kind), []).append(parts)
        return found

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str, str], Targets]:
        found: dict[tuple[str, str, str, str], Targets] = {}
        for parts in self.objects:
            found.setdefault(identity(parts.original), parts)
        return found


def identity(subject: Subject) -> tuple[str, str, str, str]:
    """Return API group, kind, namespace and name, by which the API server tells objects apart."""
    return subject.group, subject.kind, subject.namespace, subject.name


@dataclass(frozen=True)
class Context:
    """What a policy may look at besides the object.

    Attributes:
        settings: Settings of the environment.
        stack: All objects that are checked together.
    """

    settings: Settings
    stack: Stack
