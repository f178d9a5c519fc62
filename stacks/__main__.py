"""The Pulumi program: KubeRay and its RayJobs, as the configuration of the stack describes them."""

import pulumi
from stack_config import StackConfig
from stack_manifests import StackManifests, resource_name

from pulumi_kuberay import KubeRayCrds, KubeRayOperator, KubernetesObject, RayJob
from pulumi_kuberay.objects import namespace_object


def declare(config: StackConfig) -> None:
    """Declare everything, each after what it needs: namespaces, CRDs, operator, settings, Ray objects."""
    manifests = StackManifests.read(config.manifests, config.namespace)

    namespaces = [KubernetesObject(name, namespace_object(name)) for name in config.namespaces]
    namespaces += [KubernetesObject(resource_name(item), item) for item in manifests.namespaces]

    platform: list[pulumi.Resource] = [*namespaces]
    if config.crds is not None:
        crds = KubeRayCrds("kuberay-crds", config.crds)
        platform.append(crds)
        pulumi.export("crds", {"names": crds.names, "checksum": crds.checksum})
    if config.operator is not None:
        operator = KubeRayOperator("kuberay-operator", config.operator, pulumi.ResourceOptions(depends_on=[*platform]))
        platform.append(operator)
        pulumi.export(
            "operator",
            {
                "namespace": operator.namespace,
                "deployment": operator.deployment_name,
                "serviceAccount": operator.service_account_name,
            },
        )

    settings = [
        KubernetesObject(resource_name(item), item, pulumi.ResourceOptions(depends_on=namespaces))
        for item in manifests.settings
    ]
    after_all = pulumi.ResourceOptions(depends_on=[*platform, *settings])
    jobs = []
    for item in manifests.ray:
        if item["kind"] == "RayJob":
            jobs.append(
                RayJob.from_manifest(
                    resource_name(item),
                    item,
                    after_all,
                    kuberay_version=config.operator.version if config.operator else None,
                    feature_gates=config.operator.feature_gates if config.operator else None,
                )
            )
        else:
            KubernetesObject(resource_name(item), item, after_all)
    pulumi.export("rayJobs", [{"namespace": job.namespace, "name": job.job_name} for job in jobs])


declare(StackConfig.load())
