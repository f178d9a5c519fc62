"""The component that installs the KubeRay operator."""

from collections.abc import Mapping
from typing import Any

import pulumi

from pulumi_kuberay.charts import chart_location, helm_release, templated_chart
from pulumi_kuberay.errors import refuse
from pulumi_kuberay.helm_chart import HelmChart
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.objects import KubernetesObject, namespace_object, provider_version
from pulumi_kuberay.operator_args import (
    DEFAULT_NAMESPACE,
    DEFAULT_REPOSITORY,
    InstallMode,
    KubeRayOperatorArgs,
    KustomizeFolders,
)
from pulumi_kuberay.operator_checks import deletes_finished_jobs, operator_problems
from pulumi_kuberay.operator_environment import DELETE_RAYJOB
from pulumi_kuberay.operator_overlay import existing_bases, write_overlay
from pulumi_kuberay.operator_patch import deployment_patch
from pulumi_kuberay.operator_values import OPERATOR_NAME, chart_names, operator_values, operator_version

_DELETES_JOBS = (
    f"The operator has {DELETE_RAYJOB}=true: it deletes a RayJob that asks for a shutdown after its end. A pulumi "
    "refresh then finds the object gone, and the next pulumi up runs the job again. Shut down the RayCluster alone, "
    "unless no RayJob of this cluster is managed by Pulumi."
)


class KubeRayOperator(pulumi.ComponentResource):
    """The KubeRay operator, from its Helm chart or from kustomizations, without CRDs.

    It is there once its Deployment is available. The CRDs belong to `KubeRayCrds`; let the operator depend on it.
    Objects that carry a finalizer of KubeRay (RayJob, RayService) must depend on the operator, so that it is still
    there to release them at ``destroy``. Nothing of it is protected: Ray pods run on without it. A change of
    `install`, or from the chart to kustomizations, replaces all its objects.
    """

    namespace: pulumi.Output[str]
    """Namespace of the operator."""

    deployment_name: pulumi.Output[str]
    """Name of the operator's Deployment."""

    service_account_name: pulumi.Output[str]
    """Name of the ServiceAccount that the operator runs as."""

    def __init__(self, name: str, args: KubeRayOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the operator.

        Args:
            name: Pulumi's logical name of the component.
            args: The source and the settings.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: The version is not supported, it has no such value or feature gate, or settings
                contradict each other; every reason is told.
        """
        super().__init__("kuberay:index:KubeRayOperator", name, {}, opts)
        values = deep_merge(operator_values(args), args.values or {})
        refuse("KubeRayOperator cannot be installed like this.", operator_problems(args, values))
        if deletes_finished_jobs(values):
            pulumi.log.warn(_DELETES_JOBS, self)
        namespace = args.namespace or DEFAULT_NAMESPACE
        owned: list[pulumi.Resource] = []
        if args.create_namespace is not False:
            child = pulumi.ResourceOptions(parent=self)
            owned.append(KubernetesObject(namespace, namespace_object(namespace), child))
        child = pulumi.ResourceOptions(parent=self, depends_on=owned)
        if args.kustomize is not None:
            source: pulumi.Resource = _directory(name, args.kustomize, namespace, values, child)
            deployment, account = OPERATOR_NAME, OPERATOR_NAME
        else:
            source = _installed(name, args, namespace, values, child)
            deployment, account = chart_names(values, OPERATOR_NAME)
        self.namespace = source.urn.apply(lambda _: namespace)
        self.deployment_name = source.urn.apply(lambda _: deployment)
        self.service_account_name = source.urn.apply(lambda _: account)
        self.register_outputs(
            {
                "namespace": self.namespace,
                "deploymentName": self.deployment_name,
                "serviceAccountName": self.service_account_name,
            }
        )


def _installed(
    name: str, args: KubeRayOperatorArgs, namespace: str, values: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> pulumi.Resource:
    location = chart_location(args.chart or HelmChart(), OPERATOR_NAME, DEFAULT_REPOSITORY, operator_version(args))
    install = helm_release if args.install == InstallMode.RELEASE else templated_chart
    return install(name, location, OPERATOR_NAME, namespace, values, opts)


class _Kustomization(pulumi.ComponentResource):
    """The provider's kustomize.v2.Directory.

    Its class in ``pulumi_kubernetes`` declares the list of its resources as a string and fails on the list.
    """

    def __init__(self, name: str, directory: pulumi.Input[str], opts: pulumi.ResourceOptions) -> None:
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=provider_version()))
        super().__init__("kubernetes:kustomize/v2:Directory", name, {"directory": directory}, opts, remote=True)


def _directory(
    name: str, kustomize: KustomizeFolders, namespace: str, values: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> _Kustomization:
    bases = existing_bases(kustomize.paths)
    folder = pulumi.Output.from_input(deployment_patch(values)).apply(
        lambda patch: str(write_overlay(bases, namespace, patch, kustomize.patches or ()))
    )
    return _Kustomization(name, folder, opts)
