"""Everything of one run, put together: cluster, operator, Ray and the Pulumi stacks.

Life cycles, faults, scenarios and tests all work on a session, whatever its cluster is; leaving it stops all of it,
in order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters import Cluster
from kuberay_e2e.engine import Engine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Fault, Gateway
from kuberay_e2e.observer import Observer
from kuberay_e2e.ray import Ledger, RayBackend, RayClusterKey
from kuberay_e2e.session.kueues import Kueue, KueueHost
from kuberay_e2e.session.operators import Operator, OperatorHost
from kuberay_e2e.session.programs import OPERATOR_VERSION, Installation, Programs
from kuberay_e2e.session.ray import RayWitness
from kuberay_e2e.session.stacks import Stacks
from kuberay_e2e.stack import PulumiStack
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace

DEFAULT_INSTALLATION = Installation()


@dataclass(frozen=True)
class Parts:
    """What a session is made of on its cluster.

    Attributes:
        host: Runs the operator.
        witness: Sees what Ray does.
        kueue: Runs Kueue.
        backend: Ray behind simulated head pods; None where pods are real.
        installation: What the session installs, and where.
        prepare: Called with a step's name before the session needs it: `operator` before the operator is applied,
            `jobs` before the first RayJob is.
    """

    host: OperatorHost
    witness: RayWitness
    kueue: KueueHost
    backend: RayBackend | None = None
    installation: Installation = DEFAULT_INSTALLATION
    prepare: Callable[[str], None] = lambda _: None


class Session:
    """A cluster with what is needed to run the operator on it.

    Attributes:
        run: Owns folders and processes.
        cluster: The cluster.
        access: The administrator's access to it.
        trace: Everything that happened.
        ledger: What Ray was asked to do and did.
        engine: Runs what is asynchronous: observer, gateway, pods and Ray.
        stacks: The Pulumi stacks.
        reader: Reads objects of the cluster.
        installation: What the session installs, and where.
    """

    def __init__(
        self,
        run: Run,
        programs: Programs,
        cluster: Cluster,
        trace: Trace,
        engine: Engine,
        stacks: Stacks,
        reader: ClusterReader,
        parts: Parts,
    ) -> None:
        self.run = run
        self.cluster = cluster
        self.access = Access.read(cluster.kubeconfig)
        self.trace = trace
        self.ledger: Ledger = parts.witness.ledger
        self.engine = engine
        self.stacks = stacks
        self.reader = reader
        self.installation = parts.installation
        self._programs = programs
        self._parts = parts
        self._observing = False

    @property
    def operator(self) -> Operator:
        """The operator.

        Raises:
            HarnessError: It was not started yet.
        """
        if self._parts.host.operator is None:
            raise HarnessError("Expected the operator to be installed before it is used.")
        return self._parts.host.operator

    @property
    def operator_namespace(self) -> str:
        """Namespace of the operator's Deployment."""
        return self.installation.namespace

    @property
    def has_gateway(self) -> bool:
        """True where every request of the operator passes the gateway, so that its writes are known exactly."""
        return self._parts.host.gateway is not None

    @property
    def gateway(self) -> Gateway:
        """The gateway between operator and API server.

        Raises:
            HarnessError: The operator runs in a pod, without one.
        """
        if self._parts.host.gateway is None:
            raise HarnessError("There is no gateway before an operator that runs in a pod; use the operator `local`.")
        return self._parts.host.gateway

    @property
    def backend(self) -> RayBackend:
        """Ray behind simulated head pods.

        Raises:
            HarnessError: Pods are real, and Ray runs in them.
        """
        if self._parts.backend is None:
            raise HarnessError("There is no Ray back end here, because Ray runs in real pods.")
        return self._parts.backend

    def install(self, version: str = OPERATOR_VERSION) -> None:
        """Apply the CRDs, then the operator (`pulumi up` of a stack each): an installation, or an upgrade.

        What the session's installation leaves to those who are there is left out.

        Args:
            version: Release of the operator, without a leading `v`.

        Raises:
            HarnessError: Pulumi failed.
        """
        if self.installation.crds:
            crds = self._programs.files(version) / "config" / "crd" / "bases"
            self.stacks.crds.apply({"throwaway": True, "crds": {"folder": str(crds)}})
        self._parts.prepare("operator")
        if self.installation.operator:
            self.stacks.operator.apply({"operator": dict(self._parts.host.arguments(version))})
        self._parts.prepare("jobs")

    def uninstall(self) -> None:
        """Delete the jobs, whose finalizers need the operator, then the operator (`pulumi destroy`).

        The CRDs go with a throw-away cluster: deleting them one by one keeps an API server busy for half a minute.
        """
        self.stacks.jobs.destroy()
        self.keep_logs()
        if self.installation.operator:
            self.stacks.operator.destroy()
        if self.installation.removes_crds:
            self.stacks.crds.destroy()

    def stack(self, name: str) -> PulumiStack:
        """A further stack of the same program.

        Args:
            name: Name of the stack, one that no other stack of the session has.
        """
        return self.stacks.further(name)

    def run_kueue(self, program: Path | None = None) -> Kueue:
        """Run Kueue from now on wherever its pods are applied: it starts and ends with them.

        Args:
            program: Kueue's binary, needed where pods are simulated.

        Raises:
            HarnessError: Something that it needs is missing.
        """
        return self._parts.kueue.run(program)

    def install_kueue(self, program: Path | None, chart: Path, settings: Mapping[str, Any] | None = None) -> Kueue:
        """Apply Kueue (`pulumi up` of a stack of its own) and run it; it serves its webhooks when this returns.

        Args:
            program: Kueue's binary, needed where pods are simulated.
            chart: Kueue's Helm chart.
            settings: What else the Pulumi program is configured with, see `kueue` in `stacks/`; default: nothing.

        Raises:
            HarnessError: Pulumi failed, or Kueue is not ready although Pulumi says so.
        """
        kueue = self.run_kueue(program)
        arguments = {"chart": {"path": str(chart)}, **self._parts.kueue.arguments(), **(settings or {})}
        self.stack("kueue").apply({"throwaway": True, "kueue": arguments})
        if not kueue.ready:
            raise HarnessError(
                f"Expected Kueue to be ready when Pulumi has applied it; its log:\n{kueue.log()[-2000:]}"
            )
        return kueue

    def observe(self) -> None:
        """Record, from now on, each version of the objects that matter; the CRDs must be there."""
        if not self._observing:
            self._observing = True
            self.engine.enter(Observer(self.access, self.trace))

    def start_operator(self) -> Operator:
        """Start the operator of the Deployment that was applied, in the version of its image, and watch what it does.

        Raises:
            HarnessError: There is no Deployment, no binary of that version, or the operator did not start.
        """
        self.observe()
        return self._parts.host.start()

    def stop_operator(self) -> None:
        """Stop the operator; one that the session has not installed is left as it is."""
        if self.installation.operator and self._parts.host.operator is not None:
            self._parts.host.operator.stop()

    def keep_logs(self) -> None:
        """Keep the operator's log in the run's folder before it goes with its pod."""
        self._parts.host.keep_log()

    def check(self, fault: Fault) -> None:
        """Refuse a fault that cannot act on this session's operator.

        Raises:
            InputError: It cannot.
        """
        self._parts.host.check(fault)

    def arm(self, fault: Fault) -> Fault:
        """Let a fault wait for its write.

        Raises:
            InputError: It cannot act on this session's operator.
        """
        self._parts.host.arm(fault)
        return fault

    def disarm(self, fault: Fault) -> None:
        """Forget a fault, whether it fired or not."""
        self._parts.host.disarm(fault)

    def writes(self) -> list[str]:
        """The operator's writes so far, in the form that `--kill-at` takes."""
        return self._parts.host.writes()

    def job_output(self, namespace: str, ray_cluster: str, submission_id: str) -> str:
        """What a job printed, as Ray's Jobs API has it.

        Raises:
            HarnessError: Ray does not run, or knows no such job.
        """
        return self._parts.witness.job_output(RayClusterKey(namespace, ray_cluster), submission_id)
