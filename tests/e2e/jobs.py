"""RayJobs for end-to-end tests: created through the API server, awaited, and judged."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.api import KINDS
from kuberay_e2e.lifecycle import Invariant, invariants
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.session import Session
from kuberay_model.outcome import Outcome, outcome

PATIENCE = 90.0
"""Seconds that a simulated job may take on a loaded machine."""


def rayjob(namespace: str, name: str = "job", **spec: Any) -> dict[str, Any]:
    """A small RayJob: one head, one worker."""
    template = {"spec": {"containers": [{"name": "ray", "image": "rayproject/ray:2.52.0"}]}}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "entrypoint": "python main.py",
            "rayClusterSpec": {
                "rayVersion": "2.52.0",
                "headGroupSpec": {"rayStartParams": {}, "template": template},
                "workerGroupSpecs": [
                    {
                        "groupName": "workers",
                        "replicas": 1,
                        "minReplicas": 1,
                        "maxReplicas": 1,
                        "rayStartParams": {},
                        "template": template,
                    }
                ],
            },
            **spec,
        },
    }


@dataclass(frozen=True)
class Job:
    """A RayJob on the shared cluster."""

    session: Session
    namespace: str
    name: str
    uid: str

    @classmethod
    def create(cls, session: Session, manifest: Mapping[str, Any]) -> "Job":
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        with session.access.client() as client:
            answer = client.post(KINDS["RayJob"].format(namespace=namespace), json=manifest)
        assert answer.status_code == 201, answer.text
        return cls(session, namespace, name, answer.json()["metadata"]["uid"])

    @classmethod
    def find(cls, session: Session, namespace: str, name: str = "job") -> "Job":
        """The RayJob that is there under a name."""
        found = session.reader.get("RayJob", namespace, name)
        assert found is not None, f"there is no RayJob {namespace}/{name}"
        return cls(session, namespace, name, found["metadata"]["uid"])

    def read(self) -> Mapping[str, Any]:
        found = self.session.reader.get("RayJob", self.namespace, self.name)
        assert found is not None, f"the RayJob {self.name} is gone"
        return found

    def wait_end(self, seconds: float = PATIENCE) -> Outcome:
        deadline = time.monotonic() + seconds
        while not (seen := outcome(self.read())).terminal:
            assert time.monotonic() < deadline, (
                f"{seen.sentence}; the operator said {self.session.operator.last_lines()}"
            )
            time.sleep(0.1)
        return seen

    def wait_status(self, state: str, seconds: float = PATIENCE) -> Mapping[str, Any]:
        """Wait for a `jobDeploymentStatus`."""
        deadline = time.monotonic() + seconds
        while (status := self.read().get("status") or {}).get("jobDeploymentStatus") != state:
            assert time.monotonic() < deadline, f"expected {state}, saw {status}"
            time.sleep(0.1)
        return status

    def wait_cluster_gone(self, seconds: float = PATIENCE) -> None:
        """Wait until the RayJob has no RayCluster."""
        deadline = time.monotonic() + seconds
        while left := self.session.reader.list("RayCluster", self.namespace, owner=self.uid):
            assert time.monotonic() < deadline, f"still there: {left[0]['metadata']['name']}"
            time.sleep(0.1)

    def starts(self) -> int:
        """How often Ray started a job of this RayJob."""
        return sum(len(self.session.ledger.starts(job_id)) for job_id in self.recording().values("jobId"))

    def wait_start(self, seconds: float = PATIENCE) -> None:
        """Wait until Ray has started a job of this RayJob."""
        deadline = time.monotonic() + seconds
        while not self.starts():
            assert time.monotonic() < deadline, "Ray started no job"
            time.sleep(0.1)

    def delete(self) -> None:
        path = f"{KINDS['RayJob'].format(namespace=self.namespace)}/{self.name}"
        with self.session.access.client() as client:
            assert client.delete(path).is_success
        self.wait_gone()

    def wait_gone(self, seconds: float = PATIENCE) -> None:
        deadline = time.monotonic() + seconds
        while not (seen := invariants.nothing_left(self.recording(), self.session.ledger, True)).held:
            assert time.monotonic() < deadline, seen.seen
            time.sleep(0.1)

    def recording(self) -> Recording:
        return Recording.of(self.session.trace.events(), self.uid)

    def judge(self, *, has_submitter: bool = True) -> list[Invariant]:
        """The invariants that do not hold."""
        found = [check(self.recording(), self.session.ledger, has_submitter) for check in invariants.INVARIANTS]
        return [item for item in found if not item.held]
