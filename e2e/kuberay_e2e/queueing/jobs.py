"""A RayJob in a queue, as a scenario handles it: created and changed through the API server, then looked at."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from kuberay_e2e.api import KINDS, Object
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.lifecycle.waiting import NotYetError
from kuberay_e2e.queueing.requests import MERGE, PATIENCE_SECONDS, sent
from kuberay_e2e.session import Session

INITIALIZING, RUNNING, SUSPENDING, SUSPENDED = "Initializing", "Running", "Suspending", "Suspended"
COMPLETE, FAILED, VALIDATION_FAILED = "Complete", "Failed", "ValidationFailed"


class RefusedError(Exception):
    """The API server refused a request; the message is its own."""


@dataclass
class QueuedJob:
    """A RayJob of a scenario.

    Attributes:
        session: The session.
        client: Client of the API server.
        manifest: The RayJob as it is created.
        uid: UID, once it is created.
    """

    session: Session
    client: httpx.Client
    manifest: Mapping[str, Any]
    uid: str = field(default="", init=False)

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.manifest["metadata"]["namespace"])

    def create(self, *, patience: float = PATIENCE_SECONDS) -> "QueuedJob":
        """Create it.

        Args:
            patience: How long to repeat it while a webhook cannot be reached, in seconds.

        Raises:
            RefusedError: The API server refused it.
        """
        collection = KINDS["RayJob"].format(namespace=self.namespace)
        answer = sent(lambda: self.client.post(collection, json=self.manifest), patience=patience)
        self.uid = _accepted(answer).json()["metadata"]["uid"]
        return self

    def change(self, patch: Mapping[str, Any], *, patience: float = PATIENCE_SECONDS) -> None:
        """Apply a JSON merge patch.

        Args:
            patch: The patch.
            patience: How long to repeat it while a webhook cannot be reached, in seconds.

        Raises:
            RefusedError: The API server refused it.
        """
        _accepted(sent(lambda: self.client.patch(self._path, json=patch, headers=MERGE), patience=patience))

    def delete(self) -> None:
        """Ask for its deletion.

        Raises:
            RefusedError: The API server refused it.
        """
        _accepted(sent(lambda: self.client.delete(self._path)))

    def activate(self, active: bool) -> None:
        """Set `spec.active` of its Workload: an inactive one is evicted, as `kueuectl stop workload` does it.

        Raises:
            RefusedError: The API server refused it.
            HarnessError: There is no Workload.
        """
        workload = self.workload()
        if workload is None:
            raise HarnessError(f"Expected a Workload of the RayJob {self.namespace}/{self.name}; there is none.")
        path = f"{KINDS['Workload'].format(namespace=self.namespace)}/{workload['metadata']['name']}"
        _accepted(sent(lambda: self.client.patch(path, json={"spec": {"active": active}}, headers=MERGE)))

    def read(self) -> Object | None:
        """The RayJob, or None where it is gone."""
        found = self.session.reader.get("RayJob", self.namespace, self.name)
        return found if found is not None and found["metadata"]["uid"] == self.uid else None

    def workload(self) -> Object | None:
        """Its Workload, or None where there is none."""
        found = self.session.reader.list("Workload", self.namespace, owner=self.uid)
        return found[0] if found else None

    def condition(self, kind: str) -> Mapping[str, Any]:
        """A condition of its Workload; empty where there is none."""
        workload = self.workload() or {}
        conditions = (workload.get("status") or {}).get("conditions") or ()
        return next((item for item in conditions if item["type"] == kind), {})

    def recording(self) -> Recording:
        """What was recorded of it."""
        return Recording.of(self.session.trace.events(), self.uid)

    def reached(self, *states: str) -> str:
        """Look for a `jobDeploymentStatus`; returns what was seen.

        Raises:
            NotYetError: It has another one.
        """
        status = self._status()
        seen = f"{self.name} is {_words(status)}"
        if str(status.get("jobDeploymentStatus") or "New") not in states:
            raise NotYetError(seen)
        return seen

    def over(self) -> str:
        """Look for the end of the Ray job, whatever KubeRay makes of it.

        Raises:
            NotYetError: It has not ended with success.
        """
        status = self._status()
        seen = f"{self.name} is {_words(status)}"
        if status.get("jobStatus") != "SUCCEEDED":
            raise NotYetError(seen)
        return seen

    def suspended(self) -> str:
        """Look for a job that Kueue holds back and KubeRay has cleared away.

        Raises:
            NotYetError: It is not suspended, or has a RayCluster.
        """
        seen = self.reached(SUSPENDED)
        if not (self.read() or {"spec": {}})["spec"].get("suspend"):
            raise NotYetError(f"{seen}, but spec.suspend is not true")
        clusters = self.session.reader.list("RayCluster", self.namespace, owner=self.uid)
        if clusters:
            raise NotYetError(f"{seen}, but its RayCluster {clusters[0]['metadata']['name']} is there")
        return f"{seen}, suspended by Kueue, without a RayCluster"

    def succeeded(self) -> str:
        """Look for success.

        Raises:
            NotYetError: It has not succeeded.
        """
        seen = self.reached(COMPLETE)
        if self._status().get("jobStatus") != "SUCCEEDED":
            raise NotYetError(seen)
        return seen

    def admitted(self) -> str:
        """Look for admission: the Workload has its quota, and the RayJob is free to run.

        Raises:
            NotYetError: It is not admitted, or still suspended.
        """
        condition = self.condition("Admitted")
        if condition.get("status") != "True":
            pending = self.condition("QuotaReserved").get("message", "no Workload")
            raise NotYetError(f"{self.name} is not admitted ({pending})")
        found = self.read()
        if found is None or found["spec"].get("suspend"):
            raise NotYetError(f"{self.name} is admitted but still suspended")
        return f"{self.name} is admitted"

    def gone(self) -> str:
        """Look for its absence.

        Raises:
            NotYetError: It is there.
        """
        found = self.read()
        if found is not None:
            since = found["metadata"].get("deletionTimestamp")
            raise NotYetError(f"{self.name} is still there" + (f", to be deleted since {since}" if since else ""))
        return f"{self.name} is gone"

    @property
    def _path(self) -> str:
        return f"{KINDS['RayJob'].format(namespace=self.namespace)}/{self.name}"

    def _status(self) -> Mapping[str, Any]:
        found = self.read()
        if found is None:
            raise NotYetError(f"{self.name} is gone")
        return found.get("status") or {}


def _words(status: Mapping[str, Any]) -> str:
    parts = [str(status.get("jobDeploymentStatus") or "New")]
    parts += [str(status[name]).rstrip(".") for name in ("jobStatus", "reason", "message") if status.get(name)]
    return ", ".join(dict.fromkeys(parts))


def _accepted(answer: httpx.Response) -> httpx.Response:
    if answer.is_success:
        return answer
    try:
        message = str(answer.json()["message"])
    except (ValueError, KeyError):
        message = answer.text[:500]
    raise RefusedError(message)
