"""In which order objects are applied: each stage after what it needs."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from kuberay_e2e.gitops.normal_form import RAY_GROUP, group

KUEUE_GROUP = "kueue.x-k8s.io"
CRD = "CustomResourceDefinition"

_KUEUE_COMPONENT = "kuberay:index:Kueue"
_OPERATOR_COMPONENT = "kuberay:index:KubeRayOperator"


class Stage(Enum):
    """What is applied together: the folder, and the sync wave of Argo CD."""

    NAMESPACES = ("00-namespaces", -50)
    CRDS = ("10-crds", -40)
    KUEUE = ("20-kueue", -30)
    OPERATOR = ("30-operator", -20)
    QUEUES = ("40-queues", -10)
    SETTINGS = ("50-settings", 0)
    RAY_CLUSTERS = ("60-ray-clusters", 10)
    RAY_JOBS = ("70-ray-jobs", 20)

    def __init__(self, folder: str, wave: int) -> None:
        self.folder = folder
        self.wave = wave

    @property
    def title(self) -> str:
        """The name without its number, such as `ray-jobs`."""
        return self.folder.partition("-")[2]

    @classmethod
    def of_folder(cls, name: str) -> "Stage | None":
        """Return the stage with a folder's name, None if there is none."""
        return next((stage for stage in cls if stage.folder == name), None)


_QUEUE_WAVES = {"ClusterQueue": 1, "LocalQueue": 2}


def stage_of(manifest: Mapping[str, Any], components: Sequence[str] = ()) -> Stage:
    """Return the stage of an object.

    Args:
        manifest: The object.
        components: Pulumi's types of what it is a part of, such as `kuberay:index:Kueue`.
    """
    kind, api_group = str(manifest.get("kind")), group(manifest)
    if kind == "Namespace":
        return Stage.NAMESPACES
    if kind == CRD:
        return Stage.CRDS
    if api_group == RAY_GROUP:
        return Stage.RAY_JOBS if kind in ("RayJob", "RayCronJob") else Stage.RAY_CLUSTERS
    if api_group == KUEUE_GROUP:
        return Stage.QUEUES
    if _KUEUE_COMPONENT in components:
        return Stage.KUEUE
    return Stage.OPERATOR if _OPERATOR_COMPONENT in components else Stage.SETTINGS


def wave_of(manifest: Mapping[str, Any], stage: Stage) -> int:
    """Return the sync wave of an object; flavors come before ClusterQueues, and these before LocalQueues."""
    return stage.wave + (_QUEUE_WAVES.get(str(manifest.get("kind")), 0) if stage is Stage.QUEUES else 0)
