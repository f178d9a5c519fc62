"""RayJobs for end-to-end tests: created through the API server, awaited, and judged."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kuberay_e2e.api import KINDS
from kuberay_e2e.lifecycle import Invariant, invariants
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.session import Session
from kuberay_model.outcome import Outcome, outcome

PATIENCE = 90.0
"""Seconds that a simulated job may take on a loaded machine."""


T = TypeVar("T")


def awaited(
    look: Callable[[], T], reached: Callable[[T], bool], told: Callable[[T], str], seconds: float = PATIENCE
) -> T:
    """Look until what is seen is what is waited for, and return it; fail with what is told of the last look."""
    deadline = time.monotonic() + seconds
    while not reached(seen := look()):
        assert time.monotonic() < deadline, told(seen)
        time.sleep(0.1)
    return seen


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
        return awaited(
            lambda: outcome(self.read()),
            lambda seen: seen.terminal,
            lambda seen: f"{seen.sentence}; the operator said {self.session.operator.last_lines()}",
            seconds,
        )

    def wait_status(self, state: str, seconds: float = PATIENCE) -> Mapping[str, Any]:
        """Wait for a `jobDeploymentStatus`."""

        def status() -> Mapping[str, Any]:
            return self.read().get("status") or {}

        return awaited(
            status,
            lambda seen: seen.get("jobDeploymentStatus") == state,
            lambda seen: f"expected {state}, saw {seen}",
            seconds,
        )

    def wait_cluster_gone(self, seconds: float = PATIENCE) -> None:
        """Wait until the RayJob has no RayCluster."""
        awaited(
            lambda: self.session.reader.list("RayCluster", self.namespace, owner=self.uid),
            lambda left: not left,
            lambda left: f"still there: {left[0]['metadata']['name']}",
            seconds,
        )

    def starts(self) -> int:
        """How often Ray started a job of this RayJob."""
        return sum(len(self.session.ledger.starts(job_id)) for job_id in self.recording().values("jobId"))

    def wait_start(self, seconds: float = PATIENCE) -> None:
        """Wait until Ray has started a job of this RayJob."""
        awaited(self.starts, bool, lambda _: "Ray started no job", seconds)

    def delete(self) -> None:
        path = f"{KINDS['RayJob'].format(namespace=self.namespace)}/{self.name}"
        with self.session.access.client() as client:
            assert client.delete(path).is_success
        self.wait_gone()

    def wait_gone(self, seconds: float = PATIENCE) -> None:
        awaited(
            lambda: invariants.nothing_left(self.recording(), self.session.ledger, True),
            lambda found: found.held,
            lambda found: found.seen,
            seconds,
        )

    def recording(self) -> Recording:
        return Recording.of(self.session.trace.events(), self.uid)

    def judge(self, *, has_submitter: bool = True) -> list[Invariant]:
        """The invariants that do not hold."""
        found = [check(self.recording(), self.session.ledger, has_submitter) for check in invariants.INVARIANTS]
        return [item for item in found if not item.held]
