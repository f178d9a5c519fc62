"""A session on a kind cluster of its own: real nodes, real pods, real Ray."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import KindCluster
from kuberay_e2e.clusters.provider import Nodes
from kuberay_e2e.engine import Engine
from kuberay_e2e.operator_lives import NodeKiller
from kuberay_e2e.session.kueues import PodKueue
from kuberay_e2e.session.programs import Programs
from kuberay_e2e.session.real_pods import OperatorKind, on_real_pods
from kuberay_e2e.session.session import Session
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace
from kuberay_toolchain.images import Image

NODE_IMAGES = ("node", "ray", "operator")
"""Images that a session on kind needs, by their names in the toolchain, where there is no container registry."""


@contextmanager
def kind(
    run: Run,
    programs: Programs,
    images: Mapping[str, Image],
    *,
    operator: OperatorKind = OperatorKind.POD,
    nodes: int = 1,
    output: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """A session on a kind cluster of its own.

    Args:
        run: Owns folders, processes and containers.
        programs: Where the programs are.
        images: Images made on this machine, by name; those that are not there are pulled by the nodes.
        operator: How the operator runs.
        nodes: Number of nodes, the control plane among them.
        output: Receives what Pulumi prints.

    Raises:
        HarnessError: Something did not come up.
    """
    with ExitStack() as stack:
        trace = Trace(run.folder / "trace.jsonl")
        stack.callback(trace.close)
        engine = stack.enter_context(Engine())
        provider = KindCluster(programs.paths, ContainerEngine.detect(), images, nodes)
        cluster = stack.enter_context(provider.up(run))
        assert cluster.nodes is not None
        loads = stack.enter_context(ImageLoads(cluster.nodes, images))
        loads.begin("operator", "ray")
        killer = NodeKiller(cluster.nodes)
        kueue = PodKueue(
            stack.enter_context(ClusterReader(Access.read(cluster.kubeconfig))), lambda: loads.wait("kueue")
        )
        session = stack.enter_context(
            on_real_pods(
                run,
                programs,
                cluster,
                trace,
                engine,
                killer,
                kueue,
                operator=operator,
                prepare=loads.prepare,
                output=output,
            )
        )
        yield session


class ImageLoads:
    """Takes images into the nodes while other things are going on.

    Args:
        nodes: The nodes.
        images: Images made on this machine, by name; others are left to the nodes' registry.

    Use it as a context manager.
    """

    def __init__(self, nodes: Nodes, images: Mapping[str, Image]) -> None:
        self._nodes = nodes
        self._images = images
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="images")
        self._loads: dict[str, Future[None]] = {}

    def __enter__(self) -> "ImageLoads":
        return self

    def __exit__(self, *_: object) -> None:
        """Drop what was not begun; what is going on ends with its node."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def begin(self, *names: str) -> None:
        """Begin to load images, in this order; those that were begun or are not there are left out."""
        for name in names:
            if name in self._images and name not in self._loads:
                self._loads[name] = self._pool.submit(self._nodes.load, self._images[name].archive)

    def wait(self, name: str) -> None:
        """Wait until an image is in the nodes.

        Raises:
            HarnessError: A node refused it.
        """
        self.begin(name)
        if name in self._loads:
            self._loads[name].result()

    def prepare(self, step: str) -> None:
        """Wait for the image that a step of a session needs, see `Parts`."""
        self.wait({"operator": "operator", "jobs": "ray"}[step])
