"""The Pulumi stacks of a session: of the one program that users run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from kuberay_e2e.stack import PulumiStack
from kuberay_e2e.state import Run


@dataclass(frozen=True)
class Stacks:
    """Three stacks of the one Pulumi program, so that an update of a job does not compare megabytes of CRDs.

    Attributes:
        crds: The CRDs.
        operator: The operator.
        jobs: RayJobs and what they need.
        further: Makes a further stack of the same program by a name that no other stack has.
    """

    crds: PulumiStack
    operator: PulumiStack
    jobs: PulumiStack
    further: Callable[[str], PulumiStack]

    @classmethod
    def on(cls, run: Run, paths: Mapping[str, Path], kubeconfig: Path, output: Callable[[str], None]) -> Self:
        """The stacks of a run on a cluster.

        Args:
            run: Owns their folders.
            paths: Paths of Pulumi's programs.
            kubeconfig: The cluster.
            output: Receives what Pulumi prints.
        """

        def stack(name: str) -> PulumiStack:
            return PulumiStack(run, paths, kubeconfig, name, output=output)

        return cls(stack("crds"), stack("operator"), stack("jobs"), stack)
