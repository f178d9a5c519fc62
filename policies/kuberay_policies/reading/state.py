"""State files of Pulumi: the output of `pulumi stack export`, and files of a state backend."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kuberay_policies.subjects import UNKNOWN, Options, Source, Subject
from kuberay_policies.wire import SECRET, SIGNATURE

KUBERNETES = "kubernetes:"
_HELM_RELEASE = "kubernetes:helm.sh/v3:Release"
_UNKNOWN = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6eeb3e11-6bbd-45c2-9a05-6f7a3b54a9a5",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    }
)
"""What Pulumi writes for a value that is not known yet: a string, a boolean, a number."""


class NoStateError(ValueError):
    """A text that is no state of Pulumi.

    Attributes:
        line: Line, counted from 1; None if unknown.
        message: What is wrong and what to do.
    """

    def __init__(self, line: int | None, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


def is_state(text: str) -> bool:
    """Tell whether a text is a state of Pulumi, without reading all of it unless it may be one."""
    start = text.lstrip()[:1]
    if start != "{" or not ('"deployment"' in text or '"checkpoint"' in text) or '"resources"' not in text:
        return False
    try:
        return _resources(json.loads(text))[0] is not None
    except (ValueError, RecursionError):
        return False


def resources(text: str, file: str) -> tuple[list[Subject], list[str]]:
    """Return the Kubernetes objects of a state, and what cannot be looked into.

    Secrets that are encrypted count as known only at deployment.

    Args:
        text: The state in JSON.
        file: Where it is from.

    Raises:
        NoStateError: The text is no JSON, or no state of Pulumi.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise NoStateError(error.lineno, f"This is no JSON, and so no state of Pulumi: {error.msg}.") from None
    except RecursionError:
        raise NoStateError(None, "This is no state of Pulumi: it is nested too deeply.") from None
    found, pointer = _resources(content)
    if found is None:
        raise NoStateError(
            None, "This is no state of Pulumi; give the output of `pulumi stack export`, or a file of .pulumi/stacks."
        )
    subjects: list[Subject] = []
    releases: list[str] = []
    for index, resource in enumerate(found):
        kind = resource.get("type") if isinstance(resource, Mapping) else None
        if not isinstance(kind, str) or not kind.startswith(KUBERNETES) or resource.get("delete") is True:
            continue
        if kind == _HELM_RELEASE:
            releases.append(str(resource.get("urn", "")).rpartition("::")[2])
        elif resource.get("custom") is True and isinstance(resource.get("inputs"), Mapping):
            place: tuple[str | int, ...] = (*pointer, "resources", index, "inputs")
            source = Source(file, pointer=place, urn=str(resource.get("urn", "")))
            subjects.append(Subject(_manifest(kind, resource["inputs"]), source, _options(resource)))
    notes = [
        f"{file}: the objects of the Helm Release {name} are not in the state; check the output of `helm template`, "
        "or use helm.v4.Chart."
        for name in releases
    ]
    return subjects, notes


def _resources(content: Any) -> tuple[Sequence[Any] | None, tuple[str | int, ...]]:
    """Return the resources and where they are; None if the content is no state."""
    if isinstance(content, Mapping):
        for pointer in (("deployment",), ("checkpoint", "latest")):
            value: Any = content
            for key in pointer:
                value = value.get(key) if isinstance(value, Mapping) else None
            if isinstance(value, Mapping) and isinstance(value.get("resources"), list):
                return value["resources"], pointer
    return None, ()


def _manifest(kind: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object that a resource declares; its type tells what the inputs may leave out."""
    _, version, name = (*kind.split(":"), "", "")[:3]
    manifest = {key: _plain(value) for key, value in inputs.items() if not key.startswith("__")}
    return {"apiVersion": version.removeprefix("core/"), "kind": name, **manifest}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.get(SIGNATURE) == SECRET:
            return _plain(json.loads(value["plaintext"])) if isinstance(value.get("plaintext"), str) else UNKNOWN
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and value in _UNKNOWN:
        return UNKNOWN
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _options(resource: Mapping[str, Any]) -> Options:
    return Options(
        protect=resource.get("protect") is True,
        retain_on_delete=resource.get("retainOnDelete") is True,
        ignore_changes=tuple(_strings(resource.get("ignoreChanges"))),
        depends_on=tuple(_strings(resource.get("dependencies"))),
        parent=str(resource.get("parent") or ""),
        provider=str(resource.get("provider") or ""),
    )


def _strings(value: Any) -> Iterator[str]:
    return (entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else iter(())
