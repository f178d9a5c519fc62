"""The RayJob that goes through the life cycle, and the objects it needs."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e import samples
from kuberay_e2e.errors import InputError
from kuberay_model import manifests, rules

DEFAULT_NAMESPACE = "ray-jobs"
"""Namespace of objects that name none."""

_CLEANUP = ("deletionStrategy", "shutdownAfterJobFinishes", "ttlSecondsAfterFinished")


@dataclass(frozen=True)
class Workload:
    """A RayJob with its ConfigMaps, Secrets and the like.

    Attributes:
        source: Where it was read, for messages.
        rayjob: The RayJob as its author wrote it.
        others: The objects it needs, in the order of the files.
        expected_output: Lines that the job is known to print, in order; empty where that is not known.
        default_namespace: Namespace of a RayJob that names none.
        makes_namespaces: Its namespaces have to be created; False where they are there.
    """

    source: str
    rayjob: Mapping[str, Any]
    others: tuple[Mapping[str, Any], ...]
    expected_output: tuple[str, ...] = ()
    default_namespace: str = DEFAULT_NAMESPACE
    makes_namespaces: bool = True

    @classmethod
    def bundled(cls) -> "Workload":
        """The bundled sample."""
        return cls.read([samples.path()], expected_output=samples.EXPECTED_OUTPUT)

    @classmethod
    def read(
        cls, paths: Sequence[Path], *, expected_output: tuple[str, ...] = (), real_pods: bool = False
    ) -> "Workload":
        """Read a user's manifests.

        Args:
            paths: The files.
            expected_output: Lines that the job is known to print, in order.
            real_pods: Pods are real, so that a submitter can run inside the head pod.

        Raises:
            InputError: A file cannot be used, there is not exactly one RayJob, KubeRay would refuse it, or a
                life cycle cannot be driven with it.
        """
        try:
            documents = [document for path in paths for document in manifests.load(path)]
            found = manifests.rayjob(documents)
        except manifests.ManifestError as error:
            raise InputError(str(error)) from error
        _refuse_undrivable(found, real_pods)
        if (finding := rules.refusal(found.manifest)) is not None:
            raise InputError(f"{found.location}: KubeRay would refuse this RayJob by rule {finding}")
        others = tuple(document.manifest for document in documents if document is not found)
        return cls(found.location, found.manifest, others, expected_output)

    @property
    def name(self) -> str:
        """Name of the RayJob."""
        return str(self.rayjob["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace of the RayJob."""
        return str(self.rayjob["metadata"].get("namespace") or self.default_namespace)

    @property
    def namespaces(self) -> list[str]:
        """Namespaces that have to be created for it."""
        return sorted(self.used_namespaces - self.own_namespaces - {"default"}) if self.makes_namespaces else []

    @property
    def used_namespaces(self) -> set[str]:
        """Namespaces that it and what it needs are in."""
        namespaced = [item for item in self.others if item["kind"] != "Namespace"]
        return {self.namespace, *(str(item["metadata"].get("namespace") or self.namespace) for item in namespaced)}

    @property
    def own_namespaces(self) -> set[str]:
        """Namespaces that its author has declared."""
        return {item["metadata"]["name"] for item in self.others if item["kind"] == "Namespace"}

    @property
    def submission_mode(self) -> str:
        """`spec.submissionMode`, K8sJobMode where it is not set."""
        return str(self.rayjob["spec"].get("submissionMode") or "K8sJobMode")

    @property
    def has_submitter_job(self) -> bool:
        """True where KubeRay creates a batch Job that submits."""
        return self.submission_mode == "K8sJobMode"

    def kept(self) -> dict[str, Any]:
        """The RayJob with cleanup set to keep: the RayCluster stays when the job has ended."""
        return self._with({})

    def shut_down(self, ttl_seconds: int) -> dict[str, Any]:
        """The RayJob with cleanup set to shut down: the RayCluster goes a time to live after the end."""
        return self._with({"shutdownAfterJobFinishes": True, "ttlSecondsAfterFinished": ttl_seconds})

    def write(self, folder: Path, rayjob: Mapping[str, Any] | None) -> list[str]:
        """Write manifests for the Pulumi program and return their paths.

        Args:
            folder: Where to write.
            rayjob: The RayJob, or None for the other objects alone.
        """
        folder.mkdir(parents=True, exist_ok=True)
        files = {"objects.yaml": list(self.others), "rayjob.yaml": [rayjob] if rayjob else []}
        written = []
        for name, documents in files.items():
            if documents:
                (folder / name).write_text(yaml.safe_dump_all(documents, sort_keys=False))
                written.append(str(folder / name))
        return written

    def _with(self, cleanup: Mapping[str, Any]) -> dict[str, Any]:
        rayjob: dict[str, Any] = copy.deepcopy(dict(self.rayjob))
        for field in _CLEANUP:
            rayjob["spec"].pop(field, None)
        rayjob["spec"].update(cleanup)
        return rayjob


def _refuse_undrivable(document: manifests.Document, real_pods: bool) -> None:
    spec = document.manifest.get("spec")
    spec = spec if isinstance(spec, Mapping) else {}
    mode = spec.get("submissionMode") or "K8sJobMode"
    reasons = {
        "is suspended (spec.suspend): nothing would ever start it. Remove the field": bool(spec.get("suspend")),
        "selects an existing RayCluster (spec.clusterSelector), which would not be created or deleted with it. "
        "Give it a rayClusterSpec": bool(spec.get("clusterSelector")),
        "is in InteractiveMode: it waits for somebody to submit a job. Use K8sJobMode or HTTPMode": mode
        == "InteractiveMode",
        "is in SidecarMode, whose submitter runs inside the head pod: the embedded control plane cannot run it. "
        "Use K8sJobMode or HTTPMode, or --cluster kind": mode == "SidecarMode" and not real_pods,
    }
    for reason, holds in reasons.items():
        if holds:
            raise InputError(
                f"{document.location}: a life cycle cannot be driven with this RayJob, because it {reason}."
            )
