"""What kind makes is found and removed on a real container engine, without a cluster in it."""

import secrets
from pathlib import Path

import pytest

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind_remains import Remains
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.images import Image

pytestmark = pytest.mark.kind


def listed(engine: ContainerEngine, cluster: str) -> list[str]:
    listings = (("ps", "--all"), ("volume", "ls"), ("network", "ls"))
    forms = ("{{.Names}}", "{{.Labels}}", "{{.Name}}")
    return [
        line
        for listing, form in zip(listings, forms, strict=True)
        for line in engine.run(*listing, "--format", form).splitlines()
        if cluster in line
    ]


def make(engine: ContainerEngine, image: Image, cluster: str) -> None:
    """Make what kind makes for a node, with a container that only sleeps."""
    node = f"{cluster}-control-plane"
    engine.run("network", "create", cluster)
    volume = engine.run("volume", "create", "--label", f"{node}=true").strip()
    command = ("run", "--detach", "--name", node, "--label", f"io.x-k8s.kind.cluster={cluster}", "--net", cluster)
    name = f"docker.io/{image.reference}"
    engine.run(*command, "--volume", f"{volume}:/data", "--entrypoint", "/bin/sleep", name, "600")


def test_a_cluster_goes_and_another_of_a_similar_name_stays(
    engine: ContainerEngine, node_image: Image, tmp_path: Path
) -> None:
    engine = engine.configured(tmp_path)
    engine.load(node_image.archive)
    mine = f"test-{secrets.token_hex(3)}"
    other = f"a{mine}"
    try:
        make(engine, node_image, mine)
        make(engine, node_image, other)
        assert len(listed(engine, other)) == 3
        assert Remains(tmp_path, engine.name, mine).remove(engine) == [f"{mine}-control-plane"]
        assert listed(engine, mine) == listed(engine, other)
        assert len(listed(engine, other)) == 3
    finally:
        for cluster in (mine, other):
            Remains(tmp_path, engine.name, cluster).remove(engine)
    assert listed(engine, mine) == []


def test_a_node_has_the_limits_that_it_was_given(engine: ContainerEngine, node_image: Image, tmp_path: Path) -> None:
    configured = engine.configured(tmp_path)
    configured.load(node_image.archive)
    command = ("run", "--rm", "--privileged", "--net", "none", "--entrypoint", "/bin/sh")
    said = configured.run(
        *command,
        f"docker.io/{node_image.reference}",
        "-c",
        "cat /sys/fs/cgroup/pids/pids.max || cat /sys/fs/cgroup/pids.max",
    )
    assert said.strip() == "max"


def test_a_command_in_a_container_that_is_not_there(engine: ContainerEngine) -> None:
    with pytest.raises(HarnessError, match=r"[Nn]o such container|no container with name"):
        engine.exec("kuberay-e2e-no-such-container", "true")
