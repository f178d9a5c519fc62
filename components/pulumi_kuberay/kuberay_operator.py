"""The component that installs the KubeRay operator."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes.helm.v4 import Chart, ChartArgs, RepositoryOptsArgs

from pulumi_kuberay.objects import KubernetesObject, namespace_object, provider_version
from pulumi_kuberay.operator_args import DEFAULT_REPOSITORY, HelmChart, KubeRayOperatorArgs, KustomizeFolders
from pulumi_kuberay.operator_overlay import existing_bases, write_overlay
from pulumi_kuberay.operator_settings import (
    OPERATOR_NAME,
    OperatorSettings,
    chart_names,
    container_patch,
    helm_values,
    settings,
)


class KubeRayOperator(pulumi.ComponentResource):
    """The KubeRay operator, from its Helm chart or from kustomizations, without CRDs.

    The CRDs belong to `KubeRayCrds`; let the operator depend on it. Objects that carry a finalizer of KubeRay
    (RayJob, RayService) must depend on the operator, so that it is still there to release them at
    ``destroy``.
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
            ArgumentError: The arguments cannot work together; see `settings`.
        """
        super().__init__("kuberay:index:KubeRayOperator", name, {}, opts)
        operator = settings(args)
        owned: list[pulumi.Resource] = []
        if args.create_namespace is not False:
            owned.append(
                KubernetesObject(
                    operator.namespace,
                    namespace_object(operator.namespace),
                    pulumi.ResourceOptions(parent=self),
                )
            )
        child = pulumi.ResourceOptions(parent=self, depends_on=owned)
        if args.kustomize is not None:
            source: pulumi.Resource = _directory(name, args.kustomize, operator, child)
            deployment, account = OPERATOR_NAME, OPERATOR_NAME
        else:
            values = helm_values(operator, args.values or {})
            source = _chart(name, args.chart or HelmChart(), operator, values, child)
            deployment, account = chart_names(values, OPERATOR_NAME)
        self.namespace = source.urn.apply(lambda _: operator.namespace)
        self.deployment_name = source.urn.apply(lambda _: deployment)
        self.service_account_name = source.urn.apply(lambda _: account)
        self.register_outputs(
            {
                "namespace": self.namespace,
                "deploymentName": self.deployment_name,
                "serviceAccountName": self.service_account_name,
            }
        )


def _chart(
    name: str,
    chart: HelmChart,
    operator: OperatorSettings,
    values: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
) -> Chart:
    local = chart.path is not None
    return Chart(
        name,
        ChartArgs(
            chart=chart.path or OPERATOR_NAME,
            name=OPERATOR_NAME,
            namespace=operator.namespace,
            repository_opts=None if local else RepositoryOptsArgs(repo=chart.repository or DEFAULT_REPOSITORY),
            version=None if local else (chart.version or operator.version),
            skip_crds=True,
            values=values,
        ),
        opts,
    )


class _Kustomization(pulumi.ComponentResource):
    """The provider's kustomize.v2.Directory.

    Its class in ``pulumi_kubernetes`` declares the list of its resources as a string and fails on the list.
    """

    def __init__(self, name: str, directory: pulumi.Input[str], opts: pulumi.ResourceOptions) -> None:
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(version=provider_version()))
        super().__init__("kubernetes:kustomize/v2:Directory", name, {"directory": directory}, opts, remote=True)


def _directory(
    name: str, kustomize: KustomizeFolders, operator: OperatorSettings, opts: pulumi.ResourceOptions
) -> _Kustomization:
    bases = existing_bases(kustomize.paths)
    folder = pulumi.Output.from_input(container_patch(operator)).apply(
        lambda patch: str(write_overlay(bases, operator.namespace, patch, kustomize.patches or ()))
    )
    return _Kustomization(name, folder, opts)
