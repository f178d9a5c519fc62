"""What every test may rely on, whichever test ran before it in the same process."""

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _event_loop_for_pulumi() -> Iterator[None]:
    """The main thread has an event loop, which Pulumi asks for and `asyncio.run` takes away."""
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    yield
    loop.close()
