"""The identity of a write: what makes it the same write in another run.

Names that KubeRay makes end in five random characters, and the order of writes of two controllers differs from
run to run. So a write is known by verb, kind, subresource, normalised name, what it changes, and how often the
same was seen before.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.gateway.protobuf import ObjectHead
from kuberay_e2e.gateway.requests import ApiRequest

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of k8s.io/apimachinery/pkg/util/rand, which generateName and KubeRay's own names use."""

_LENGTH = 5
_RANDOM = re.compile(rf"-[{_ALPHABET}]{{{_LENGTH}}}(?=-|$)")

_VALUED = ("jobDeploymentStatus", "jobStatus", "state", "reason")
"""Status fields whose new value is part of the identity; of others it is only that they changed."""

_VOLATILE = {"lastUpdateTime", "observedGeneration"}
"""Status fields that say when, not what."""

_KINDS = {
    "rayjobs": "RayJob",
    "rayclusters": "RayCluster",
    "rayservices": "RayService",
    "raycronjobs": "RayCronJob",
    "jobs": "Job",
    "pods": "Pod",
    "services": "Service",
    "secrets": "Secret",
    "serviceaccounts": "ServiceAccount",
    "roles": "Role",
    "rolebindings": "RoleBinding",
    "ingresses": "Ingress",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "workloads": "Workload",
    "events": "Event",
    "leases": "Lease",
}


@dataclass(frozen=True)
class WriteIdentity:
    """One write of the operator; `str()` of it is what `--kill-at` takes."""

    verb: str
    kind: str
    subresource: str = ""
    name: str = ""
    change: str = ""
    occurrence: int = 1

    def __str__(self) -> str:
        kind = f"{self.kind}/{self.subresource}" if self.subresource else self.kind
        change = f":{self.change}" if self.change else ""
        return f"{self.verb}:{kind}{change}#{self.occurrence}"


def kind_of(resource: str) -> str:
    """The kind of a plural resource name, or the resource name itself where it is not one of KubeRay's."""
    return _KINDS.get(resource, resource)


def normalise(name: str) -> str:
    """Replace the random parts of a name by `*`."""
    return _RANDOM.sub("-*", name)


def stem(name: str) -> str:
    """A name without the random part at its end."""
    return re.sub(rf"{_RANDOM.pattern}$", "", name)


def random_part(choose: Callable[[str], str]) -> str:
    """A random part as it is in names that Kubernetes makes.

    Args:
        choose: Picks one character.
    """
    return "".join(choose(_ALPHABET) for _ in range(_LENGTH))


class Identifier:
    """Gives each write of one run its identity, in the order in which they come."""

    def __init__(self) -> None:
        self._seen: Counter[WriteIdentity] = Counter()
        self._objects: dict[tuple[str, str, str], Mapping[str, Any]] = {}

    def identify(self, request: ApiRequest, head: ObjectHead | None, value: Mapping[str, Any] | None) -> WriteIdentity:
        """The identity of a write that is about to be forwarded."""
        name = request.name or (head.name or head.generate_name + "*" if head else "")
        identity = WriteIdentity(
            request.verb,
            kind_of(request.resource),
            request.subresource,
            normalise(name.removesuffix("-*")) + ("-*" if name.endswith("-*") else ""),
            self._change(request, value) if value else "",
        )
        self._seen[identity] += 1
        return WriteIdentity(
            identity.verb,
            identity.kind,
            identity.subresource,
            identity.name,
            identity.change,
            self._seen[identity],
        )

    def learn(self, request: ApiRequest, value: Mapping[str, Any] | None) -> None:
        """Remember an object as the API server returned it, to know what the next write changes.

        A deletion may be answered with a `Status`, which tells how it went and is no object of that name.
        """
        if value and request.resource and value.get("kind") != "Status" and isinstance(value.get("metadata"), Mapping):
            self._objects[self._key(request, value)] = value

    def _change(self, request: ApiRequest, value: Mapping[str, Any]) -> str:
        before = self._objects.get(self._key(request, value), {})
        if request.subresource == "status":
            return _status_change(before.get("status") or {}, value.get("status") or {})
        if request.verb in {"update", "patch"}:
            return _object_change(before, value)
        return ""

    def _key(self, request: ApiRequest, value: Mapping[str, Any]) -> tuple[str, str, str]:
        name = request.name or str(value.get("metadata", {}).get("name", ""))
        return request.resource, request.namespace, name


def _status_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    changed = sorted(
        field for field in {*before, *after} - _VOLATILE if pruned(before.get(field)) != pruned(after.get(field))
    )
    valued = [f"{field}={after.get(field, '')}" for field in _VALUED if field in changed]
    if valued or before:
        return ",".join(valued or changed)
    return "first" if changed else ""


def _object_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    old = set((before.get("metadata") or {}).get("finalizers") or [])
    new = set((after.get("metadata") or {}).get("finalizers") or [])
    changes = [f"+{item}" for item in sorted(new - old)] + [f"-{item}" for item in sorted(old - new)]
    if before and pruned(before.get("spec")) != pruned(after.get("spec")):
        changes.append("spec")
    return ",".join(changes)


def pruned(value: Any) -> Any:
    """A value without its empty parts, which typed clients add and drop as they like."""
    if isinstance(value, Mapping):
        kept = {key: pruned(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None} or None
    if isinstance(value, list):
        return [pruned(item) for item in value] or None
    return None if value in ("", 0, False) else value
