"""The catalogue of known deviations, read from YAML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.errors import InputError

_FOLDER = Path(__file__).parent


class Occurrence(StrEnum):
    """How often a deviation happens."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"


@dataclass(frozen=True)
class Deviation:
    """A broken promise that is known.

    Attributes:
        id: Its name, in lower-case letters, digits and hyphens, unique among all files.
        scenario: The scenario in which it happens, or for a sweep the runs, such as `ttl/update:RayJob/*@lost`; `*` and
            `?` stand for any text and any letter.
        promise: The promise that is broken, as the scenario's findings call it.
        also: Further promises that the same thing may break.
        expected: What users are told, a sentence.
        seen: A regular expression that is found in what the scenario sees of each of these promises.
        trace: What was recorded when it was last looked at, line by line.
        cause: Why it happens, with the place in the source.
        upstream: Address of the issue or pull request, or `none found` with what was searched for.
        mode: Submission mode or other variant in which it happens; empty for all of the scenario.
        occurrence: `always`, or `sometimes` where it depends on timing: then its absence does not fail a run.
    """

    id: str
    scenario: str
    promise: str
    expected: str
    seen: str
    trace: tuple[str, ...]
    cause: str
    upstream: str
    mode: str = ""
    also: tuple[str, ...] = ()
    occurrence: Occurrence = Occurrence.ALWAYS

    def concerns(self, scenario: str, mode: str) -> bool:
        """True where it is to be expected in a scenario run in a mode."""
        return fnmatchcase(scenario, self.scenario) and self.mode in ("", mode)

    def matches(self, promise: str, seen: str) -> bool:
        """True where what was seen of a broken promise is this deviation."""
        return promise in (self.promise, *self.also) and re.search(self.seen, seen) is not None


class Deviations(Sequence[Deviation]):
    """The known deviations of the versions that a run uses.

    Args:
        entries: The deviations.
    """

    def __init__(self, entries: Sequence[Deviation] = ()) -> None:
        self._entries = tuple(entries)

    @classmethod
    def of(cls, folder: Path = _FOLDER, **versions: str) -> "Deviations":
        """The deviations of versions of products, such as `of(kuberay="1.6.2", kueue="0.19.2")`.

        A version without a file has no known deviations.

        Raises:
            InputError: A file is not as it should be.
        """
        paths = [folder / f"{product}-{version}.yaml" for product, version in versions.items()]
        return cls([entry for path in paths if path.exists() for entry in read(path)])

    def concerning(self, scenario: str, mode: str) -> list[Deviation]:
        """The deviations to be expected in a scenario run in a mode."""
        return [entry for entry in self._entries if entry.concerns(scenario, mode)]

    def __getitem__(self, index: Any) -> Any:
        return self._entries[index]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Deviation]:
        return iter(self._entries)


def files() -> list[Path]:
    """The files of the catalogue."""
    return sorted(_FOLDER.glob("*.yaml"))


def read(path: Path) -> list[Deviation]:
    """Read a file of deviations.

    Raises:
        InputError: It is not a list of deviations; the message names the entry and the field.
    """
    try:
        entries = yaml.safe_load(path.read_text()) or []
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"Expected {path} to be YAML: {error}") from error
    if not isinstance(entries, list):
        raise InputError(f"Expected {path} to be a list of deviations; it is a {type(entries).__name__}.")
    found = [_entry(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, 1)]
    names = [entry.id for entry in found]
    if doubles := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"Expected each id once in {path}; {', '.join(doubles)} is there more than once.")
    return found


def _entry(entry: Any, where: str) -> Deviation:
    if not isinstance(entry, Mapping):
        raise InputError(f"Expected a mapping at {where}; it is {entry!r}.")
    known = {field.name for field in fields(Deviation)}
    required = known - {"mode", "also", "occurrence"}
    if unknown := sorted(set(entry) - known):
        raise InputError(f"Unknown field {unknown[0]!r} at {where}; there are {', '.join(sorted(known))}.")
    if missing := sorted(required - {name for name, value in entry.items() if value}):
        raise InputError(f"Expected the field {missing[0]!r} at {where} to have a value.")
    lists = {name: _lines(entry[name], name, where) for name in ("trace", "also") if name in entry}
    texts = {name: value for name, value in entry.items() if name not in lists}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"Expected {name} at {where} to be text; it is {value!r}.")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", texts["id"]):
        raise InputError(f"Expected id at {where} to be lower-case words joined by hyphens; it is {texts['id']!r}.")
    try:
        re.compile(texts["seen"])
        occurrence = Occurrence(texts.pop("occurrence", Occurrence.ALWAYS))
    except re.error as error:
        raise InputError(f"Expected seen at {where} to be a regular expression: {error}.") from error
    except ValueError as error:
        raise InputError(f"Expected occurrence at {where} to be always or sometimes: {error}.") from error
    values: dict[str, Any] = {**texts, **lists}
    return Deviation(**values, occurrence=occurrence)


def _lines(value: Any, name: str, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise InputError(f"Expected {name} at {where} to be a list of lines; it is {value!r}.")
    return tuple(value)
