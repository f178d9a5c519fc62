"""The Kustomizations of Flux: one for each stage, each after the one before, with its health checks."""

from collections.abc import Mapping, Sequence
from typing import Any

from kuberay_e2e.gitops.health.documents import flux as health_check_expressions
from kuberay_e2e.gitops.kustomize import FILE, kustomization, stages
from kuberay_e2e.gitops.layout import Target
from kuberay_e2e.gitops.normal_form import CLUSTER_PATHS, cluster_spec, group
from kuberay_e2e.gitops.placed import OBJECTS, Placed
from kuberay_e2e.gitops.stage import Stage

FOLDER = "flux"
NAMESPACE = "flux-system"

_NEVER_PRUNED = (Stage.NAMESPACES, Stage.CRDS)
_NOT_WAITED_FOR = (Stage.RAY_CLUSTERS, Stage.RAY_JOBS)
"""A job may wait in its queue for days, which is no reason to hold back a sync."""


def files(objects: Sequence[Placed], target: Target) -> dict[str, Mapping[str, Any]]:
    """Return a Kustomization for each stage, and the kustomization.yaml that lists them."""
    present = stages(objects)
    found: dict[str, Mapping[str, Any]] = {}
    for index, stage in enumerate(present):
        before = present[index - 1] if index else None
        own = [item.manifest for item in objects if item.stage is stage]
        found[f"{FOLDER}/{stage.folder}.yaml"] = _stage(stage, before, own, target)
    return {**found, f"{FOLDER}/{FILE}": kustomization(f"{stage.folder}.yaml" for stage in present)}


def name_of(stage: Stage, stack: str) -> str:
    """Return the name of a stage's Kustomization."""
    return f"kuberay-{stack}-{stage.title}"


def _stage(
    stage: Stage, before: Stage | None, manifests: Sequence[Mapping[str, Any]], target: Target
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "force": False,
        "interval": "10m",
        "path": f"./{target.path}/{OBJECTS}/{stage.folder}",
        "prune": stage not in _NEVER_PRUNED,
        "retryInterval": "1m",
        "sourceRef": {"kind": "GitRepository", "name": NAMESPACE},
        "timeout": "10m",
        "wait": stage not in _NOT_WAITED_FOR,
    }
    if before is not None:
        spec["dependsOn"] = [{"name": name_of(before, target.stack)}]
    if rules := ignored(manifests):
        spec["ignore"] = rules
    if spec["wait"] and (checks := health_check_expressions({str(item["kind"]) for item in manifests})):
        spec["healthCheckExprs"] = checks
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name_of(stage, target.stack), "namespace": NAMESPACE},
        "spec": spec,
    }


def ignored(manifests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the drift allow-list: what the Ray autoscaler writes, by index, for JSON pointers have no wildcards."""
    rules = []
    for manifest in manifests:
        kind, cluster = str(manifest["kind"]), cluster_spec(manifest)
        if kind not in ("RayCluster", "RayService") or cluster.get("enableInTreeAutoscaling") is not True:
            continue
        place = "/".join(("", *CLUSTER_PATHS[kind], "workerGroupSpecs"))
        fields = [
            f"{place}/{index}/{key}"
            for index in range(len(cluster.get("workerGroupSpecs") or ()))
            for key in ("replicas", "scaleStrategy")
        ]
        metadata = manifest["metadata"]
        target = {"group": group(manifest), "kind": kind, "name": metadata["name"]}
        if metadata.get("namespace"):
            target["namespace"] = metadata["namespace"]
        rules.append({"paths": fields, "target": target})
    return rules
