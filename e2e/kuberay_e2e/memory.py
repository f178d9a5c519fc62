"""How much memory a process and everything below it takes."""

import threading

import psutil

from kuberay_e2e import state

_SAMPLE_SECONDS = 1.0


class Memory(threading.Thread):
    """Samples the memory of this process and of everything below it: proportional set size, in bytes.

    Programs that kwokctl detaches are found by the folder of the run in their arguments.
    """

    def __init__(self, root: psutil.Process) -> None:
        super().__init__(daemon=True)
        self._root = root
        self._over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        """Sample until stopped."""
        while not self._over.wait(_SAMPLE_SECONDS):
            self.peak = max(self.peak, sum(map(_pss, self._family())))

    def stop(self) -> int:
        """Stop and return the peak in bytes."""
        self._over.set()
        self.join()
        return self.peak

    def _family(self) -> set[psutil.Process]:
        family = {self._root, *_children(self._root)}
        runs = str(state.runs_folder())
        for process in psutil.process_iter():
            try:
                if any(runs in word for word in process.cmdline()):
                    family |= {process, *_children(process)}
            except psutil.Error:
                continue
        return family


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.Error, AttributeError):
        return 0
