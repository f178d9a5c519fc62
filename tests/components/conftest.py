import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from recording_engine import STACKS, Engine, Run

sys.path.insert(0, str(STACKS))


@pytest.fixture
def run() -> Iterator[Run]:
    """Run a program against a recording engine, until every output has settled."""

    def run_program(program: Callable[[], Any]) -> Engine:
        engine = Engine()
        pulumi.runtime.set_mocks(engine, project="kuberay", stack="test", preview=False)
        pulumi.runtime.test(program)()  # type: ignore[no-untyped-call]
        return engine

    yield run_program
    pulumi.runtime.set_all_config({})


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
