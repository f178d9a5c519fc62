"""The KubeRay operator as the pod of its Deployment: killed in its container, started again by Kubernetes.

An incarnation is one life of the container: another pod or another restart count is another incarnation.
"""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.api import retried
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.operator_lives import Killer, Life
from kuberay_e2e.trace import Trace

_START_SECONDS = 120.0
"""How long a start may take: the kubelet waits 10, 20, 40 seconds before the second restart and those after it."""

_END_SECONDS = 60.0
_PAUSE_SECONDS = 0.2


class OperatorPod:
    """The operator in the pod of its Deployment.

    Args:
        access: The API server.
        namespace: Namespace of the Deployment.
        deployment: Name of the Deployment.
        killer: Ends its container.
        folder: Receives a log per incarnation.
        trace: Receives starts and ends.

    Attributes:
        guard: Held while a fault fires and its kill begins, so that who saw it fire can wait for the kill.

    Use `close` when it is no longer needed.
    """

    def __init__(
        self, access: Access, namespace: str, deployment: str, killer: Killer, folder: Path, trace: Trace
    ) -> None:
        self._client = access.client(timeout=30.0)
        self._namespace = namespace
        self._deployment = f"/apis/apps/v1/namespaces/{namespace}/deployments/{deployment}"
        self._killer = killer
        self._folder = folder
        self._trace = trace
        self._lives: list[Life] = []
        self._killed: Life | None = None
        self._stopped = False
        self._kills = ThreadPoolExecutor(1, thread_name_prefix="operator-kill")
        self._kill: Future[None] | None = None
        self.guard = threading.RLock()

    def close(self) -> None:
        """Let go of the API server."""
        self._kills.shutdown()
        self._killer.release()
        self._client.close()

    @property
    def incarnation(self) -> int:
        """Number of the last life that was seen; 0 before the first."""
        return len(self._lives)

    @property
    def running(self) -> bool:
        """True while a container of it runs that was not killed."""
        life = self._present()
        return life is not None and life.running and life.key != (self._killed and self._killed.key)

    def log(self, incarnation: int) -> Path:
        """The log of an incarnation, as far as it was kept; see `keep_log`."""
        return self._folder / f"operator-{incarnation}.log"

    def start(self) -> None:
        """Wait until the Deployment runs the next incarnation and its pod is Ready; scale it up if it has no pods.

        Raises:
            HarnessError: There is no Deployment, or its pod is not Ready within two minutes.
        """
        replicas = self._replicas()
        if replicas is None:
            raise HarnessError(f"Expected the operator's Deployment {self._deployment} to be there; it is not.")
        if replicas == 0:
            self._scale(1)
        deadline = time.monotonic() + _START_SECONDS
        while True:
            life = self._present()
            if life is not None and life.ready and life.key != (self._killed and self._killed.key):
                break
            if time.monotonic() > deadline:
                seen = f"{life.pod}: {life.waiting}" if life else "no pod"
                raise HarnessError(
                    f"The operator's Deployment had no Ready pod within {_START_SECONDS:.0f} s; saw {seen}. "
                    f"{self.last_lines()}"
                )
            time.sleep(_PAUSE_SECONDS)
        self._notice(life)

    def aim(self) -> None:
        """Look up what a kill is to end, so that the kill itself is one command.

        Raises:
            HarnessError: The operator does not run.
        """
        life = self._present()
        if life is None or not life.running:
            raise HarnessError("Expected the operator to run before it is killed; it does not.")
        self._notice(life)
        self._killer.aim(life)
        self.keep_log()

    def kill_soon(self) -> None:
        """Kill the life that was aimed at, without waiting for it; `wait_killed` waits."""
        with self.guard:
            self._killed = self._lives[-1]
            self._kill = self._kills.submit(self._end, self._killed)

    def kill(self) -> None:
        """Kill the container and wait for its end."""
        self.aim()
        self.kill_soon()
        self.wait_killed()

    def wait_killed(self) -> None:
        """Wait until the container that was killed has ended, and keep its log.

        Raises:
            HarnessError: The kill failed, or the container lives on.
        """
        with self.guard:
            kill, killed, self._kill = self._kill, self._killed, None
        if kill is None or killed is None:
            return
        kill.result()
        deadline = time.monotonic() + _END_SECONDS
        while (life := self._present()) is not None and life.key == killed.key and life.running:
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"The operator's container in {life.pod} still runs {_END_SECONDS:.0f} s after its kill."
                )
            time.sleep(_PAUSE_SECONDS)
        self._keep(self.incarnation, previous=life is not None and life.restarts > killed.restarts)

    def stop(self) -> None:
        """Scale the Deployment to zero and wait until its pod is gone; without a Deployment nothing is to be done."""
        if self._replicas() in (None, 0):
            return
        self.keep_log()
        self._scale(0)
        deadline = time.monotonic() + _END_SECONDS
        while self._present() is not None:
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"The operator's pod is still there {_END_SECONDS:.0f} s after it was scaled to zero."
                )
            time.sleep(_PAUSE_SECONDS)
        if self._lives:
            self._stopped = True
            self._note("stopped", self._lives[-1])

    def keep_log(self) -> None:
        """Write the log of the present incarnation to its file, as far as it can be read."""
        life = self._present()
        if life is not None and life.running:
            self._notice(life)
        if self._lives:
            self._keep(self.incarnation, previous=False)

    def last_lines(self, count: int = 5) -> str:
        """The last lines of the present log; empty where it cannot be read."""
        life = self._present()
        if life is None:
            return ""
        said = self._read_log(life, previous=not life.running and life.restarts > 0)
        return "\n".join(said.splitlines()[-count:])

    def _notice(self, life: Life) -> None:
        """Take note of a life that was not seen before, and of the end of the one before it if nobody killed it."""
        before = self._lives[-1] if self._lives else None
        if before is not None and before.key == life.key:
            return
        if before is not None and before.key != (self._killed and self._killed.key) and not self._stopped:
            self._note("ended by itself", before)
        self._lives.append(life)
        self._stopped = False
        self._note("started", life, version=life.version)

    def _end(self, life: Life) -> None:
        self._killer.kill(life)
        self._note("killed", life, by=self._killer.name)

    def _note(self, event: str, life: Life, **more: Any) -> None:
        self._trace.add(
            "operator",
            event=event,
            incarnation=self.incarnation,
            pod=life.pod,
            uid=life.uid,
            restarts=life.restarts,
            **more,
        )

    def _keep(self, incarnation: int, *, previous: bool) -> None:
        life = self._lives[incarnation - 1]
        if text := self._read_log(life, previous=previous):
            self._folder.mkdir(parents=True, exist_ok=True)
            self.log(incarnation).write_text(text)

    def _read_log(self, life: Life, *, previous: bool) -> str:
        query = "?previous=true" if previous else ""
        with suppress(HarnessError):
            answer = self._get(f"/api/v1/namespaces/{self._namespace}/pods/{life.pod}/log{query}")
            return answer.text if answer.is_success else ""
        return ""

    def _present(self) -> Life | None:
        """The newest pod of the Deployment that is not being deleted."""
        answer = self._get(self._deployment)
        if answer.status_code == 404:
            return None
        labels = answer.json()["spec"]["selector"].get("matchLabels") or {}
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        found = self._get(f"/api/v1/namespaces/{self._namespace}/pods?labelSelector={selector}").json().get("items", ())
        pods = [pod for pod in found if not pod["metadata"].get("deletionTimestamp")]
        pods.sort(key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))
        return Life.of(pods[-1]) if pods else None

    def _replicas(self) -> int | None:
        answer = self._get(self._deployment)
        return None if answer.status_code == 404 else int(answer.json()["spec"].get("replicas", 1))

    def _scale(self, replicas: int) -> None:
        answer = self._client.patch(
            f"{self._deployment}/scale",
            json={"spec": {"replicas": replicas}},
            headers={"Content-Type": "application/merge-patch+json"},
        )
        if not answer.is_success:
            raise HarnessError(f"The operator's Deployment could not be scaled to {replicas}: {answer.text[:300]}")

    def _get(self, path: str) -> httpx.Response:
        return retried(lambda: self._client.get(path))
