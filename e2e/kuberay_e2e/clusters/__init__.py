"""Cluster providers: where the stack under test runs, behind one Protocol."""

from kuberay_e2e.clusters.provider import Cluster, ClusterProvider, Nodes

__all__ = ["Cluster", "ClusterProvider", "Nodes"]
