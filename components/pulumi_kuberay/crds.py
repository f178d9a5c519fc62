"""The component that owns KubeRay's CustomResourceDefinitions."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi

from pulumi_kuberay.crd_manifests import checksum, crds_from_chart, crds_from_folder, crds_from_url
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.objects import WAIT_FOR_ANNOTATION, KubernetesObject
from pulumi_kuberay.outputs import unknown

OFFLINE_VARIABLE = "PULUMI_KUBERAY_OFFLINE"
"""Environment variable that, set to anything, makes a preview do without CRDs that would have to be downloaded."""


@dataclass(kw_only=True)
class KubeRayCrdsArgs:
    """Where the CRDs come from, and whether they may be deleted. Exactly one source is named."""

    folder: str | None = None
    """A folder of YAML files, such as ``config/crd/bases`` of the operator's module."""

    chart: str | None = None
    """The operator's Helm chart on this machine, as a folder or a ``.tgz`` file; its ``crds/`` folder is
    read."""

    url: str | None = None
    """An address of a YAML file of CRDs, or of a packed Helm chart (``.tgz``)."""

    expected_checksum: str | None = None
    """SHA-256 (hexadecimal) that the CRDs must have. Default: any. See the output `checksum`."""

    throwaway: bool | None = None
    """Let ``pulumi destroy`` delete the CRDs, and with them every Ray object of the cluster. Default:
    false."""


class KubeRayCrds(pulumi.ComponentResource):
    """The CRDs of one operator release, applied by server-side apply and waited for until Established.

    Helm installs the CRDs of a chart once and never upgrades them, so they are resources of their own here.
    Each is protected and retained, because deleting a CRD deletes every object of its kind, unless
    `throwaway` is set.

    A preview without network sets ``PULUMI_KUBERAY_OFFLINE``: CRDs at an address are then not declared, and their
    names and checksum are unknown. An update refuses that.
    """

    names: pulumi.Output[Sequence[str]]
    """Names of the CRDs, sorted."""

    checksum: pulumi.Output[str]
    """SHA-256 (hexadecimal) of the canonical JSON of the CRDs as they were read from the source."""

    def __init__(self, name: str, args: KubeRayCrdsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the CRDs.

        Args:
            name: Pulumi's logical name of the component.
            args: The source and the protection.
            opts: Pulumi's resource options.

        Raises:
            ArgumentError: Not exactly one source is named, the source cannot be read, or its checksum is
                another.
        """
        super().__init__("kuberay:index:KubeRayCrds", name, {}, opts)
        source, location = _source(args)
        if source == "url" and os.environ.get(OFFLINE_VARIABLE):
            self._leave_out(location)
            return
        crds = _read(source, location)
        digest = checksum(crds)
        if args.expected_checksum not in (None, digest):
            raise ArgumentError(
                f"The CRDs have the checksum {digest}, but expected_checksum is {args.expected_checksum}; "
                f"use the source that was meant, or pin the new checksum after reviewing what changed."
            )
        keep = not args.throwaway
        resources = [
            KubernetesObject(
                crd["metadata"]["name"],
                _awaited(crd),
                pulumi.ResourceOptions(parent=self, protect=keep, retain_on_delete=keep),
            )
            for crd in crds
        ]
        self.names = pulumi.Output.all(*[crd.metadata for crd in resources]).apply(
            lambda applied: sorted(str(metadata["name"]) for metadata in applied)
        )
        self.checksum = self.names.apply(lambda _: digest)
        self.register_outputs({"names": self.names, "checksum": self.checksum})

    def _leave_out(self, url: str) -> None:
        if not pulumi.runtime.is_dry_run():
            raise ArgumentError(
                f"The CRDs at {url} cannot be applied, because {OFFLINE_VARIABLE} is set, which is for previews; "
                "unset it."
            )
        pulumi.log.warn(f"The CRDs at {url} are not looked at, because {OFFLINE_VARIABLE} is set.", self)
        self.names = unknown()
        self.checksum = unknown()
        self.register_outputs({})


def _source(args: KubeRayCrdsArgs) -> tuple[str, str]:
    named = {key: value for key in ("folder", "chart", "url") if (value := getattr(args, key)) is not None}
    if len(named) != 1:
        seen = "none of them is" if not named else f"{' and '.join(named)} are"
        raise ArgumentError(f"KubeRayCrds takes its CRDs from exactly one of folder, chart or url, but {seen} set.")
    return next(iter(named.items()))


def _read(source: str, location: str) -> list[dict[str, Any]]:
    if source == "url":
        return crds_from_url(location)
    return (crds_from_chart if source == "chart" else crds_from_folder)(Path(location).expanduser())


def _awaited(crd: Mapping[str, Any]) -> dict[str, Any]:
    metadata = crd["metadata"]
    annotations = {**metadata.get("annotations", {}), WAIT_FOR_ANNOTATION: "condition=Established"}
    return {**crd, "metadata": {**metadata, "annotations": annotations}}
