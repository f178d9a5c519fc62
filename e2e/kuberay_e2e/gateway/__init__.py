"""The gateway between the operator and the API server: records every request, injects faults, answers for Ray."""

from kuberay_e2e.gateway.faults import Fault, Position, WriteSelector
from kuberay_e2e.gateway.identity import WriteIdentity
from kuberay_e2e.gateway.incarnation import Incarnation
from kuberay_e2e.gateway.proxy import Gateway

__all__ = ["Fault", "Gateway", "Incarnation", "Position", "WriteIdentity", "WriteSelector"]
