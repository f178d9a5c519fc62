"""What a timeline is made of."""

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """How something is drawn; the value is its class in the page."""

    PLAIN = "plain"
    LIFE = "life"
    WAITING = "wait"
    RUNNING = "run"
    GOOD = "good"
    BAD = "bad"
    GOING = "going"


class Shape(StrEnum):
    """The shape of a mark; the value is its class in the page."""

    DOT = "dot"
    """A write that was answered with success."""
    DIAMOND = "diamond"
    """A write that was refused."""
    RING = "ring"
    """A write that was stored and whose answer was withheld."""
    CROSS = "cross"
    """A write that was not forwarded."""
    TICK = "tick"
    """A version of an object."""


@dataclass(frozen=True)
class Bar:
    """Something that lasted.

    Attributes:
        start: Seconds on the axis.
        end: Seconds on the axis.
        tone: How it is drawn.
        label: What is written in it.
        text: What it is, in words.
        killed: Whether it ended by a kill.
    """

    start: float
    end: float
    tone: Tone
    label: str
    text: str
    killed: bool = False


@dataclass(frozen=True)
class Mark:
    """Something that happened at once.

    Attributes:
        at: Seconds on the axis.
        shape: Its shape.
        text: What it is, in words.
        fault: Whether the fault acted on it.
    """

    at: float
    shape: Shape
    text: str
    fault: bool = False


@dataclass(frozen=True)
class Lane:
    """A lane.

    Attributes:
        name: What it shows.
        bars: What lasted.
        marks: What happened at once.
    """

    name: str
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Note:
    """A line of the timeline in words.

    Attributes:
        at: Seconds on the axis.
        lane: Where it happened.
        text: What happened.
        tone: How it is drawn.
    """

    at: float
    lane: str
    text: str
    tone: Tone = Tone.PLAIN
