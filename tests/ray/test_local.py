"""Real Ray: loopback alone, several heads at once, and nothing left behind."""

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import aiohttp
import psutil
import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.ray import Head, Ledger, LocalRay, RayClusterKey, RayHeadError, remove_leftovers

A = RayClusterKey("default", "a")
B = RayClusterKey("default", "b")

HOLDER = """
import asyncio, sys
from pathlib import Path
from kuberay_e2e.ray import Head, Ledger, LocalRay, RayClusterKey

async def main():
    backend = LocalRay(Path(sys.argv[1]), Ledger(), marker="test-holder")
    await backend.start_head(Head(RayClusterKey("default", "held"), "uid"))
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


_before: set[psutil.Process] = set()


@pytest.fixture(autouse=True)
def processes_of_others() -> None:
    """What runs below this process before a test belongs to fixtures of the whole test session."""
    _before.clear()
    _before.update(psutil.Process().children(recursive=True))


def descendants() -> list[psutil.Process]:
    return [process for process in psutil.Process().children(recursive=True) if process not in _before]


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(1200):
        if condition():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the condition did not hold within 120 s")


def gone(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that are still there after some seconds."""
    return psutil.wait_procs(processes, timeout=seconds)[1]


def outward(processes: list[psutil.Process]) -> list[str]:
    """Internet sockets of processes that are bound or connected to anything but loopback."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            for connection in process.net_connections("inet"):
                for address in (connection.laddr, connection.raddr):
                    if address and address.ip.removeprefix("::ffff:") not in ("127.0.0.1", "::1"):
                        found.append(f"{process.name()} {connection.laddr} {connection.raddr}")
    return found


def fake_ray(tmp_path: Path, script: str) -> Path:
    program = tmp_path / "ray"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.mark.nightly
def test_two_heads_at_once_on_loopback_alone_leave_nothing(tmp_path: Path) -> None:
    ledger = Ledger()

    async def main() -> list[psutil.Process]:
        backend = LocalRay(tmp_path, ledger, marker="test-two")
        try:
            urls = await asyncio.gather(backend.start_head(Head(A, "1")), backend.start_head(Head(B, "2")))
            async with aiohttp.ClientSession() as session:
                for url in urls:
                    body = {"entrypoint": "sleep 1000", "submission_id": "sleeper"}
                    async with session.post(f"{url}/api/jobs/", json=body) as response:
                        assert response.status == 200, await response.text()
            await until(lambda: len(ledger.starts("sleeper")) == 2)
            started = descendants()
            assert outward(started) == []
        finally:
            await backend.close()
        assert backend.door(A) is backend.door(B) is None
        return started

    started = asyncio.run(main())

    assert gone(started, 0) == []
    assert {entry.cluster for entry in ledger.starts("sleeper")} == {A, B}
    assert [entry.event.status for entry in ledger.ends("sleeper")] == ["LOST", "LOST"]
    assert list((tmp_path / "heads").iterdir()) == []


def test_cancelled_start_leaves_nothing(tmp_path: Path) -> None:
    async def main() -> list[psutil.Process]:
        backend = LocalRay(tmp_path, Ledger(), marker="test-cancel")
        start = asyncio.ensure_future(backend.start_head(Head(A, "1")))
        await until(lambda: any("gcs_server" in process.name() for process in descendants()))
        started = descendants()
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        assert backend.door(A) is None
        return started

    assert gone(asyncio.run(main()), 0) == []
    assert list((tmp_path / "heads").iterdir()) == []


def test_killed_harness_leaves_no_process(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    started = psutil.Process(holder.pid).children(recursive=True)
    assert len(started) > 5

    holder.kill()
    holder.wait()
    holder.stdout.close()

    assert gone(started, 10) == []
    remove_leftovers(tmp_path)
    assert list((tmp_path / "heads").iterdir()) == []


def test_failing_ray_start_is_told_with_its_last_lines(tmp_path: Path) -> None:
    ray = fake_ray(tmp_path, "echo no space left for the object store; exit 4")

    async def main() -> None:
        backend = LocalRay(tmp_path / "state", Ledger(), marker="test-fail", ray=ray)
        for _ in range(2):
            with pytest.raises(RayHeadError) as failure:
                await backend.start_head(Head(A, "1"))
            message = str(failure.value)
            assert "Expected a Ray head for RayCluster default/a to start, but `ray start` ended with" in message
            assert "exit code 4" in message
            assert "  no space left for the object store" in message
            assert backend.door(A) is None

    asyncio.run(main())


def test_ray_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuberay_e2e.ray.headprocess.START_TIMEOUT", 0.5)
    ray = fake_ray(tmp_path, "echo thinking; sleep 300")

    async def main() -> None:
        backend = LocalRay(tmp_path / "state", Ledger(), marker="test-slow", ray=ray)
        with pytest.raises(RayHeadError, match=r"did not answer within 0 s(.|\n)*thinking"):
            await backend.start_head(Head(A, "1"))

    begun = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - begun < 20
    assert descendants() == []


def test_machine_without_ray(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"Expected the `ray` program at .*/ray, and it is not there\."):
        LocalRay(tmp_path, Ledger(), marker="test-none", ray=tmp_path / "ray")


def test_deep_state_folder_gets_a_short_temp_folder(tmp_path: Path) -> None:
    ray = fake_ray(tmp_path, 'for word in "$@"; do echo "$word"; done; exit 1')
    state = tmp_path / ("deep" * 20)

    async def main() -> str:
        with pytest.raises(RayHeadError):
            await LocalRay(state, Ledger(), marker="test-deep", ray=ray).start_head(Head(A, "1"))
        return next((state / "logs").iterdir()).read_text()

    [option] = [line for line in asyncio.run(main()).splitlines() if line.startswith("--temp-dir=")]
    temp = Path(option.partition("=")[2])
    assert len(str(temp)) < 40
    assert not temp.exists()
