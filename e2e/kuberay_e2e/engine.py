"""One event loop in a thread of its own: the gateway, the pods and the Ray back ends live on it."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Engine:
    """Runs coroutines for synchronous callers.

    Use it as a context manager. What `enter` has entered is left, in reverse order, by `leave` or when the block
    ends.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine", daemon=True)
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.leave()
        finally:
            self.call(_cancel_rest())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def run(self, work: Callable[[], T]) -> T:
        """Run a plain function on the loop's thread and wait for its result."""

        async def body() -> T:
            return work()

        return self.call(body())

    def enter(self, manager: Any) -> Any:
        """Enter an asynchronous context manager that is left when the engine ends."""
        return self.call(self._stack.enter_async_context(manager))

    def leave(self) -> None:
        """Leave everything that was entered."""
        self.call(self._stack.aclose())


async def _cancel_rest() -> None:
    rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
