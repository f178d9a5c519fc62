"""A command in a container that has been started and waits: what remains takes milliseconds, not a process start."""

import os
import subprocess

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.processes import die_with_parent

_READY = b"ready\n"
_SECONDS = 30.0

_WAIT = 'echo ready && read -r line && exec "$@"'


class PreparedCommand:
    """Runs a command in a container at the moment at which `run` is called.

    Args:
        engine: Runs the container.
        container: Name of the container.
        command: The command.

    Raises:
        HarnessError: The container cannot be entered.
    """

    def __init__(self, engine: ContainerEngine, container: str, *command: str) -> None:
        self._said = f"{' '.join(command)} in {container}"
        self._process = subprocess.Popen(
            [str(engine.program), "exec", "-i", container, "sh", "-c", _WAIT, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **engine.environment},
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        assert self._process.stdout is not None
        if (line := self._process.stdout.readline()) != _READY:
            rest, _ = self._process.communicate(timeout=_SECONDS)
            raise HarnessError(f"Expected to prepare {self._said}, got: {(line + rest).decode(errors='replace')}")

    def run(self) -> None:
        """Run the command now and wait for its end.

        Raises:
            HarnessError: It failed or took too long.
        """
        try:
            said, _ = self._process.communicate(b"now\n", timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self.release()
            raise HarnessError(f"Expected {self._said} to end within {_SECONDS:.0f} s; it was stopped.") from None
        if self._process.returncode != 0:
            text = said.decode(errors="replace")[-500:]
            raise HarnessError(f"{self._said} ended with {self._process.returncode}: {text}")

    def release(self) -> None:
        """Let the command go without having run it; one that has run is over."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
