"""Runs what a kubelet would run in Ray's pods: heads and submitters, as processes on this machine."""

from kuberay_e2e.pods.runner import PodRunner

__all__ = ["PodRunner"]
