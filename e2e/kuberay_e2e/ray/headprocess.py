"""One real Ray head as processes."""

import asyncio
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import aiohttp
import psutil

from kuberay_e2e import processes
from kuberay_e2e.network import LOOPBACK
from kuberay_e2e.ray import raystart
from kuberay_e2e.ray.backend import Head, RayHeadError
from kuberay_e2e.ray.submitters import clean_environment, interpreter_folder

HEAD_MARKER = "KUBERAY_E2E_RAY_HEAD"
"""Environment variable that every process of a head carries, whoever started it."""

START_TIMEOUT = 180.0
"""Seconds that Ray has to answer; about 6 on an idle machine."""

_POLL = 0.1
_LOG_LINES = 25


class HeadProcess:
    """`ray start --head --block` with what it starts, in a session and a temp folder of its own.

    Args:
        head: The head.
        folder: The back end's folder; Ray's temp folder is below it where the path is short enough for Unix
            sockets, else in the system's, with a link here (see `remove_leftovers`).
        marker: The run that the processes belong to.
        ray: The `ray` program.
    """

    def __init__(self, head: Head, folder: Path, *, marker: str, ray: Path) -> None:
        self._head = head
        self._token = secrets.token_hex(4)
        self._marker = marker
        self._ray = ray
        self._link = folder / "heads" / self._token
        self._temp = self._link
        self.log = folder / "logs" / f"{head.key.namespace}.{head.key.name}.{self._token}.log"
        self._ports = raystart.HeadPorts.choose()
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Base URL of Ray's dashboard."""
        return f"http://{LOOPBACK}:{self._ports.dashboard}"

    @property
    def job_logs(self) -> Path:
        """Folder of the job driver logs."""
        return self._temp / "session_latest" / "logs"

    async def start(self) -> None:
        """Start Ray and wait until it passes the probes that KubeRay puts on a head container.

        Raises:
            RayHeadError: Ray ended or did not become ready; the message has the last lines of its log.
        """
        try:
            self._temp = _temp_folder(self._link)
            await self._spawn()
            await asyncio.wait_for(self._ready(), START_TIMEOUT)
        except TimeoutError:
            self.end()
            raise RayHeadError(self._story(f"did not answer within {START_TIMEOUT:.0f} s")) from None
        except OSError as error:
            self.end()
            raise RayHeadError(
                f"Cannot start a Ray head for RayCluster {self._head.key}: {error}."
            ) from error
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Kill every process of the head and remove its temp folder."""
        for _ in range(50):
            found = self.processes()
            if not found:
                break
            for process in found:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            psutil.wait_procs(found, timeout=0.1)
        shutil.rmtree(self._temp, ignore_errors=True)
        _unlink(self._link)

    def processes(self) -> list[psutil.Process]:
        """The living processes of the head."""
        return carrying(HEAD_MARKER, self._token)

    async def wait(self) -> int:
        """Wait until `ray start` has ended; returns its exit code."""
        return 0 if self._process is None else await self._process.wait()

    async def _spawn(self) -> None:
        home = self._temp / "home"
        raystart.write_home(home)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        base = clean_environment(home, interpreter_folder())
        environment = raystart.environment(base, self._head.env, self._ports)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *raystart.command(self._ray, self._ports, self._temp, self._head.num_cpus),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                env={**environment, processes.MARKER: self._marker, HEAD_MARKER: self._token},
                cwd=home,
                start_new_session=True,
                preexec_fn=processes.die_with_parent,
            )

    async def _ready(self) -> None:
        agent = f"http://{LOOPBACK}:{self._ports.dashboard_agent}/api/local_raylet_healthz"
        pending = [f"{self.url}/api/gcs_healthz", agent]
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:
            while pending:
                if self._process is None or self._process.returncode is not None:
                    code = None if self._process is None else self._process.returncode
                    raise RayHeadError(self._story(f"ended with exit code {code} while it was starting"))
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


def carrying(variable: str, value: str) -> list[psutil.Process]:
    """The living processes with a value of an environment variable, this process excepted."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                process.pid != os.getpid()
                and process.environ().get(variable) == value
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def remove_leftovers(folder: Path) -> None:
    """Remove the temp folders that heads of a killed run left, wherever they are.

    Args:
        folder: The back end's folder in that run. The processes must have ended before.
    """
    for link in folder.glob("heads/*"):
        shutil.rmtree(link.resolve(), ignore_errors=True)
        _unlink(link)


def _unlink(link: Path) -> None:
    if link.is_symlink():
        link.unlink()


def _temp_folder(link: Path) -> Path:
    link.parent.mkdir(parents=True, exist_ok=True)
    if len(str(link)) <= raystart.LONGEST_TEMP_DIR:
        link.mkdir()
        return link
    for parent in (os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir(), "/tmp"):
        if (
            parent
            and len(parent) + len("/kr-12345678") <= raystart.LONGEST_TEMP_DIR
            and os.access(parent, os.W_OK)
        ):
            made = Path(tempfile.mkdtemp(prefix="kr-", dir=parent))
            link.symlink_to(made)
            return made
    raise OSError(
        f"Ray needs a temp folder with a path of at most {raystart.LONGEST_TEMP_DIR} characters for its Unix sockets, "
        f"and neither {link}, nor XDG_RUNTIME_DIR, TMPDIR or /tmp gives one"
    )


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False
