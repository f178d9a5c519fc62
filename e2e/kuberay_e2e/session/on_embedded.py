"""A session on an embedded control plane of its own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.egress import Egress
from kuberay_e2e.engine import Engine
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.pods import PodRunner
from kuberay_e2e.ray import Ledger, LocalRay, RayBackend, RayClusterKey, SimulatedRay, Submitter
from kuberay_e2e.ray.script import Script, ScriptChoice, always
from kuberay_e2e.session.kueues import ProcessKueue
from kuberay_e2e.session.local_host import LocalHost
from kuberay_e2e.session.programs import Programs
from kuberay_e2e.session.ray import DoorWitness
from kuberay_e2e.session.session import DEFAULT_INSTALLATION, Parts, Session
from kuberay_e2e.session.stacks import Stacks
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace

_DEFAULT_SCRIPT = always(Script())


class RayKind(StrEnum):
    """Which Ray runs behind the head pods."""

    LOCAL = "local"
    SIMULATED = "simulated"


@contextmanager
def embedded(
    run: Run,
    programs: Programs,
    *,
    ray: RayKind = RayKind.SIMULATED,
    script: ScriptChoice = _DEFAULT_SCRIPT,
    submitter_fails: Callable[[Submitter], bool] = lambda _: False,
    output: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """A session on an embedded control plane of its own.

    Args:
        run: Owns folders and processes.
        programs: Where the programs are.
        ray: Which Ray runs behind the head pods.
        script: What simulated jobs do.
        submitter_fails: Whether a submitter fails before it asks simulated Ray for anything; default: none does.
        output: Receives what Pulumi prints.

    Raises:
        HarnessError: Something did not come up.
    """
    with ExitStack() as stack:
        trace = Trace(run.folder / "trace.jsonl")
        stack.callback(trace.close)
        engine = stack.enter_context(Engine())
        cluster = stack.enter_context(EmbeddedCluster(programs.paths).up(run))
        access = Access.read(cluster.kubeconfig)
        egress = engine.enter(Egress(run.marker, access))
        backend = _backend(run, ray, script, submitter_fails)
        stack.callback(lambda: engine.call(backend.close()))
        gateway: Gateway = engine.enter(
            Gateway(access, trace, lambda namespace, name: backend.door(RayClusterKey(namespace, name)))
        )
        engine.enter(PodRunner(cluster.kubeconfig, backend, cluster.pod_logs or run.path("pod-logs"), trace))
        stack.callback(engine.leave)
        stacks = Stacks.on(run, programs.paths, cluster.kubeconfig, output)
        reader = stack.enter_context(ClusterReader(access))
        host = LocalHost(run, programs, access, gateway, engine, trace, installation=DEFAULT_INSTALLATION, pods=False)
        kueue = ProcessKueue(run, cluster.kubeconfig, engine, egress, trace)
        parts = Parts(host, DoorWitness(backend), kueue, backend)
        session = Session(run, programs, cluster, trace, engine, stacks, reader, parts)
        stack.callback(session.stop_operator)
        yield session


def _backend(run: Run, ray: RayKind, script: ScriptChoice, submitter_fails: Callable[[Submitter], bool]) -> RayBackend:
    ledger = Ledger(run.folder / "ledger.jsonl")
    if ray is RayKind.LOCAL:
        return LocalRay(run.path("ray"), ledger, marker=run.marker)
    return SimulatedRay(run.path("ray"), ledger, marker=run.marker, script=script, fails=submitter_fails)
