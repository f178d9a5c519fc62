"""`kuberay-policies export vap`: policies of admission as YAML, and which policies they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import yaml

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.commands.errors import CommandError
from kuberay_policies.policy import Severity
from kuberay_policies.settings import Settings
from kuberay_policies.vap.export import admissions, coverage, objects


def admission_objects(settings: Settings, name: str, namespaces: str, *, warn_only: bool = False) -> str:
    """Return the objects as YAML documents.

    Args:
        settings: Settings of the environment.
        name: Beginning of the objects' names; empty for the usual one.
        namespaces: Labels of the namespaces they hold for, `a=b,c=d`; empty for all.
        warn_only: Whether errors are warnings.

    Raises:
        CommandError: The labels are not written as labels.
    """
    if warn_only:
        severities = {
            policy.id: Severity.WARNING for policy in POLICIES.values() if settings.severity(policy) is Severity.ERROR
        }
        settings = replace(settings, severities={**settings.severities, **severities})
    made = objects(admissions(settings, name=name, namespaces=_labels(namespaces)))
    return yaml.safe_dump_all(made, sort_keys=False, width=1000, explicit_start=True)


def coverage_table() -> str:
    """Return a line for each policy: whether it is exported, and why not or what it cannot see."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    exported = 0
    for entry in coverage():
        exported += entry.exported
        yield f"{entry.policy.id:<5} {'yes' if entry.exported else 'no ':<4} {entry.remark}".rstrip()
    yield ""
    yield f"{exported} of {len(POLICIES)} policies are exported."


def _labels(text: str) -> Mapping[str, str]:
    pairs = [part.strip() for part in text.split(",") if part.strip()]
    for pair in pairs:
        key, equals, _ = pair.partition("=")
        if not key or not equals:
            raise CommandError(f"Labels are written as team=ml,stage=prod, but {pair!r} was given.")
    return dict(pair.split("=", 1) for pair in pairs)
