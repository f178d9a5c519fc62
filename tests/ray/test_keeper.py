"""The keeper lets nothing of a program survive."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from kuberay_e2e.ray.kept import KeptProcess

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(300)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.01)
print("ready", flush=True)
time.sleep(float(sys.argv[2]))
"""


def daemon_command(tmp_path: Path, seconds: float) -> list[str]:
    return [sys.executable, "-I", "-c", DAEMON, str(tmp_path / "pid"), str(seconds)]


def start(tmp_path: Path, command: list[str]) -> "asyncio.Future[KeptProcess]":
    return asyncio.ensure_future(KeptProcess.start(command, marker="test", log=tmp_path / "log", env={}, cwd=tmp_path))


def run(tmp_path: Path, command: list[str]) -> int:
    async def main() -> int:
        return await (await start(tmp_path, command)).wait()

    return asyncio.run(main())


def daemon(tmp_path: Path) -> int:
    return int((tmp_path / "pid").read_text())


async def until_ready(tmp_path: Path) -> None:
    for _ in range(1000):
        if "ready" in (tmp_path / "log").read_text():
            return
        await asyncio.sleep(0.02)
    raise AssertionError((tmp_path / "log").read_text())


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)])
def test_exit_code_is_the_programs(tmp_path: Path, script: str, code: int) -> None:
    assert run(tmp_path, ["/bin/sh", "-c", script]) == code


def test_output_goes_to_the_log(tmp_path: Path) -> None:
    run(tmp_path, ["/bin/sh", "-c", "echo out; echo err >&2"])
    assert (tmp_path / "log").read_text() == "out\nerr\n"


def test_program_that_is_not_there(tmp_path: Path) -> None:
    assert run(tmp_path, ["/nowhere/program"]) == 127
    assert "Cannot run /nowhere/program: " in (tmp_path / "log").read_text()


def test_detached_daemon_dies_with_the_program(tmp_path: Path) -> None:
    assert run(tmp_path, daemon_command(tmp_path, 0)) == 0
    assert not psutil.pid_exists(daemon(tmp_path))


def test_detached_daemon_dies_when_it_is_ended(tmp_path: Path) -> None:
    async def main() -> int | None:
        process = await start(tmp_path, daemon_command(tmp_path, 300))
        await until_ready(tmp_path)
        await process.end()
        return process.exit_code

    assert asyncio.run(main()) == 137
    assert not psutil.pid_exists(daemon(tmp_path))


def test_cancelled_wait_ends_the_program(tmp_path: Path) -> None:
    async def main() -> None:
        process = await start(tmp_path, daemon_command(tmp_path, 300))
        await until_ready(tmp_path)
        waiting = asyncio.ensure_future(process.wait())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(main())
    assert not psutil.pid_exists(daemon(tmp_path))


def test_detached_daemon_dies_when_its_starter_is_killed(tmp_path: Path) -> None:
    starter = f"""
import asyncio
from pathlib import Path
from kuberay_e2e.ray.kept import KeptProcess
async def main():
    log = Path({str(tmp_path / "log")!r})
    command = {daemon_command(tmp_path, 300)!r}
    await (await KeptProcess.start(command, marker="test", log=log, env={{}}, cwd=log.parent)).wait()
asyncio.run(main())
"""
    (tmp_path / "log").touch()
    parent = subprocess.Popen([sys.executable, "-c", starter])
    asyncio.run(until_ready(tmp_path))

    parent.kill()
    parent.wait()

    deadline = time.monotonic() + 5
    while psutil.pid_exists(daemon(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(daemon(tmp_path))
