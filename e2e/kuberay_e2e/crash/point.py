"""A point of the plan: a scenario, a write, a position, and what else happens there."""

import re
from dataclasses import dataclass, replace

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Fault, Position, WriteSelector
from kuberay_e2e.gateway.faults import parse as parse_fault

_FORM = re.compile(r"(?P<scenario>[a-z0-9-]+)(?:/(?P<fault>.+@[a-z0-9]+))?(?P<variants>(?:\+[a-z]+(?:=[0-9.]+)?)*)")
VARIANTS = ("down", "again", "delete", "failover", "upgrade")
"""What else happens at a point, in the order of its text."""

_UNDISTURBED = {"failover", "upgrade"}
"""Variants that a run without a fault can have: two operators instead of one, an operator of the release before."""


@dataclass(frozen=True)
class Point:
    """Where and how a scenario is disturbed.

    Attributes:
        scenario: Name of the scenario.
        write: The write; None for a run without a fault, in which `failover` and `upgrade` say what runs.
        position: What happens at it.
        down: Seconds for which a killed operator stays down.
        again: Whether the operator is killed a second time, before its next write.
        delete: Whether the RayJob is deleted while the operator is down.
        failover: Whether a second replica of the operator stands by.
        upgrade: Whether the operator begins in the release before, and comes back in the newest one.
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

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of what else happens."""
        return tuple(name for name in VARIANTS if getattr(self, name))

    def __str__(self) -> str:
        place = f"/{self.write}@{self.position}" if self.write else ""
        variants = "".join(f"+down={self.down:g}" if name == "down" else f"+{name}" for name in self.variants)
        return f"{self.scenario}{place}{variants}"


def parse(text: str) -> Point:
    """Read a point in the form SCENARIO/WRITE@POSITION[+VARIANT…], as reports print it.

    Raises:
        InputError: The text has another form.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise _refusal(text)
    settings: dict[str, float | bool] = {}
    for variant in filter(None, match["variants"].split("+")):
        name, _, value = variant.partition("=")
        if name not in VARIANTS or (name == "down") != bool(value) or name in settings:
            raise _refusal(text)
        settings[name] = float(value) if value else True
    point = Point(match["scenario"], **settings)  # type: ignore[arg-type]
    if match["fault"] is not None:
        fault = parse_fault(match["fault"])
        point = replace(point, write=fault.write, position=fault.position)
    if why := _contradiction(point):
        raise InputError(f"The run {text!r} cannot be: {why}.")
    return point


def _contradiction(point: Point) -> str:
    if point.write is None:
        wrong = [name for name in point.variants if name not in _UNDISTURBED]
        return f"+{wrong[0]} is what happens after a kill, and it names no write" if wrong else ""
    if point.variants and not point.position.kills:
        return f"+{point.variants[0]} is what happens after a kill, and at {point.position} the operator lives on"
    if point.failover and (point.down or point.again or point.upgrade or point.delete):
        return "after +failover the standby goes on at once, so that no other variant goes with it"
    return ""


def _refusal(text: str) -> InputError:
    return InputError(
        "Expected a run as SCENARIO/WRITE@POSITION, with +down=SECONDS, +again, +delete, +failover or +upgrade after "
        f"it, such as k8sjob/create:Job#1@committed+down=35, got {text!r}."
    )
