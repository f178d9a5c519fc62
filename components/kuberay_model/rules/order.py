"""The order in which the operator checks a RayJob, so that the first finding is the one it reports.

Source: `validateRayJob` in `controllers/ray/rayjob_controller.go` (metadata, spec, status) and
`ValidateRayJobSpec`, `validateDeletionConfiguration` and `ValidateRayClusterSpec` in
`controllers/ray/utils/validation.go` of v1.6.2; rules that v1.7.0 added stand where that version has them.
"""

from __future__ import annotations

OPERATOR_ORDER: tuple[str | tuple[str, ...], ...] = (
    "J1",
    "J2",
    "J3",
    "J4",
    "J5",
    "J6",
    "J7",
    "J8",
    "J16",
    "J17",
    "J18",
    "J19",
    ("J10", "J11", "J12", "J13", "J14"),
    "J15",
    "J9",
    "J20",
    "J21",
    "J22",
    "J23",
    "J24",
    "J25",
    "J26",
    "J27",
    "J28",
    "J29",
    "C1/head",
    "C2/head",
    "C3/head",
    ("C1/worker", "C5", "C2/worker", "C3/worker", "C6", "C7"),
    "C8",
    "C9",
    "C10",
    "C12",
    "C11",
    "C13/gate",
    "C14",
    "C13/autoscaling",
    "C15",
    "C16",
    "C17",
    "C18",
    "C19",
    "C20",
    "C22",
    "C23",
    "J31",
    "J32",
    "J33",
    "J34",
    "J35",
)
"""Rule ids, or `id/place` for a rule with several places; a tuple is checked for each list item in turn."""

_POSITIONS = {
    key: (step, within)
    for step, entry in enumerate(OPERATOR_ORDER)
    for within, key in enumerate(entry if isinstance(entry, tuple) else (entry,))
}


def position(place: str, item: int) -> tuple[int, int, int]:
    """Return the sort key of a problem: step of the operator, list item, check within the item.

    Raises:
        KeyError: `OPERATOR_ORDER` has no such place.
    """
    step, within = _POSITIONS[place]
    return (step, item, within)
