"""Faults: what the gateway does to one chosen write."""

import re
import threading
from dataclasses import dataclass, field
from enum import StrEnum

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway.identity import WriteIdentity


class Position(StrEnum):
    """Where, in the passage of a write, the fault acts."""

    BEFORE = "before"
    """The write is not forwarded; the operator is killed."""
    COMMITTED = "committed"
    """The API server commits the write; the response is withheld and the operator is killed."""
    LOST = "lost"
    """The API server commits the write; the connection is dropped and the operator lives."""
    AFTER = "after"
    """The response is delivered; then the operator is killed."""
    CONFLICT = "409"
    """The write is not forwarded; the operator is told that somebody else changed the object."""
    THROTTLED = "429"
    """The write is not forwarded; the operator is told to come back after a second."""
    FAILED = "500"
    """The write is not forwarded; the operator is told that the server failed."""
    TIMEOUT = "504"
    """The write is committed; the operator is told, or has to conclude, that it took too long."""
    STALE = "stale"
    """The response is delivered; what the write changed reaches the operator's cache only `STALE_SECONDS` later."""

    @property
    def kills(self) -> bool:
        """True where the operator does not survive."""
        return self in _KILLING

    @property
    def answer(self) -> int | None:
        """The HTTP status that the operator gets in the place of the API server's; None where it gets none."""
        return int(self.value) if self.value.isdigit() else None

    @property
    def forwards(self) -> bool:
        """True where the API server gets the write."""
        return self not in _NOT_FORWARDED


_KILLING = {Position.BEFORE, Position.COMMITTED, Position.AFTER}
_NOT_FORWARDED = {Position.BEFORE, Position.CONFLICT, Position.THROTTLED, Position.FAILED}

STALE_SECONDS = 4.0
"""How long a cache is held back: longer than the 3 s after which KubeRay looks at a RayJob again."""

_FORM = re.compile(
    r"(?P<verb>create|update|patch|delete|deletecollection|submit|stop|look):(?P<kind>[A-Za-z]+)(?:/(?P<subresource>[a-z]+))?"
    r"(?:~(?P<name>[a-z0-9.*-]+))?(?::(?P<change>[^#@]+))?(?:#(?P<occurrence>[1-9][0-9]*))?"
    r"(?:@(?P<position>[a-z0-9]+))?"
)


@dataclass(frozen=True)
class WriteSelector:
    """Chooses a write by its identity.

    Attributes:
        verb: create, update, patch, delete, deletecollection; submit, stop and look for Ray's Jobs API.
        kind: Kind of the object, such as `Job`; `RayJobs` for Ray's Jobs API.
        subresource: `status`, or empty for the object itself.
        change: What the write changes, such as `rayClusterStatus`; or values, such as `jobDeploymentStatus=Running`,
            beside which it may change others; empty for any.
        occurrence: Which of the matching writes, counted from 1.
        name: Name of the object, random parts replaced by `*`; empty for any.
    """

    verb: str
    kind: str
    subresource: str = ""
    change: str = ""
    occurrence: int = 1
    name: str = ""

    def matches(self, write: WriteIdentity) -> bool:
        """True for each write that is to be counted."""
        return (
            (write.verb, write.kind, write.subresource) == (self.verb, self.kind, self.subresource)
            and self.name in ("", write.name)
            and (self.change in ("", write.change) or self._wanted <= set(write.change.split(",")))
        )

    @property
    def _wanted(self) -> set[str]:
        """The changes that a write must have; details, which no value follows, are wanted alone or all together."""
        parts = self.change.split(",")
        return set(parts) if all("=" in part for part in parts) else {self.change}

    def __str__(self) -> str:
        kind = f"{self.kind}/{self.subresource}" if self.subresource else self.kind
        name = f"~{self.name}" if self.name else ""
        return f"{self.verb}:{kind}{name}{':' + self.change if self.change else ''}#{self.occurrence}"


@dataclass(frozen=True)
class AnyWrite(WriteSelector):
    """Chooses whatever write comes first."""

    verb: str = "any"
    kind: str = "write"

    def matches(self, _: WriteIdentity) -> bool:
        """True for every write."""
        return True


@dataclass
class Fault:
    """A fault that waits for its write.

    Attributes:
        write: The write it waits for.
        position: What it does then.
        fired: Set when it has acted.
    """

    write: WriteSelector
    position: Position
    fired: threading.Event = field(default_factory=threading.Event)
    _matched: int = 0

    def claims(self, write: WriteIdentity) -> bool:
        """True once, for the write that the fault acts on."""
        if self.fired.is_set() or not self.write.matches(write):
            return False
        self._matched += 1
        if self._matched != self.write.occurrence:
            return False
        self.fired.set()
        return True

    def __str__(self) -> str:
        return f"{self.write}@{self.position}"


def parse(text: str) -> Fault:
    """Read a fault in the form VERB:KIND[/SUBRESOURCE][~NAME][:CHANGE][#OCCURRENCE][@POSITION].

    The occurrence defaults to 1 and the position to `committed`. Examples: `create:Job`,
    `update:RayJob/status:jobDeploymentStatus=Running@before`, `create:Pod#2@lost`.

    Raises:
        InputError: The text has another form.
    """
    positions = ", ".join(Position)
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError(
            f"Expected a write as VERB:KIND[/SUBRESOURCE][~NAME][:CHANGE][#OCCURRENCE][@POSITION], such as create:Job "
            f"or update:RayJob/status:jobDeploymentStatus=Running@before, got {text!r}. Verbs are create, update, "
            "patch, delete and deletecollection; submit, stop and look:RayJobs are the operator's calls "
            f"to Ray; positions are {positions}."
        )
    try:
        position = Position(match["position"] or Position.COMMITTED)
    except ValueError:
        raise InputError(f"Expected one of the positions {positions}, got {match['position']!r} in {text!r}.") from None
    selector = WriteSelector(
        match["verb"],
        match["kind"],
        match["subresource"] or "",
        match["change"] or "",
        int(match["occurrence"] or 1),
        match["name"] or "",
    )
    return Fault(selector, position)
