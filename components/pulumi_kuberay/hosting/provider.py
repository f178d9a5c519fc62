"""The provider that makes components for programs in any language."""

import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pulumi
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider

from pulumi_kuberay.hosting.arguments import ArgumentReader
from pulumi_kuberay.hosting.descriptions import Wording
from pulumi_kuberay.hosting.exports import PACKAGE, args_class

_ABOUT = {
    "displayName": "KubeRay",
    "description": "Typed components that put KubeRay on a Kubernetes cluster and run RayJobs on it.",
    "keywords": ["kuberay", "ray", "rayjob", "kueue", "kubernetes", "category/cloud", "kind/component"],
    "license": "Apache-2.0",
}


class KubeRayProvider(ComponentProvider):
    """Makes components from the properties of a request, by way of their Python arguments.

    The schema is what Pulumi infers from the arguments, so that these are the only place where a property is
    declared.

    Args:
        components: The component classes to offer.
    """

    def __init__(self, components: Sequence[type[pulumi.ComponentResource]]) -> None:
        super().__init__(list(components), PACKAGE, version=_own_version())
        self._arguments = ArgumentReader(self._type_defs)
        self._args_classes = {component.__name__: args_class(component) for component in components}
        mappings = [
            *(component.inputs_mapping for component in self._component_defs.values()),
            *(component.outputs_mapping for component in self._component_defs.values()),
            *(definition.properties_mapping for definition in self._type_defs.values()),
        ]
        self.wording = Wording({python: schema for mapping in mappings for schema, python in mapping.items()})
        self.schema = json.dumps({**self.wording.described(json.loads(self.schema or "{}")), **_ABOUT})

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Make a component.

        Args:
            name: Pulumi's logical name of the component.
            resource_type: Its type token, for example ``kuberay:index:RayJob``.
            inputs: Its properties, by their names in the schema.
            options: Pulumi's resource options.

        Raises:
            InputPropertiesError: The properties do not fit the schema.
            ArgumentError: The component refuses its arguments.
        """
        self.validate_resource_type(PACKAGE, resource_type)
        component = resource_type.rpartition(":")[2]
        definition = self._component_defs[component]
        args = self._arguments.read(definition, self._args_classes[component], inputs)
        make: Any = self._components[component]
        made = make(name, args, options)
        return ConstructResult(made.urn, self.get_state(made, definition))


def _own_version() -> str:
    try:
        return version("pulumi-kuberay")
    except PackageNotFoundError:
        return "0.0.0"
