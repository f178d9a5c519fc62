"""A point of the plan: a scenario, a write, a position, and what else happens there."""

import re
from dataclasses import dataclass

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Fault, Position, WriteSelector
from kuberay_e2e.gateway.faults import parse as parse_fault

_FORM = re.compile(r"(?P<scenario>[a-z0-9-]+)(?:/(?P<fault>.+@[a-z0-9]+)(?P<variants>(?:\+[a-z]+(?:=[0-9.]+)?)*))?")
_VARIANTS = {"down", "again", "delete", "failover", "upgrade"}


@dataclass(frozen=True)
class Point:
    """Where and how a scenario is disturbed.

    Attributes:
        scenario: Name of the scenario.
        write: The write; None for a run without a fault.
        position: What happens at it.
        down: Seconds for which a killed operator stays down.
        again: Whether the operator is killed a second time, before its next write.
        delete: Whether the RayJob is deleted while the operator is down.
        failover: Whether a second replica of the operator stands by.
        upgrade: Whether the operator comes back in the newest version, having begun in the one before.
    """

    scenario: str
    write: WriteSelector | None = None
    position: Position = Position.COMMITTED
    down: float = 0.0
    again: bool = False
    delete: bool = False
    failover: bool = False
    upgrade: bool = False

    def fault(self) -> Fault | None:
        """The fault to arm; None for a run without one."""
        return Fault(self.write, self.position) if self.write else None

    def __str__(self) -> str:
        if self.write is None:
            return self.scenario
        variants = f"+down={self.down:g}" if self.down else ""
        for name in ("again", "delete", "failover", "upgrade"):
            if getattr(self, name):
                variants += f"+{name}"
        return f"{self.scenario}/{self.write}@{self.position}{variants}"


def parse(text: str) -> Point:
    """Read a point in the form SCENARIO/WRITE@POSITION[+VARIANT…], as reports print it.

    Raises:
        InputError: The text has another form.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise _refusal(text)
    if match["fault"] is None:
        return Point(match["scenario"])
    fault = parse_fault(match["fault"])
    settings: dict[str, float | bool] = {}
    for variant in filter(None, match["variants"].split("+")):
        name, _, value = variant.partition("=")
        if name not in _VARIANTS or (name == "down") != bool(value):
            raise _refusal(text)
        settings[name] = float(value) if value else True
    return Point(match["scenario"], fault.write, fault.position, **settings)  # type: ignore[arg-type]


def _refusal(text: str) -> InputError:
    return InputError(
        "Expected a run as SCENARIO/WRITE@POSITION, with +down=SECONDS, +again, +delete, +failover or +upgrade after "
        f"it, such as k8sjob/create:Job#1@committed+down=35, got {text!r}."
    )
