"""A sync takes nothing away that has state, and replaces no CRD."""

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_e2e.gitops.finding import Finding
from kuberay_e2e.gitops.layout import FLUX_PRUNE, SYNC_OPTIONS, WITH_STATE, Layout
from kuberay_e2e.gitops.stage import CRD
from kuberay_e2e.gitops.tree import Item, Tree

RULE = "prune"
FLUX_FORCE = "kustomize.toolkit.fluxcd.io/force"
REPLACING = frozenset({"Replace=true", "Force=true"})


def findings(tree: Tree) -> Iterator[Finding]:
    """Look at the annotations of objects with state, and at the settings of the engine."""
    check = {Layout.ARGOCD: _argocd, Layout.FLUX: _flux}.get(tree.record.layout)
    if check is None:
        return
    for item in tree.objects:
        if item.subject.kind in WITH_STATE:
            yield from check(item)
    for item in tree.engine:
        yield from _engine(item)


def sync_options(item: Item) -> set[str]:
    """Return Argo CD's options on an object."""
    return {option.strip() for option in str(item.annotations.get(SYNC_OPTIONS, "")).split(",") if option.strip()}


def _argocd(item: Item) -> Iterator[Finding]:
    options = sync_options(item)
    wanted = {"Prune=false", "Delete=false", *(["ServerSideApply=true"] if item.subject.kind == CRD else [])}
    if missing := sorted(wanted - options):
        yield item.finding(RULE, f"{SYNC_OPTIONS} lacks {', '.join(missing)}: {_why(item)}")
    if wrong := sorted(options & REPLACING):
        yield item.finding(RULE, f"{SYNC_OPTIONS} has {', '.join(wrong)}, which deletes and creates it: {_why(item)}")


def _flux(item: Item) -> Iterator[Finding]:
    if item.annotations.get(FLUX_PRUNE) != "disabled":
        yield item.finding(RULE, f"the annotation {FLUX_PRUNE} is not disabled: {_why(item)}")
    if str(item.annotations.get(FLUX_FORCE, "")).lower() == "enabled":
        yield item.finding(RULE, f"{FLUX_FORCE} is enabled, which deletes and creates it: {_why(item)}")


def _why(item: Item) -> str:
    if item.subject.kind == CRD:
        return "deleting a CRD deletes every object of its kind, and its schema is too long for a client-side apply."
    return "its deletion deletes what is in it."


def _engine(item: Item) -> Iterator[Finding]:
    spec: Any = item.manifest.get("spec")
    policy = spec.get("syncPolicy") if isinstance(spec, Mapping) else None
    options = set(policy.get("syncOptions") or ()) if isinstance(policy, Mapping) else set()
    if wrong := sorted(options & REPLACING):
        yield item.finding(RULE, f"syncOptions has {', '.join(wrong)}: every sync would delete and create all objects.")
    if isinstance(spec, Mapping) and item.subject.kind == "Kustomization" and spec.get("force") is True:
        yield item.finding(RULE, "force is true: objects would be deleted and created where an edit is refused.")
