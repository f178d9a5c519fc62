"""Pod logs in the form in which a container runtime keeps them, so that `kubectl logs` reads them.

Format: https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

_PAUSE = 0.1


class RuntimeLog:
    """Copies a process's output, as it grows, into a log in the CRI format.

    Args:
        source: File that the process writes.
        target: File for the log.
    """

    def __init__(self, source: Path, target: Path) -> None:
        self._source = source
        self._target = target
        self._position = 0
        target.touch()

    async def follow(self) -> None:
        """Copy until cancelled."""
        while True:
            self.copy()
            await asyncio.sleep(_PAUSE)

    def copy(self, *, last: bool = False) -> None:
        """Copy the lines that were completed since the last call; with `last`, an incomplete one too."""
        if not self._source.exists():
            return
        with self._source.open("rb") as source:
            source.seek(self._position)
            text = source.read()
        if not last:
            text = text[: text.rfind(b"\n") + 1]
        self._position += len(text)
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ").encode()
        with self._target.open("ab") as target:
            for line in text.split(b"\n"):
                if line:
                    target.write(stamp + b" stdout F " + line.replace(b"\r", b"") + b"\n")
