"""One real Ray head as processes and folders."""

import asyncio
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import aiohttp

from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.ray import raystart
from kuberay_e2e.ray.backend import Head, RayHeadError
from kuberay_e2e.ray.kept import KeptProcess
from kuberay_e2e.ray.programs import clean_environment, interpreter_folder

START_TIMEOUT = 180.0
"""Seconds that Ray has to answer; it takes about 6 on an idle machine."""

_POLL = 0.1
_LOG_LINES = 25


class HeadProcess:
    """`ray start --head --block` with what it starts, and a temp folder of its own.

    Args:
        head: The head.
        folder: The back end's folder; Ray's temp folder is below it where the path is short enough for Unix
            sockets, else in the system's, with a link here (see `remove_leftovers`).
        marker: The run that the processes belong to.
        ray: The `ray` program.
    """

    def __init__(self, head: Head, folder: Path, *, marker: str, ray: Path) -> None:
        self._head = head
        self._marker = marker
        self._ray = ray
        token = secrets.token_hex(4)
        self._link = folder / "heads" / token
        self._temp = self._link
        self.log = folder / "logs" / f"{head.key.namespace}.{head.key.name}.{token}.log"
        self._ports = raystart.HeadPorts.choose()
        self._process: KeptProcess | None = None

    @property
    def url(self) -> str:
        """Base URL of Ray's dashboard."""
        return f"http://{LOOPBACK}:{self._ports.dashboard}"

    @property
    def job_logs(self) -> Path:
        """Folder of the job driver logs."""
        return self._temp / "session_latest" / "logs"

    @property
    def pid(self) -> int | None:
        """The process above all others of the head, None before it is started."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start Ray and wait until it passes the probes that KubeRay puts on a head container.

        Whatever comes of it, `end` has to be called.

        Raises:
            RayHeadError: Ray ended or did not become ready; the message has the last lines of its log.
        """
        try:
            self._temp = _temp_folder(self._link)
            self._process = await self._spawn()
            await asyncio.wait_for(self._ready(self._process), START_TIMEOUT)
        except TimeoutError:
            raise RayHeadError(self._story(f"did not answer within {START_TIMEOUT:.0f} s")) from None
        except OSError as error:
            raise RayHeadError(f"Cannot start a Ray head for RayCluster {self._head.key}: {error}.") from error

    async def end(self) -> None:
        """Kill every process of the head and remove its temp folder."""
        if self._process is not None:
            await self._process.end()
        _remove(self._link)

    async def _spawn(self) -> KeptProcess:
        home = self._temp / "home"
        raystart.write_home(home)
        base = clean_environment(home, interpreter_folder())
        return await KeptProcess.start(
            raystart.command(self._ray, self._ports, self._temp, self._head.num_cpus),
            marker=self._marker,
            log=self.log,
            env=raystart.environment(base, self._head.env, self._ports),
            cwd=home,
        )

    async def _ready(self, process: KeptProcess) -> None:
        agent = f"http://{LOOPBACK}:{self._ports.dashboard_agent}/api/local_raylet_healthz"
        pending = [f"{self.url}/api/gcs_healthz", agent]
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            while pending:
                if process.exit_code is not None:
                    raise RayHeadError(self._story(f"ended with exit code {process.exit_code} while it was starting"))
                if await _answers(session, pending[0]):
                    del pending[0]
                else:
                    await asyncio.sleep(_POLL)

    def _story(self, what: str) -> str:
        try:
            last = self.log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
        except OSError:
            last = []
        return (
            f"Expected a Ray head for RayCluster {self._head.key} to start, but `ray start` {what}. "
            f"The last lines of {self.log}:\n" + "\n".join(f"  {line}" for line in last)
        )


def remove_leftovers(folder: Path) -> None:
    """Remove the temp folders that the heads of a killed run left, wherever they are.

    Args:
        folder: The back end's folder in that run.
    """
    for link in folder.glob("heads/*"):
        _remove(link)


def _remove(link: Path) -> None:
    shutil.rmtree(link.resolve(), ignore_errors=True)
    if link.is_symlink():
        link.unlink()


def _temp_folder(link: Path) -> Path:
    link.parent.mkdir(parents=True, exist_ok=True)
    if len(str(link)) <= raystart.LONGEST_TEMP_DIR:
        link.mkdir()
        return link
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        if parent and len(parent) + len("/kr-12345678") <= raystart.LONGEST_TEMP_DIR and os.access(parent, os.W_OK):
            made = Path(tempfile.mkdtemp(prefix="kr-", dir=parent))
            link.symlink_to(made)
            return made
    raise OSError(
        f"Ray needs a temp folder with a path of at most {raystart.LONGEST_TEMP_DIR} characters for its Unix "
        f"sockets, and neither {link}, nor XDG_RUNTIME_DIR, TMPDIR or /tmp gives one"
    )


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False
