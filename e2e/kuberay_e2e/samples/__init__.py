"""The bundled sample: a RayJob that counts with an actor."""

from importlib import resources
from pathlib import Path

EXPECTED_OUTPUT = tuple(f"test_counter got {count}" for count in range(1, 6))
"""Lines that the bundled sample prints, in this order."""


def path() -> Path:
    """The manifest of the bundled sample."""
    return Path(str(resources.files(__name__) / "counter.yaml"))
