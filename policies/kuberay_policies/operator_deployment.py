"""The Deployment of the KubeRay operator: its flags, its version and its gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kuberay_model.rules.values import integer, items, mapping, text
from kuberay_model.versions import UnsupportedVersionError, Version
from kuberay_policies.images import Image
from kuberay_policies.subjects import Subject

OPERATOR_COMPONENT = "kuberay-operator"
COMPONENT_LABEL = "app.kubernetes.io/component"
_IMAGE_END = "kuberay/operator"
_TEMPLATE = "spec.template.spec"


@dataclass(frozen=True)
class OperatorDeployment:
    """The Deployment that runs the operator.

    Attributes:
        subject: The Deployment, unknown values guarded.
        index: Index of the operator's container.
    """

    subject: Subject
    index: int

    @classmethod
    def of(cls, subject: Subject) -> OperatorDeployment | None:
        """Return the Deployment if it runs the operator, by its image or by the chart's label; None otherwise."""
        if subject.kind != "Deployment" or subject.group != "apps":
            return None
        containers = [mapping(fields) for fields in items(_pod(subject).get("containers"))]
        for index, container in enumerate(containers):
            if Image.parse(text(container.get("image"))).repository.endswith(_IMAGE_END):
                return cls(subject, index)
        labels = mapping(subject.metadata.get("labels"))
        if containers and labels.get(COMPONENT_LABEL) == OPERATOR_COMPONENT:
            return cls(subject, 0)
        return None

    @property
    def pod(self) -> Mapping[str, Any]:
        """`spec.template.spec`."""
        return _pod(self.subject)

    @property
    def container(self) -> Mapping[str, Any]:
        """The operator's container."""
        return mapping(items(self.pod.get("containers"))[self.index])

    @property
    def path(self) -> str:
        """Path of the container."""
        return f"{_TEMPLATE}.containers[{self.index}]"

    @property
    def arguments(self) -> Sequence[str]:
        """Command and arguments."""
        words = (*items(self.container.get("command")), *items(self.container.get("args")))
        return [str(word) for word in words]

    def flag(self, name: str) -> str | None:
        """Return the value of a flag, None if it is not given; `true` for a flag without value.

        Go's flags are written with one dash or two, with `=` or, except switches, with the value as the next word.
        """
        words = self.arguments
        for position, word in enumerate(words):
            key, equals, value = word.lstrip("-").partition("=")
            if word.startswith("-") and key == name:
                if equals:
                    return value.strip("\"'")
                following = words[position + 1] if position + 1 < len(words) else "-"
                return "true" if following.startswith("-") else following
        return None

    @property
    def configured_by_file(self) -> bool:
        """Whether the operator reads a configuration file, which replaces its flags except feature gates."""
        return self.flag("config") is not None

    @property
    def version(self) -> Version | None:
        """Version in the image's tag, None if there is none."""
        try:
            return Version.parse(Image.parse(text(self.container.get("image"))).tag)
        except UnsupportedVersionError:
            return None

    @property
    def replicas(self) -> int:
        """`spec.replicas`, 1 if unset."""
        replicas = integer(mapping(self.subject.manifest.get("spec")).get("replicas"))
        return 1 if replicas is None else replicas

    @property
    def feature_gates(self) -> dict[str, bool]:
        """Gates that the flag sets."""
        pairs = (pair.partition("=") for pair in (self.flag("feature-gates") or "").split(",") if pair)
        return {name.strip(): value.strip().lower() == "true" for name, _, value in pairs}

    @property
    def service_account(self) -> str:
        """Name of the ServiceAccount."""
        return text(self.pod.get("serviceAccountName")) or "default"


def _pod(subject: Subject) -> Mapping[str, Any]:
    spec = mapping(subject.manifest.get("spec"))
    return mapping(mapping(spec.get("template")).get("spec"))
