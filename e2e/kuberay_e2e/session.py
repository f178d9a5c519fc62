"""Everything of one run, put together: cluster, gateway, Ray, operator and the Pulumi stack.

Life cycle, tests and crash sweeps all work on a session; leaving it stops all of it, in order.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.clusters import Cluster
from kuberay_e2e.clusters.embedded import PROGRAMS as CLUSTER_PROGRAMS
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.egress import Egress
from kuberay_e2e.engine import Engine
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.observer import Observer
from kuberay_e2e.operator_process import OperatorProcess, OperatorSpec
from kuberay_e2e.pods import PodRunner
from kuberay_e2e.pods.kueue import KueueRunner
from kuberay_e2e.ray import Ledger, LocalRay, RayBackend, RayClusterKey, SimulatedRay
from kuberay_e2e.ray.script import Script, ScriptChoice, always
from kuberay_e2e.stack import PROGRAMS as PULUMI_PROGRAMS
from kuberay_e2e.stack import PulumiStack
from kuberay_e2e.state import Run
from kuberay_e2e.trace import Trace

OPERATOR = "kuberay-operator"
OPERATOR_NAMESPACE = "ray-system"
OPERATOR_VERSION = "1.6.2"

PROGRAMS = (*CLUSTER_PROGRAMS, OPERATOR, *PULUMI_PROGRAMS)
"""Programs that a session on the embedded control plane needs, by their names in the toolchain."""

_UNAWAITED_SERVICE = {
    "target": {"kind": "Service"},
    "patch": json.dumps(
        [{"op": "add", "path": "/metadata/annotations/pulumi.com~1skipAwait", "value": "true"}],
    ),
}
"""Nobody is behind the metrics Service of an operator that runs as a local process; Pulumi need not look for them."""

_STACKS = ("crds", "operator", "jobs")

_DEFAULT_SCRIPT = always(Script())


class RayKind(StrEnum):
    """Which Ray runs behind the head pods."""

    LOCAL = "local"
    SIMULATED = "simulated"


def operator_program(version: str) -> str:
    """Name of a version of the operator in the toolchain."""
    return OPERATOR if version == OPERATOR_VERSION else f"{OPERATOR}@{version}"


@dataclass(frozen=True)
class Programs:
    """Where the programs are.

    Attributes:
        paths: Path of each of `PROGRAMS`, and of the `operator_program` of further versions.
        operator_files: Files of the operator's module, by its version: CRDs, RBAC and Deployment below `config/`.
    """

    paths: Mapping[str, Path]
    operator_files: Mapping[str, Path]

    def operator(self, version: str) -> Path:
        """The operator's binary of a version.

        Raises:
            HarnessError: There is none.
        """
        program = operator_program(version)
        if program not in self.paths:
            raise HarnessError(
                f"Expected a binary of the KubeRay operator {version}, which the applied Deployment names; there are "
                f"binaries of {', '.join(self.operator_files)}."
            )
        return self.paths[program]


@dataclass(frozen=True)
class Stacks:
    """Three stacks of the one Pulumi program, so that an update of a job does not compare megabytes of CRDs.

    Attributes:
        crds: The CRDs.
        operator: The operator.
        jobs: RayJobs and what they need.
    """

    crds: PulumiStack
    operator: PulumiStack
    jobs: PulumiStack


class Session:
    """A cluster with what is needed to run the operator on it.

    Attributes:
        run: Owns folders and processes.
        cluster: The cluster.
        access: The administrator's access to it.
        trace: Everything that happened.
        ledger: What Ray was asked to do and did.
        engine: Runs gateway, pods and Ray.
        gateway: Between operator and API server.
        backend: Ray.
        stacks: The Pulumi stacks.
        reader: Reads objects of the cluster.
    """

    def __init__(
        self,
        run: Run,
        programs: Programs,
        cluster: Cluster,
        trace: Trace,
        engine: Engine,
        gateway: Gateway,
        backend: RayBackend,
        stacks: Stacks,
        reader: ClusterReader,
        egress: Egress,
        output: Callable[[str], None],
    ) -> None:
        self.run = run
        self.cluster = cluster
        self.access = Access.read(cluster.kubeconfig)
        self.trace = trace
        self.ledger = backend.ledger
        self.engine = engine
        self.gateway = gateway
        self.backend = backend
        self.stacks = stacks
        self.reader = reader
        self._programs = programs
        self._egress = egress
        self._output = output
        self._kueue: KueueRunner | None = None
        self._operator: OperatorProcess | None = None
        self._observing = False

    @property
    def operator(self) -> OperatorProcess:
        """The operator's process.

        Raises:
            HarnessError: It is not installed yet.
        """
        if self._operator is None:
            raise HarnessError("Expected the operator to be installed before it is used.")
        return self._operator

    def install(self, version: str = OPERATOR_VERSION) -> None:
        """Apply the CRDs, then the operator (`pulumi up` of a stack each): an installation, or an upgrade.

        Args:
            version: Release of the operator, without a leading `v`.
        """
        config = self._programs.operator_files[version] / "config"
        self.stacks.crds.apply({"throwaway": True, "crds": {"folder": str(config / "crd" / "bases")}})
        self.stacks.operator.apply(
            {
                "operator": {
                    "version": version,
                    "kustomize": {
                        "paths": [str(config / "rbac"), str(config / "manager")],
                        "patches": [_UNAWAITED_SERVICE],
                    },
                    "namespace": OPERATOR_NAMESPACE,
                    "leaderElection": False,
                    "useKubernetesProxy": True,
                }
            }
        )

    def uninstall(self) -> None:
        """Delete the jobs, whose finalizers need the operator, then the operator (`pulumi destroy`).

        The CRDs go with the throw-away cluster: deleting them one by one keeps an API server busy for half a minute.
        """
        self.stacks.jobs.destroy()
        self.stacks.operator.destroy()

    def stack(self, name: str) -> PulumiStack:
        """A further stack of the same program.

        Args:
            name: Name of the stack, one that no other stack of the session has.
        """
        return PulumiStack(self.run, self._programs.paths, self.cluster.kubeconfig, name, output=self._output)

    def run_kueue(self, program: Path) -> KueueRunner:
        """Run Kueue's binary in the place of its pods from now on: it starts and ends with them.

        Args:
            program: Kueue's binary.
        """
        if self._kueue is None:
            folder = self.run.path("kueue")
            self._kueue = self.engine.enter(
                KueueRunner(program, self.cluster.kubeconfig, self._egress, folder, self.run.marker, self.trace)
            )
        return self._kueue

    def install_kueue(self, program: Path, chart: Path) -> KueueRunner:
        """Apply Kueue (`pulumi up` of a stack of its own) and run it; it serves its webhooks when this returns.

        Args:
            program: Kueue's binary.
            chart: Kueue's Helm chart.

        Raises:
            HarnessError: Pulumi failed, or Kueue is not ready although Pulumi says so.
        """
        kueue = self.run_kueue(program)
        self.stack("kueue").apply({"throwaway": True, "kueue": {"chart": {"path": str(chart)}}})
        if not kueue.ready:
            raise HarnessError(
                f"Expected Kueue to be ready when Pulumi has applied it; its log:\n{kueue.log()[-2000:]}"
            )
        return kueue

    def start_operator(self) -> OperatorProcess:
        """Start the operator of the Deployment that was applied, in the version of its image, and watch what it does.

        Raises:
            HarnessError: There is no Deployment, no binary of that version, or the operator did not start.
        """
        if not self._observing:
            self._observing = True
            self.engine.enter(Observer(self.cluster.kubeconfig, self.trace))
        spec = OperatorSpec.read(self.access, OPERATOR_NAMESPACE, OPERATOR)
        program = self._programs.operator(spec.version)
        if self._operator is None:
            self._operator = OperatorProcess(
                program,
                spec,
                self.access,
                self.gateway,
                self.engine,
                self.run.path("operator"),
                self.run.marker,
                self.trace,
            )
        self._operator.roll(program, spec)
        self._operator.start()
        return self._operator

    def job_output(self, namespace: str, ray_cluster: str, submission_id: str) -> str:
        """What a job printed, as Ray's Jobs API has it.

        Raises:
            HarnessError: Ray does not run, or knows no such job.
        """
        door = self.backend.door(RayClusterKey(namespace, ray_cluster))
        if door is None:
            raise HarnessError(f"Expected Ray to run for the RayCluster {namespace}/{ray_cluster}; it does not.")
        answer = httpx.get(f"{door}/api/jobs/{submission_id}/logs", trust_env=False, timeout=30)
        if not answer.is_success:
            raise HarnessError(
                f"Expected the log of the job {submission_id!r}, got {answer.status_code}: {answer.text[:300]}"
            )
        logs: str = answer.json().get("logs") or ""
        return logs

    def stop_operator(self) -> None:
        """Stop the operator; a session without one is left as it is."""
        if self._operator is not None:
            self._operator.stop()


@contextmanager
def embedded(
    run: Run,
    programs: Programs,
    *,
    ray: RayKind = RayKind.SIMULATED,
    script: ScriptChoice = _DEFAULT_SCRIPT,
    output: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """A session on an embedded control plane of its own.

    Args:
        run: Owns folders and processes.
        programs: Where the programs are.
        ray: Which Ray runs behind the head pods.
        script: What simulated jobs do.
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
        backend = _backend(run, ray, script)
        stack.callback(lambda: engine.call(backend.close()))
        gateway = engine.enter(
            Gateway(access, trace, lambda namespace, name: backend.door(RayClusterKey(namespace, name)))
        )
        engine.enter(PodRunner(cluster.kubeconfig, backend, cluster.pod_logs or run.path("pod-logs"), trace))
        stack.callback(engine.leave)
        stacks = Stacks(
            *(PulumiStack(run, programs.paths, cluster.kubeconfig, name, output=output) for name in _STACKS)
        )
        reader = stack.enter_context(ClusterReader(access))
        session = Session(run, programs, cluster, trace, engine, gateway, backend, stacks, reader, egress, output)
        stack.callback(session.stop_operator)
        yield session


def _backend(run: Run, ray: RayKind, script: ScriptChoice) -> RayBackend:
    ledger = Ledger(run.folder / "ledger.jsonl")
    if ray is RayKind.LOCAL:
        return LocalRay(run.path("ray"), ledger, marker=run.marker)
    return SimulatedRay(run.path("ray"), ledger, marker=run.marker, script=script)
