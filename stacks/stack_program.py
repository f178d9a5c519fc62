"""The resources of a stack, each after what it needs."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import pulumi
from config_errors import placed
from stack_config import StackConfig
from stack_defaults import kuberay_version, with_defaults
from stack_file import StackFile
from stack_manifests import Manifest, StackManifests, resource_name

from pulumi_kuberay import (
    ClusterQueue,
    Cohort,
    KubeRayCrds,
    KubeRayOperator,
    KubernetesObject,
    Kueue,
    LocalQueue,
    RayCluster,
    RayJob,
    ResourceFlavor,
    WorkloadPriorityClass,
)
from pulumi_kuberay.objects import namespace_object

_Args = TypeVar("_Args")
_Component = TypeVar("_Component", bound=pulumi.Resource)
Resources = Sequence[pulumi.Resource]


class StackProgram:
    """Declares what a configuration describes.

    The order is: namespaces and CRDs, Kueue, operator, queues, settings, RayClusters, RayJobs. Pulumi deletes in the
    opposite order, so that finalizers of KubeRay and of Kueue find those who remove them.
    """

    def __init__(self, config: StackConfig, file: StackFile) -> None:
        """Fill in the defaults of the configuration.

        Args:
            config: The configuration as it was read.
            file: Where it is written, for the places of errors.

        Raises:
            ConfigError: A file or a chart cannot be read.
        """
        self._config = with_defaults(config)
        self._file = file
        self._manifests = StackManifests.read(config.manifests, self._config.namespace)

    def declare(self) -> None:
        """Declare everything.

        Raises:
            ConfigError: A component refuses its arguments.
        """
        namespaces = self._namespaces()
        platform = [*namespaces, *self._platform(namespaces)]
        queues = self._queues(platform)
        settings = [
            KubernetesObject(resource_name(item), item, pulumi.ResourceOptions(depends_on=namespaces))
            for item in self._manifests.settings
        ]
        self._ray_objects([*platform, *queues, *settings])

    def _namespaces(self) -> Resources:
        objects = {name: namespace_object(name) for name in self._config.namespaces}
        if self._config.namespace_labels:
            for item in objects.values():
                item["metadata"]["labels"] = dict(self._config.namespace_labels)
        objects |= {resource_name(item): dict(item) for item in self._manifests.namespaces}
        return [KubernetesObject(name, item, self._kept()) for name, item in objects.items()]

    def _platform(self, namespaces: Resources) -> Resources:
        """Declare the CRDs, then Kueue, whose webhooks look at pods, then the operator."""
        declared: list[pulumi.Resource] = []
        if self._config.crds is not None:
            with placed(self._file, "crds"):
                crds = KubeRayCrds("kuberay-crds", self._config.crds)
            pulumi.export("crds", {"names": crds.names, "checksum": crds.checksum})
            declared.append(crds)
        if self._config.kueue is not None:
            with placed(self._file, "kueue"):
                kueue = Kueue("kueue", self._config.kueue, self._kept(*declared))
            pulumi.export("kueue", {"namespace": kueue.namespace, "deployment": kueue.deployment_name})
            declared.append(kueue)
        if self._config.operator is not None:
            options = self._kept(*namespaces, *declared)
            with placed(self._file, "operator"):
                operator = KubeRayOperator("kuberay-operator", self._config.operator, options)
            pulumi.export(
                "operator",
                {
                    "namespace": operator.namespace,
                    "deployment": operator.deployment_name,
                    "serviceAccount": operator.service_account_name,
                },
            )
            declared.append(operator)
        return declared

    def _queues(self, platform: Resources) -> Resources:
        config, after = self._config, self._kept(*platform)
        shared = [
            *self._each(ResourceFlavor, "flavors", config.flavors, after),
            *self._each(Cohort, "cohorts", config.cohorts, after),
            *self._each(WorkloadPriorityClass, "priorityClasses", config.priority_classes, after),
        ]
        after = self._kept(*platform, *shared)
        quotas = self._each(ClusterQueue, "clusterQueues", config.cluster_queues, after)
        after = self._kept(*platform, *shared, *quotas)
        return [*shared, *quotas, *self._each(LocalQueue, "localQueues", config.local_queues, after)]

    def _ray_objects(self, needed: Resources) -> None:
        config, after = self._config, pulumi.ResourceOptions(depends_on=[*needed])
        clusters: list[pulumi.Resource] = self._each(RayCluster, "rayClusters", config.ray_clusters, after)
        clusters += [
            KubernetesObject(resource_name(item), item, after)
            for item in self._manifests.ray
            if item["kind"] != "RayJob"
        ]
        after = pulumi.ResourceOptions(depends_on=[*needed, *clusters])
        jobs = self._each(RayJob, "rayJobs", config.ray_jobs, after)
        jobs += [self._job_of(item, after) for item in self._manifests.ray if item["kind"] == "RayJob"]
        pulumi.export("rayJobs", [{"namespace": job.namespace, "name": job.job_name} for job in jobs])

    def _job_of(self, manifest: Manifest, after: pulumi.ResourceOptions) -> RayJob:
        with placed(self._file, "manifests"):
            return RayJob.from_manifest(
                resource_name(manifest),
                manifest,
                after,
                kuberay_version=kuberay_version(self._config),
                feature_gates=self._config.operator.feature_gates if self._config.operator else None,
            )

    def _each(
        self,
        component: Callable[[str, _Args, pulumi.ResourceOptions], _Component],
        key: str,
        items: Mapping[str, _Args],
        options: pulumi.ResourceOptions,
    ) -> list[_Component]:
        declared = []
        for name, args in items.items():
            with placed(self._file, key, name):
                declared.append(component(name, args, options))
        return declared

    def _kept(self, *needed: pulumi.Resource) -> pulumi.ResourceOptions:
        """Options of what `protect` is about."""
        return pulumi.ResourceOptions(depends_on=[*needed], protect=self._config.protect or None)
