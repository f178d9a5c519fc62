"""Whatever ends the creation or the use of a cluster, kind and all that it made are gone."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kuberay_e2e import processes, state
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind import KindCluster
from kuberay_e2e.clusters.kind_remains import Remains, kind_marker
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.state import Run

PODMAN = """
echo "$*" >> {folder}/calls
[ "$1" = ps ] && [ -e {folder}/kind-ran ] && echo the-node
true
"""
HANGING = "[ $1 = get ] && exit; touch {folder}/kind-ran; sleep 300 & wait"
FAILING = "[ $1 = get ] && exit; touch {folder}/kind-ran; sleep 300 & echo 'no such image' >&2; exit 1"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with state.claim("way-out") as claimed:
        yield claimed
    assert processes.marked(kind_marker(claimed.marker)) == []


def cluster(folder: Path, kind: str) -> KindCluster:
    for name, script in (("podman", PODMAN), ("kind", kind)):
        (folder / name).write_text("#!/bin/sh\n" + script.format(folder=folder))
        (folder / name).chmod(0o755)
    return KindCluster({"kind": folder / "kind", "kubectl": folder}, ContainerEngine("podman", folder / "podman"), {})


def removed(folder: Path) -> bool:
    return "rm --force --volumes --time 0 the-node" in (folder / "calls").read_text().splitlines()


def test_an_interrupt_while_kind_works(run: Run, tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "kind-ran").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt), cluster(tmp_path, HANGING).up(run):
        raise AssertionError("the cluster came up")
    thread.join()
    assert processes.marked(kind_marker(run.marker)) == []
    assert removed(tmp_path)
    assert Remains.of(run.folder) is None


def test_a_kind_that_fails(run: Run, tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="no such image"), cluster(tmp_path, FAILING).up(run):
        raise AssertionError("the cluster came up")
    assert processes.marked(kind_marker(run.marker)) == []
    assert removed(tmp_path)


def test_an_installation_without_pytest_kind(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kuberay_e2e.clusters.kind_creation", None)
    with pytest.raises(HarnessError, match=r"Install pulumi-kuberay\[kind\]"), cluster(tmp_path, FAILING).up(run):
        pass
    assert not (tmp_path / "kind-ran").exists()


def test_a_network_that_cannot_be_made(run: Run, tmp_path: Path) -> None:
    provider = cluster(tmp_path, FAILING)
    script = (tmp_path / "podman").read_text()
    (tmp_path / "podman").write_text(
        script + '[ "$1 $2" != "network create" ] || { echo no subnet left >&2; exit 1; }\n'
    )
    with pytest.raises(HarnessError, match="no subnet left"), provider.up(run):
        raise AssertionError("the cluster came up")
    assert not (tmp_path / "kind-ran").exists()
    assert Remains.of(run.folder) is None


def test_an_engine_that_dies_meanwhile_leaves_the_note(run: Run, tmp_path: Path) -> None:
    provider = cluster(tmp_path, "[ $1 = get ] && exit; rm {folder}/podman; exit 1")
    with pytest.raises(HarnessError, match="podman to be a program that runs"), provider.up(run):
        raise AssertionError("the cluster came up")
    assert Remains.of(run.folder) is not None
