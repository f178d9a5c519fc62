"""The record of a run: a ConfigMap that stays when KubeRay has deleted the RayJob itself.

Pulumi's state forgets an object that a refresh does not find, and the next update would create it, which for a RayJob
is to run it again. The record, in the cluster beside the job, tells that this very run has been.
"""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pulumi_kuberay.cluster_reader import ClusterUnreadableError, read
from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.outputs import has_outputs

_IDENTITY = "identity"


@dataclass(frozen=True)
class RunRecord:
    """What the cluster knows of a run.

    Attributes:
        identity: Identity of the run that was recorded last, None if there is no record.
        present: Whether the RayJob object is there.
    """

    identity: str | None
    present: bool

    def is_over(self, identity: str) -> bool:
        """Tell whether this run has been and its object is gone."""
        return self.identity == identity and not self.present


def record_name(job_name: str) -> str:
    """Return the name of the ConfigMap that records the runs of a RayJob."""
    return f"{job_name}-run"


def record_object(metadata: Mapping[str, Any], identity: str) -> dict[str, Any]:
    """Return the ConfigMap that records a run.

    Args:
        metadata: Metadata of the RayJob.
        identity: Identity of the run.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": record_name(metadata["name"]), "namespace": metadata["namespace"]},
        "data": {_IDENTITY: identity},
    }


def recorded(manifest: Mapping[str, Any]) -> RunRecord:
    """Read from the cluster what it knows of the run of a RayJob.

    Raises:
        ArgumentError: The RayJob is not known whole at the start of the program, or the cluster cannot be read.
    """
    metadata = manifest["metadata"]
    if has_outputs(manifest) or not metadata.get("namespace"):
        raise ArgumentError(
            f"The RayJob {metadata.get('name')!r} has record_run, for which its namespace must be set and every value "
            "be known when the program starts; set the namespace, and use no outputs of other resources."
        )
    try:
        with ThreadPoolExecutor(max_workers=1) as thread:  # the program itself runs inside an event loop
            return thread.submit(asyncio.run, _read(metadata["namespace"], metadata["name"])).result()
    except ClusterUnreadableError as error:
        raise ArgumentError(
            f"The RayJob {metadata['name']!r} has record_run, but its record could not be read: {error}"
        ) from error


async def _read(namespace: str, name: str) -> RunRecord:
    record = await read("v1", namespace, f"configmaps/{record_name(name)}")
    job = await read("ray.io/v1", namespace, f"rayjobs/{name}")
    data = (record or {}).get("data") or {}
    return RunRecord(identity=data.get(_IDENTITY), present=job is not None)
