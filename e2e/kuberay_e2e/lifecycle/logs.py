"""What the job of a workload printed: the submitter pod's log, or Ray's own where nothing submits from a pod."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from kuberay_e2e.errors import HarnessError, VerificationError
from kuberay_e2e.lifecycle.workload import Workload
from kuberay_e2e.session import Session

_LINES = 20

_SUBMITTER_CONTAINER = "ray-job-submitter"
"""Name that KubeRay gives to the container that submits, in the submitter pod and in SidecarMode in the head pod."""


class JobLogs:
    """Reads the logs of a workload's job.

    Args:
        workload: The RayJob.
        session: Where it runs.
    """

    def __init__(self, workload: Workload, session: Session) -> None:
        self._workload = workload
        self._session = session

    def submitter(self) -> str:
        """The log of the submitter, or of Ray where there is no submitter Job.

        Raises:
            VerificationError: There is no pod of the submitter Job, or no RayJob.
            HarnessError: The log cannot be read.
        """
        namespace, name = self._workload.namespace, self._workload.name
        if self._workload.submission_mode == "SidecarMode":
            return self._sidecar(namespace)
        if not self._workload.has_submitter_job:
            return self.ray()
        pods = self._session.reader.list("Pod", namespace, selector=f"job-name={name}")
        if not pods:
            raise VerificationError(f"Expected a pod of the submitter Job {name}; there is none.")
        return self._session.reader.log(namespace, pods[-1]["metadata"]["name"])

    def _sidecar(self, namespace: str) -> str:
        cluster = (self._rayjob().get("status") or {}).get("rayClusterName", "")
        heads = self._session.reader.list("Pod", namespace, selector=f"ray.io/cluster={cluster},ray.io/node-type=head")
        if not heads:
            raise VerificationError(f"Expected a head pod of the RayCluster {cluster}; there is none.")
        return self._session.reader.log(namespace, heads[-1]["metadata"]["name"], _SUBMITTER_CONTAINER)

    def ray(self) -> str:
        """What the job printed, as Ray's Jobs API has it.

        Raises:
            VerificationError: The RayJob is not there.
            HarnessError: Ray does not run, or knows no such job.
        """
        status = self._rayjob().get("status") or {}
        return self._session.job_output(
            self._workload.namespace, status.get("rayClusterName", ""), status.get("jobId", "")
        )

    def _rayjob(self) -> Mapping[str, Any]:
        found = self._session.reader.get("RayJob", self._workload.namespace, self._workload.name)
        if found is None:
            raise VerificationError(
                f"Expected the RayJob {self._workload.namespace}/{self._workload.name} to be there; it is not."
            )
        return found

    def expected(self) -> list[str]:
        """The lines that the submitter's log has to hold: those the workload is known for, else Ray's own."""
        if self._workload.expected_output:
            return list(self._workload.expected_output)
        return [line for line in self.ray().splitlines() if line.strip()]


class JobReader:
    """Reads the RayJob of a workload for `kuberay_model.waiter`.

    Args:
        workload: The RayJob.
        session: Where it runs.
    """

    def __init__(self, workload: Workload, session: Session) -> None:
        self._workload = workload
        self._session = session

    def rayjob(self) -> Mapping[str, Any] | None:
        """The RayJob as it is now.

        Raises:
            HarnessError: The operator is a local process and ended by itself, so that the RayJob would never end.
        """
        if self._session.has_gateway and not self._session.operator.running:
            raise HarnessError(f"The operator ended by itself: {self._session.operator.last_lines()}")
        return self._session.reader.get("RayJob", self._workload.namespace, self._workload.name)

    def log(self, lines: int) -> Sequence[str]:
        """The last lines of the submitter's log, or of Ray's own; none where neither can be read."""
        logs = JobLogs(self._workload, self._session)
        for read in (logs.submitter, logs.ray):
            with contextlib.suppress(VerificationError, HarnessError):
                if text := read():
                    return text.splitlines()[-lines:]
        return ()


def tail(text: str) -> str:
    """The last lines of a log."""
    return "\n".join(text.splitlines()[-_LINES:])
