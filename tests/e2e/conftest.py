"""Fixtures of the end-to-end tests, on top of those of the project's pytest plugin."""

from collections.abc import Callable

import pytest

from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script

Scripted = Callable[[str, Script], None]


@pytest.fixture
def scripted(kuberay_scripts: Scripts) -> Scripted:
    """Chooses what a simulated job does, by its entrypoint."""
    return kuberay_scripts.set
