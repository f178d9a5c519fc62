"""What one environment wants, read from `Pulumi.<stack>.yaml`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config_section import PROJECT, Section
from pulumi.runtime.config import CONFIG, get_config_env

from pulumi_kuberay import HelmChart, KubeRayCrdsArgs, KubeRayOperatorArgs, KustomizeFolders, OperatorImage

_TEXT_KEYS = frozenset({"namespace"})


@dataclass(frozen=True)
class StackConfig:
    """The configuration of one stack.

    Attributes:
        crds: Where the CRDs come from, or None if this stack does not own them.
        operator: The operator, or None if this stack does not own it.
        namespaces: Namespaces to create, without the operator's own.
        namespace: Namespace of objects in `manifests` that name none.
        manifests: YAML files of RayJobs and of what they need, in the order given.
    """

    crds: KubeRayCrdsArgs | None
    operator: KubeRayOperatorArgs | None
    namespaces: tuple[str, ...]
    namespace: str
    manifests: tuple[Path, ...]

    @classmethod
    def load(cls) -> "StackConfig":
        """Read the configuration of the stack that runs.

        Raises:
            ConfigError: A key is unknown or its value has the wrong type.
        """
        prefix = f"{PROJECT}:"
        texts: dict[str, str] = {**get_config_env(), **CONFIG.get()}
        own = {key.removeprefix(prefix): text for key, text in texts.items() if key.startswith(prefix)}
        return cls.parse({key: _decoded(key, text) for key, text in own.items()})

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> "StackConfig":
        """Check the values of the keys, without the project's prefix.

        Raises:
            ConfigError: A key is unknown or its value has the wrong type.
        """
        root = Section(PROJECT, values)
        throwaway = root.flag("throwaway") or False
        config = cls(
            crds=_crds(root.section("crds"), throwaway),
            operator=_operator(root.section("operator")),
            namespaces=root.texts("namespaces"),
            namespace=root.text("namespace") or "default",
            manifests=tuple(Path(name).expanduser() for name in root.texts("manifests")),
        )
        root.close()
        return config


def _decoded(key: str, text: str) -> Any:
    if key in _TEXT_KEYS:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _crds(section: Section | None, throwaway: bool) -> KubeRayCrdsArgs | None:
    if section is None:
        return None
    args = KubeRayCrdsArgs(
        folder=section.text("folder"),
        chart=section.text("chart"),
        url=section.text("url"),
        expected_checksum=section.text("checksum"),
        throwaway=throwaway,
    )
    section.close()
    return args


def _operator(section: Section | None) -> KubeRayOperatorArgs | None:
    if section is None:
        return None
    args = KubeRayOperatorArgs(
        version=section.text("version"),
        chart=_chart(section.section("chart")),
        kustomize=_kustomize(section.section("kustomize")),
        namespace=section.text("namespace"),
        create_namespace=section.flag("createNamespace"),
        image=_image(section.section("image")),
        replicas=section.number("replicas"),
        leader_election=section.flag("leaderElection"),
        use_kubernetes_proxy=section.flag("useKubernetesProxy"),
        watch_namespaces=section.texts("watchNamespaces"),
        feature_gates=section.mapping("featureGates"),
        reconcile_concurrency=section.number("reconcileConcurrency"),
        metrics=section.flag("metrics"),
        env=section.mapping("env"),
        resources=section.mapping("resources"),
        values=section.mapping("values"),
    )
    section.close()
    return args


def _chart(section: Section | None) -> HelmChart | None:
    if section is None:
        return None
    chart = HelmChart(repository=section.text("repository"), version=section.text("version"), path=section.text("path"))
    section.close()
    return chart


def _kustomize(section: Section | None) -> KustomizeFolders | None:
    if section is None:
        return None
    folders = KustomizeFolders(paths=section.texts("paths"), patches=section.mappings("patches"))
    section.close()
    return folders


def _image(section: Section | None) -> OperatorImage | None:
    if section is None:
        return None
    image = OperatorImage(repository=section.text("repository"), tag=section.text("tag"))
    section.close()
    return image
