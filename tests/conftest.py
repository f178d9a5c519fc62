"""What every test may rely on, whichever test ran before it in the same process, and the order of the tests."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = "kuberay_session"
"""Whoever shares this cluster runs in one worker, so that there is one of it."""

LONGEST = (SHARED, "e2e/test_pulumi_everything", "e2e/test_queueing", "existing/test_as_found", "e2e/test_lifecycle")
"""Groups that take minutes: they begin first, so that no worker is alone with one in the end."""


def group_of(item: pytest.Item) -> str:
    """What runs in one worker, one test after the other: a file, or those that share the plugin's cluster."""
    if SHARED in getattr(item, "fixturenames", ()):
        return SHARED
    return str(item.path.relative_to(Path(__file__).parent).with_suffix(""))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Group the tests for `--dist loadgroup`, the longest first and those without a cluster last."""

    def place(item: pytest.Item) -> tuple[int, bool]:
        group = group_of(item)
        return LONGEST.index(group) if group in LONGEST else len(LONGEST), item.get_closest_marker("e2e") is None

    for item in items:
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    items.sort(key=place)


@pytest.fixture(autouse=True)
def _event_loop_for_pulumi() -> Iterator[None]:
    """The main thread has an event loop, which Pulumi asks for and `asyncio.run` takes away."""
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    yield
    loop.close()
