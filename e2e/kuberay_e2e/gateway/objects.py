"""What the gateway reads from bodies: heads of objects and events of watches, JSON or protobuf."""

import json
from collections.abc import Iterator
from typing import Any

from kuberay_e2e.gateway import protobuf
from kuberay_e2e.gateway.protobuf import ObjectHead


def decode(body: bytes) -> tuple[ObjectHead | None, dict[str, Any] | None]:
    """Read a body: the head of its object, and the whole object where it is JSON."""
    if not body:
        return None, None
    if (found := protobuf.head(body)) is not None:
        return found, None
    try:
        value = json.loads(body)
    except ValueError:
        return None, None
    return (_json_head(value), value) if isinstance(value, dict) else (None, None)


class WatchReader:
    """Splits the stream of a watch into its events, without touching the stream.

    Args:
        content_type: Content-Type of the stream: JSON lines, or length-prefixed protobuf.
    """

    def __init__(self, content_type: str) -> None:
        self._protobuf = protobuf.CONTENT_TYPE in content_type
        self._pending = b""

    def feed(self, chunk: bytes) -> Iterator[tuple[str, ObjectHead]]:
        """Take the next bytes and yield type and object head of the events that they complete."""
        self._pending += chunk
        while (frame := self._next()) is not None:
            event = protobuf.watch_event(frame) if self._protobuf else _json_event(frame)
            if event is not None:
                yield event

    def _next(self) -> bytes | None:
        if self._protobuf:
            if len(self._pending) < 4:
                return None
            end = 4 + int.from_bytes(self._pending[:4], "big")
            if len(self._pending) < end:
                return None
            frame, self._pending = self._pending[4:end], self._pending[end:]
            return frame
        line, found, rest = self._pending.partition(b"\n")
        if not found:
            return None
        self._pending = rest
        return line


def _json_head(value: dict[str, Any]) -> ObjectHead:
    meta = value.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return ObjectHead(
        api_version=str(value.get("apiVersion", "")),
        kind=str(value.get("kind", "")),
        name=str(meta.get("name", "")),
        generate_name=str(meta.get("generateName", "")),
        namespace=str(meta.get("namespace", "")),
        uid=str(meta.get("uid", "")),
        resource_version=str(meta.get("resourceVersion", "")),
        labels=dict(meta.get("labels") or {}),
    )


def _json_event(line: bytes) -> tuple[str, ObjectHead] | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("object"), dict):
        return None
    return str(event.get("type", "")), _json_head(event["object"])
