"""The groups of a RayCluster, their Pod templates and containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kuberay_model.rules.values import Fields, integer, items, mapping, text


@dataclass(frozen=True)
class Container:
    """A container of a Pod template.

    Attributes:
        path: Path in the manifest.
        fields: The container.
    """

    path: str
    fields: Fields

    @property
    def name(self) -> str:
        """Name of the container."""
        return text(self.fields.get("name"))

    @property
    def image(self) -> str:
        """Image of the container."""
        return text(self.fields.get("image"))

    @property
    def env(self) -> Mapping[str, Fields]:
        """Environment variables by name; of several with one name the first, as the operator looks."""
        return env_by_name(self.fields.get("env"))

    @property
    def volume_mounts(self) -> Sequence[Fields]:
        """Volume mounts."""
        return [mapping(mount) for mount in items(self.fields.get("volumeMounts"))]


def env_by_name(value: object) -> Mapping[str, Fields]:
    """Return environment variables by name, the first of each name."""
    found: dict[str, Fields] = {}
    for variable in items(value):
        found.setdefault(text(mapping(variable).get("name")), mapping(variable))
    return found


@dataclass(frozen=True)
class Group:
    """The head group or a worker group.

    Attributes:
        path: Path in the manifest.
        fields: The group.
        index: Index of a worker group; 0 for the head group.
        head: Whether it is the head group.
    """

    path: str
    fields: Fields
    index: int = 0
    head: bool = False

    @property
    def name(self) -> str:
        """`groupName`; `Head` for the head group."""
        return "Head" if self.head else text(self.fields.get("groupName"))

    @property
    def title(self) -> str:
        """The group in a sentence."""
        return "The head group" if self.head else f"Worker group {self.name!r}"

    @property
    def place(self) -> str:
        """Where the operator checks it, as `OPERATOR_ORDER` names it."""
        return "head" if self.head else "worker"

    @property
    def pod(self) -> Fields:
        """`template.spec`."""
        return mapping(mapping(self.fields.get("template")).get("spec"))

    @property
    def containers(self) -> Sequence[Container]:
        """Containers of the Pod template."""
        path = f"{self.path}.template.spec.containers"
        return [
            Container(f"{path}[{i}]", mapping(fields)) for i, fields in enumerate(items(self.pod.get("containers")))
        ]

    @property
    def ray_container(self) -> Container:
        """The first container, which runs Ray; without fields if there is none."""
        return next(iter(self.containers), Container(f"{self.path}.template.spec.containers[0]", {}))

    @property
    def restart_policy(self) -> str:
        """`restartPolicy` of the Pod template; empty if unset."""
        return text(self.pod.get("restartPolicy"))

    @property
    def ray_start_params(self) -> Fields:
        """`rayStartParams`."""
        return mapping(self.fields.get("rayStartParams"))

    def integer(self, field: str) -> int | None:
        """Return an integer field, None if unset."""
        return integer(self.fields.get(field))
