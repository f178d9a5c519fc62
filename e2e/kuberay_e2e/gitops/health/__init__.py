"""Health of KubeRay's and Kueue's objects for sync engines: Lua for Argo CD, CEL for Flux.

Both are written from one table of rules. What a RayJob's status means is read from `kuberay_model.outcome`, as the
components read it.
"""
