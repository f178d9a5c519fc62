"""From the properties that Pulumi's engine sends to the arguments of a component."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import pulumi
from pulumi.errors import InputPropertyErrorDetails
from pulumi.provider.experimental.analyzer import ComponentDefinition, PropertyDefinition, PropertyType, TypeDefinition

_EXPECTED = {
    PropertyType.STRING: "a string",
    PropertyType.INTEGER: "a whole number",
    PropertyType.NUMBER: "a number",
    PropertyType.BOOLEAN: "a boolean",
    PropertyType.OBJECT: "a mapping",
    PropertyType.ARRAY: "a list",
}

_Part = tuple[str, PropertyDefinition, Any, str]
"""A value to read: its key in the result, its definition, the value, its path for messages."""


class ArgumentReader:
    """Makes the arguments of a component, dataclasses in dataclasses, from the properties of a request.

    Pulumi's own SDK (3.272) hands dictionaries to a component instead of its arguments, leaves whole numbers
    as floats, breaks on a whole number that is an output, and drops without a word what it does not know.

    Args:
        types: Pulumi's definitions of the types that the arguments refer to, by name.
    """

    def __init__(self, types: Mapping[str, TypeDefinition]) -> None:
        self._types = types

    def read(self, component: ComponentDefinition, args: type, inputs: Mapping[str, Any]) -> Any:
        """Return the arguments of a component.

        Args:
            component: Pulumi's definition of the component.
            args: The class of its arguments.
            inputs: The properties, by their names in the schema; values may be outputs.

        Raises:
            InputPropertiesError: Properties are missing, unknown or of another type; each of them is named.
                A value that is an output is looked at when it is known.
        """
        return self._object(args, component.inputs, component.inputs_mapping, inputs, path="", owner=component.name)

    def _object(
        self,
        python_type: type,
        properties: Mapping[str, PropertyDefinition],
        python_names: Mapping[str, str],
        given: Any,
        *,
        path: str,
        owner: str,
    ) -> Any:
        if not isinstance(given, Mapping):
            raise _mismatch(path, PropertyType.OBJECT, given)
        prefix = f"{path}." if path else ""
        problems = [
            _detail(f"{prefix}{key}", f"{owner} has no such property; {_alternatives(key, properties)}")
            for key in given
            if key not in properties
        ]
        problems += [
            _detail(f"{prefix}{key}", f"{owner} needs this property; set it")
            for key, definition in properties.items()
            if given.get(key) is None and not definition.optional
        ]
        parts = [
            (python_names[key], definition, given[key], f"{prefix}{key}")
            for key, definition in properties.items()
            if given.get(key) is not None
        ]
        return python_type(**self._values(parts, problems))

    def _values(self, parts: Iterable[_Part], problems: Sequence[InputPropertyErrorDetails] = ()) -> dict[str, Any]:
        made, told = {}, list(problems)
        for key, definition, value, path in parts:
            try:
                made[key] = self._value(definition, value, path)
            except pulumi.InputPropertiesError as error:
                told += error.errors or []
        if told:
            raise _error(told)
        return made

    def _value(self, definition: PropertyDefinition, value: Any, path: str) -> Any:
        if isinstance(value, pulumi.Output):
            if definition.plain and not self._is_free_form(definition):
                raise _problem(
                    path,
                    "it must be known before anything is created, but it is a secret or an output of a resource; "
                    "write the value itself, or take it from the stack's configuration",
                )
            return value.apply(lambda known: None if known is None else self._known(definition, known, path))
        return self._known(definition, value, path)

    def _known(self, definition: PropertyDefinition, value: Any, path: str) -> Any:
        if definition.ref is not None:
            return self._referenced(definition.ref, value, path)
        if (items := definition.items) is not None:
            if not isinstance(value, list):
                raise _mismatch(path, PropertyType.ARRAY, value)
            paths = [f"{path}[{index}]" for index in range(len(value))]
            return list(
                self._values((here, items, item, here) for here, item in zip(paths, value, strict=True)).values()
            )
        if (values := definition.additional_properties) is not None:
            if not isinstance(value, Mapping):
                raise _mismatch(path, PropertyType.OBJECT, value)
            nulls = {key: None for key, item in value.items() if item is None}
            return nulls | self._values(
                (key, values, item, f"{path}.{key}") for key, item in value.items() if item is not None
            )
        return _scalar(definition.type, value, path)

    def _referenced(self, reference: str, value: Any, path: str) -> Any:
        definition = self._types.get(reference.rpartition(":")[2])
        if definition is None:
            return whole_numbers(value)
        if definition.enum is not None:
            return _member(definition.python_type, value, path)
        return self._object(
            definition.python_type,
            definition.properties,
            definition.properties_mapping,
            value,
            path=path,
            owner=definition.name,
        )

    def _is_free_form(self, definition: PropertyDefinition) -> bool:
        return definition.ref is not None and definition.ref.rpartition(":")[2] not in self._types


def whole_numbers(value: Any) -> Any:
    """Return a value with every whole number in it as an ``int``: on the wire all numbers are floats."""
    if isinstance(value, pulumi.Output):
        return value.apply(whole_numbers)
    if isinstance(value, Mapping):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _scalar(expected: PropertyType | None, value: Any, path: str) -> Any:
    if isinstance(value, float | int) and not isinstance(value, bool):
        if expected is PropertyType.NUMBER:
            return float(value)
        if expected is PropertyType.INTEGER and float(value).is_integer():
            return int(value)
    if (expected is PropertyType.STRING and isinstance(value, str)) or (
        expected is PropertyType.BOOLEAN and isinstance(value, bool)
    ):
        return value
    raise _mismatch(path, expected, value)


def _member(enum: type[Enum], value: Any, path: str) -> Enum:
    try:
        return enum(value)
    except ValueError as error:
        allowed = ", ".join(str(member.value) for member in enum)
        raise _problem(path, f"it must be one of {allowed}, but it is something else") from error


def _alternatives(key: str, properties: Iterable[str]) -> str:
    if near := difflib.get_close_matches(key, properties, n=1):
        return f"did you mean {near[0]}?"
    return f"it has {', '.join(sorted(properties))}"


def _mismatch(path: str, expected: PropertyType | None, value: Any) -> pulumi.InputPropertiesError:
    wanted = _EXPECTED[expected] if expected else "another type"
    advice = "; put it in quotes" if expected is PropertyType.STRING and isinstance(value, float | int) else ""
    return _problem(path, f"it must be {wanted}, but it is {_kind(value)}{advice}")


def _kind(value: Any) -> str:
    """Say what a value is without showing it, because it may be a secret."""
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, float | int):
        return "a number" if float(value).is_integer() else "a fraction"
    kinds: dict[type, str] = {str: "a string", list: "a list", dict: "a mapping"}
    return kinds.get(type(value), f"of the type {type(value).__name__}")


def _detail(path: str, reason: str) -> InputPropertyErrorDetails:
    return {"property_path": path, "reason": reason}


def _problem(path: str, reason: str) -> pulumi.InputPropertiesError:
    return _error([_detail(path, reason)])


def _error(problems: list[InputPropertyErrorDetails]) -> pulumi.InputPropertiesError:
    return pulumi.InputPropertiesError("These inputs cannot be used:", problems)
