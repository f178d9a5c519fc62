"""Faults that only a real cluster has: lost pods and nodes, cut networks, a killed API server, an absent operator.

Each scenario does one of them to one RayJob on kind and compares what came of it with what users are promised.
Where KubeRay falls short, the known deviation is named; see `kuberay_e2e.deviations`.
"""
