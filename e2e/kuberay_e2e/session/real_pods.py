"""A session on a cluster whose pods are real, whoever provides it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.provider import Cluster
from kuberay_e2e.engine import Engine
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.operator_lives import Killer
from kuberay_e2e.ray import Ledger
from kuberay_e2e.ray.observed import ObservedRay
from kuberay_e2e.session.kueues import KueueHost
from kuberay_e2e.session.local_host import LocalHost
from kuberay_e2e.session.operators import OperatorHost
from kuberay_e2e.session.pod_host import PodHost
from kuberay_e2e.session.programs import Installation, Programs
from kuberay_e2e.session.session import DEFAULT_INSTALLATION, Parts, Session
from kuberay_e2e.session.stacks import Stacks
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace


class OperatorKind(StrEnum):
    """How the operator runs where pods are real."""

    POD = "pod"
    """As the pod of its Deployment, as users run it."""
    LOCAL = "local"
    """As a local process behind the gateway, in the place of the Deployment's pod."""


@contextmanager
def on_real_pods(
    run: Run,
    programs: Programs,
    cluster: Cluster,
    trace: Trace,
    engine: Engine,
    killer: Killer,
    kueue: KueueHost,
    *,
    operator: OperatorKind,
    installation: Installation = DEFAULT_INSTALLATION,
    prepare: Callable[[str], None] = lambda _: None,
    output: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """A session on a cluster whose pods are real.

    Args:
        run: Owns folders and processes.
        programs: Where the programs are.
        cluster: The cluster.
        trace: Receives everything.
        engine: Runs gateway and observers.
        killer: Ends the operator's container where it runs in a pod.
        kueue: Runs Kueue.
        operator: How the operator runs.
        installation: What it installs, and where.
        prepare: See `Parts`.
        output: Receives what Pulumi prints.
    """
    with ExitStack() as stack:
        access = Access.read(cluster.kubeconfig)
        ledger = Ledger(run.folder / "ledger.jsonl")
        witness: ObservedRay = engine.enter(ObservedRay(access, trace, ledger, run.path("pod-logs")))
        host: OperatorHost
        if operator is OperatorKind.LOCAL:
            gateway: Gateway = engine.enter(Gateway(access, trace, None))
            host = LocalHost(run, programs, access, gateway, engine, trace, installation=installation, pods=True)
        else:
            host = PodHost(run, programs, access, killer, trace, installation=installation)
            stack.callback(host.close)
        stack.callback(engine.leave)
        stacks = Stacks.on(run, programs.paths, cluster.kubeconfig, output)
        reader = stack.enter_context(ClusterReader(access))
        parts = Parts(host, witness, kueue, installation=installation, prepare=prepare)
        session = Session(run, programs, cluster, trace, engine, stacks, reader, parts)
        if operator is OperatorKind.LOCAL:
            stack.callback(session.stop_operator)
        yield session
