"""A session on a user's own cluster, in namespaces of its own."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from kuberay_e2e import processes
from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters.existing import Decision, ExistingCluster
from kuberay_e2e.engine import Engine
from kuberay_e2e.operator_lives import PodDeletion
from kuberay_e2e.session.kueues import PodKueue
from kuberay_e2e.session.programs import OPERATOR, Installation, Programs
from kuberay_e2e.session.real_pods import OperatorKind, on_real_pods
from kuberay_e2e.session.session import Session
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace


@contextmanager
def existing(
    run: Run,
    programs: Programs,
    config: Mapping[str, Any],
    decision: Decision,
    *,
    output: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """A session on a user's own cluster; when it ends, the cluster is as it was found.

    Args:
        run: Owns folders and processes.
        programs: Where the programs are.
        config: A kubeconfig with the user's context only.
        decision: What will be done there.
        output: Receives what Pulumi prints.

    Raises:
        HarnessError: Something did not come up, or could not be removed.
    """
    installation = installation_of(decision)
    with ExitStack() as stack:
        trace = Trace(run.folder / "trace.jsonl")
        stack.callback(trace.close)
        engine = stack.enter_context(Engine())
        cluster = stack.enter_context(ExistingCluster(config, decision.footprint).up(run))
        stack.callback(processes.reap, run.marker)
        access = Access.read(cluster.kubeconfig)
        killer = PodDeletion(access, installation.namespace)
        kueue = PodKueue(stack.enter_context(ClusterReader(access)), lambda: None)
        operator = OperatorKind.LOCAL if decision.local else OperatorKind.POD
        yield stack.enter_context(
            on_real_pods(
                run,
                programs,
                cluster,
                trace,
                engine,
                killer,
                kueue,
                operator=operator,
                installation=installation,
                output=output,
            )
        )


def installation_of(decision: Decision) -> Installation:
    """What a session installs by a decision.

    An operator of the harness has no rights outside the namespaces of the run, and elects a leader, because a pod that
    was deleted may write on for a moment while the next one starts.
    """
    footprint = decision.footprint
    if decision.operator is not None:
        operator = decision.operator
        return Installation(operator.namespace, operator.name, crds=False, operator=False, throwaway=False)
    arguments: dict[str, Any] = {"createNamespace": False}
    if not decision.local:
        arguments |= {"leaderElection": True, "rbac": "namespaces", "watchNamespaces": list(footprint.namespaces[1:])}
    namespace, crds = footprint.namespaces[0], bool(footprint.crds)
    return Installation(namespace, OPERATOR, crds=crds, throwaway=False, arguments=arguments)
