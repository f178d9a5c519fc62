"""Ray behind the head Pods of a cluster: back ends, doors and the ledger."""

from kuberay_e2e.ray.backend import Head, RayBackend, RayHeadError, Submitter
from kuberay_e2e.ray.clock import Clock, ManualClock, WallClock
from kuberay_e2e.ray.headprocess import remove_leftovers
from kuberay_e2e.ray.ledger import (
    AnyEntry,
    Deletion,
    End,
    Entry,
    Ledger,
    Outcome,
    RayClusterKey,
    Start,
    Stop,
    Submission,
)
from kuberay_e2e.ray.local import LocalRay
from kuberay_e2e.ray.script import JobSpec, Script, always
from kuberay_e2e.ray.simulated import SimulatedRay

__all__ = [
    "AnyEntry",
    "Clock",
    "Deletion",
    "End",
    "Entry",
    "Head",
    "JobSpec",
    "Ledger",
    "LocalRay",
    "ManualClock",
    "Outcome",
    "RayBackend",
    "RayClusterKey",
    "RayHeadError",
    "Script",
    "SimulatedRay",
    "Start",
    "Stop",
    "Submission",
    "Submitter",
    "WallClock",
    "always",
    "remove_leftovers",
]
