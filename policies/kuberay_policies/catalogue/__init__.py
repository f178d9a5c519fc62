"""Every policy, registered by importing its family."""

from kuberay_policies.catalogue import lifecycle, operator
from kuberay_policies.policy import POLICIES, find

__all__ = ["FAMILIES", "POLICIES", "find"]

FAMILIES = (lifecycle, operator)
"""The modules that hold policies."""
