"""`kuberay-e2e` as a user runs it: a process with state folders of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import psutil


@dataclass(frozen=True)
class Command:
    """A running command.

    Attributes:
        process: The process, its output piped.
        state: Its state folder.
        home: Its user's home folder, in which it has nothing to write.
    """

    process: subprocess.Popen[str]
    state: Path
    home: Path

    def wait_line(self, beginning: str) -> str:
        """Read its output up to a line."""
        seen = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            seen.append(line)
            if line.startswith(beginning):
                return line
        raise AssertionError(f"expected a line {beginning!r}, saw:\n{''.join(seen)}")

    def end(self, seconds: float = 120) -> tuple[int, str]:
        """Wait for its end: exit code and the rest of its output."""
        rest, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, rest

    def leftovers(self) -> list[str]:
        """Processes, run folders and files in the home folder that are still there."""
        found = [str(folder) for folder in (self.state / "pulumi-kuberay" / "runs").glob("*")]
        found += [str(path) for path in self.home.rglob("*") if path.is_file()]
        for process in psutil.process_iter(["cmdline", "pid"]):
            words = process.info["cmdline"] or []
            if process.pid != self.process.pid and any(str(self.state) in word for word in words):
                found.append(" ".join(words))
        return found


@contextmanager
def lifecycle(folder: Path, *arguments: str) -> Iterator[Command]:
    """Start `kuberay-e2e lifecycle`; it is killed if the block ends before it does."""
    state, home = folder / "state", folder / "home"
    home.mkdir(exist_ok=True)
    cache = Path(platformdirs.user_cache_dir("pulumi-kuberay")).parent
    process = subprocess.Popen(
        [sys.executable, "-m", "kuberay_e2e.cli", "lifecycle", *arguments],
        env={**os.environ, "XDG_STATE_HOME": str(state), "XDG_CACHE_HOME": str(cache), "HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield Command(process, state, home)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
