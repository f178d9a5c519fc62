"""Runs the Job on the user's cluster, in a namespace that is made for it and removed at the end."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.footprint import KUBECONFIG, Footprint
from kuberay_e2e.clusters.kubeconfig import write
from kuberay_e2e.crash.indexed import manifests
from kuberay_e2e.crash.indexed.gathering import Gathered, chosen, gathered
from kuberay_e2e.crash.indexed.manifests import JOB, OF_JOB, Wish
from kuberay_e2e.crash.indexed.pods import PartPod, end_of
from kuberay_e2e.crash.indexed.reading import FreshReader
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.state import Run

Say = Callable[[str], None]

_PAUSE_SECONDS = 2.0
_IMAGE_SECONDS = 120.0
"""How long an image that cannot be had is waited for: a registry may be slow to answer."""

_BEYOND_DEADLINE_SECONDS = 120.0
_UNANSWERED_SECONDS = 120.0
"""How long a cluster may not answer: its control plane may be upgraded meanwhile."""

_READINGS = 3


def run_job(run: Run, config: Mapping[str, Any], wish: Wish, say: Say) -> list[Gathered]:
    """Make the namespace and the Job, wait for its parts, and remove the namespace.

    Args:
        run: Owns the folders; `parts/` in it receives the sweeps.
        config: A kubeconfig with the user's context only.
        wish: What is wanted.
        say: Told what happens.

    Returns:
        What each part has left.

    Raises:
        HarnessError: The cluster refused something or does not answer, or the image cannot be had.
    """
    kubeconfig = write(config, run.folder / KUBECONFIG)
    footprint = Footprint(run.name, (wish.namespace,))
    footprint.note(run.folder)
    try:
        with Access.read(kubeconfig).client(timeout=30.0) as client:
            create(client, "/api/v1/namespaces", manifests.namespace(wish, run.name))
            create(client, f"/apis/batch/v1/namespaces/{wish.namespace}/jobs", manifests.job(wish))
        say(f"The Job {wish.namespace}/{JOB} has {wish.parts} parts, {min(wish.at_once, wish.parts)} at a time.")
        with FreshReader(kubeconfig) as reader:
            return Watch(reader, wish, run.path("parts"), say).to_its_end()
    finally:
        say(f"The namespace {wish.namespace} is removed.")
        footprint.remove(Access.read(kubeconfig))


def create(client: httpx.Client, path: str, manifest: Mapping[str, Any]) -> None:
    """Create an object.

    Raises:
        HarnessError: The API server refused it, or does not answer.
    """
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    try:
        answer = client.post(path, json=manifest)
    except httpx.HTTPError as error:
        raise HarnessError(f"The {kind} {name} could not be created: the cluster does not answer ({error}).") from error
    if not answer.is_success:
        raise HarnessError(f"The {kind} {name} could not be created: {answer.status_code}, {answer.text[:500]}")


class Watch:
    """Looks at the Job and its pods, and takes the log of each pod as soon as it has ended: pods may go at any time.

    Args:
        reader: Gives what reads the cluster now.
        wish: What was wanted.
        folder: Receives the sweep of each part.
        say: Told what happens.
        clock: Seconds that only go forward.
        sleep: Waits between two looks.
    """

    def __init__(
        self,
        reader: Callable[[], ClusterReader],
        wish: Wish,
        folder: Path,
        say: Say,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reader, self._wish, self._folder, self._say = reader, wish, folder, say
        self._clock, self._sleep = clock, sleep
        self._found: dict[str, Gathered] = {}
        self._said: dict[str, str] = {}
        self._without_image: dict[PartPod, float] = {}

    def to_its_end(self) -> list[Gathered]:
        """Wait for the end of the Job.

        Raises:
            HarnessError: It was removed, its image cannot be had, or it does not end.
        """
        latest = self._clock() + self._wish.deadline + _BEYOND_DEADLINE_SECONDS
        answered = self._clock()
        while True:
            try:
                end = self._look()
                answered = self._clock()
            except HarnessError:
                if self._clock() - answered > _UNANSWERED_SECONDS:
                    raise
                end = ""
            if end:
                return chosen(list(self._found.values()), self._wish.parts, end)
            self._refuse_missing_image()
            if self._clock() > latest:
                raise HarnessError(
                    f"The Job {self._wish.namespace}/{JOB} has not ended {_BEYOND_DEADLINE_SECONDS:.0f} s after its "
                    f"activeDeadlineSeconds of {self._wish.deadline}. Is the Job controller running?"
                )
            self._sleep(_PAUSE_SECONDS)

    def _look(self) -> str:
        """Look at everything once; how the Job ended, or nothing."""
        job = self._reader().get("Job", self._wish.namespace, JOB)
        pods = [PartPod.of(pod) for pod in self._reader().list("Pod", self._wish.namespace, selector=OF_JOB)]
        now = self._clock()
        self._without_image = {pod: self._since(pod, now) for pod in pods if pod.no_image and not pod.ended}
        for pod in sorted(pods, key=lambda pod: (pod.created, pod.part)):
            self._tell(pod)
            if pod.ended and pod.uid not in self._found:
                self._found[pod.uid] = self._gather(pod)
        return "It was removed by somebody else" if job is None else end_of(job)

    def _gather(self, pod: PartPod) -> Gathered:
        """Take the log of a pod; one that is not whole is read again, since the connection to its node may break."""
        for attempt in range(_READINGS):
            try:
                log = self._reader().log(self._wish.namespace, pod.name)
                found = gathered(pod, log, self._folder / pod.name, self._wish.parts)
            except HarnessError as error:
                unread = f"Its log cannot be read: {error}"
                found = Gathered(pod.part, failure=unread, created=pod.created, unread=True)
            if not found.unread:
                break
            if attempt < _READINGS - 1:
                self._sleep(_PAUSE_SECONDS)
        return found

    def _since(self, pod: PartPod, now: float) -> float:
        """Since when a pod has been without its image."""
        return next((since for known, since in self._without_image.items() if known.uid == pod.uid), now)

    def _tell(self, pod: PartPod) -> None:
        state = f"{pod.phase}, {pod.waiting}" if pod.waiting else pod.phase
        if pod.disrupted:
            state += ", taken away by the cluster"
        if self._said.get(pod.uid) != state:
            self._said[pod.uid] = state
            self._say(f"part {pod.part}/{self._wish.parts}: {state} ({pod.name})")

    def _refuse_missing_image(self) -> None:
        for pod, since in self._without_image.items():
            if self._clock() - since > _IMAGE_SECONDS:
                raise HarnessError(
                    f"The pod {pod.name} has no image {self._wish.image} after {_IMAGE_SECONDS:.0f} s: {pod.waiting} "
                    "Push the image to a registry that the nodes of the cluster reach without a pull secret."
                )
