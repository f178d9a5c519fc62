"""What has to be there first is applied first."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.layout import SYNC_WAVE, Layout
from kuberay_e2e.gitops.normal_form import QUEUE_LABEL, RAY_GROUP
from kuberay_e2e.gitops.stage import CRD, KUEUE_GROUP, Stage
from kuberay_e2e.gitops.tree import Item, Tree
from kuberay_policies.operator_deployment import OperatorDeployment

RULE = "order"

Rank = Callable[[Item], int | None]
_NAME_LABEL = "app.kubernetes.io/name"
_IN_CLUSTER = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


def findings(tree: Tree) -> Iterator[Finding]:
    """Compare the order in which the engine applies the objects with what they need."""
    if tree.record.layout is Layout.FLUX:
        yield from _kustomizations(tree)
    rank = _wave if tree.record.layout is Layout.ARGOCD else _stage
    ranked = {id(item): rank(item) for item in tree.objects}
    for item in tree.objects:
        if ranked[id(item)] is None and item.stage is not None:
            yield item.finding(RULE, f"it has no whole number in {SYNC_WAVE}; render the stack again.")
    needs = _Needs(tree)
    for item in tree.objects:
        own = ranked[id(item)]
        for needed, why in needs.of(item):
            before = ranked[id(needed)]
            if own is not None and before is not None and before >= own:
                yield item.finding(
                    RULE,
                    f"it is applied no later than {needed.title} ({needed.file}), {why}; put it into a later "
                    f"{'sync wave' if tree.record.layout is Layout.ARGOCD else 'folder'}.",
                )
        if missing := needs.missing(item):
            yield item.finding(RULE, missing, Severity.WARNING)


class _Needs:
    """What objects need of each other."""

    def __init__(self, tree: Tree) -> None:
        self._namespaces = {item.subject.name: item for item in tree.of("", "Namespace")}
        self._crds = {_defines(item): item for item in tree.by_kind.get(CRD, ())}
        deployments = list(tree.of("apps", "Deployment"))
        self._operator = [item for item in deployments if OperatorDeployment.of(item.subject)]
        self._kueue = [item for item in deployments if _labels(item).get(_NAME_LABEL) == "kueue"]
        self._queues = {
            (item.subject.namespace, item.subject.name): item for item in tree.of(KUEUE_GROUP, "LocalQueue")
        }

    def of(self, item: Item) -> Iterator[tuple[Item, str]]:
        """Yield what has to be there before an object, and why."""
        subject = item.subject
        if subject.namespace in self._namespaces:
            yield self._namespaces[subject.namespace], "which is its namespace"
        if crd := self._crds.get((subject.group, subject.kind)):
            yield crd, "which defines its kind"
        if subject.group == RAY_GROUP:
            yield from ((operator, "which runs the operator") for operator in self._operator)
        queued = _labels(item).get(QUEUE_LABEL)
        if subject.group == KUEUE_GROUP or queued:
            yield from ((kueue, "which runs Kueue") for kueue in self._kueue)
        if queued and (queue := self._queues.get((subject.namespace, str(queued)))):
            yield queue, "which is its queue"

    def missing(self, item: Item) -> str:
        """Say that an object needs a namespace that is not in the folder, as a sentence; empty if it does not."""
        namespace = item.subject.namespace
        if not namespace or namespace in self._namespaces or namespace in _IN_CLUSTER:
            return ""
        return f"its namespace {namespace} is not in this folder; it must be in the cluster before the sync."


def _defines(item: Item) -> tuple[str, str]:
    spec = item.manifest.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    names = spec.get("names")
    return str(spec.get("group")), str(names.get("kind") if isinstance(names, Mapping) else None)


def _labels(item: Item) -> Mapping[str, Any]:
    labels = item.subject.metadata.get("labels")
    return labels if isinstance(labels, Mapping) else {}


def _wave(item: Item) -> int | None:
    text = str(item.annotations.get(SYNC_WAVE, ""))
    return int(text) if text.removeprefix("-").isdecimal() else None


def _stage(item: Item) -> int | None:
    return None if item.stage is None else list(Stage).index(item.stage)


def _kustomizations(tree: Tree) -> Iterator[Finding]:
    """Each stage depends on the one before, and is waited for."""
    present = {item.stage for item in tree.objects}
    stages = [stage for stage in Stage if stage in present]
    by_file = {item.file.name: item for item in tree.engine}
    before: Item | None = None
    for stage in stages:
        item = by_file.get(f"{stage.folder}.yaml")
        if item is None:
            yield Finding(
                f"flux/{stage.folder}.yaml",
                0,
                RULE,
                f"There is no Kustomization of Flux for {stage.folder}; render again.",
            )
            continue
        spec = item.manifest.get("spec")
        spec = spec if isinstance(spec, Mapping) else {}
        depends = [entry.get("name") for entry in spec.get("dependsOn") or () if isinstance(entry, Mapping)]
        if before is not None and before.subject.name not in depends:
            yield item.finding(
                RULE, f"it does not depend on {before.subject.name}, whose objects it needs; add dependsOn."
            )
        if stage.wave < Stage.RAY_CLUSTERS.wave and spec.get("wait") is not True:
            yield item.finding(RULE, "wait is not true, so that the next stage begins before this one is there.")
        if stage is Stage.RAY_JOBS and spec.get("wait") is True:
            yield item.finding(
                RULE, "wait is true, so that a job in a queue would hold back the sync; set it to false."
            )
        before = item
