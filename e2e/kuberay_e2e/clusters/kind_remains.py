"""What a kind cluster consists of outside its run's folder, and how that is removed.

Everything of a cluster carries its name, which no other cluster ever has: containers by kind's label, volumes by the
node's name, and a network of its own. Thus nothing else is touched when it is removed, and what a killed run left is
found and removed by the next run.
"""

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e import processes
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError

_LABEL = "io.x-k8s.kind.cluster"
_RECORD = "kind.json"

_DYING = ("did not die within timeout", "removal of container", "did not receive an exit event")
"""What podman and Docker say of a container that takes its time to end."""

_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True)
class Remains:
    """What a cluster consists of outside its run's folder.

    Attributes:
        folder: The cluster's folder in its run.
        engine: Name of the container engine that runs it.
        cluster: Name of the cluster.
    """

    folder: Path
    engine: str
    cluster: str

    @classmethod
    def of(cls, run: Path) -> "Remains | None":
        """What the run of a folder may have left; None if nothing."""
        folder = run / "cluster"
        try:
            record = json.loads((folder / _RECORD).read_text())
            return cls(folder, record["engine"], record["cluster"])
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def note(self) -> None:
        """Write down what is about to be made; `remove` takes the note away."""
        (self.folder / _RECORD).write_text(json.dumps({"engine": self.engine, "cluster": self.cluster}))

    def remove(self, engine: ContainerEngine) -> list[str]:
        """Remove containers, volumes and network; what is not there is no error.

        Returns:
            Names of the containers that were removed.

        Raises:
            HarnessError: The engine does not do it.
        """
        form = "{{.Names}}"
        containers = engine.run("ps", "--all", "--filter", f"label={_LABEL}={self.cluster}", "--format", form).split()
        if containers:
            _remove_containers(engine, containers)
        listed = engine.run("volume", "ls", "--format", "{{.Name}}\t{{.Labels}}").splitlines()
        node = re.compile(rf"(?<![a-z0-9-]){re.escape(self.cluster)}-(control-plane|worker\d*)\b")
        volumes = [line.split("\t")[0] for line in listed if node.search(line.partition("\t")[2])]
        if volumes:
            engine.run("volume", "rm", "--force", *volumes)
        if self.cluster in engine.run("network", "ls", "--format", "{{.Name}}").split():
            engine.run("network", "rm", self.cluster)
        (self.folder / _RECORD).unlink(missing_ok=True)
        return containers


def _remove_containers(engine: ContainerEngine, names: Sequence[str]) -> None:
    """Remove containers; an engine that gives up waiting for their end, on a loaded machine, is asked again."""
    at_once = ("--time", "0") if engine.name == "podman" else ()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            engine.run("rm", "--force", "--volumes", *at_once, *names)
            return
        except HarnessError as error:
            if not any(sentence in str(error) for sentence in _DYING) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def cluster_name(run: str, marker: str) -> str:
    """Name of a run's cluster: that of the run and a part of its marker, so that no other cluster has it."""
    return f"{run}-{marker[-6:]}".lstrip("-")


def kind_marker(marker: str) -> str:
    """Marker of kind and of what it starts, which can be ended without the run's other processes."""
    return f"{marker}-kind"


def end_kind(marker: str) -> None:
    """End a run's kind and what it started, except podman's name server, which other networks share."""
    processes.reap(kind_marker(marker), spare=("aardvark-dns",))


def remove_leftovers(folder: Path, marker: str) -> list[str]:
    """Remove the cluster that a killed run left.

    Args:
        folder: The run's folder.
        marker: The run's marker.

    Returns:
        Names of the containers that were removed.

    Raises:
        HarnessError: The container engine does not answer, so that the cluster is still there.
    """
    remains = Remains.of(folder)
    if remains is None:
        return []
    end_kind(marker)
    engine = ContainerEngine.named(remains.engine)
    return remains.remove(engine.configured(remains.folder))
