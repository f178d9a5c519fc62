"""Where a life cycle runs: what each kind of cluster needs, allows and opens."""

import secrets
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kuberay_e2e.access import Access
from kuberay_e2e.clusters import kubeconfig, requirements
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.existing import Wish, decide, names_in
from kuberay_e2e.clusters.inventory import Inventory
from kuberay_e2e.clusters.kind import PROGRAMS as KIND_PROGRAMS
from kuberay_e2e.clusters.node_image import official_node
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Fault, Position, faults
from kuberay_e2e.images import images_of
from kuberay_e2e.lifecycle import Workload
from kuberay_e2e.operator_lives import NodeKiller, PodDeletion
from kuberay_e2e.ray.script import Script, always
from kuberay_e2e.session import (
    OPERATOR,
    OPERATOR_VERSION,
    PROGRAMS,
    OperatorKind,
    Programs,
    RayKind,
    Session,
    embedded,
    existing,
    kind,
    operator_program,
    watched_writes,
)
from kuberay_e2e.stack import PROGRAMS as PULUMI_PROGRAMS
from kuberay_e2e.state import Run
from kuberay_toolchain.images import Image, Images
from kuberay_toolchain.toolchain import Toolchain

_WITH_SUBMITTER, _WITHOUT_SUBMITTER = "create:Job", "update:RayJob/status:jobDeploymentStatus=Running"
"""Writes at which the operator is killed unless the user chooses another."""

_SOFT_END = (
    "nodes cannot be reached here, so that its kubelet sends SIGTERM first and SIGKILL a second or two later, and it "
    "may have written on for that moment"
)
_WITNESS = (
    "One submission is judged by the list of Ray's Jobs API and the logs of submitter pods, not by every request that "
    "reached Ray."
)

Output = Callable[[str], None]


class Target(Protocol):
    """A kind of cluster, with the user's choices for it.

    Attributes:
        real_pods: True where pods are real.
        ray: Which Ray runs the jobs, for the report.
    """

    real_pods: bool
    ray: str

    def fault(self, text: str, workload: Workload) -> Fault:
        """Read the fault that the user asked for; an empty text asks for the usual one.

        Raises:
            InputError: It is none, or cannot act here.
        """
        ...

    def placed(self, workload: Workload) -> Workload:
        """The workload as it runs here.

        Raises:
            InputError: It cannot run here.
        """
        ...

    def prepare(self, workload: Workload) -> None:
        """Find or make what is needed before anything is started.

        Raises:
            InputError: The user's choices do not fit what is there.
            HarnessError: The machine lacks something.
            ToolchainError: A program or an image is missing and cannot be made.
        """
        ...

    def open(self, run: Run, workload: Workload, output: Output) -> AbstractContextManager[Session]:
        """Open the session."""
        ...

    def notes(self) -> list[str]:
        """What has to be known to read the result."""
        ...


@dataclass
class Embedded:
    """The embedded control plane.

    Attributes:
        kind: Which Ray runs behind the simulated head pods.
    """

    kind: RayKind
    real_pods = False

    def __post_init__(self) -> None:
        self.ray = str(self.kind)

    def fault(self, text: str, workload: Workload) -> Fault:
        """Any fault; the position defaults to `committed`."""
        return faults.parse(text or _usual(workload))

    def placed(self, workload: Workload) -> Workload:
        """The workload as it is."""
        return workload

    def prepare(self, workload: Workload) -> None:  # noqa: ARG002
        """Find or build the programs."""
        self._programs = programs_of(Toolchain())

    def open(self, run: Run, workload: Workload, output: Output) -> AbstractContextManager[Session]:
        """Open the session; simulated jobs print what the workload is known to print."""
        script = always(Script(output=workload.expected_output or ("the simulated job ran",)))
        return embedded(run, self._programs, ray=self.kind, script=script, output=output)

    def notes(self) -> list[str]:
        """Nothing: every request and every submission was seen."""
        return []


@dataclass
class Kind:
    """A kind cluster.

    Attributes:
        operator: How the operator runs.
        nodes: Number of nodes.
    """

    operator: OperatorKind = OperatorKind.POD
    nodes: int = 1
    real_pods = True
    ray = "in pods"

    def fault(self, text: str, workload: Workload) -> Fault:
        """A fault that the operator's kind allows; the position defaults to the one that it has."""
        return fault_on(self.operator, text or _usual(workload))

    def placed(self, workload: Workload) -> Workload:
        """The workload as it is."""
        return workload

    def prepare(self, workload: Workload) -> None:  # noqa: ARG002
        """Look at the machine, then find or build programs and images."""
        self._programs, self._images = kind_needs(Toolchain(), self.operator)

    def open(self, run: Run, workload: Workload, output: Output) -> AbstractContextManager[Session]:  # noqa: ARG002
        """Open the session."""
        return kind(run, self._programs, self._images, operator=self.operator, nodes=self.nodes, output=output)

    def notes(self) -> list[str]:
        """How the operator was ended, and how much of Ray was seen."""
        return [*_ends(self.operator, NodeKiller.name), _WITNESS]


@dataclass
class Existing:
    """A user's own cluster.

    Attributes:
        kubeconfig: The user's file; None: the one that kubectl would use.
        context: Context of that file; None: its current one.
        operator: How the operator runs.
        use_installed: Use what is there of KubeRay.
        agree: Shows the user what will be done and asks for consent; False means no.
    """

    kubeconfig: Path | None
    context: str | None
    agree: Callable[[str], bool]
    operator: OperatorKind = OperatorKind.POD
    use_installed: bool = False
    real_pods = True
    ray = "in pods"

    def __post_init__(self) -> None:
        self._suffix = secrets.token_hex(3)

    def fault(self, text: str, workload: Workload) -> Fault:
        """A fault that the operator's kind allows; the position defaults to the one that it has."""
        return fault_on(self.operator, text or _usual(workload))

    def placed(self, workload: Workload) -> Workload:
        """The workload in namespaces of the run: one that it names, else one with a random suffix."""
        return replace(workload, default_namespace=f"ray-jobs-{self._suffix}", makes_namespaces=False)

    def prepare(self, workload: Workload) -> None:
        """Look at the cluster, decide what will be done, and ask."""
        path = self.kubeconfig or kubeconfig.default_path()
        name, self._config = kubeconfig.one_context(path, self.context)
        access = Access.of(self._config, str(path))
        inventory = Inventory.read(access)
        _refuse_cluster_scoped(access, workload)
        toolchain = Toolchain()
        local = self.operator is OperatorKind.LOCAL
        files = toolchain.files(OPERATOR) / "config"
        wish = Wish(
            tuple(sorted(workload.used_namespaces | workload.own_namespaces)),
            f"kuberay-e2e-{self._suffix}",
            names_in(files / "crd" / "bases", "CustomResourceDefinition"),
            names_in(files / "rbac", "ClusterRole", "ClusterRoleBinding") if local else (),
            local,
            self.use_installed,
        )
        self._decision = decide(inventory, wish, f"run-{self._suffix}")
        whole = [
            f"Cluster {name!r} at {access.server}, Kubernetes {inventory.kubernetes}.",
            *self._decision.sentences(),
        ]
        if not self.agree("\n".join(whole)):
            raise InputError(f"Nothing was done on the cluster {name!r}, because you did not agree.")
        operators = [OPERATOR] if local else []
        self._programs = Programs(toolchain.ensure(*PULUMI_PROGRAMS, *operators), _operator_files(toolchain))

    def open(self, run: Run, workload: Workload, output: Output) -> AbstractContextManager[Session]:  # noqa: ARG002
        """Open the session."""
        return existing(run, self._programs, self._config, self._decision, output=output)

    def notes(self) -> list[str]:
        """How the operator was ended, and how much of Ray was seen."""
        return [*_ends(self.operator, f"{PodDeletion.name}: {_SOFT_END}"), _WITNESS]


def _refuse_cluster_scoped(access: Access, workload: Workload) -> None:
    """Refuse objects outside namespaces, which would not go with them.

    Raises:
        InputError: There is one.
    """
    with access.client() as client:
        for item in workload.others:
            version = str(item["apiVersion"])
            answer = client.get(f"/apis/{version}" if "/" in version else f"/api/{version}")
            resources = answer.json().get("resources", ()) if answer.is_success else ()
            namespaced = {found["kind"]: found["namespaced"] for found in resources if "/" not in found["name"]}
            if item["kind"] != "Namespace" and not namespaced.get(item["kind"], True):
                raise InputError(
                    f"The {item['kind']} {item['metadata']['name']} of the manifest is in no namespace, so that it "
                    "would not go with those of the run. On an existing cluster, create it yourself and leave it out."
                )


def _ends(operator: OperatorKind, how: str) -> list[str]:
    if operator is OperatorKind.LOCAL:
        return []
    return [f"The operator ran in a pod and was ended, once a watch had shown its write, by {how}."]


def fault_on(operator: OperatorKind, text: str) -> Fault:
    """Read a fault for an operator on real pods.

    Raises:
        InputError: It is none, or cannot act on an operator of this kind.
    """
    if operator is OperatorKind.LOCAL:
        return faults.parse(text)
    fault = faults.parse(text if "@" in text else f"{text}@{Position.AFTER}")
    watched_writes.check(fault)
    return fault


def programs_of(toolchain: Toolchain, *further_operators: str) -> Programs:
    """Find or build what a session on the embedded control plane needs.

    Args:
        toolchain: Finds and builds programs.
        further_operators: Versions of the operator beside the default one.

    Raises:
        ToolchainError: A program is missing and cannot be built.
    """
    paths = toolchain.ensure(*PROGRAMS, *map(operator_program, further_operators))
    return Programs(paths, _operator_files(toolchain, *further_operators))


def kind_programs(toolchain: Toolchain, operator: OperatorKind, *further_operators: str) -> Programs:
    """Find or build the programs that a session on kind needs.

    Args:
        toolchain: Finds and builds programs.
        operator: How the operator runs; as a pod it needs no program on this machine.
        further_operators: Versions of the operator beside the default one.

    Raises:
        ToolchainError: A program is missing and cannot be built.
    """
    operators = [OPERATOR, *map(operator_program, further_operators)] if operator is OperatorKind.LOCAL else []
    paths = toolchain.ensure(*KIND_PROGRAMS, *PULUMI_PROGRAMS, *operators)
    return Programs(paths, _operator_files(toolchain, *further_operators))


def kind_needs(toolchain: Toolchain, operator: OperatorKind, *further: str) -> tuple[Programs, Mapping[str, Image]]:
    """Look at the machine, then find, fetch or make the programs and images that a session on kind needs.

    kind fetches its own node image, if it is used.

    Args:
        toolchain: Finds and builds programs, which the images hold too.
        operator: How the operator runs; as a local process it needs no image.
        further: Names of further images, such as `kueue`.

    Raises:
        HarnessError: The machine lacks something.
        ToolchainError: A program or an image is missing and cannot be made.
    """
    machine = requirements.demand(Images(toolchain))
    programs = kind_programs(toolchain, operator)
    operators = ["operator"] if operator is OperatorKind.POD else []
    if machine.official_node and official_node(engine := ContainerEngine.detect()):
        return programs, images_of(toolchain, engine).ensure("ray", *operators, *further)
    return programs, Images(toolchain).ensure("node", "ray", *operators, *further)


def _operator_files(toolchain: Toolchain, *further: str) -> Mapping[str, Path]:
    return {version: toolchain.files(operator_program(version)) for version in (OPERATOR_VERSION, *further)}


def _usual(workload: Workload) -> str:
    return _WITH_SUBMITTER if workload.has_submitter_job else _WITHOUT_SUBMITTER
