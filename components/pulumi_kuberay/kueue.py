"""The component that installs Kueue."""

from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import yaml

from pulumi_kuberay.charts import chart_location, chart_values, templated_chart
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.helm_chart import HelmChart
from pulumi_kuberay.kueue_args import DEFAULT_NAMESPACE, DEFAULT_REPOSITORY, KueueArgs
from pulumi_kuberay.kueue_configuration import DEFAULT_CONFIGURATION
from pulumi_kuberay.kueue_values import CHART_NAME, full_name, kueue_values, kueue_version
from pulumi_kuberay.objects import WAIT_FOR_ANNOTATION, KubernetesObject, namespace_object

_CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_WEBHOOKS = tuple(
    f"kubernetes:admissionregistration.k8s.io/v1:{kind}WebhookConfiguration" for kind in ("Mutating", "Validating")
)
_HAS_CERTIFICATE = "jsonpath={.webhooks[*].clientConfig.caBundle}"

Transform = Callable[[pulumi.ResourceTransformArgs], pulumi.ResourceTransformResult | None]


class Kueue(pulumi.ComponentResource):
    """Kueue with its CRDs, from its Helm chart.

    It is there once its Deployment is available and its webhooks have their certificate. Queues must depend on
    it, because these webhooks look at them; and so should everything with pods outside of kube-system and Kueue's
    own namespace, the KubeRay operator for one: while the webhooks cannot be reached such pods are refused, unless
    the frameworks of the configuration leave ``pod`` and ``deployment`` out. RayJobs depend on their queues, so
    that at ``destroy`` they end first, while Kueue is there to release them.

    Its CRDs are part of the chart's templates. Each is protected and retained, because deleting a CRD deletes
    every object of its kind, unless `throwaway` is set.
    """

    namespace: pulumi.Output[str]
    """Namespace of Kueue."""

    deployment_name: pulumi.Output[str]
    """Name of Kueue's Deployment."""

    service_account_name: pulumi.Output[str]
    """Name of the ServiceAccount that Kueue runs as."""

    def __init__(self, name: str, args: KueueArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare Kueue.

        Args:
            name: Pulumi's logical name of the component.
            args: The source and the settings.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Kueue would exit on its settings, they contradict each other, or the chart cannot be
                read; every reason is told.
        """
        super().__init__("kuberay:index:Kueue", name, {}, opts)
        chart, namespace = args.chart or HelmChart(), args.namespace or DEFAULT_NAMESPACE
        values = kueue_values(args, _base_configuration(chart))
        owned: list[pulumi.Resource] = []
        if args.create_namespace is not False:
            child = pulumi.ResourceOptions(parent=self)
            owned.append(KubernetesObject(namespace, namespace_object(namespace), child))
        source = templated_chart(
            name,
            chart_location(chart, CHART_NAME, DEFAULT_REPOSITORY, kueue_version(args)),
            CHART_NAME,
            namespace,
            values,
            pulumi.ResourceOptions(
                parent=self,
                depends_on=owned,
                transforms=[object_transform(not args.throwaway, args.wait_for_webhooks is not False)],
            ),
        )
        manager = f"{full_name(values)}-controller-manager"
        self.namespace = source.urn.apply(lambda _: namespace)
        self.deployment_name = source.urn.apply(lambda _: manager)
        self.service_account_name = source.urn.apply(lambda _: manager)
        self.register_outputs(
            {
                "namespace": self.namespace,
                "deploymentName": self.deployment_name,
                "serviceAccountName": self.service_account_name,
            }
        )


def object_transform(keep_crds: bool, wait_for_webhooks: bool) -> Transform:
    """Return what is changed about the objects that the chart makes.

    Args:
        keep_crds: Protect and retain the CRDs. They are waited for until Established either way.
        wait_for_webhooks: Wait until the webhooks have the certificate of who signs for them.
    """

    def transform(resource: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if resource.type_ == _CRD:
            kept = pulumi.ResourceOptions(protect=keep_crds, retain_on_delete=keep_crds)
            opts = pulumi.ResourceOptions.merge(resource.opts, kept)
            return pulumi.ResourceTransformResult(_waited_for(resource.props, "condition=Established"), opts)
        if wait_for_webhooks and resource.type_ in _WEBHOOKS:
            return pulumi.ResourceTransformResult(_waited_for(resource.props, _HAS_CERTIFICATE), resource.opts)
        return None

    return transform


def _waited_for(props: Mapping[str, Any], condition: str) -> dict[str, Any]:
    metadata = props.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), WAIT_FOR_ANNOTATION: condition}
    return {**props, "metadata": {**metadata, "annotations": annotations}}


def _base_configuration(chart: HelmChart) -> Mapping[str, Any]:
    if chart.path is None:
        return DEFAULT_CONFIGURATION
    text = (chart_values(chart.path).get("managerConfig") or {}).get("controllerManagerConfigYaml")
    base = yaml.safe_load(text) if isinstance(text, str) else None
    if not isinstance(base, dict):
        raise ArgumentError(
            f"The chart {chart.path!r} has no managerConfig.controllerManagerConfigYaml in its values; name a chart "
            "of Kueue."
        )
    return base
