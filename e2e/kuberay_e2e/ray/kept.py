"""Programs that run under a keeper, for asyncio."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kuberay_e2e import processes
from kuberay_e2e.ray import keeper

_PATIENCE = 20.0


class KeptProcess:
    """A program of which nothing survives: not its end, nor `end`, nor the death of this process by SIGKILL."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(
        cls, command: Sequence[str], *, marker: str, log: Path, env: Mapping[str, str], cwd: Path
    ) -> "KeptProcess":
        """Start a program, its output appended to a log file.

        Args:
            command: The program and its arguments.
            marker: The run it belongs to, see `kuberay_e2e.processes`.
            log: File that receives standard output and standard error.
            env: The whole environment.
            cwd: Working folder.

        Raises:
            OSError: The log file cannot be opened or no process can be made. A program that is not there is no
                error here: the exit code is 127.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", "-B", keeper.__file__),
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                env={**env, processes.MARKER: marker},
                cwd=cwd,
                start_new_session=True,
            )
        return cls(process)

    @property
    def pid(self) -> int:
        """Process id of the keeper; everything the program started is below it."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code of the program, None while it runs."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for the program's end. Cancellation ends it."""
        try:
            return await self._process.wait()
        except asyncio.CancelledError:
            await self.end()
            raise

    async def end(self) -> None:
        """End the program and everything it started."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
