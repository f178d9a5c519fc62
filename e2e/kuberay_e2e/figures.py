"""Figures that `make bench` prints."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure.

    Attributes:
        name: What was measured.
        measured: The median.
        aim: What is aimed at.
        unit: `s`, `min`, `MiB`, `GB` or `%`.
        note: Where it went, or how it was taken.
    """

    name: str
    measured: float
    aim: float
    unit: str
    note: str = ""
