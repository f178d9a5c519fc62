"""Pages on policies, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from kuberay_model.sentences import listed
from kuberay_policies.policy import Policy

WIDTH = 100


def page(policy: Policy) -> str:
    """Return the page on a policy: what must hold, why, for what, and what can be set."""
    return "\n".join(_lines(policy))


def _lines(policy: Policy) -> Iterator[str]:
    yield f"{policy.id} {policy.name}"
    yield f"{policy.title}."
    yield ""
    yield from textwrap.wrap(policy.why, WIDTH)
    yield ""
    yield f"Family    {policy.family.value}"
    yield f"Severity  {policy.severity.value} (unless the settings say otherwise)"
    yield f"Objects   {listed(sorted(policy.kinds)) if policy.kinds else 'all that have what it looks at'}"
    if policy.stack_wide:
        yield "Looks at  all objects that are checked together"
    if policy.needs_options:
        yield "Looks at  Pulumi's resource options, which manifests in files do not have"
    if policy.sources:
        yield f"Sources   {', '.join(policy.sources)}"
    fields = policy.parameters.model_fields
    if fields:
        yield ""
        yield "Parameters"
        for name, info in fields.items():
            yield from textwrap.wrap(f"{info.alias or name}: {info.description}", WIDTH, initial_indent="  ")
    yield ""
    yield "In kuberay-policies.yaml"
    yield "  policies:"
    yield f"    {policy.name}: {policy.severity.value}"
