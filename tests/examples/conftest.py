import sys
from collections.abc import Iterator
from pathlib import Path

import pulumi
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "components"))

from recording_engine import Engine

from tests.examples.programs import EXAMPLES, RunExample


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunExample]:
    """Run a program of `examples/` against a recording engine: `example("gpu-team", key="value")`."""

    def run(name: str, **config: str) -> Engine:
        engine = Engine()
        monkeypatch.chdir(EXAMPLES / name)
        pulumi.runtime.set_all_config({f"{name}:{key}": value for key, value in config.items()})
        pulumi.runtime.set_mocks(engine, project=name, stack="dev", preview=False)
        source = compile(Path("__main__.py").read_text(encoding="utf-8"), "__main__.py", "exec")
        pulumi.runtime.test(lambda: exec(source, {"__name__": "__main__"}))()  # type: ignore[no-untyped-call]
        return engine

    yield run
    pulumi.runtime.set_all_config({})
