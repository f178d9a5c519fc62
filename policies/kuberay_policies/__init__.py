"""Policies for KubeRay: one rule set, checked on manifests, Pulumi previews, state files and in the cluster."""
