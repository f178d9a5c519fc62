"""Reading a mapping of configuration strictly: every key is known, every value has its type."""

from collections.abc import Mapping
from typing import Any, TypeVar

import pulumi

PROJECT = "kuberay"
"""Name of the Pulumi project, the prefix of its configuration keys."""

_T = TypeVar("_T")


class ConfigError(pulumi.RunError):
    """A configuration value that cannot be used, told in one sentence that names its key."""


class Section:
    """A mapping whose values are taken one by one; `close` refuses what nobody took."""

    def __init__(self, name: str, values: object) -> None:
        """Open the mapping.

        Args:
            name: How the configuration names it, for the sentences of errors.
            values: What the configuration has there.

        Raises:
            ConfigError: It is no mapping.
        """
        if not isinstance(values, Mapping):
            raise ConfigError(f"The configuration {name} must be a mapping, but it is {values!r}.")
        self._name = name
        self._values = values
        self._taken: set[str] = set()

    def has(self, key: str) -> bool:
        """Tell whether the key is there and not null."""
        return self._values.get(key) is not None

    def text(self, key: str) -> str | None:
        """Take a string."""
        return self._take(key, str, "a string")

    def flag(self, key: str) -> bool | None:
        """Take a boolean."""
        return self._take(key, bool, "true or false")

    def number(self, key: str) -> int | None:
        """Take an integer."""
        value = self._take(key, int, "an integer")
        if isinstance(value, bool):
            raise self._wrong(key, "an integer", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings; an absent one is empty."""
        values = self._take(key, list, "a list of strings") or []
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of strings", values)
        return tuple(values)

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        """Take a mapping whose content belongs to somebody else."""
        return self._take(key, dict, "a mapping")

    def mappings(self, key: str) -> tuple[Mapping[str, Any], ...]:
        """Take a list of mappings; an absent one is empty."""
        values = self._take(key, list, "a list of mappings") or []
        if not all(isinstance(value, dict) for value in values):
            raise self._wrong(key, "a list of mappings", values)
        return tuple(values)

    def section(self, key: str) -> "Section | None":
        """Take a mapping to be read strictly."""
        value = self.mapping(key)
        return None if value is None else Section(self._path(key), value)

    def close(self) -> None:
        """Refuse keys that were not taken.

        Raises:
            ConfigError: There are some.
        """
        unknown = sorted(set(self._values) - self._taken)
        if unknown:
            raise ConfigError(
                f"The configuration {self._name} has no key {' or '.join(map(repr, unknown))}; it knows "
                f"{', '.join(sorted(self._taken))}."
            )

    def _take(self, key: str, kind: type[_T], expected: str) -> _T | None:
        self._taken.add(key)
        value = self._values.get(key)
        if value is not None and not isinstance(value, kind):
            raise self._wrong(key, expected, value)
        return value

    def _wrong(self, key: str, expected: str, value: object) -> ConfigError:
        return ConfigError(f"The configuration {self._path(key)} must be {expected}, but it is {value!r}.")

    def _path(self, key: str) -> str:
        separator = ":" if self._name == PROJECT else "."
        return f"{self._name}{separator}{key}"
