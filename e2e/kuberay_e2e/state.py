"""Where the harness keeps its files, and how a run finds what a killed one left.

A run owns one folder below the state folder and holds a lock on it for as long as it lives. The kernel
frees the lock when the process dies, however it dies: a folder whose lock is free belongs to a run that
is over, and `sweep` ends its processes and removes it.
"""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from kuberay_e2e import processes
from kuberay_e2e.errors import HarnessError, InputError

_APP = "pulumi-kuberay"
_OWNER = "kuberay-e2e"


def state_folder() -> Path:
    """The project's own state folder, $XDG_STATE_HOME/pulumi-kuberay or ~/.local/state/pulumi-kuberay."""
    return Path(platformdirs.user_state_dir(_APP))


def runs_folder() -> Path:
    """The folder that holds one folder per run."""
    return state_folder() / "runs"


@dataclass(frozen=True)
class Run:
    """One use of the harness: its name, its folder, and the marker its processes carry."""

    name: str
    folder: Path
    marker: str

    def path(self, *parts: str) -> Path:
        """A folder of this run, made if it is not there."""
        path = self.folder.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path


@contextmanager
def claim(name: str) -> Iterator[Run]:
    """Own the run of a name: its folder exists inside the block and is gone, with its processes, after it.

    Args:
        name: Name of the run and of its cluster: lower-case letters, digits and dashes, 1 to 40 characters.

    Raises:
        InputError: The name cannot be used, a run of that name is going on, or a folder of that name is
            not this harness's.
        HarnessError: The folder cannot be made (no space, no permission).
    """
    check_name(name)
    folder = runs_folder() / name
    lock = _lock(folder)
    try:
        runs_folder().mkdir(parents=True, exist_ok=True)
        with _registry():
            lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            f"A run named {name!r} is going on in {folder}. Wait for its end, or choose another --name."
        ) from None
    except OSError as error:
        raise HarnessError(f"Cannot use the state folder {runs_folder()}: {error}.") from error
    try:
        if folder.exists():
            _refuse_foreign(name, folder)
            _remove(folder)
        marker = f"{name}-{secrets.token_hex(6)}"
        run = Run(name, folder, marker)
        try:
            folder.mkdir()
            (folder / "run.json").write_text(
                json.dumps({"owner": _OWNER, "marker": marker, "pid": os.getpid(), "started": time.time()})
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise HarnessError(f"Cannot write to the state folder {folder}: {error}.") from error
        try:
            yield run
        finally:
            with suppress(HarnessError):
                _remove(folder)
    finally:
        _free(lock)


def check_name(name: str) -> None:
    """Refuse a name that cannot be that of a run, a folder and a cluster.

    Raises:
        InputError: It cannot.
    """
    if not re.fullmatch(r"[a-z0-9-]{1,40}", name):
        raise InputError(
            f"Expected a name of 1 to 40 lower-case letters, digits and dashes, got {name!r}. Choose another --name."
        )


def sweep() -> list[str]:
    """End the processes and remove the folders of runs that were killed.

    Returns:
        A sentence for each run that was removed.
    """
    removed = []
    for folder in sorted(runs_folder().glob("*/")):
        if not _is_ours(folder):
            continue
        lock = _lock(folder)
        try:
            with _registry():
                lock.acquire(timeout=0)
        except Timeout:
            continue
        try:
            ended = _remove(folder)
            removed.append(f"Removed what the killed run {folder.name!r} left: {ended}, folder {folder}.")
        except HarnessError as error:
            removed.append(f"What the killed run {folder.name!r} left is still there, to be removed later: {error}")
        finally:
            _free(lock)
    return removed


def abandoned() -> list[Path]:
    """Folders of runs that were killed."""
    found = []
    for folder in sorted(runs_folder().glob("*/")):
        lock = _lock(folder)
        if _is_ours(folder):
            with suppress(Timeout), _registry():
                lock.acquire(timeout=0)
                lock.release()
                found.append(folder)
    return found


def free_name(prefix: str) -> str:
    """A run name that no other run uses."""
    return f"{prefix}-{secrets.token_hex(3)}"


def _lock(folder: Path) -> FileLock:
    return FileLock(folder.with_suffix(".lock"), thread_local=False)


def _registry() -> FileLock:
    """Held for the moment in which a run's own lock is taken or removed, so that no two runs lock different files."""
    return FileLock(runs_folder().with_suffix(".lock"), thread_local=False)


def _free(lock: FileLock) -> None:
    with _registry():
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


def _record(folder: Path) -> dict[str, object]:
    try:
        record = json.loads((folder / "run.json").read_text())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_ours(folder: Path) -> bool:
    return _record(folder).get("owner") == _OWNER


def _refuse_foreign(name: str, folder: Path) -> None:
    if not _is_ours(folder) and any(folder.iterdir()):
        raise InputError(
            f"The folder {folder} is not a run of kuberay-e2e (it has no run.json of ours), so nothing in it "
            f"is touched. Choose another --name than {name!r}, or remove the folder."
        )


def _remove(folder: Path) -> str:
    """Remove what the run of a folder left, and say what it was.

    Raises:
        HarnessError: Its cluster cannot be removed now; the folder is kept, since it says which cluster that is.
    """
    from kuberay_e2e.clusters import footprint, kind_remains
    from kuberay_e2e.ray import headprocess

    marker = str(_record(folder).get("marker", ""))
    ended = processes.reap(marker) if marker else []
    containers = kind_remains.remove_leftovers(folder, marker)
    namespaces = footprint.remove_leftovers(folder)
    headprocess.remove_leftovers(folder / "ray")
    shutil.rmtree(folder, ignore_errors=True)
    counts = {"processes": ended, "containers": containers, "namespaces": namespaces}
    return ", ".join(f"{len(found)} {what}" for what, found in counts.items() if found or what == "processes")
