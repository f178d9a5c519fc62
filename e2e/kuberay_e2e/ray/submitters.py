"""Submitter Pods as processes: the Pod's own command, run as it stands against a door."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from kuberay_e2e import processes
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray.backend import Submitter
from kuberay_e2e.ray.door import CALLER_HEADER
from kuberay_e2e.ray.mounts import Mounts

ADDRESS_VARIABLE = "RAY_DASHBOARD_ADDRESS"
"""Environment variable in which KubeRay tells a submitter the head service's host and port."""

_INHERITED = ("LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_INHERITED_PREFIXES = ("PIP_", "UV_")
_ADDRESS_OPTION = re.compile(r"--address[= ]\s*['\"]?(?:https?://)?([A-Za-z0-9.-]+:\d+)")


def clean_environment(home: Path, *path: Path) -> dict[str, str]:
    """An environment that knows nothing of the user's: PATH, HOME, locale and the package index settings.

    Args:
        home: The HOME folder.
        path: Folders that come first on the PATH.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)
    }
    folders = [*map(str, path), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    local = "127.0.0.1,localhost"
    return {**kept, "PATH": os.pathsep.join(folders), "HOME": str(home), "NO_PROXY": local, "no_proxy": local}


def interpreter_folder() -> Path:
    """The folder of this Python, where the programs of its packages are, `ray` among them."""
    return Path(sys.executable).parent


def head_address(submitter: Submitter) -> str | None:
    """The `host:port` by which a submitter's Pod reaches its head.

    KubeRay puts it into the environment (rayjob_controller.go, configureSubmitterContainer) and into the
    command's `--address`; a Pod template of the user's own may have either.
    """
    given = submitter.env.get(ADDRESS_VARIABLE, "").strip()
    if given:
        return urlsplit(given if "://" in given else f"//{given}").netloc
    found = _ADDRESS_OPTION.search(" ".join(submitter.command))
    return found.group(1) if found else None


async def run(submitter: Submitter, door: str, *, marker: str, path: Path) -> int:
    """Run a submitter's command; see `RayBackend.run_submitter`.

    Args:
        submitter: The Pod.
        door: Base URL of the head's door, which takes the place of the head service's address.
        marker: The run that the processes belong to.
        path: Folder that holds the `ray` program.
    """
    if not submitter.command:
        raise HarnessError(
            f"The submitter Pod {submitter.namespace}/{submitter.pod} has neither command nor args, so there "
            "is nothing to run: an image's own entrypoint cannot be run outside of its image."
        )
    home = Path(tempfile.mkdtemp(prefix="submitter-"))
    submitter.log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with submitter.log.open("ab") as log:
            return await _run(submitter, door, home, log, marker, path)
    finally:
        shutil.rmtree(home, ignore_errors=True)


async def _run(submitter: Submitter, door: str, home: Path, log: IO[bytes], marker: str, path: Path) -> int:
    address, mounts = head_address(submitter), Mounts(submitter.files)

    def localised(text: str) -> str:
        if text.startswith("/"):
            return mounts.rewrite(text)
        return text.replace(address, urlsplit(door).netloc) if address else text

    caller = json.dumps({CALLER_HEADER: f"submitter/{submitter.pod}"})
    environment: Mapping[str, str] = {
        **clean_environment(home, path, interpreter_folder()),
        "PYTHONUNBUFFERED": "1",
        "RAY_JOB_HEADERS": caller,
        **{name: localised(value) for name, value in submitter.env.items() if name != "PATH"},
        processes.MARKER: marker,
    }
    command = [
        _program(localised(submitter.command[0]), environment["PATH"]),
        *map(localised, submitter.command[1:]),
    ]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
            env=environment,
            cwd=home,
            start_new_session=True,
            preexec_fn=processes.die_with_parent,
        )
    except OSError as error:
        raise HarnessError(
            f"Cannot run {submitter.command[0]!r}, the command of the submitter Pod "
            f"{submitter.namespace}/{submitter.pod}: {error}. The program has to be on this machine."
        ) from error
    try:
        code = await process.wait()
    finally:
        _kill_group(process.pid)
        if process.returncode is None:
            await process.wait()
    return 128 - code if code < 0 else code


def _program(name: str, path: str) -> str:
    """The program on this machine: by its path, or by its last part where the image keeps it elsewhere."""
    if Path(name).is_file():
        return name
    return shutil.which(Path(name).name, path=path) or name


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return
