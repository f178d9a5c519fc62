"""Locks between processes; the kernel frees them when their holder dies."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from kuberay_toolchain.progress import Progress

_POLL_SECONDS = 0.5


@contextlib.contextmanager
def exclusive(path: Path, purpose: str, progress: Progress) -> Iterator[None]:
    """Hold the lock file `path`; wait for as long as another process does, and say for whom.

    Args:
        path: The lock file; its folder is made if need be. A file of the same name ending in `.holder`
            tells who holds it.
        purpose: What the lock is held for, as others are to read it: "building etcd 3.6.16".
        progress: Hears about the waiting.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    holder = path.with_name(f"{path.name}.holder")
    lock = FileLock(path)
    waited = False
    task = f"waiting before {purpose}"
    while True:
        try:
            lock.acquire(timeout=_POLL_SECONDS)
            break
        except Timeout:
            waited = True
            progress.update(task, f"another process holds the lock: {_read(holder)}")
    try:
        if waited:
            progress.finish(task, "the lock is free")
        holder.write_text(f"process {os.getpid()}, {purpose}")
        yield
    finally:
        lock.release()


def _read(holder: Path) -> str:
    try:
        return holder.read_text() or "unknown"
    except OSError:
        return "unknown"
