"""One life of the operator behind the gateway."""

from collections.abc import Callable
from dataclasses import dataclass, field

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

    async def close(self) -> None:
        """Close its port: it has ended."""
        self.dead = True
        if self._site is not None:
            await self._site.stop()
            self._site = None
