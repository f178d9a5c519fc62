"""The Application of Argo CD: what it syncs, in which way, and which differences are none."""

from collections.abc import Mapping, Sequence
from typing import Any

from kuberay_e2e.gitops.layout import Target
from kuberay_e2e.gitops.normal_form import cluster_spec, group
from kuberay_e2e.gitops.placed import OBJECTS, Placed

FOLDER = "argocd"
FILE = f"{FOLDER}/application.argoproj.io-{{stack}}.yaml"

SYNC_OPTIONS = (
    "ApplyOutOfSyncOnly=true",
    "CreateNamespace=false",
    "FailOnSharedResource=true",
    "RespectIgnoreDifferences=true",
    "ServerSideApply=true",
)

_CERTIFICATES = {
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): [".webhooks[]?.clientConfig.caBundle"],
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): [".webhooks[]?.clientConfig.caBundle"],
    ("apiextensions.k8s.io", "CustomResourceDefinition"): [".spec.conversion.webhook.clientConfig.caBundle"],
    ("apiregistration.k8s.io", "APIService"): [".spec.caBundle"],
    ("", "Secret"): [".data"],
}
"""Fields that a controller fills with certificates of its own, as Kueue does."""

RUN_FIELDS = [".spec.rayClusterSpec", ".spec.submitterPodTemplate", ".spec.suspend"]
"""Fields of a RayJob that Kueue writes. An edit of them in Git has another name and is another object."""


def files(objects: Sequence[Placed], target: Target) -> dict[str, Mapping[str, Any]]:
    """Return the Application; nothing if the repository is not known."""
    if not target.repository:
        return {}
    return {FILE.format(stack=target.stack): application(objects, target)}


def application(objects: Sequence[Placed], target: Target) -> dict[str, Any]:
    """Return the Application of a rendered folder."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": f"kuberay-{target.stack}", "namespace": "argocd"},
        "spec": {
            "project": "default",
            "destination": {"server": "https://kubernetes.default.svc"},
            "ignoreDifferences": ignored([item.manifest for item in objects]),
            "source": {
                "directory": {"recurse": True},
                "path": f"{target.path}/{OBJECTS}",
                "repoURL": target.repository,
                "targetRevision": target.revision,
            },
            "syncPolicy": {
                "automated": {"allowEmpty": False, "prune": True, "selfHeal": True},
                "syncOptions": list(SYNC_OPTIONS),
            },
        },
    }


def ignored(manifests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the drift allow-list: the fields of the objects at hand that controllers write."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for manifest in manifests:
        identity = group(manifest), str(manifest["kind"])
        if fields := _written(manifest, identity):
            kinds.setdefault(identity, []).extend(field for field in fields if field not in kinds.get(identity, []))
    return [
        {"group": api_group, "kind": kind, "jqPathExpressions": sorted(set(fields))}
        for (api_group, kind), fields in sorted(kinds.items())
    ]


def _written(manifest: Mapping[str, Any], identity: tuple[str, str]) -> list[str]:
    match identity:
        case ("ray.io", "RayJob"):
            return RUN_FIELDS
        case ("ray.io", "RayCluster" | "RayService" as kind):
            place = ".spec" if kind == "RayCluster" else ".spec.rayClusterConfig"
            found = [".spec.suspend"] if kind == "RayCluster" and "suspend" not in manifest.get("spec", {}) else []
            if cluster_spec(manifest).get("enableInTreeAutoscaling") is True:
                found += [f"{place}.workerGroupSpecs[]?.{key}" for key in ("replicas", "scaleStrategy")]
            return found
        case ("", "Secret") if "data" in manifest or "stringData" in manifest:
            return []
    return _CERTIFICATES.get(identity, [])
