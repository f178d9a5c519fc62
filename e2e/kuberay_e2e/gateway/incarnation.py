"""One life of the operator behind the gateway."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Incarnation:
    """One life of the operator process, and the port that only it uses.

    Attributes:
        number: 1 for the first start, 2 after the first restart, and so on.
        server: Base URL of the API server for this incarnation. It is plain HTTP, over which client-go sends no
            credentials (clientcmd reads them for TLS servers only), so the gateway adds the token.
        token: Bearer token of the operator's ServiceAccount.
        kill: Ends the process with SIGKILL; set when it has started.
        dead: True once it was killed; from then on nothing that arrives is forwarded.
    """

    number: int
    server: str
    token: str = field(repr=False)
    kill: Callable[[], None] = lambda: None
    dead: bool = False
    _site: web.TCPSite | None = field(default=None, repr=False)
    _watches: "set[asyncio.Task[Any] | None]" = field(default_factory=set, repr=False)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Let what the present task does end with this life."""
        task = asyncio.current_task()
        self._watches.add(task)
        try:
            yield
        finally:
            self._watches.discard(task)

    async def close(self) -> None:
        """Close its port and its watches: it has ended."""
        self.dead = True
        watches = [task for task in self._watches if task is not None]
        for task in watches:
            task.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        if self._site is not None:
            await self._site.stop()
            self._site = None
