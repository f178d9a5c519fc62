"""The source of the KubeRay operator, where the Go module cache has it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kuberay_model.versions import DEFAULT


def operator_source() -> Path:
    """Return the folder of the operator's Go module, or skip the test."""
    go_path = os.environ.get("GOPATH") or str(Path.home() / "go")
    cache = Path(os.environ.get("GOMODCACHE") or Path(go_path.split(os.pathsep)[0]) / "pkg/mod")
    folder = cache / f"github.com/ray-project/kuberay/ray-operator@v{DEFAULT}"
    if not folder.is_dir():
        pytest.skip(f"the Go module cache {cache} has no KubeRay operator {DEFAULT}")
    return folder
