"""The checks as the YAML that each engine reads."""

from collections.abc import Container
from enum import StrEnum
from typing import Any

import yaml

from kuberay_e2e.gitops.health import cel, lua
from kuberay_e2e.gitops.health.checks import checks


class Engine(StrEnum):
    """The sync engines."""

    ARGOCD = "argocd"
    FLUX = "flux"

    @property
    def file(self) -> str:
        """Name of the file that its checks are written to."""
        return _FILES[self]


_FILES = {Engine.ARGOCD: "argocd-cm.yaml", Engine.FLUX: "flux-health-check-exprs.yaml"}
_HEADS = {
    Engine.ARGOCD: "# Health checks for Argo CD: merge `data` into the ConfigMap argocd-cm of its namespace.\n",
    Engine.FLUX: (
        "# Health checks for Flux: put `healthCheckExprs` into the Kustomizations that apply such objects, and have\n"
        "# them wait (`wait: true` or `healthChecks`).\n"
    ),
}


def argocd() -> dict[str, Any]:
    """The part of the ConfigMap `argocd-cm` that has the checks."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "labels": {"app.kubernetes.io/part-of": "argocd"}},
        "data": {f"resource.customizations.health.{check.group}_{check.kind}": lua.script(check) for check in checks()},
    }


def flux(kinds: Container[str] | None = None) -> list[dict[str, str]]:
    """The list `spec.healthCheckExprs` of a Kustomization.

    Args:
        kinds: Kinds that it applies; default: all that there are checks of.
    """
    entries = []
    for check in checks():
        if kinds is not None and check.kind not in kinds:
            continue
        written = cel.expressions(check)
        entry = {
            "apiVersion": check.api_version,
            "kind": check.kind,
            "inProgress": written.in_progress,
            "failed": written.failed,
            "current": written.current,
        }
        entries.append({name: value for name, value in entry.items() if value})
    return entries


def document(engine: Engine) -> str:
    """The checks for an engine, as YAML."""
    content = argocd() if engine is Engine.ARGOCD else {"spec": {"healthCheckExprs": flux()}}
    return _HEADS[engine] + yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=10_000)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they stand."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
