"""What the harness makes on a cluster that is not its own, so that all of it can be removed again.

The list is written before anything is made: whatever ends the run, the next one finds it.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.clusters.inventory import CRDS, GROUP
from kuberay_e2e.errors import HarnessError

FILE = "footprint.json"
KUBECONFIG = "kubeconfig"

LABEL = "app.kubernetes.io/managed-by"
OWNER = "kuberay-e2e"

_RAY = f"/apis/{GROUP}/v1"
_NAMESPACES = "/api/v1/namespaces"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_PATIENCE_SECONDS = 15.0
"""How long finalizers are waited for before they are taken off: nobody is left to act on them."""

_GONE_SECONDS = 120.0
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class Footprint:
    """Objects of the harness, by name.

    Attributes:
        run: Name of the run, which its namespaces carry as a label.
        namespaces: Namespaces, with everything in them.
        crds: KubeRay's CRDs, with every object of theirs in these namespaces.
        roles: ClusterRoles and ClusterRoleBindings.
    """

    run: str
    namespaces: tuple[str, ...]
    crds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    def note(self, folder: Path) -> None:
        """Write the list into a run's folder, beside the kubeconfig of the cluster."""
        (folder / FILE).write_text(json.dumps(asdict(self)))

    def make_namespaces(self, client: httpx.Client) -> None:
        """Create the namespaces.

        Raises:
            HarnessError: The API server refused one.
        """
        for name in self.namespaces:
            labels = {LABEL: OWNER, f"{OWNER}/run": self.run}
            answer = client.post(_NAMESPACES, json={"metadata": {"name": name, "labels": labels}})
            if not answer.is_success:
                raise HarnessError(f"The namespace {name} could not be created: {answer.text[:300]}")

    def remove(self, access: Access) -> list[str]:
        """Remove what is left of it; what is gone already is no error.

        Returns:
            A sentence for each thing that stays, and why.

        Raises:
            HarnessError: The cluster does not answer, or something is still there two minutes after its deletion.
        """
        try:
            with access.client(timeout=30.0) as client:
                return self._remove(client)
        except httpx.HTTPError as error:
            raise HarnessError(
                f"The cluster at {access.server} does not answer any more ({error}), so that what was made there may "
                f"be left: namespaces {', '.join(self.namespaces)}; CRDs {', '.join(self.crds) or 'none'}; "
                f"ClusterRoles and ClusterRoleBindings {', '.join(self.roles) or 'none'}."
            ) from error

    def _remove(self, client: httpx.Client) -> list[str]:
        present = [name for name in self.namespaces if self._owns(client, name)]
        for name in present:
            self._empty(client, name)
        for name in present:
            client.delete(f"{_NAMESPACES}/{name}")
        for name in self.roles:
            client.delete(f"{_RBAC}/clusterrolebindings/{name}")
            client.delete(f"{_RBAC}/clusterroles/{name}")
        for name in present:
            _wait_gone(client, f"{_NAMESPACES}/{name}")
        stay = []
        for name in self.crds:
            strangers = _namespaces_with(client, name) - set(self.namespaces)
            if strangers:
                stay.append(
                    f"The CRD {name} stays, because somebody made objects of it meanwhile, in "
                    f"{', '.join(sorted(strangers))}."
                )
                continue
            client.delete(f"{CRDS}/{name}")
        for name in set(self.crds) - {sentence.split()[2] for sentence in stay}:
            _wait_gone(client, f"{CRDS}/{name}")
        return stay

    def _owns(self, client: httpx.Client, name: str) -> bool:
        answer = client.get(f"{_NAMESPACES}/{name}")
        labels = answer.json()["metadata"].get("labels") or {} if answer.is_success else {}
        return labels.get(f"{OWNER}/run") == self.run

    def _empty(self, client: httpx.Client, namespace: str) -> None:
        """Delete the Ray objects of a namespace while the operator may still be there to release them."""
        for plural in ("rayjobs", "rayservices", "rayclusters"):
            client.delete(f"{_RAY}/namespaces/{namespace}/{plural}")
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while _ray_objects(client, namespace) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        for path in _ray_objects(client, namespace):
            headers = {"Content-Type": "application/merge-patch+json"}
            client.patch(path, json={"metadata": {"finalizers": None}}, headers=headers)


def remove_leftovers(folder: Path) -> list[str]:
    """Remove what a killed run left on a cluster that was not its own.

    Args:
        folder: The run's folder.

    Returns:
        Its namespaces.

    Raises:
        HarnessError: The cluster does not answer, or something cannot be removed.
    """
    if not (folder / FILE).exists():
        return []
    record: Mapping[str, Any] = json.loads((folder / FILE).read_text())
    footprint = Footprint(record["run"], tuple(record["namespaces"]), tuple(record["crds"]), tuple(record["roles"]))
    try:
        footprint.remove(Access.read(folder / KUBECONFIG))
    except HarnessError as error:
        raise HarnessError(f"{error} If that cluster is gone for good, delete the folder {folder}.") from error
    return list(footprint.namespaces)


def _ray_objects(client: httpx.Client, namespace: str) -> list[str]:
    found = []
    for plural in ("rayjobs", "rayservices", "rayclusters"):
        path = f"{_RAY}/namespaces/{namespace}/{plural}"
        answer = client.get(path)
        items = answer.json().get("items", ()) if answer.is_success else ()
        found += [f"{path}/{item['metadata']['name']}" for item in items]
    return found


def _namespaces_with(client: httpx.Client, crd: str) -> set[str]:
    """Namespaces that have objects of a CRD."""
    plural = crd.partition(".")[0]
    answer = client.get(f"{_RAY}/{plural}")
    items = answer.json().get("items", ()) if answer.is_success else ()
    return {item["metadata"].get("namespace", "") for item in items}


def _wait_gone(client: httpx.Client, path: str) -> None:
    deadline = time.monotonic() + _GONE_SECONDS
    while client.get(path).status_code != 404:
        if time.monotonic() > deadline:
            raise HarnessError(
                f"Expected {path} to be gone {_GONE_SECONDS:.0f} s after its deletion; it is still there."
            )
        time.sleep(_PAUSE_SECONDS)
