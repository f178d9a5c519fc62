"""What the simulated jobs of all runs do, by their entrypoint."""

import threading
from collections.abc import Sequence

from kuberay_e2e.ray import JobSpec, Script


class RunScripts:
    """Gives each attempt of a run's job its script; a job that nobody registered takes half a second."""

    def __init__(self) -> None:
        self._scripts: dict[str, Sequence[Script]] = {}
        self._attempts: dict[str, int] = {}
        self._lock = threading.Lock()

    def register(self, entrypoint: str, scripts: Sequence[Script]) -> None:
        """Choose the scripts of an entrypoint: one for each attempt, the last one for all further ones."""
        with self._lock:
            self._scripts[entrypoint] = scripts
            self._attempts[entrypoint] = 0

    def __call__(self, job: JobSpec) -> Script:
        """The script of a job that was accepted."""
        with self._lock:
            scripts = self._scripts.get(job.entrypoint)
            if not scripts:
                return Script(duration=0.5)
            attempt = self._attempts[job.entrypoint]
            self._attempts[job.entrypoint] += 1
            return scripts[min(attempt, len(scripts) - 1)]
