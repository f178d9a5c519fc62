"""The resources of a stack, each after what it needs: namespaces, CRDs, operator, settings, Ray objects."""

from collections.abc import Sequence

import pulumi
from config_errors import placed
from stack_config import StackConfig
from stack_defaults import kuberay_version, with_defaults
from stack_file import StackFile
from stack_manifests import Manifest, StackManifests, resource_name

from pulumi_kuberay import KubeRayCrds, KubeRayOperator, KubernetesObject, RayJob
from pulumi_kuberay.objects import namespace_object

Options = pulumi.ResourceOptions


def declare(configured: StackConfig, file: StackFile) -> None:
    """Declare everything that the configuration describes.

    Args:
        configured: The configuration as it was read.
        file: Where it is written, for the places of errors.

    Raises:
        ConfigError: A file or a chart cannot be read, or a component refuses its arguments.
    """
    config = with_defaults(configured)
    manifests = StackManifests.read(config.manifests, config.namespace)
    namespaces = _namespaces(config, manifests.namespaces)
    platform = [*namespaces, *_platform(config, namespaces, file)]
    settings = [
        KubernetesObject(resource_name(item), item, Options(depends_on=namespaces)) for item in manifests.settings
    ]
    _ray_objects(config, manifests.ray, [*platform, *settings], file)


def _namespaces(config: StackConfig, given: Sequence[Manifest]) -> list[pulumi.Resource]:
    options = Options(protect=config.protect or None)
    objects = {name: namespace_object(name) for name in config.namespaces}
    if config.namespace_labels:
        for item in objects.values():
            item["metadata"]["labels"] = dict(config.namespace_labels)
    objects |= {resource_name(item): dict(item) for item in given}
    return [KubernetesObject(name, item, options) for name, item in objects.items()]


def _platform(config: StackConfig, namespaces: Sequence[pulumi.Resource], file: StackFile) -> list[pulumi.Resource]:
    declared: list[pulumi.Resource] = []
    if config.crds is not None:
        with placed(file, "crds"):
            crds = KubeRayCrds("kuberay-crds", config.crds)
        pulumi.export("crds", {"names": crds.names, "checksum": crds.checksum})
        declared.append(crds)
    if config.operator is not None:
        options = Options(depends_on=[*namespaces, *declared], protect=config.protect or None)
        with placed(file, "operator"):
            operator = KubeRayOperator("kuberay-operator", config.operator, options)
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


def _ray_objects(
    config: StackConfig, given: Sequence[Manifest], needed: Sequence[pulumi.Resource], file: StackFile
) -> None:
    options = Options(depends_on=[*needed])
    jobs = []
    for name, args in config.ray_jobs.items():
        with placed(file, "rayJobs", name):
            jobs.append(RayJob(name, args, options))
    for item in given:
        if item["kind"] != "RayJob":
            KubernetesObject(resource_name(item), item, options)
            continue
        with placed(file, "manifests"):
            job = RayJob.from_manifest(
                resource_name(item),
                item,
                options,
                kuberay_version=kuberay_version(config),
                feature_gates=config.operator.feature_gates if config.operator else None,
            )
        jobs.append(job)
    pulumi.export("rayJobs", [{"namespace": job.namespace, "name": job.job_name} for job in jobs])
