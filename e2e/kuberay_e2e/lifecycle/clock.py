"""Where the time of a life cycle goes."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """Seconds by what they were spent on."""

    kuberay_seconds: float = 0.0
    pulumi_seconds: float = 0.0

    @contextmanager
    def pulumi(self) -> Iterator[None]:
        """Count the block as Pulumi's."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.pulumi_seconds += time.monotonic() - started

    @contextmanager
    def kuberay(self) -> Iterator[None]:
        """Count the block as waiting that KubeRay imposes."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.kuberay_seconds += time.monotonic() - started

    def split(self, total: float) -> Mapping[str, float]:
        """The parts of a total: waiting that KubeRay imposes, Pulumi, and the harness itself."""
        harness = total - self.kuberay_seconds - self.pulumi_seconds
        return {"kuberay": self.kuberay_seconds, "pulumi": self.pulumi_seconds, "harness": harness}
