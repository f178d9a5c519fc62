"""The process that Pulumi's engine starts."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import grpc  # type: ignore[import-untyped]
from pulumi.runtime.proto import analyzer_pb2_grpc

from kuberay_policies.pack.analyzer import Analyzer

_LARGEST_MESSAGE = 400 * 2**20
"""What the engine itself allows: a stack with CRDs is many megabytes."""


def serve(folders: Sequence[Path]) -> None:
    """Serve the pack until the engine ends.

    The port is printed as the first line, at once even if the output is buffered: the engine waits for it.

    Args:
        folders: Where the settings file is looked for, in order.
    """
    stopping = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    limits = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
    server = grpc.server(ThreadPoolExecutor(max_workers=4), options=limits)
    analyzer_pb2_grpc.add_AnalyzerServicer_to_server(Analyzer(folders), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    parent = os.getppid()
    while not stopping.wait(1.0) and os.getppid() == parent:
        pass
    server.stop(grace=0.5).wait()


def main() -> None:
    """Serve the pack with the settings file of the current folder: the command `kuberay-policy-pack`."""
    serve((Path.cwd(),))
