"""The CEL of the rules; importing a module registers its expressions."""

from kuberay_policies.vap.rules import cleanup, features, groups, job, lifecycle, security, traps

__all__ = ["cleanup", "features", "groups", "job", "lifecycle", "security", "traps"]
