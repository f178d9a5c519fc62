"""Whether simulated pods and a simulated Ray show the same of the operator as real ones: two sweeps side by side.

For each scenario the writes that every run without a fault makes are compared; for each run of both sweeps its verdict,
and the states that the RayJob went through.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.crash.report import evidence
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.crash.verdict import known_deviations, verdict
from kuberay_e2e.errors import InputError

_THEN = " > "

_EXPLAINED = Path(__file__).with_name("fidelity.yaml")


class Aspect(StrEnum):
    """What is compared."""

    WRITES = "writes"
    VERDICT = "verdict"
    STATES = "states"


@dataclass(frozen=True)
class Difference:
    """Something that simulated and real pods do not have in common.

    Attributes:
        aspect: What was compared.
        run: The run, or the scenario for its writes.
        simulated: What simulated pods showed.
        real: What real pods showed.
        reason: Why that is so and does no harm; empty where nobody has explained it.
    """

    aspect: Aspect
    run: str
    simulated: str
    real: str
    reason: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two sweeps side by side.

    Attributes:
        scenarios: The scenarios whose writes were compared.
        runs: The runs that both sweeps made.
        differences: What they do not have in common.
    """

    scenarios: tuple[str, ...]
    runs: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def unexplained(self) -> list[Difference]:
        """The differences without a reason."""
        return [difference for difference in self.differences if not difference.reason]


@dataclass(frozen=True)
class Explanation:
    """Why something differs.

    Attributes:
        aspect: What was compared.
        run: The runs or scenarios; `*` and `?` stand for any text and any letter.
        difference: What differs: a word of `simulated` or `real`, with `*` and `?`.
        reason: Why that is so and does no harm.
        without: States of which a run may have seen more or fewer; without them nothing differs.
    """

    aspect: Aspect
    run: str
    difference: str
    reason: str
    without: tuple[str, ...] = ()

    def concerns(self, found: Difference) -> bool:
        """Whether it explains a difference."""
        named = any(fnmatchcase(text, self.difference) for text in (found.simulated, found.real))
        same = not self.without or self._rest(found.simulated) == self._rest(found.real)
        return self.aspect is found.aspect and fnmatchcase(found.run, self.run) and named and same

    def _rest(self, gone_through: str) -> list[str]:
        return [state for state in gone_through.split(_THEN) if state not in self.without]


def explanations(path: Path = _EXPLAINED) -> list[Explanation]:
    """Read what is explained.

    Raises:
        InputError: The file is not a list of explanations.
    """
    try:
        entries = yaml.safe_load(path.read_text()) or []
        return [
            Explanation(**{**entry, "aspect": Aspect(entry["aspect"]), "without": tuple(entry.get("without", ()))})
            for entry in entries
        ]
    except (OSError, yaml.YAMLError, TypeError, KeyError, ValueError) as error:
        raise InputError(f"Expected {path} to be a list of explained differences: {error!r}.") from error


def compare(
    simulated: SweepFolder, real: SweepFolder, version: str, explained: Sequence[Explanation] = ()
) -> Comparison:
    """Compare two sweeps of one version of the operator.

    Args:
        simulated: The sweep on simulated pods.
        real: The sweep on real pods, usually of fewer runs.
        version: The operator's version.
        explained: Differences that are understood.

    Raises:
        InputError: They have nothing in common, or a folder cannot be read.
    """
    ours, theirs = simulated.learned(version), real.learned(version)
    scenarios = tuple(name for name in ours if name in theirs)
    mine, others = (_by_point(folder, version) for folder in (simulated, real))
    runs = tuple(name for name in mine if name in others)
    if not scenarios and not runs:
        raise InputError(
            f"Expected {simulated.path} and {real.path} to have scenarios or runs of operator {version} in common; "
            "they have none. Run the same scenarios on both."
        )
    found = [
        *(one for name in scenarios for one in _writes(name, ours[name].writes, theirs[name].writes)),
        *(one for name in runs for one in _runs(simulated, mine[name], real, others[name])),
    ]
    return Comparison(scenarios, runs, tuple(_explained(one, explained) for one in found))


def states(run: Path) -> list[str]:
    """The states that a RayJob went through: `jobDeploymentStatus` and `jobStatus`, each different from the one before.

    Args:
        run: The folder of a run.
    """
    seen: list[str] = []
    for event in evidence.read(run).events:
        if event.kind == "object" and event.data.get("object_kind") == "RayJob":
            state = _state(event.data.get("status") or {})
            if state.strip() and (not seen or seen[-1] != state):
                seen.append(state)
    return seen


def markdown(comparison: Comparison) -> str:
    """The comparison for people."""
    lines = [
        "# Simulated and real pods side by side",
        "",
        f"- scenarios whose writes were compared: {', '.join(comparison.scenarios) or 'none'}",
        f"- runs that were compared: {len(comparison.runs)}",
        f"- differences: {len(comparison.differences)}, of them unexplained: {len(comparison.unexplained)}",
        "",
    ]
    if comparison.differences:
        lines += ["| what | run | simulated | real | why |", "|---|---|---|---|---|"]
        lines += [
            f"| {one.aspect} | {one.run} | {one.simulated} | {one.real} | {one.reason or '**unexplained**'} |"
            for one in comparison.differences
        ]
    return "\n".join(lines).rstrip() + "\n"


def _writes(scenario: str, simulated: Sequence[Any], real: Sequence[Any]) -> Iterator[Difference]:
    mine, others = [str(write) for write in simulated], [str(write) for write in real]
    yield from (
        Difference(Aspect.WRITES, scenario, write, "not made in every run") for write in mine if write not in others
    )
    yield from (
        Difference(Aspect.WRITES, scenario, "not made in every run", write) for write in others if write not in mine
    )


def _runs(simulated: SweepFolder, mine: Result, real: SweepFolder, other: Result) -> Iterator[Difference]:
    name, known = str(mine.point), known_deviations(mine.version)
    verdicts = [verdict(result, known) for result in (mine, other)]
    said = [" ".join([one.state, *one.deviation]) for one in verdicts]
    if said[0] != said[1]:
        yield Difference(Aspect.VERDICT, name, *said)
    gone_through = [states(folder.path / run.folder) for folder, run in ((simulated, mine), (real, other))]
    if gone_through[0] != gone_through[1]:
        yield Difference(Aspect.STATES, name, *(_THEN.join(one) for one in gone_through))


def _by_point(folder: SweepFolder, version: str) -> Mapping[str, Result]:
    return {str(result.point): result for result in folder.results() if result.version == version}


def _state(status: Mapping[str, Any]) -> str:
    return f"{status.get('jobDeploymentStatus') or ''} {status.get('jobStatus') or ''}".strip()


def _explained(found: Difference, known: Sequence[Explanation]) -> Difference:
    reason = next((one.reason for one in known if one.concerns(found)), "")
    return Difference(found.aspect, found.run, found.simulated, found.real, reason)
