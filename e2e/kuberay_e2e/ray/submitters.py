"""Submitter Pods as processes: the Pod's own command, run as it stands against a door."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.ray.backend import Submitter
from kuberay_e2e.ray.door import CALLER_HEADER
from kuberay_e2e.ray.kept import KeptProcess
from kuberay_e2e.ray.mounts import Mounts
from kuberay_e2e.ray.programs import clean_environment, find, interpreter_folder

ADDRESS_VARIABLE = "RAY_DASHBOARD_ADDRESS"
"""Environment variable in which KubeRay tells a submitter the head service's host and port."""

_ADDRESS_OPTION = re.compile(r"--address[= ]\s*['\"]?(?:https?://)?([A-Za-z0-9.-]+:\d+)")


def head_address(submitter: Submitter) -> str | None:
    """The `host:port` by which a submitter's Pod reaches its head; on loopback for one that runs in the head's own Pod.

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

    Ray's command line sends the header that names the caller because RAY_JOB_HEADERS tells it to.

    Args:
        submitter: The Pod.
        door: Base URL of the head's door, which takes the place of the head service's address.
        marker: The run that the processes belong to.
        path: Folder that holds the `ray` program.
    """
    pod = f"{submitter.namespace}/{submitter.pod}"
    if not submitter.command:
        raise HarnessError(
            f"Expected a command or args in the submitter Pod {pod}, and it has neither. Add one to the "
            "submitterPodTemplate: an image's own entrypoint cannot be run outside of its image."
        )
    home = Path(tempfile.mkdtemp(prefix="submitter-"))
    try:
        environment = {
            **clean_environment(home, path, interpreter_folder()),
            "PYTHONUNBUFFERED": "1",
            "RAY_JOB_HEADERS": json.dumps({CALLER_HEADER: f"submitter/{submitter.pod}"}),
            **_environment(submitter, door),
        }
        program, *arguments = _command(submitter, door)
        found = find(program, environment["PATH"])
        if found is None:
            raise HarnessError(
                f"Cannot run the submitter Pod {pod}: its program {program!r} is not on this machine. Install it, "
                "or take a submitterPodTemplate with a command that is."
            )
        process = await KeptProcess.start(
            [found, *arguments], marker=marker, log=submitter.log, env=environment, cwd=home
        )
        return await process.wait()
    except OSError as error:
        raise HarnessError(f"Cannot run the submitter Pod {pod}: {error}.") from error
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _command(submitter: Submitter, door: str) -> list[str]:
    mounts = Mounts(submitter.files)
    return [
        mounts.rewrite(word) if word.startswith("/") else _at_door(word, submitter, door) for word in submitter.command
    ]


def _environment(submitter: Submitter, door: str) -> Mapping[str, str]:
    return {
        name: _at_door(value, submitter, door) for name, value in submitter.env.items() if name not in ("PATH", "HOME")
    }


def _at_door(text: str, submitter: Submitter, door: str) -> str:
    address = head_address(submitter)
    names = {address, address.replace(LOOPBACK, "localhost")} if address else set()
    for name in names:
        text = text.replace(name, urlsplit(door).netloc)
    return text
