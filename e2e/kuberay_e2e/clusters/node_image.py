"""Which image the nodes of a kind cluster are of: kind's own where it can be had, else the one made on this machine."""

import httpx

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError

OFFICIAL_NODE = "kindest/node:v1.34.3"
"""kind's own node image."""

NODE = "node"
"""Name of the node image that is made on this machine."""

_REGISTRY = "https://registry-1.docker.io/v2/"
_PULL_SECONDS = 900.0


def registry_reachable(address: str = _REGISTRY, seconds: float = 5.0) -> bool:
    """Whether a container registry answers, through the proxy of the environment if there is one."""
    try:
        return httpx.get(address, timeout=seconds).status_code in (200, 401)
    except (httpx.HTTPError, OSError):
        return False


def official_node(engine: ContainerEngine) -> bool:
    """Whether nodes can be of `OFFICIAL_NODE`: the engine has it, or has just fetched it."""
    if engine.image_id(OFFICIAL_NODE):
        return True
    try:
        engine.run("pull", "--quiet", f"docker.io/{OFFICIAL_NODE}", seconds=_PULL_SECONDS)
    except HarnessError:
        return False
    return True
