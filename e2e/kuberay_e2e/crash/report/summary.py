"""A sweep as its report tells it: read once, for all forms of the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kuberay_e2e.crash import authored, catalogue
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.crash.report.effects import Guarantee, guarantee
from kuberay_e2e.crash.report.matrix import Mark, Matrix, matrix
from kuberay_e2e.crash.report.planned import planned
from kuberay_e2e.crash.report.runs import KnownDeviations, Run, judged
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.crash.verdict import known_deviations
from kuberay_e2e.deviations import Deviation
from kuberay_e2e.gateway import Position
from kuberay_e2e.verdicts import State, exit_code


@dataclass(frozen=True)
class Once:
    """How often the entrypoint ran in the runs of a scenario at a position.

    Attributes:
        fault: The position, with the names of variants.
        guarantee: What was seen.
        runs: How many runs say so.
        off: The runs in which it ran more or less often than without a fault.
    """

    fault: str
    guarantee: Guarantee
    runs: int
    off: tuple[Run, ...]


@dataclass(frozen=True)
class Group:
    """The runs of a scenario with one version of the operator.

    Attributes:
        version: The operator's release.
        name: Name of the scenario.
        sentence: What happens in it.
        learned: What its runs without a fault have in common.
        runs: Its runs, in the order in which they ended; those without a fault among them.
        matrix: Writes by positions.
        once: How often the entrypoint ran, for each position that has runs.
    """

    version: str
    name: str
    sentence: str
    learned: Learned
    runs: tuple[Run, ...]
    matrix: Matrix
    once: tuple[Once, ...]

    @property
    def undisturbed(self) -> tuple[Run, ...]:
        """The runs without a fault: the scenario itself, and it with two operators or with the release before."""
        return tuple(run for run in self.runs if run.result.point.write is None)

    @property
    def disturbed(self) -> tuple[Run, ...]:
        """The runs with a fault."""
        return tuple(run for run in self.runs if run.result.point.write is not None)


@dataclass(frozen=True)
class Defect:
    """A known deviation, and where the sweep met it.

    Attributes:
        number: Its number in this report, from 1.
        version: The operator's release.
        deviation: What is known of it.
        concerned: How many runs it was to be expected in.
        runs: The runs in which it happened, in the order in which they ended.
    """

    number: int
    version: str
    deviation: Deviation
    concerned: int
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Report:
    """A sweep.

    Attributes:
        folder: Its folder.
        runs: Its runs, in the order in which they ended.
        groups: The runs by version and scenario.
        defects: The known deviations of its versions.
    """

    folder: Path
    runs: tuple[Run, ...]
    groups: tuple[Group, ...]
    defects: tuple[Defect, ...]

    @property
    def versions(self) -> tuple[str, ...]:
        """The operator's releases, in order."""
        return tuple(dict.fromkeys(group.version for group in self.groups))

    @property
    def seconds(self) -> float:
        """Seconds of all runs together."""
        return sum(run.result.seconds for run in self.runs)

    @property
    def exit_code(self) -> int:
        """0 all held or deviate as known, 1 something was violated, 3 something could not be judged."""
        return exit_code([run.verdict for run in self.runs])

    def count(self, state: State) -> int:
        """How many runs came out so."""
        return sum(run.verdict.state is state for run in self.runs)

    def pairs(self, *marks: Mark) -> int:
        """How many pairs of write and position have one of these marks; none: all that could be planned."""
        wanted = marks or [mark for mark in Mark if mark is not Mark.NOT_PLANNED]
        return sum(count for group in self.groups for mark, count in group.matrix.counts().items() if mark in wanted)


def read(folder: SweepFolder, known: KnownDeviations = known_deviations) -> Report:
    """Read and judge a sweep.

    Args:
        folder: Its folder.
        known: The known deviations of a version of the operator; default: those that this package lists.

    Raises:
        InputError: A file of the folder is not one of a sweep, or a list of deviations is not as it should be.
    """
    for scenario in authored.kept(folder.path):
        catalogue.register(scenario)
    results = folder.results()
    runs = judged(results, folder.path, known)
    groups: list[Group] = []
    for version in _versions(results, folder):
        own = [run for run in runs if run.result.version == version]
        groups += _groups(version, folder, own)
    return Report(folder.path, tuple(runs), tuple(groups), tuple(_defects(runs, known)))


def _versions(results: Sequence[Result], folder: SweepFolder) -> list[str]:
    """The versions that were swept; the release before them, of which the writes are known for upgrades, is none."""
    return sorted({result.version for result in results} or {*folder.versions()} - {BEFORE_UPGRADE}, key=_release)


def _release(version: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part) if part.isdecimal() else -1, part) for part in version.split("."))


def _order(name: str) -> tuple[int, str]:
    names = list(catalogue.BY_NAME)
    return (names.index(name) if name in names else len(names), name)


def _groups(version: str, folder: SweepFolder, runs: Sequence[Run]) -> list[Group]:
    learned, before = folder.learned(version), folder.learned(BEFORE_UPGRADE)
    names = sorted({*learned, *(run.result.point.scenario for run in runs)}, key=_order)
    in_order = {name: learned.get(name, Learned(name, 0, (), {})) for name in names}
    plan = planned(in_order, before, [run.result.point for run in runs])
    by_point = {str(run.result.point): run for run in runs}
    groups = []
    for name in names:
        scenario = catalogue.BY_NAME.get(name)
        sentence = scenario.sentence if scenario else "There is no scenario of this name any more."
        own = tuple(run for run in runs if run.result.point.scenario == name)
        laid_out = matrix(in_order[name], plan, by_point)
        groups.append(Group(version, name, sentence, in_order[name], own, laid_out, tuple(_once(own))))
    return groups


def _once(runs: Sequence[Run]) -> Iterator[Once]:
    for fault in sorted({run.fault for run in runs if run.fault}, key=fault_order):
        known = [(run, run.effects) for run in runs if run.fault == fault and run.effects is not None]
        if known:
            off = tuple(run for run, effects in known if effects.more or effects.fewer)
            yield Once(fault, guarantee([effects for _, effects in known]), len(known), off)


def fault_order(fault: str) -> tuple[bool, int, str]:
    """The order of positions, those with variants last."""
    position, plus, _ = fault.partition("+")
    return (bool(plus), list(Position).index(Position(position)), fault)


def _defects(runs: Sequence[Run], known: KnownDeviations) -> list[Defect]:
    found: list[Defect] = []
    for version in sorted({run.result.version for run in runs}, key=_release):
        own = [run for run in runs if run.result.version == version]
        for entry in known(version):
            concerned = sum(entry.concerns(str(run.result.point), "") for run in own if not run.result.error)
            happened = tuple(run for run in own if entry.id in run.verdict.deviation)
            found.append(Defect(len(found) + 1, version, entry, concerned, happened))
    return found
