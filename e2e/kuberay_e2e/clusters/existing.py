"""A user's own cluster: what may be done on it, decided before anything is, and removed again at the end."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.access import Access
from kuberay_e2e.clusters.footprint import KUBECONFIG, Footprint
from kuberay_e2e.clusters.inventory import InstalledOperator, Inventory
from kuberay_e2e.clusters.kubeconfig import write
from kuberay_e2e.clusters.provider import Cluster
from kuberay_e2e.errors import InputError
from kuberay_e2e.state import Run
from kuberay_model.versions import UnsupportedVersionError, supported


@dataclass(frozen=True)
class Wish:
    """What the user wants to be done.

    Attributes:
        namespaces: Namespaces of the RayJob and of what it needs.
        operator_namespace: Namespace for an operator of the harness.
        crds: Names of the CRDs that would be installed.
        roles: Names of the ClusterRoles and ClusterRoleBindings that would be installed.
        local: The operator is to be a local process.
        use_installed: What is there may be used.
    """

    namespaces: tuple[str, ...]
    operator_namespace: str
    crds: tuple[str, ...]
    roles: tuple[str, ...] = ()
    local: bool = False
    use_installed: bool = False


@dataclass(frozen=True)
class Decision:
    """What will be done.

    Attributes:
        footprint: What will be made, and removed at the end.
        operator: The operator that is there and will be used; None where one is installed.
        local: The operator will be a local process.
    """

    footprint: Footprint
    operator: InstalledOperator | None
    local: bool

    def sentences(self) -> list[str]:
        """What the user is asked to agree to."""
        made = [f"namespaces {', '.join(self.footprint.namespaces)}"]
        if self.footprint.crds:
            made.append(f"CRDs {', '.join(self.footprint.crds)}")
        if self.footprint.roles:
            made.append(f"ClusterRoles and ClusterRoleBindings {', '.join(self.footprint.roles)}")
        said = [f"Made there, and removed at the end with everything in them: {'; '.join(made)}."]
        if self.operator is not None:
            said.append(
                f"Used: {self.operator}. Its pod is deleted once with grace period 0, to see whether it recovers; for "
                "that moment nobody looks after the Ray objects of this cluster."
            )
        elif self.local:
            said.append("The operator runs as a process on this machine and is killed once.")
        else:
            said.append("An operator of its own looks after these namespaces only; its pod is deleted once.")
        return said


def decide(inventory: Inventory, wish: Wish, run: str) -> Decision:
    """Decide what will be done, so that nothing that is there is replaced.

    Args:
        inventory: What there is.
        wish: What the user wants.
        run: Name of the run.

    Raises:
        InputError: It would touch what is there, or cannot work with it; the message says what to do.
    """
    _refuse_namespaces(inventory, wish)
    if wish.use_installed:
        operator = _usable(inventory, wish)
    else:
        _refuse_installed(inventory)
        operator = None
    if operator is None:
        _refuse_roles(inventory, wish)
    namespaces = wish.namespaces if operator else (wish.operator_namespace, *wish.namespaces)
    footprint = Footprint(run, namespaces, () if inventory.crds else wish.crds, wish.roles if operator is None else ())
    return Decision(footprint, operator, wish.local)


class ExistingCluster:
    """Cluster provider `existing`.

    Args:
        config: A kubeconfig with the user's context only.
        footprint: What will be made there.
    """

    name = "existing"

    def __init__(self, config: Mapping[str, Any], footprint: Footprint) -> None:
        self._config = config
        self._footprint = footprint

    @contextmanager
    def up(self, run: Run) -> Iterator[Cluster]:
        """Make the namespaces; everything of the footprint is gone when the block ends.

        Raises:
            HarnessError: The API server refused something, or something could not be removed.
        """
        kubeconfig = write(self._config, run.folder / KUBECONFIG)
        self._footprint.note(run.folder)
        access = Access.read(kubeconfig)
        try:
            with access.client(timeout=30.0) as client:
                self._footprint.make_namespaces(client)
            yield Cluster(str(self._config["current-context"]), kubeconfig, simulated_pods=False)
        finally:
            self._footprint.remove(access)


def _refuse_namespaces(inventory: Inventory, wish: Wish) -> None:
    there = sorted({*wish.namespaces, wish.operator_namespace} & inventory.namespaces)
    if there:
        raise InputError(
            f"{_plural('namespace', there)} {', '.join(there)} of the manifest {_exist(there)} on the cluster already. "
            "Nothing is done in a namespace that was there before: name one that is not there, or none."
        )


def _refuse_installed(inventory: Inventory) -> None:
    found = [*map(str, inventory.operators), *(f"the CRD {name}" for name in inventory.crds)]
    if found:
        raise InputError(
            f"The cluster has {', '.join(found)}. They are not replaced: use them by --use-installed, or use a cluster "
            "without KubeRay."
        )


def _refuse_roles(inventory: Inventory, wish: Wish) -> None:
    if taken := sorted(set(wish.roles) & inventory.roles):
        raise InputError(
            f"The cluster has ClusterRoles or ClusterRoleBindings called {', '.join(taken)}, which a local operator "
            "would need for itself. Use --operator pod, whose roles are in its namespaces."
        )


def _usable(inventory: Inventory, wish: Wish) -> InstalledOperator | None:
    if not inventory.crds and not inventory.operators:
        raise InputError("The cluster has neither KubeRay's CRDs nor an operator. Leave out --use-installed.")
    if "rayjobs.ray.io" not in inventory.crds:
        raise InputError(
            "The cluster has an operator of KubeRay but not the CRD rayjobs.ray.io, so that no RayJob can be created. "
            "Install the CRDs of that operator's release first."
        )
    if not inventory.operators:
        return None
    if len(inventory.operators) > 1:
        raise InputError(
            f"The cluster has {', and '.join(map(str, inventory.operators))}; which of them would act on a RayJob is "
            "not known. Use a cluster with one."
        )
    operator = inventory.operators[0]
    if wish.local:
        raise InputError(
            f"The cluster has {operator}, and a local one beside it would act on the same objects. Use --operator pod."
        )
    try:
        supported(operator.version)
    except (UnsupportedVersionError, ValueError) as error:
        raise InputError(f"The cluster has {operator}, whose RayJobs are not known here: {error}") from error
    if operator.replicas == 0 or operator.ready == 0:
        raise InputError(
            f"The cluster has {operator}, which is to have {operator.replicas} pods and has {operator.ready} ready. "
            "Start it, or use another cluster."
        )
    if operator.watched and not set(wish.namespaces) <= set(operator.watched):
        raise InputError(
            f"The cluster has {operator}, which looks after {', '.join(operator.watched)} only, not after "
            f"{', '.join(wish.namespaces)}, which would be made for the RayJob. Use another cluster."
        )
    return operator


def _plural(word: str, items: Collection[str]) -> str:
    return f"The {word}" if len(items) == 1 else f"The {word}s"


def _exist(items: Collection[str]) -> str:
    return "exists" if len(items) == 1 else "exist"


def names_in(folder: Path, *kinds: str) -> tuple[str, ...]:
    """Names of the objects of some kinds in the YAML files of a folder."""
    found = set()
    for path in sorted(folder.glob("*.yaml")):
        for document in yaml.load_all(path.read_text(), yaml.CSafeLoader):
            if isinstance(document, Mapping) and document.get("kind") in kinds:
                found.add(str(document["metadata"]["name"]))
    return tuple(sorted(found))
