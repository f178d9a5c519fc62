"""Every version of some objects, as the API server stores them."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from kuberay_e2e.access import Access

Item = Mapping[str, Any]


class Versions:
    """Watches collections and keeps each version of their objects.

    Args:
        access: The API server.
        paths: The collections, by their path.

    Use it as a context manager.
    """

    def __init__(self, access: Access, paths: list[str]) -> None:
        self._paths = paths
        self._client = access.client(timeout=60)
        self._seen: list[Item] = []
        self._changed = threading.Condition()
        self._over = False
        self._threads = [threading.Thread(target=self._watch, args=(path,), daemon=True) for path in paths]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._client.close()
        for thread in self._threads:
            thread.join(5)

    def wait(self, holds: Callable[[Item], bool], deadline: float) -> Item | None:
        """The first version that passes, or None if there is none until a time of the monotonic clock."""
        with self._changed:
            while (found := next((item for item in self._seen if holds(item)), None)) is None:
                if (left := deadline - time.monotonic()) <= 0:
                    return None
                self._changed.wait(left)
            return found

    def _watch(self, path: str) -> None:
        version = ""
        while not self._over:
            try:
                version = self._follow(path, version)
            except (httpx.HTTPError, httpx.StreamError, RuntimeError):
                time.sleep(0.2)

    def _follow(self, path: str, version: str) -> str:
        query = {"watch": "true", **({"resourceVersion": version} if version else {})}
        with self._client.stream("GET", path, params=query) as answer:
            for line in answer.iter_lines():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    return ""
                version = event["object"]["metadata"]["resourceVersion"]
                with self._changed:
                    self._seen.append(event["object"])
                    self._changed.notify_all()
        return version
