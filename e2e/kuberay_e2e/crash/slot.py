"""A place for one run at a time: a namespace, and operators of its own that look at nothing else."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from kuberay_e2e.api import KINDS
from kuberay_e2e.crash.ground import Ground
from kuberay_e2e.crash.operators import Operators
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.observer import EVENTS, WATCHED, Observer
from kuberay_e2e.session import Session
from kuberay_e2e.session.programs import Programs
from kuberay_e2e.trace import Trace

NAME = "job"
"""Name of the RayJob of every run, so that the names of what is made from it are the same from run to run."""

_LEFT = ("RayJob", "RayCluster", "Job", "Pod")
"""Kinds of what a run may leave that goes on doing something."""


@dataclass(frozen=True)
class Slot:
    """A namespace with a gateway, and operators behind it.

    Attributes:
        session: The cluster that it is on.
        namespace: Its namespace.
        gateway: Carries what its operators send.
        operators: Makes its operators.
        trace: What happened in it.
        folder: Its files.
        client: Its user's client.
        check: Called at every look; raises HarnessError when the run cannot go on.
    """

    session: Session
    namespace: str
    gateway: Gateway
    operators: Operators
    trace: Trace
    folder: Path
    client: httpx.Client
    check: Callable[[], None]

    def create(self, manifest: Mapping[str, Any]) -> str:
        """Create the RayJob and return its UID.

        Raises:
            HarnessError: The API server refuses it.
        """
        answer = self.client.post(KINDS["RayJob"].format(namespace=self.namespace), json=manifest)
        uid: str = _checked(answer, "the RayJob to be created").json()["metadata"]["uid"]
        return uid

    def make(self, collection: str, manifest: Mapping[str, Any]) -> None:
        """Create another object in the namespace.

        Args:
            collection: Path of its collection, with `{namespace}`.
            manifest: The object; its namespace becomes the slot's.

        Raises:
            HarnessError: The API server refuses it.
        """
        item = {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}
        answer = self.client.post(collection.format(namespace=self.namespace), json=item)
        _checked(answer, f"the {item['kind']} {item['metadata']['name']} to be created")

    def unmake(self, collection: str, name: str) -> None:
        """Delete an object of the namespace; one that has gone already is no error.

        Args:
            collection: Path of its collection, with `{namespace}`.
            name: Its name.

        Raises:
            HarnessError: The API server refuses it.
        """
        answer = self.client.delete(f"{collection.format(namespace=self.namespace)}/{name}")
        if answer.status_code != 404:
            _checked(answer, f"{name} to be deleted")

    def patch(self, change: Mapping[str, Any]) -> None:
        """Merge a change into the RayJob.

        Raises:
            HarnessError: The API server refuses it.
        """
        answer = self.client.patch(self._path, json=change, headers={"Content-Type": "application/merge-patch+json"})
        _checked(answer, "the RayJob to be changed")

    def delete(self) -> None:
        """Delete the RayJob; one that has gone already is no error.

        Raises:
            HarnessError: The API server refuses it.
        """
        answer = self.client.delete(self._path)
        if answer.status_code != 404:
            _checked(answer, "the RayJob to be deleted")

    @property
    def _path(self) -> str:
        return f"{KINDS['RayJob'].format(namespace=self.namespace)}/{NAME}"


@contextmanager
def slot(ground: Ground, programs: Programs, folder: Path, check: Callable[[], None] = lambda: None) -> Iterator[Slot]:
    """Make a namespace and a gateway for its operators; all are gone when the block ends.

    Args:
        ground: A cluster on which the operator's Deployment is applied.
        programs: The operator's binaries.
        folder: Receives the slot's files.
        check: Called at every look; raises HarnessError when the run cannot go on.

    Raises:
        HarnessError: The namespace cannot be made.
    """
    session, namespace = ground.session, f"run-{secrets.token_hex(4)}"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        trace = Trace(folder / "trace.jsonl")
        stack.callback(trace.close)
        client = stack.enter_context(session.access.client())
        _checked(client.post("/api/v1/namespaces", json={"metadata": {"name": namespace}}), "a namespace")
        stack.callback(_remove, client, namespace)
        gateway = ground.gateway(trace)
        session.engine.call(gateway.__aenter__())
        stack.callback(lambda: session.engine.call(gateway.__aexit__(None, None, None)))
        observer = Observer(session.access, trace, namespace, {**WATCHED, **EVENTS})
        session.engine.call(observer.__aenter__())
        stack.callback(lambda: session.engine.call(observer.__aexit__(None, None, None)))
        operators = Operators(session, programs, namespace, gateway, trace, folder / "operator")
        stack.callback(operators.stop)
        yield Slot(session, namespace, gateway, operators, trace, folder, client, check)


def _remove(client: httpx.Client, namespace: str) -> None:
    """Delete a namespace in which a run has left something, with the finalizers that nobody would remove any more.

    An empty namespace stays until its cluster goes: its deletion would keep the control plane busy longer than a run.
    An API server that is gone takes its namespaces along.
    """
    with suppress(httpx.TransportError):
        if sum(_release(client, KINDS[kind].format(namespace=namespace)) for kind in _LEFT):
            client.delete(f"/api/v1/namespaces/{namespace}")


def _release(client: httpx.Client, collection: str) -> int:
    """Remove the finalizers of the objects of a collection; returns how many objects there are."""
    found = client.get(collection)
    items = found.json().get("items", ()) if found.is_success else ()
    for item in items:
        client.patch(
            f"{collection}/{item['metadata']['name']}",
            json={"metadata": {"finalizers": []}},
            headers={"Content-Type": "application/merge-patch+json"},
        )
    return len(items)


def _checked(answer: httpx.Response, what: str) -> httpx.Response:
    if not answer.is_success:
        raise HarnessError(f"Expected {what}; the API server said {answer.status_code}: {answer.text[:500]}")
    return answer
