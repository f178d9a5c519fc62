"""Reads a cluster for hours: a credential plugin gives tokens that expire, often after 15 minutes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader

_RENEWED_SECONDS = 300.0


class FreshReader:
    """A reader whose credentials are asked for anew every five minutes.

    Args:
        kubeconfig: A kubeconfig with the user's context only.
        clock: Seconds that only go forward.

    Use it as a context manager.
    """

    def __init__(self, kubeconfig: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._kubeconfig = kubeconfig
        self._clock = clock
        self._reader: ClusterReader | None = None
        self._since = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __call__(self) -> ClusterReader:
        """The reader to be used now.

        Raises:
            HarnessError: The credential plugin failed.
        """
        if self._reader is None or self._clock() - self._since > _RENEWED_SECONDS:
            renewed = ClusterReader(Access.read(self._kubeconfig))
            self._close()
            self._reader, self._since = renewed, self._clock()
        return self._reader

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.__exit__()
            self._reader = None
