"""What arrives over the wire becomes the Python arguments of a component, or a sentence about each input."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pulumi
import pytest
from pulumi.provider.experimental.analyzer import Analyzer

from pulumi_kuberay.hosting.arguments import ArgumentReader, whole_numbers


class Colour(StrEnum):
    RED = "Red"
    GREEN = "Green"


@dataclass(kw_only=True)
class Wheel:
    size: pulumi.Input[int]
    spokes: int | None = None


@dataclass(kw_only=True)
class BicycleArgs:
    frame_colour: Colour
    owner: pulumi.Input[str] | None = None
    wheels: Sequence[Wheel] | None = None
    other_colours: Sequence[Colour] | None = None
    spare: pulumi.Input[Wheel] | None = None
    weight: float | None = None
    electric: bool | None = None
    labels: Mapping[str, pulumi.Input[str]] | None = None
    extra: Mapping[str, Any] | None = None


class Bicycle(pulumi.ComponentResource):
    def __init__(self, name: str, args: BicycleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("shop:index:Bicycle", name, vars(args), opts)


def read(**inputs: Any) -> BicycleArgs:
    analysed = Analyzer("shop").analyze([Bicycle])
    reader = ArgumentReader(analysed["type_definitions"])
    args = reader.read(analysed["component_definitions"]["Bicycle"], BicycleArgs, inputs)
    assert isinstance(args, BicycleArgs)
    return args


def problems(**inputs: Any) -> dict[str, str]:
    with pytest.raises(pulumi.InputPropertiesError) as refused:
        read(**inputs)
    return {problem["property_path"]: problem["reason"] for problem in refused.value.errors or []}


async def settled(value: Any) -> Any:
    assert isinstance(value, pulumi.Output)
    return await value.future()


def test_mappings_become_dataclasses_with_python_s_names() -> None:
    args = read(frameColour="Red", wheels=[{"size": 28.0, "spokes": 36.0}], labels={"a": "b"}, electric=False)
    assert args == BicycleArgs(
        frame_colour=Colour.RED, wheels=[Wheel(size=28, spokes=36)], labels={"a": "b"}, electric=False
    )


def test_enums_become_members_in_lists_too() -> None:
    args = read(frameColour="Green", otherColours=["Red"])
    assert args.frame_colour is Colour.GREEN
    assert args.other_colours == [Colour.RED]


def test_whole_numbers_are_integers_although_they_arrive_as_floats() -> None:
    [wheel] = read(frameColour="Red", wheels=[{"size": 28.0, "spokes": 36.0}]).wheels or ()
    assert [type(wheel.size), type(wheel.spokes)] == [int, int]


def test_a_whole_number_may_be_an_output() -> None:
    async def scenario() -> Any:
        [wheel] = read(frameColour="Red", wheels=[{"size": pulumi.Output.from_input(28.0)}]).wheels or ()
        return await settled(wheel.size)

    size = asyncio.run(scenario())
    assert (size, type(size)) == (28, int)


def test_an_output_of_a_mapping_becomes_an_output_of_a_dataclass() -> None:
    async def scenario() -> Any:
        return await settled(read(frameColour="Red", spare=pulumi.Output.from_input({"size": 26.0})).spare)

    assert asyncio.run(scenario()) == Wheel(size=26)


def test_a_secret_stays_one() -> None:
    async def scenario() -> bool:
        owner = read(frameColour="Red", owner=pulumi.Output.secret("Ann")).owner
        assert isinstance(owner, pulumi.Output)
        return await owner.is_secret()

    assert asyncio.run(scenario())


def test_free_form_mappings_keep_their_keys_and_get_whole_numbers() -> None:
    async def scenario() -> Any:
        extra = {"maxReplicas": 3.0, "ratio": 0.5, "list_of": [1.0, None], "later": pulumi.Output.from_input(2.0)}
        args = read(frameColour="Red", extra=extra)
        return {**(args.extra or {}), "later": await settled((args.extra or {})["later"])}

    assert repr(asyncio.run(scenario())) == "{'maxReplicas': 3, 'ratio': 0.5, 'list_of': [1, None], 'later': 2}"


def test_a_null_in_a_free_form_mapping_is_kept_because_it_removes_a_field() -> None:
    assert read(frameColour="Red", extra={"gone": None}).extra == {"gone": None}


def test_a_float_stays_one() -> None:
    assert repr(read(frameColour="Red", weight=9.0).weight) == "9.0"
    assert repr(whole_numbers([9.0, 9.5, True])) == "[9, 9.5, True]"


def test_every_missing_and_unknown_input_is_named() -> None:
    assert problems(wheels=[{"spokes": 3.0}, {"size": 1.0, "spoke": 3.0}], framecolour="Red") == {
        "framecolour": "Bicycle has no such property; did you mean frameColour?",
        "frameColour": "Bicycle needs this property; set it",
        "wheels[0].size": "Wheel needs this property; set it",
        "wheels[1].spoke": "Wheel has no such property; did you mean spokes?",
    }


def test_an_unknown_input_without_a_near_one_gets_the_list() -> None:
    assert problems(frameColour="Red", wheels=[{"size": 1.0, "x": 1.0}]) == {
        "wheels[0].x": "Wheel has no such property; it has size, spokes"
    }


def test_a_value_outside_an_enum_gets_the_list() -> None:
    assert problems(frameColour="Blue") == {"frameColour": "it must be one of Red, Green, but it is something else"}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("wheels", "two", "it must be a list, but it is a string"),
        ("wheels", {"size": 1.0}, "it must be a list, but it is a mapping"),
        ("labels", ["a"], "it must be a mapping, but it is a list"),
        ("electric", "yes", "it must be a boolean, but it is a string"),
        ("weight", "9", "it must be a number, but it is a string"),
        ("owner", 7.0, "it must be a string, but it is a number; put it in quotes"),
        ("owner", True, "it must be a string, but it is a boolean; put it in quotes"),
    ],
)
def test_a_value_of_another_type_is_told_with_what_was_expected(name: str, value: Any, reason: str) -> None:
    assert problems(frameColour="Red", **{name: value}) == {name: reason}


@pytest.mark.parametrize(("size", "kind"), [(2.5, "a fraction"), ("28", "a string"), (True, "a boolean")])
def test_a_whole_number_is_nothing_else(size: Any, kind: str) -> None:
    assert problems(frameColour="Red", wheels=[{"size": size}]) == {
        "wheels[0].size": f"it must be a whole number, but it is {kind}"
    }


def test_what_must_be_known_at_once_is_no_output() -> None:
    async def scenario() -> dict[str, str]:
        return problems(frameColour=pulumi.Output.from_input("Red"))

    [(name, reason)] = asyncio.run(scenario()).items()
    assert name == "frameColour"
    assert reason.startswith("it must be known before anything is created, but it is a secret or an output")


def test_a_late_value_of_another_type_is_refused_when_it_is_known_and_a_secret_is_not_shown() -> None:
    async def scenario() -> None:
        args = read(frameColour="Red", spare=pulumi.Output.secret({"size": "s3cret"}))
        await settled(args.spare)

    with pytest.raises(pulumi.InputPropertiesError) as refused:
        asyncio.run(scenario())
    assert refused.value.errors == [
        {"property_path": "spare.size", "reason": "it must be a whole number, but it is a string"}
    ]
