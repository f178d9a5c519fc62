"""Real clusters: kind's nodes in containers, made by pytest-kind with the toolchain's kind and kubectl.

The cluster's kubeconfig is in the run's folder, and its containers are in a network of their own.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import yaml

from kuberay_e2e import processes
from kuberay_e2e.access import Access
from kuberay_e2e.clusters import kind_configuration as configuration
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind_nodes import KindNodes, node_names
from kuberay_e2e.clusters.kind_remains import Remains, cluster_name, end_kind, kind_marker
from kuberay_e2e.clusters.node_image import NODE, OFFICIAL_NODE
from kuberay_e2e.clusters.provider import Cluster
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.state import Run
from kuberay_toolchain.images import Image

PROGRAMS = ("kind", "kubectl")
"""Programs that a kind cluster needs, by their names in the toolchain."""

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class KindCluster:
    """Cluster provider `kind`.

    Args:
        programs: Paths of `PROGRAMS`.
        engine: Runs the nodes.
        images: Images made on this machine, by name. With `node` among them the nodes are of that image, and no pod
            reaches beyond this machine; without it they are of `OFFICIAL_NODE`, and pods may pull their images.
        nodes: How many nodes, the control plane included.
        ready_seconds: How long the cluster may take to be ready once it is made, seconds.
    """

    name = "kind"

    def __init__(
        self,
        programs: Mapping[str, Path],
        engine: ContainerEngine,
        images: Mapping[str, Image],
        nodes: int = 1,
        *,
        ready_seconds: float = 120.0,
    ) -> None:
        self._programs = programs
        self._engine = engine
        self._node = images.get(NODE)
        self._nodes = nodes
        self._ready_seconds = ready_seconds

    @contextmanager
    def up(self, run: Run) -> Iterator[Cluster]:
        """Create a cluster; its containers, volumes and network are gone when the block ends.

        Raises:
            HarnessError: It did not come up; the message ends with what kind said.
        """
        folder = run.path("cluster")
        name = cluster_name(run.name, run.marker)
        engine = self._engine.configured(folder)
        remains = Remains(folder, engine.name, name)
        remains.note()
        try:
            kubeconfig = self._create(run, folder, engine, name)
            nodes = KindNodes(engine, node_names(name, self._nodes))
            if self._node:
                nodes.connect()
                nodes.isolate()
            access = Access.read(kubeconfig)
            _wait_ready(access, self._nodes, self._ready_seconds)
            yield Cluster(name, kubeconfig, simulated_pods=False, nodes=nodes)
        except BaseException:
            end_kind(run.marker)
            raise
        finally:
            remains.remove(engine)

    def _create(self, run: Run, folder: Path, engine: ContainerEngine, name: str) -> Path:
        try:
            from kuberay_e2e.clusters.kind_creation import Creation, write_command
        except ImportError as error:
            raise HarnessError(
                "Expected the package pytest-kind, which makes kind clusters; it is not installed. "
                "Install pulumi-kuberay[kind]."
            ) from error
        if self._node:
            engine.load(self._node.archive)
        engine.run("network", "create", *self._network_options(engine), name)
        config = folder / "kind.yaml"
        image = self._node.reference if self._node else OFFICIAL_NODE
        config.write_text(yaml.safe_dump(configuration.cluster(self._nodes, folder if self._node else None)))
        log, command = folder / "kind.log", folder / "kind"
        write_command(
            command,
            self._programs["kind"],
            environment=self._environment(run, engine, name),
            without=_PROXIES if self._node else (),
            log=log,
        )
        creation = Creation(name, folder, image=image, kind=command, kubectl=self._programs["kubectl"])
        creation.run(config, log)
        return creation.kubeconfig

    def _network_options(self, engine: ContainerEngine) -> list[str]:
        """Without name resolution where one node needs none: podman's is a program that other networks share."""
        return ["--disable-dns"] if engine.name == "podman" and self._nodes == 1 else []

    def _environment(self, run: Run, engine: ContainerEngine, name: str) -> dict[str, str]:
        return {
            **engine.environment,
            f"KIND_EXPERIMENTAL_{engine.name.upper()}_NETWORK": name,
            processes.MARKER: kind_marker(run.marker),
            "PATH": f"{engine.program.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }


def _wait_ready(access: Access, nodes: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    seen = "nothing answered"
    with access.client() as client:
        while time.monotonic() < deadline:
            with suppress(httpx.TransportError, ValueError):
                seen = _missing(client, nodes)
                if not seen:
                    return
            time.sleep(0.1)
    raise HarnessError(f"The cluster at {access.server} was not ready within {seconds:.0f} s: {seen}.")


def _missing(client: httpx.Client, nodes: int) -> str:
    """What a cluster lacks before it can be used; empty if nothing."""
    ready = [
        node["metadata"]["name"]
        for node in client.get("/api/v1/nodes").json().get("items", [])
        if any(part["type"] == "Ready" and part["status"] == "True" for part in node["status"].get("conditions", []))
    ]
    if len(ready) < nodes:
        return f"{len(ready)} of {nodes} nodes are Ready"
    if not client.get("/api/v1/namespaces/default/serviceaccounts/default").is_success:
        return "there is no default ServiceAccount yet"
    dns = client.get("/apis/apps/v1/namespaces/kube-system/deployments/coredns").json()
    return "" if dns.get("status", {}).get("readyReplicas") else "CoreDNS is not ready"
