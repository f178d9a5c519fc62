"""`python -m tests.kind.holding NAME`: a kind cluster that is up until this process is ended."""

import sys
import time

from kuberay_e2e import state
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import PROGRAMS, KindCluster
from kuberay_e2e.signals import INTERRUPTED, interruptible
from kuberay_toolchain.images import Images
from kuberay_toolchain.toolchain import Toolchain


def main(name: str) -> int:
    """Hold a cluster and say when it is up."""
    toolchain = Toolchain()
    provider = KindCluster(toolchain.ensure(*PROGRAMS), ContainerEngine.detect(), Images(toolchain).ensure("node"))
    try:
        with interruptible(), state.claim(name) as run, provider.up(run):
            print("up", flush=True)
            while True:
                time.sleep(1)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
