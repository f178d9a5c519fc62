#!/usr/bin/env -S python3 -u
"""Pulumi's Python language host, for a `pulumi` that was built from its Go module and has none.

`Toolchain.ensure("pulumi")` writes this file as `pulumi-language-python` beside the binary, where the CLI
looks for it. It imports nothing of this package, since it runs under the first `python3` on the PATH, and
that one needs the `pulumi` package. Programs run under the interpreter that the project's `virtualenv`
runtime option names, else under this one, through the bootstrap `pulumi-language-python-exec` that
Pulumi's SDK module ships.

The protocol is Pulumi's `proto/pulumi/language.proto`: the CLI starts the host with the engine's address
as its last argument, reads the port from the first line of output, and talks gRPC.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import IO, Any

NAME = "pulumi-language-python"
BOOTSTRAP = Path(__file__).resolve().with_name("pulumi-language-python-exec")

_MESSAGE_SHOWN = 32  # the bootstrap's exit code when it has told the engine what went wrong
_LIST_PACKAGES = """
import importlib.metadata as m, json, re
known = {re.sub("[-_.]+", "-", d.name).lower(): d.version for d in m.distributions()}
needed = {re.sub("[-_.]+", "-", re.match("[A-Za-z0-9._-]+", r).group()).lower()
          for d in m.distributions() for r in d.requires or ()}
print(json.dumps([[n, v, n in needed] for n, v in sorted(known.items())]))
"""
# Turns itself into the command of its arguments after asking the kernel to be killed with the host. A
# `preexec_fn` cannot do that here: it forks, and gRPC's threads do not survive a fork.
_DIE_WITH_HOST = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class HostError(Exception):
    """A request cannot be carried out; the message is for the user."""


class Children:
    """The processes that the host has started and that have not ended."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def start(self, command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command in a process group of its own; end the group when the context ends."""
        with self._lock:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _DIE_WITH_HOST, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                **options,
            )
            self._running.add(child)
        try:
            yield child
        finally:
            self._end(child)

    def stop(self) -> None:
        """End every process group."""
        with self._lock:
            running = list(self._running)
        for child in running:
            self._end(child)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._running.discard(child)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(timeout=3)


def interpreter(root: str, options: Mapping[str, Any]) -> str:
    """The Python that runs a program.

    Args:
        root: The folder with Pulumi.yaml.
        options: The runtime options there; `virtualenv` names a folder, relative to `root`.

    Raises:
        HostError: If that folder holds no Python.
    """
    virtualenv = options.get("virtualenv")
    if not virtualenv:
        return sys.executable
    python = Path(root, str(virtualenv), "bin", "python")
    if not python.exists():
        raise HostError(
            f"Pulumi.yaml names the virtual environment {virtualenv!r}, but there is no {python}; create it "
            "with `pulumi install`, or correct runtime.options.virtualenv."
        )
    return str(python)


def program_command(python: str, engine: str, request: Any) -> list[str]:
    """The command line of the bootstrap for a RunRequest."""
    settings = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": request.info.root_directory,
        "stack": request.stack,
        "pwd": request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "organization": request.organization,
    }
    options = [part for name, value in settings.items() if value for part in (f"--{name}", value)]
    entry = request.info.entry_point or request.program or "."
    program = str(Path(request.info.program_directory, entry)) if request.info.program_directory else entry
    return [python, "-u", str(BOOTSTRAP), *options, program, *request.args]


def program_environment(request: Any, python: str) -> dict[str, str]:
    """The environment of a program: the host's, its interpreter first on the PATH, and its configuration."""
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join((str(Path(python).parent), env.get("PATH", os.defpath)))
    env["PULUMI_CONFIG"] = json.dumps(dict(request.config))
    env["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(request.configSecretKeys))
    return env


def plugin_options(root: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The runtime options of a plugin or a policy pack.

    Pulumi's own host never runs one in the environment around it: without the option `virtualenv` it takes
    the folder `venv` in `root`. This host does so where that folder is, and else runs it under the
    interpreter of its own.
    """
    own = {"virtualenv": "venv"} if Path(root, "venv").is_dir() else {}
    return {**own, **options}


def plugin_command(python: str, request: Any) -> list[str]:
    """The command line for a RunPluginRequest: a policy pack, or a program or package that serves a plugin.

    Raises:
        HostError: If the folder of the plugin holds neither.
    """
    program = request.info.program_directory or request.program
    if request.kind == "analyzer":
        return [python, "-u", "-m", "pulumi.policy", *request.args, program]
    if Path(program).is_dir() and not Path(program, "__main__.py").exists():
        return [python, "-u", "-m", "pulumi.run.plugin", _package_name(program), *request.args]
    return [python, "-u", program, *request.args]


def _package_name(folder: str) -> str:
    try:
        project = tomllib.loads(Path(folder, "pyproject.toml").read_text())
        return str(project["project"]["name"])
    except (OSError, KeyError, tomllib.TOMLDecodeError) as error:
        raise HostError(
            f"The plugin in {folder} has neither a __main__.py nor a pyproject.toml with the name of its package; "
            "add one of them."
        ) from error


def install_commands(root: str, directory: str, options: Mapping[str, Any], is_plugin: bool = False) -> list[list[str]]:
    """The commands that install a project's dependencies: its virtual environment, then its requirements.

    None for a plugin that runs under this interpreter, whose packages are not the plugin's to change.
    """
    if is_plugin and not options.get("virtualenv"):
        return []
    commands, python = [], sys.executable
    if virtualenv := options.get("virtualenv"):
        folder = Path(root, str(virtualenv))
        python = str(folder / "bin" / "python")
        if not Path(python).exists():
            commands.append([sys.executable, "-m", "venv", str(folder)])
    requirements = Path(directory, "requirements.txt")
    if requirements.exists():
        commands.append([python, "-m", "pip", "install", "-r", str(requirements)])
    return commands


def stream(child: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Chunks of a child's output as they come, each with `stdout` or `stderr`."""
    chunks: queue.Queue[tuple[str, bytes]] = queue.Queue()

    def pump(name: str, pipe: IO[bytes]) -> None:
        while data := os.read(pipe.fileno(), 65536):
            chunks.put((name, data))
        chunks.put((name, b""))

    assert child.stdout is not None and child.stderr is not None
    for name, pipe in (("stdout", child.stdout), ("stderr", child.stderr)):
        threading.Thread(target=pump, args=(name, pipe), daemon=True).start()
    open_pipes = 2
    while open_pipes:
        name, data = chunks.get()
        open_pipes -= not data
        if data:
            yield name, data


def serve(engine: str) -> None:
    """Serve the language runtime until the CLI cancels it, signals it or ends."""
    import grpc  # type: ignore[import-untyped,unused-ignore]
    from google.protobuf.empty_pb2 import Empty  # type: ignore[import-untyped,unused-ignore]
    from google.protobuf.json_format import (  # type: ignore[import-untyped,unused-ignore]
        MessageToDict,
    )
    from pulumi.runtime.proto import language_pb2 as language
    from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2

    children = Children()
    stopping = threading.Event()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    def options_of(request: Any) -> dict[str, Any]:
        return dict(MessageToDict(request.info.options))

    def python_for(request: Any, context: Any) -> str:
        try:
            return interpreter(request.info.root_directory, options_of(request))
        except HostError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise

    class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
        def Handshake(self, _request: Any, _context: Any) -> Any:
            return language.LanguageHandshakeResponse()

        def GetPluginInfo(self, _request: Any, _context: Any) -> Any:
            return plugin_pb2.PluginInfo()

        def About(self, request: Any, context: Any) -> Any:
            python = python_for(request, context)
            version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
            return language.AboutResponse(executable=python, version=version.stdout.split()[-1])

        def GetRequiredPlugins(self, _request: Any, _context: Any) -> Any:
            return language.GetRequiredPluginsResponse()

        def GetRequiredPackages(self, _request: Any, _context: Any) -> Any:
            return language.GetRequiredPackagesResponse()

        def GetProgramDependencies(self, request: Any, context: Any) -> Any:
            command = [python_for(request, context), "-c", _LIST_PACKAGES]
            listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            wanted = [row for row in listed if request.transitiveDependencies or not row[2]]
            found = [language.DependencyInfo(name=name, version=version) for name, version, _ in wanted]
            return language.GetProgramDependenciesResponse(dependencies=found)

        def Run(self, request: Any, context: Any) -> Any:
            python = python_for(request, context)
            command = program_command(python, engine, request)
            with children.start(command, env=program_environment(request, python)) as child:
                context.add_callback(child.terminate)
                code = child.wait()
            if code == _MESSAGE_SHOWN:
                return language.RunResponse(bail=True)
            error = f"The Python program ended with exit code {code}." if code else ""
            return language.RunResponse(error=error)

        def RunPlugin(self, request: Any, context: Any) -> Any:
            try:
                root = request.info.root_directory or request.info.program_directory
                command = plugin_command(interpreter(root, plugin_options(root, options_of(request))), request)
            except HostError as error:
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
                raise
            env = {**os.environ, **dict(pair.split("=", 1) for pair in request.env)}
            with children.start(command, cwd=request.pwd or None, env=env, **pipes) as child:
                context.add_callback(child.terminate)
                for name, data in stream(child):
                    if name == "stdout":
                        yield language.RunPluginResponse(stdout=data)
                    else:
                        yield language.RunPluginResponse(stderr=data)
                yield language.RunPluginResponse(exitcode=child.wait())

        def InstallDependencies(self, request: Any, context: Any) -> Any:
            root = request.info.root_directory or request.directory
            for command in install_commands(root, request.directory, options_of(request), request.is_plugin):
                with children.start(command, cwd=request.directory, **pipes) as child:
                    for name, data in stream(child):
                        yield language.InstallDependenciesResponse(**{name: data})
                    if child.wait() != 0:
                        text = f"`{' '.join(command)}` ended with exit code {child.returncode}."
                        context.abort(grpc.StatusCode.INTERNAL, text)

        def Cancel(self, _request: Any, _context: Any) -> Any:
            stopping.set()
            return Empty()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    size = 400 * 2**20  # what the CLI itself allows for one message
    limits = [("grpc.max_receive_message_length", size), ("grpc.max_send_message_length", size)]
    server = grpc.server(ThreadPoolExecutor(max_workers=16), options=limits)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    parent = os.getppid()
    print(port, flush=True)
    while not stopping.wait(1.0) and os.getppid() == parent:
        pass
    children.stop()
    server.stop(grace=1.0).wait()


def main(arguments: Sequence[str]) -> int:
    """Run the host; the engine's address is the last of the arguments."""
    try:
        import pulumi  # noqa: F401
    except ImportError as error:
        print(
            f"{NAME} runs under {sys.executable}, the first python3 on the PATH, and that one cannot import "
            f"`pulumi` ({error}); activate the virtual environment that has it, or put its bin folder first "
            "on the PATH.",
            file=sys.stderr,
        )
        return 1
    serve(arguments[-1] if arguments else "")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # no thread of gRPC may hold up the end or write a traceback into the user's output


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
