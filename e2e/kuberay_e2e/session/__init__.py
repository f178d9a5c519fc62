"""Everything of one run, put together, on each kind of cluster: what life cycles, faults and scenarios work on."""

from kuberay_e2e.session.on_embedded import RayKind, embedded
from kuberay_e2e.session.on_existing import existing
from kuberay_e2e.session.on_kind import kind
from kuberay_e2e.session.operators import Operator, OperatorHost
from kuberay_e2e.session.programs import (
    OPERATOR,
    OPERATOR_NAMESPACE,
    OPERATOR_VERSION,
    PROGRAMS,
    Installation,
    Programs,
    operator_program,
)
from kuberay_e2e.session.ray import RayWitness
from kuberay_e2e.session.real_pods import OperatorKind
from kuberay_e2e.session.session import Session
from kuberay_e2e.session.stacks import Stacks

__all__ = [
    "OPERATOR",
    "OPERATOR_NAMESPACE",
    "OPERATOR_VERSION",
    "PROGRAMS",
    "Installation",
    "Operator",
    "OperatorHost",
    "OperatorKind",
    "Programs",
    "RayKind",
    "RayWitness",
    "Session",
    "Stacks",
    "embedded",
    "existing",
    "kind",
    "operator_program",
]
