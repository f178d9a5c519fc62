"""What every test may rely on, whichever test ran before it in the same process, and the order of the tests."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

LONGEST = ("e2e/test_pulumi_everything", "e2e/test_queueing", "existing/test_as_found", "e2e/test_lifecycle")
"""Files that take minutes: they begin first, so that no worker is alone with one in the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first and those without a cluster last."""

    def place(item: pytest.Item) -> tuple[int, bool]:
        file = str(item.path.relative_to(Path(__file__).parent).with_suffix(""))
        return LONGEST.index(file) if file in LONGEST else len(LONGEST), item.get_closest_marker("e2e") is None

    items.sort(key=place)


@pytest.fixture(autouse=True)
def _event_loop_for_pulumi() -> Iterator[None]:
    """The main thread has an event loop, which Pulumi asks for and `asyncio.run` takes away."""
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    yield
    loop.close()
