"""The provider makes the Python components, and hands on what they refuse."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
import pytest

from pulumi_kuberay import ArgumentError
from pulumi_kuberay.hosting.exports import args_class, exported_components
from pulumi_kuberay.hosting.provider import KubeRayProvider
from pulumi_kuberay.hosting.server import first_refusal, main


class Engine(pulumi.runtime.Mocks):
    """Stands in for Pulumi's engine: records what is registered."""

    def __init__(self) -> None:
        self.registered: dict[str, Mapping[str, Any]] = {}

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.registered[args.typ] = args.inputs
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        raise AssertionError(f"No component calls a function of a provider, but {args.token} was called.")


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Pulumi's test runner takes the event loop of the thread, which other tests may have closed."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(scope="module")
def provider() -> KubeRayProvider:
    return KubeRayProvider(exported_components())


def construct(provider: KubeRayProvider, component: str, **inputs: Any) -> tuple[Engine, dict[str, Any]]:
    """Make a component as the engine does; return what it registered and its state."""
    engine = Engine()
    state: dict[str, Any] = {}
    pulumi.runtime.set_mocks(engine, project="kuberay", stack="test", preview=False)

    def program() -> Any:
        made = provider.construct("one", f"kuberay:index:{component}", inputs)
        return pulumi.Output.all(**made.state).apply(state.update)

    pulumi.runtime.test(program)()  # type: ignore[no-untyped-call]
    return engine, state


def test_a_job_is_made_from_the_properties_of_another_language(provider: KubeRayProvider) -> None:
    engine, state = construct(
        provider,
        "RayJob",
        entrypoint="python main.py",
        backoffLimit=2.0,
        cluster={"workers": [{"name": "workers", "replicas": 3.0}]},
        cleanup={"deletionRules": [{"policy": "DeleteCluster", "jobStatus": "SUCCEEDED", "ttlSeconds": 60.0}]},
    )
    spec = engine.registered["kubernetes:ray.io/v1:RayJob"]["spec"]
    assert spec["backoffLimit"] == 2
    assert spec["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"] == 3
    first = spec["deletionStrategy"]["deletionRules"][0]
    assert first == {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 60}}
    assert (state["jobName"], state["namespace"]) == ("one", "default")


def test_what_a_component_refuses_is_handed_on(provider: KubeRayProvider) -> None:
    with pytest.raises(ArgumentError, match="exactly one of keep, shut_down_after_seconds"):
        construct(provider, "RayJob", cleanup={"keep": True, "shutDownAfterSeconds": 5.0})


def test_inputs_that_do_not_fit_the_schema_are_refused(provider: KubeRayProvider) -> None:
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        construct(provider, "KubeRayOperator", watchNamespaces="team-a", replica=2.0)
    assert refused.value.errors == [
        {
            "property_path": "replica",
            "reason": "KubeRayOperator has no such property; did you mean replicas?",
        },
        {"property_path": "watchNamespaces", "reason": "it must be a list, but it is a string"},
    ]


def test_the_words_of_an_error_are_those_of_the_schema(provider: KubeRayProvider) -> None:
    assert provider.wording.sentence("set shut_down_after_seconds") == "set shutDownAfterSeconds"


@pytest.mark.parametrize("token", ["kuberay:other:RayJob", "other:index:RayJob", "kuberay:index:", "RayJob"])
def test_a_type_of_another_package_is_refused(provider: KubeRayProvider, token: str) -> None:
    with pytest.raises(ValueError, match=r"resource type|provider|modle|component name"):
        provider.construct("one", token, {})


def test_an_argument_without_a_class_is_refused() -> None:
    class Untyped(pulumi.ComponentResource):
        def __init__(self, name: str, args=None):  # type: ignore[no-untyped-def]
            super().__init__("kuberay:index:Untyped", name, args)

    with pytest.raises(TypeError, match="must have a parameter args whose annotation is a class"):
        args_class(Untyped)


def test_the_refusal_is_found_behind_the_errors_that_pulumi_wraps_it_in() -> None:
    refusal = ArgumentError("No.")

    async def serialize() -> None:
        try:
            raise refusal
        except ArgumentError as error:
            raise ValueError("While processing input: 'spec'") from error

    with pytest.raises(ValueError, match="While processing") as wrapped:
        asyncio.run(serialize())
    assert first_refusal(wrapped.value) is refusal
    assert first_refusal(refusal) is refusal
    assert first_refusal(ValueError("something else")) is None


def test_a_person_who_starts_the_plugin_is_told_who_does() -> None:
    with pytest.raises(SystemExit, match="started by Pulumi; name its folder in the packages"):
        main([])
