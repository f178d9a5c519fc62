"""Git has no field that the cluster writes, and the engine knows which differences are none."""

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_e2e.gitops import argocd, flux
from kuberay_e2e.gitops.finding import Finding
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.normal_form import mutated_fields
from kuberay_e2e.gitops.secret import has_data, is_secret
from kuberay_e2e.gitops.stage import Stage
from kuberay_e2e.gitops.tree import Item, Tree

RULE = "drift"
SECRET_RULE = "secret"


def findings(tree: Tree) -> Iterator[Finding]:
    """Look at the fields of the objects, and at the drift allow-list of the engine."""
    for item in tree.objects:
        for field in mutated_fields(item.manifest):
            yield item.finding(
                RULE, f"{field.path} is in Git, and {field.writer} writes it; each takes back what the other does."
            )
        for path in _nulls(item.manifest, ""):
            yield item.finding(
                RULE, f"{path} is null, which servers drop, so that the object always differs; remove it."
            )
        if is_secret(item.manifest) and has_data(item.manifest):
            yield item.finding(
                SECRET_RULE, "it has data, which everybody who reads the repository can read; remove it."
            )
    for item in tree.engine:
        spec = item.manifest.get("spec")
        if isinstance(spec, Mapping):
            yield from _allowed(tree, item, spec)


def _allowed(tree: Tree, item: Item, spec: Mapping[str, Any]) -> Iterator[Finding]:
    if tree.record.layout is Layout.ARGOCD and item.subject.kind == "Application":
        manifests = [entry.manifest for entry in tree.objects if entry.subject.name]
        yield from _compared(item, "ignoreDifferences", spec.get("ignoreDifferences"), argocd.ignored(manifests))
        policy = spec.get("syncPolicy")
        options = (policy.get("syncOptions") if isinstance(policy, Mapping) else None) or ()
        if missing := sorted(set(argocd.SYNC_OPTIONS) - set(options)):
            yield item.finding(RULE, f"syncOptions lacks {', '.join(missing)}; render the stack again.")
    if tree.record.layout is Layout.FLUX:
        stage = Stage.of_folder(item.file.stem)
        own = [entry.manifest for entry in tree.objects if entry.stage is stage and entry.subject.name]
        yield from _compared(item, "ignore", spec.get("ignore"), flux.ignored(own))


def _compared(item: Item, field: str, given: Any, wanted: list[dict[str, Any]]) -> Iterator[Finding]:
    known = given if isinstance(given, list) else []
    for rule in wanted:
        if not any(_covers(entry, rule) for entry in known):
            target = rule.get("target", rule)
            named = f"{target['kind']} {target['name']}" if "name" in target else target["kind"]
            yield item.finding(
                RULE, f"{field} does not allow what the cluster writes into {named}; render the stack again."
            )


def _covers(entry: Any, rule: Mapping[str, Any]) -> bool:
    if not isinstance(entry, Mapping):
        return False
    lists = ("jqPathExpressions", "paths")
    same = all(entry.get(key) == value for key, value in rule.items() if key not in lists)
    return same and all(set(rule[key]) <= set(entry.get(key) or ()) for key in lists if key in rule)


def _nulls(value: Any, path: str) -> Iterator[str]:
    if value is None:
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            if inner is None or type(inner) in (dict, list):
                yield from _nulls(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if inner is None or type(inner) in (dict, list):
                yield from _nulls(inner, f"{path}[{index}]")
