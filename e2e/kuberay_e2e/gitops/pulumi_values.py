"""Plain values from the properties that the recorder and the provider write down."""

from typing import Any

from kuberay_policies.pack.values import UNKNOWN_VALUES
from kuberay_policies.program.project import ENCRYPTED
from kuberay_policies.subjects import joined
from kuberay_policies.wire import OUTPUT, SECRET, SIGNATURE


class PlainValues:
    """Copies properties, and remembers where a value is that cannot be written.

    Attributes:
        unknown: Paths of values that are known only at deployment.
        secret: Paths of values that the program calls secret.
        encrypted: Paths of texts made from an encrypted value of the configuration.
    """

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self.secret: list[str] = []
        self.encrypted: list[str] = []
        self._keys: list[str | int] = []

    def plain(self, value: Any) -> Any:
        """Return a copy in which secrets are what they hold and whole numbers are integers.

        Args:
            value: Mappings, lists and scalars of JSON, with the signed mappings that Pulumi marks values with.
        """
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind is dict:
            return self._signed(value) if SIGNATURE in value else {key: self._at(key, value[key]) for key in value}
        if kind is list:
            return [self._at(index, item) for index, item in enumerate(value)]
        if kind is float and value.is_integer():
            return int(value)
        return value

    def _at(self, key: str | int, value: Any) -> Any:
        self._keys.append(key)
        copy = self.plain(value)
        self._keys.pop()
        return copy

    def _text(self, value: str) -> str | None:
        if value in UNKNOWN_VALUES:
            self.unknown.append(self._path)
            return None
        if ENCRYPTED in value:
            self.encrypted.append(self._path)
        return value

    def _signed(self, value: dict[str, Any]) -> Any:
        if value[SIGNATURE] == SECRET:
            self.secret.append(self._path)
        elif value[SIGNATURE] != OUTPUT or "value" not in value:
            self.unknown.append(self._path)
            return None
        return self.plain(value.get("value"))

    @property
    def _path(self) -> str:
        path = ""
        for key in self._keys:
            path = joined(path, key)
        return path
