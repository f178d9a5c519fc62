"""A kind cluster for the tests that need one."""

import pytest

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.images import Image, Images
from kuberay_toolchain.toolchain import Toolchain


@pytest.fixture(scope="session")
def engine() -> ContainerEngine:
    """The container engine of this machine."""
    try:
        return ContainerEngine.detect()
    except HarnessError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def node_image() -> Image:
    """The node image that was made on this machine."""
    image = Images(Toolchain()).find("node")
    if image is None:
        pytest.skip("The node image is not made yet: kuberay-e2e images build node.")
    return image
