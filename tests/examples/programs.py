"""Programs of `examples/`, run against a recording engine."""

from collections.abc import Callable
from pathlib import Path

from recording_engine import Engine

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

RunExample = Callable[..., Engine]
