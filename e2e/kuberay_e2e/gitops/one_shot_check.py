"""A sync runs no job twice.

An engine creates what Git has and the cluster has not. A RayJob is safe as long as its object stays after the run, and
as long as an edit is another object.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_e2e.gitops.finding import Finding
from kuberay_e2e.gitops.job_run import RUN_ANNOTATION, carries_run, run_hash
from kuberay_e2e.gitops.layout import FLUX_SSA, Layout
from kuberay_e2e.gitops.normal_form import RAY_GROUP
from kuberay_e2e.gitops.prune_check import FLUX_FORCE, REPLACING, sync_options
from kuberay_e2e.gitops.tree import Item, Tree
from kuberay_policies.operator_deployment import OperatorDeployment

RULE = "one-shot"
DELETE_RAYJOB = "DELETE_RAYJOB_CR_AFTER_JOB_FINISHES"
HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")

_AGAIN = "the engine finds it missing, creates it, and the job runs again"


def findings(tree: Tree) -> Iterator[Finding]:
    """Look at every RayJob."""
    deleting = _deleting_operator(tree)
    for item in tree.of(RAY_GROUP, "RayJob"):
        yield from (item.finding(RULE, message) for message in _messages(item, tree.record.layout, deleting))


def _messages(item: Item, layout: Layout, deleting: Item | None) -> Iterator[str]:
    spec = item.manifest.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    metadata = item.subject.metadata
    if metadata.get("generateName"):
        yield "it has generateName, so that every sync makes and runs another job; set metadata.name."
        return
    if deletes_itself(spec):
        yield f"a deletion rule has DeleteSelf: when the RayJob is gone, {_AGAIN}. Use DeleteCluster."
    if deleting is not None and spec.get("shutdownAfterJobFinishes") is True:
        yield (
            f"the operator ({deleting.file}) has {DELETE_RAYJOB}=true and deletes it after its end: {_AGAIN}. Take the "
            "variable away."
        )
    name = item.subject.name
    if not carries_run(name) or RUN_ANNOTATION not in item.annotations:
        yield (
            f"its name or its annotation {RUN_ANNOTATION} does not say which run it is, so that an edit changes an "
            "object that KubeRay no longer reads, and nothing runs. Render the stack again."
        )
    elif not run_hash(item.manifest).startswith(str(item.annotations[RUN_ANNOTATION])):
        yield (
            "its spec was edited by hand: KubeRay ignores that for a run that is there. Edit the stack and render it "
            "again, which gives the run another name."
        )
    if hooks := [hook for hook in HOOKS if hook in item.annotations]:
        yield f"the annotation {hooks[0]} makes every sync delete and run it again, and wait for it; remove it."
    if layout is Layout.ARGOCD and (wrong := sorted(sync_options(item) & REPLACING)):
        yield f"the sync options {', '.join(wrong)} delete and create it, which runs the job again; remove them."
    if layout is Layout.FLUX:
        if str(item.annotations.get(FLUX_FORCE, "")).lower() == "enabled":
            yield f"{FLUX_FORCE} is enabled, which deletes and creates it where an edit is refused; remove it."
        if item.annotations.get(FLUX_SSA) != "IfNotPresent" and "suspend" not in spec:
            yield (
                f"the annotation {FLUX_SSA} is not IfNotPresent, so that Flux takes back what Kueue writes into it; "
                "render the stack again."
            )


def deletes_itself(spec: Mapping[str, Any]) -> bool:
    """Tell whether a RayJob's deletion strategy ends with the RayJob itself."""
    strategy = spec.get("deletionStrategy")
    if not isinstance(strategy, Mapping):
        return False
    rules = list(strategy.get("deletionRules") or ())
    rules += [strategy[key] for key in ("onSuccess", "onFailure") if key in strategy]
    return any(isinstance(rule, Mapping) and rule.get("policy") == "DeleteSelf" for rule in rules)


def _deleting_operator(tree: Tree) -> Item | None:
    for item in tree.of("apps", "Deployment"):
        operator = OperatorDeployment.of(item.subject)
        for entry in operator.container.get("env") or () if operator else ():
            named = isinstance(entry, Mapping) and entry.get("name") == DELETE_RAYJOB
            if named and str(entry.get("value")).lower() in ("true", "1", "t"):
                return item
    return None
