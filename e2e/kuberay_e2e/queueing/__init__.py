"""RayJobs in Kueue's queues: scenarios that run on every cluster of the harness, and what they found."""

from kuberay_e2e.queueing.registry import SCENARIOS, select
from kuberay_e2e.queueing.runner import play
from kuberay_e2e.queueing.scenario import Scenario

__all__ = ["SCENARIOS", "Scenario", "play", "select"]
