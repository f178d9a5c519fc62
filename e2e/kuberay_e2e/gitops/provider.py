"""Pulumi's Kubernetes provider as a program that templates Helm charts and kustomizations, without engine and cluster.

A remote component such as `helm.v4.Chart` is made by the provider: it is asked to construct it, and registers every
object of it with a resource monitor. Here the monitor only keeps them. With `renderYamlToDirectory` the provider asks
no cluster; nothing is ever written there, because nothing is created.
"""

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from google.protobuf import empty_pb2, json_format  # type: ignore[import-untyped]
from google.protobuf.struct_pb2 import Struct  # type: ignore[import-untyped]
from pulumi.runtime.proto import (
    engine_pb2_grpc,
    provider_pb2,
    provider_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from kuberay_e2e.errors import HarnessError, InputError

CONSTRUCT_SECONDS = 120.0
"""Longest time for one chart, its download included."""

_START_SECONDS = 60.0
_LARGEST_MESSAGE = 400 * 1024 * 1024
_OPTIONS = [("grpc.max_receive_message_length", _LARGEST_MESSAGE), ("grpc.max_send_message_length", _LARGEST_MESSAGE)]
_FEATURES = frozenset({"secrets", "resourceReferences", "outputValues"})


@dataclass(frozen=True)
class Constructed:
    """A resource that the provider registered.

    Attributes:
        type: Its type token, such as `kubernetes:apps/v1:Deployment`.
        properties: Its inputs as JSON has them.
    """

    type: str
    properties: Mapping[str, Any]


class _Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """Keeps what is registered, and says that everything is as it was declared."""

    def __init__(self) -> None:
        self.registered: list[Constructed] = []

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id in _FEATURES)

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        if request.custom:
            self.registered.append(Constructed(request.type, json_format.MessageToDict(request.object)))
        urn = f"urn:pulumi:stack::project::{request.type}::{request.name}"
        return resource_pb2.RegisterResourceResponse(urn=urn, object=request.object)

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        return empty_pb2.Empty()

    def RegisterPackage(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        return resource_pb2.RegisterPackageResponse(ref="kubernetes")


class _Engine(engine_pb2_grpc.EngineServicer):
    """Takes the provider's messages, which errors repeat."""

    def Log(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        return empty_pb2.Empty()


class Provider:
    """A running provider. Make one with `running_provider`."""

    def __init__(self, stub: Any, monitor: _Monitor, address: str) -> None:
        self._stub = stub
        self._monitor = monitor
        self._address = address

    def construct(self, kind: str, name: str, properties: Mapping[str, Any]) -> list[Constructed]:
        """Return the objects of a remote component, in the order of their types and names.

        Args:
            kind: Type token of the component, such as `kubernetes:helm.sh/v4:Chart`.
            name: Its logical name.
            properties: Its inputs.

        Raises:
            InputError: The provider cannot make it: a chart is not there or does not render.
        """
        inputs = Struct()
        json_format.ParseDict(properties, inputs)
        self._monitor.registered = []
        request = provider_pb2.ConstructRequest(
            project="project",
            stack="stack",
            dryRun=True,
            parallel=4,
            monitorEndpoint=self._address,
            type=kind,
            name=name,
            inputs=inputs,
        )
        try:
            self._stub.Construct(request, timeout=CONSTRUCT_SECONDS)
        except grpc.RpcError as error:
            details = " ".join(str(error.details()).split())
            raise InputError(
                f"The {kind.rpartition(':')[2]} {name!r} cannot be rendered: {details}. A chart is taken from the "
                "folder that --charts or the configuration key charts names, else it is downloaded."
            ) from None
        return list(self._monitor.registered)


@contextmanager
def running_provider(program: Path) -> Iterator[Provider]:
    """Start the provider, and stop it at the end.

    Its home is an empty folder: neither a kubeconfig nor Helm repositories of the user are read.

    Args:
        program: `pulumi-resource-kubernetes`.

    Raises:
        HarnessError: It does not start.
    """
    monitor = _Monitor()
    server = grpc.server(futures.ThreadPoolExecutor(8), options=_OPTIONS)
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(monitor, server)
    engine_pb2_grpc.add_EngineServicer_to_server(_Engine(), server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    with tempfile.TemporaryDirectory(prefix="kuberay-render-") as home:
        process = subprocess.Popen(
            [str(program), address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(home),
            text=True,
        )
        try:
            port = _port(process)
            with grpc.insecure_channel(f"127.0.0.1:{port}", options=_OPTIONS) as channel:
                stub = provider_pb2_grpc.ResourceProviderStub(channel)
                _configure(stub, home)
                yield Provider(stub, monitor, address)
        finally:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
            server.stop(None).wait()


def _environment(home: str) -> dict[str, str]:
    hidden = ("KUBE", "HELM_", "PULUMI_", "XDG_", "KUBERNETES_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return {**kept, "HOME": home}


def _port(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    timer = threading.Timer(_START_SECONDS, process.kill)
    timer.start()
    try:
        line = process.stdout.readline().strip()
    finally:
        timer.cancel()
    if not line.isdigit():
        raise HarnessError(
            f"Pulumi's Kubernetes provider did not start within {_START_SECONDS:.0f} s: expected the number of a port, "
            f"got {line!r}. Run `kuberay-e2e doctor`."
        )
    return int(line)


def _configure(stub: Any, home: str) -> None:
    folder = str(Path(home) / "nothing-is-written-here")
    arguments = Struct()
    arguments.update({"renderYamlToDirectory": folder})
    request = provider_pb2.ConfigureRequest(
        variables={"kubernetes:config:renderYamlToDirectory": folder},
        args=arguments,
        acceptSecrets=True,
        acceptResources=True,
    )
    try:
        stub.Configure(request, timeout=_START_SECONDS)
    except grpc.RpcError as error:
        raise HarnessError(f"Pulumi's Kubernetes provider cannot be configured: {error}.") from None
