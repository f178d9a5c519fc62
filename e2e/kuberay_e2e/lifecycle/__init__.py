"""The ten-step life cycle of a RayJob, with the operator killed on the way."""

from kuberay_e2e.lifecycle.cycle import LifeCycle, Settings
from kuberay_e2e.lifecycle.result import Invariant, Result, State, Step
from kuberay_e2e.lifecycle.workload import Workload

__all__ = ["Invariant", "LifeCycle", "Result", "Settings", "State", "Step", "Workload"]
