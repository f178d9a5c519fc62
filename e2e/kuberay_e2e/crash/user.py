"""The user of a run: makes the RayJob and what belongs to it, acts on it, and deletes it."""

from collections.abc import Mapping
from typing import Any

import httpx

from kuberay_e2e.crash.ground import Stage
from kuberay_e2e.crash.manifest import change, rayjob
from kuberay_e2e.crash.scenario import Act, Scenario
from kuberay_e2e.crash.slot import Slot
from kuberay_e2e.crash.view import View
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import RayClusterKey
from kuberay_e2e.ray.door import CALLER_HEADER

USER = "user"
"""The user's name in the ledger."""

UNMAKE = "delete what was there before the RayJob"
"""The act, in the trace, after which nothing needs to stay."""

SUBMISSION_ID = "submitted-by-hand"
"""Submission id of a job that the user submits."""

COLLECTIONS: Mapping[str, str] = {
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "PersistentVolumeClaim": "/api/v1/namespaces/{namespace}/persistentvolumeclaims",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
    "RayCluster": "/apis/ray.io/v1/namespaces/{namespace}/rayclusters",
}
"""Where the objects are created that a user may make before a RayJob."""

_RAY_PATIENCE_SECONDS = 10.0


class User:
    """Does what a scenario's user does; each act is in the trace.

    Args:
        slot: The place of the run.
        scenario: The scenario.
        stage: What the run's jobs need.
        view: What has been seen of the RayJob.
    """

    def __init__(self, slot: Slot, scenario: Scenario, stage: Stage, view: View) -> None:
        self._slot = slot
        self._scenario = scenario
        self._stage = stage
        self._view = view

    def create(self) -> str:
        """Make what the RayJob needs, then the RayJob, and return its UID.

        Raises:
            HarnessError: The API server refuses it.
        """
        for item in self._scenario.objects:
            self._slot.make(COLLECTIONS[item["kind"]], item)
        uid = self._slot.create(self._stage.workload(rayjob(self._scenario, self._slot.namespace)))
        self._note("create")
        return uid

    def act(self, act: Act) -> None:
        """Do something.

        Raises:
            HarnessError: The API server or Ray refuses it.
        """
        match act:
            case Act.DELETE:
                self._slot.delete()
            case Act.SUSPEND:
                self._slot.patch(change("suspend", True))
            case Act.RESUME:
                self._slot.patch(change("suspend", False))
            case Act.SET_JOB_ID:
                self._slot.patch(change("jobId", SUBMISSION_ID))
            case Act.SUBMIT:
                self._ask_ray("/api/jobs/", {"entrypoint": self._entrypoint(), "submission_id": SUBMISSION_ID})
            case Act.STOP_JOB:
                self._ask_ray(f"/api/jobs/{self._view.status['jobId']}/stop")
        self._note(str(act))

    def unmake(self) -> None:
        """Delete what was made before the RayJob.

        Raises:
            HarnessError: The API server refuses it.
        """
        if self._scenario.objects:
            self._note(UNMAKE)
        for item in self._scenario.objects:
            self._slot.unmake(COLLECTIONS[item["kind"]], str(item["metadata"]["name"]))

    def _entrypoint(self) -> str:
        return str(self._stage.workload({"spec": {"entrypoint": "python main.py"}})["spec"]["entrypoint"])

    def _ask_ray(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        key = RayClusterKey(self._slot.namespace, str(self._view.status.get("rayClusterName") or ""))
        door = self._slot.session.backend.door(key)
        if door is None:
            raise HarnessError(
                f"Expected Ray to run in the RayCluster {key} when its user asks for {path}; it does not."
            )
        answer = httpx.post(
            door + path, json=body, headers={CALLER_HEADER: USER}, timeout=_RAY_PATIENCE_SECONDS, trust_env=False
        )
        if not answer.is_success:
            raise HarnessError(f"Expected Ray to answer its user's {path}; it said {answer.status_code}: {answer.text}")

    def _note(self, event: str) -> None:
        self._slot.trace.add("user", event=event)
