"""The plugin process: gRPC between Pulumi's engine and the provider."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import grpc.aio  # type: ignore[import-untyped,unused-ignore]
import pulumi
from pulumi.provider.server import ProviderServicer
from pulumi.runtime.proto import provider_pb2_grpc

from pulumi_kuberay.errors import ArgumentError
from pulumi_kuberay.hosting.exports import exported_components
from pulumi_kuberay.hosting.provider import KubeRayProvider

_LARGEST_MESSAGE = 400 * 2**20
"""Bytes of the largest message; the engine's own limit."""


def main(arguments: Sequence[str]) -> None:
    """Serve all exported components until the engine ends the process.

    Args:
        arguments: The command line without the program; the engine's address comes last, after options.

    Raises:
        SystemExit: There is no address: a person has started the plugin.
    """
    if not arguments:
        raise SystemExit("This plugin is started by Pulumi; name its folder in the packages of a Pulumi.yaml.")
    provider = KubeRayProvider(exported_components())
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(provider, arguments[-1]))


async def _serve(provider: KubeRayProvider, engine: str) -> None:
    limits = [(f"grpc.max_{way}_message_length", _LARGEST_MESSAGE) for way in ("receive", "send")]
    server = grpc.aio.server(options=limits)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(_Servicer(provider, engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


class _Servicer(ProviderServicer):
    """Pulumi's servicer; what a component refuses, at once or later, is told in its own sentence alone.

    Pulumi's own (SDK 3.272) prints a traceback, or for what is found in an output also the trail of properties.
    """

    def __init__(self, provider: KubeRayProvider, engine: str) -> None:
        super().__init__(provider, [], engine_address=engine)
        self._wording = provider.wording

    async def _construct(self, request: Any, context: Any) -> Any:
        try:
            return await super()._construct(request, context)
        except Exception as error:
            refusal = first_refusal(error)
            if isinstance(refusal, pulumi.RunError):
                told = str(refusal)
                if isinstance(refusal, ArgumentError):
                    told = self._wording.sentence(told)
                raise pulumi.InputPropertiesError(told, errors=[]) from error
            if refusal is not None and refusal is not error:
                raise refusal from error
            raise


def first_refusal(error: BaseException) -> pulumi.RunError | pulumi.InputPropertiesError | None:
    """Return the refusal of arguments that an error goes back to, or None if it is another failure."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, pulumi.RunError | pulumi.InputPropertiesError):
        cause = cause.__cause__ or cause.__context__
    return cause
