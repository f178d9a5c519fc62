"""Flux's kustomize-controller on a cluster of the harness: what a sync really does."""

from kuberay_e2e.gitops.sync.controller import KustomizeController
from kuberay_e2e.gitops.sync.kustomizations import Flux, Sync
from kuberay_e2e.gitops.sync.source import Source

__all__ = ["Flux", "KustomizeController", "Source", "Sync"]
