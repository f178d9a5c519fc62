"""The programs of a session, and the names that the operator's objects have."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kuberay_e2e.clusters.embedded import PROGRAMS as CLUSTER_PROGRAMS
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.stack import PROGRAMS as PULUMI_PROGRAMS

OPERATOR = "kuberay-operator"
"""Name of the operator's Deployment, and of its program in the toolchain."""

OPERATOR_NAMESPACE = "ray-system"
OPERATOR_VERSION = "1.6.2"

PROGRAMS = (*CLUSTER_PROGRAMS, OPERATOR, *PULUMI_PROGRAMS)
"""Programs that a session on the embedded control plane needs, by their names in the toolchain."""


def operator_program(version: str) -> str:
    """Name of a version of the operator in the toolchain."""
    return OPERATOR if version == OPERATOR_VERSION else f"{OPERATOR}@{version}"


@dataclass(frozen=True)
class Programs:
    """Where the programs are.

    Attributes:
        paths: Path of each program that the session's cluster needs, and of the `operator_program` of further versions.
        operator_files: Files of the operator's module, by its version: CRDs, RBAC and Deployment below `config/`, the
            Helm chart in `chart/`.
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

    def files(self, version: str) -> Path:
        """The files of a version of the operator's module.

        Raises:
            HarnessError: There are none.
        """
        if version not in self.operator_files:
            raise HarnessError(
                f"Expected the files of the KubeRay operator {version}; there are those of "
                f"{', '.join(self.operator_files)}."
            )
        return self.operator_files[version]


@dataclass(frozen=True)
class Installation:
    """What a session installs, and where.

    Attributes:
        namespace: Namespace of the operator's Deployment.
        deployment: Name of the operator's Deployment.
        crds: Apply the CRDs; False where those that are there are used.
        operator: Apply the operator; False where the one that is there is used.
        throwaway: The cluster goes at the end, and with it the CRDs; else they are deleted.
        arguments: What the Pulumi program is configured with beside the usual, see `operator` in `stacks/`.
    """

    namespace: str = OPERATOR_NAMESPACE
    deployment: str = OPERATOR
    crds: bool = True
    operator: bool = True
    throwaway: bool = True
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def removes_crds(self) -> bool:
        """True where the CRDs were applied to a cluster that stays."""
        return self.crds and not self.throwaway
