"""The operator's own validation, running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kuberay_toolchain import Toolchain
from tests.parity.verdicts import Operator

PROGRAM = "kuberay-validation"


@pytest.fixture(scope="module")
def operator() -> Iterator[Operator]:
    """The operator's validation, asked one RayJob at a time."""
    running = Operator(Toolchain().ensure(PROGRAM)[PROGRAM])
    yield running
    running.close()
