"""One Kubernetes object as one Pulumi resource, its fields untouched.

The classes of ``pulumi_kubernetes`` translate field names between snake_case and camelCase, which is wrong
for schema keys such as ``x-kubernetes-validations``, and loading them costs time that a small program does
not have. A plain ``pulumi.CustomResource`` with the provider's own type token sends an object as it stands.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.merging import without_none

WAIT_FOR_ANNOTATION = "pulumi.com/waitFor"
KUEUE_API_VERSION = "kueue.x-k8s.io/v1beta2"


def provider_version() -> str:
    """Return the release of the Kubernetes provider that the installed SDK was generated from.

    Naming it keeps these resources on the same default provider as those of ``pulumi_kubernetes``.
    """
    return version("pulumi-kubernetes")


def type_token(manifest: Mapping[str, Any]) -> str:
    """Return the provider's type token of an object, for example ``kubernetes:ray.io/v1:RayJob``.

    Args:
        manifest: The object; the API group ``core`` may be left out as Kubernetes does (``v1``).

    Raises:
        ArgumentError: ``apiVersion`` or ``kind`` is missing.
    """
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if not (isinstance(api_version, str) and isinstance(kind, str) and api_version and kind):
        raise ArgumentError(
            f"A Kubernetes object needs the strings apiVersion and kind, but this one has "
            f"apiVersion={api_version!r} and kind={kind!r}; add them to the object."
        )
    group_version = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group_version}:{kind}"


class KubernetesObject(pulumi.CustomResource):
    """Any Kubernetes object, sent to the API server exactly as given, by server-side apply."""

    metadata: pulumi.Output[Mapping[str, Any]]
    """Metadata as the API server returned it."""

    status: pulumi.Output[Mapping[str, Any] | None]
    """Status as the API server returned it at the end of the wait, if there was one; None where there is none."""

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the object.

        Args:
            name: Pulumi's logical name of the resource.
            manifest: ``apiVersion``, ``kind``, ``metadata`` and whatever else the kind has. Values may be
                outputs. The ``data`` and ``stringData`` of a Secret are encrypted in the state. A ``status``
                is dropped.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: ``apiVersion`` or ``kind`` is missing.
        """
        properties = {**manifest, "status": None}
        defaults = pulumi.ResourceOptions(version=provider_version())
        if manifest.get("kind") == "Secret" and manifest.get("apiVersion") == "v1":
            sensitive = [key for key in ("data", "stringData") if key in properties]
            properties |= {key: pulumi.Output.secret(properties[key]) for key in sensitive}
            defaults.additional_secret_outputs = ["data", "stringData"]
        super().__init__(type_token(manifest), name, properties, pulumi.ResourceOptions.merge(defaults, opts))


def namespace_object(name: str) -> dict[str, Any]:
    """Return a Namespace object called `name`."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def object_metadata(
    name: pulumi.Input[str],
    namespace: pulumi.Input[str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return an object's metadata without what is unset."""
    return without_none({"name": name, "namespace": namespace, "labels": labels, "annotations": annotations})
