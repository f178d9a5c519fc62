"""kind's own node image is used where it can be had."""

import http.server
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.node_image import OFFICIAL_NODE, official_node, registry_reachable
from kuberay_toolchain.images.catalogue import KUBERNETES
from tests.loopback import served


@contextmanager
def registry(status: int) -> Iterator[str]:
    """A container registry that answers every request with one status."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        log_message: Callable[..., None] = lambda *_: None

    with served(Handler) as address:
        yield f"{address}/v2/"


def engine(folder: Path, script: str) -> ContainerEngine:
    program = folder / "podman"
    program.write_text(f'#!/bin/sh\necho "$1" >> {folder}/calls\n{script}\n')
    program.chmod(0o755)
    return ContainerEngine("podman", program)


@pytest.mark.parametrize(("status", "reachable"), [(200, True), (401, True), (403, False), (503, False)])
def test_a_registry_answers_as_a_registry(status: int, reachable: bool) -> None:
    with registry(status) as address:
        assert registry_reachable(address) is reachable


def test_a_registry_that_does_not_answer_is_not_reachable() -> None:
    assert not registry_reachable("http://127.0.0.1:9/v2/", seconds=1)


def test_kinds_own_image_is_taken_if_the_engine_has_it(tmp_path: Path) -> None:
    assert official_node(engine(tmp_path, "echo sha256:0123"))
    assert (tmp_path / "calls").read_text().split() == ["image"]


@pytest.mark.parametrize("code", [0, 125])
def test_kinds_own_image_is_fetched_if_the_registry_has_it(tmp_path: Path, code: int) -> None:
    assert official_node(engine(tmp_path, f'[ "$1" = pull ] && exit {code}; exit 1')) is (code == 0)
    assert (tmp_path / "calls").read_text().split() == ["image", "pull"]


def test_kinds_own_image_is_of_the_same_minor_release_as_ours() -> None:
    assert OFFICIAL_NODE.partition(":v")[2].split(".")[:2] == KUBERNETES.split(".")[:2]
