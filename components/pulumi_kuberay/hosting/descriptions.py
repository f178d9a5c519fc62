"""The words of Python, told in those of the schema: docstrings and error sentences."""

import inspect
import re
from collections.abc import Mapping
from typing import Any

_PYTHON_NAME = re.compile(r"(?<![\w.-])[a-z0-9]+(?:_[a-z0-9]+)+(?![\w-])")


class Wording:
    """Turns Python's property names in a text into those of the schema: ``ray_version`` into ``rayVersion``.

    Args:
        names: Names of properties in Python, with their names in the schema.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def sentence(self, text: str) -> str:
        """Return an error sentence with the names of the schema."""
        return _PYTHON_NAME.sub(lambda match: self._names.get(match[0], match[0]), text)

    def description(self, docstring: str) -> str:
        """Return a docstring as Markdown with the names of the schema."""
        return self.sentence(inspect.cleandoc(docstring).replace("``", "`"))

    def described(self, schema: Any) -> Any:
        """Return a schema with its descriptions and the names of its enums' members in words of its own.

        A description that the elements of a list or a map have only repeated from the property is dropped.
        """
        if isinstance(schema, list):
            return [self.described(item) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        described: dict[str, Any] = {}
        for key, value in schema.items():
            if key == "description" and isinstance(value, str):
                described[key] = self.description(value)
            elif key in ("items", "additionalProperties") and isinstance(value, Mapping):
                described[key] = self.described({k: v for k, v in value.items() if k != "description"})
            elif key == "enum" and isinstance(value, list):
                described[key] = [{**self.described(member), "name": pascal_case(member["name"])} for member in value]
            else:
                described[key] = self.described(value)
        return described


def pascal_case(name: str) -> str:
    """Return a name of Python's constants as other languages write it: ``DELETE_SELF`` as ``DeleteSelf``."""
    return "".join(word.capitalize() for word in name.split("_"))
