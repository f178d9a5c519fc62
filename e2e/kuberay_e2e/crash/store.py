"""What a sweep keeps on disk: what it learned, and a line for each run, so that an interrupted one can go on."""

import dataclasses
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kuberay_e2e.crash import point as points
from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.judged import Judged
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point
from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway.faults import parse
from kuberay_e2e.verdicts import Finding

_LEARNED, _RESULTS, _RUNS = "learned.json", "results.jsonl", "runs"


@dataclass(frozen=True)
class Result(Judged):
    """How a run came out, as it is kept.

    Attributes:
        point: Where the scenario was disturbed.
        version: The operator's release.
        seconds: How long it took.
        findings: What each oracle found.
        error: Why there is nothing to judge; empty where there is.
        spans: When its phases ended, seconds since its begin, by name.
        folder: Its files, relative to the sweep's folder; empty where none were kept.
        unmade: Whether the operator did not make the write that was to be disturbed, which is an error.
    """

    point: Point
    version: str
    seconds: float
    findings: tuple[Finding, ...]
    error: str = ""
    spans: Mapping[str, float] = dataclasses.field(default_factory=dict)
    folder: str = ""
    unmade: bool = False


class SweepFolder:
    """The folder of a sweep.

    Args:
        path: The folder; it is made when something is kept.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_sweep(self) -> bool:
        """True where something was kept."""
        return (self.path / _LEARNED).exists() or (self.path / _RESULTS).exists()

    def clear(self) -> None:
        """Forget everything that was learned and run."""
        for name in (_LEARNED, _RESULTS):
            (self.path / name).unlink(missing_ok=True)
        shutil.rmtree(self.path / _RUNS, ignore_errors=True)

    def versions(self) -> list[str]:
        """The versions of the operator with which something was learned.

        Raises:
            InputError: The file is not one of ours.
        """
        return list(self._learned_of_all())

    def learned(self, version: str) -> dict[str, Learned]:
        """What was learned with a version of the operator, by scenario.

        Raises:
            InputError: The file is not one of ours.
        """
        try:
            return {name: _read_learned(entry) for name, entry in self._learned_of_all().get(version, {}).items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._not_learned(error) from error

    def keep_learned(self, version: str, learned: Mapping[str, Learned]) -> None:
        """Keep what was learned with a version, beside what is known of others."""
        self.path.mkdir(parents=True, exist_ok=True)
        data = self._learned_of_all()
        data.setdefault(version, {}).update({name: _learned(entry) for name, entry in learned.items()})
        _replace(self.path / _LEARNED, json.dumps(data, indent=1) + "\n")

    def results(self) -> list[Result]:
        """The results so far; of a point that was run again, the last.

        Raises:
            InputError: The file is not one of ours. A last line that was cut off is left out.
        """
        file = self.path / _RESULTS
        if not file.exists():
            return []
        found: dict[tuple[str, str], Result] = {}
        lines = file.read_text().split("\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                result = _read_result(json.loads(line))
            except (ValueError, KeyError, TypeError, InputError) as error:
                if number == len(lines):
                    break
                raise InputError(f"Expected line {number} of {file} to be a result: {error!r}.") from error
            found[(str(result.point), result.version)] = result
        return list(found.values())

    def keep(self, result: Result) -> None:
        """Append a result; it is on disk when this returns. A last line that was cut off is taken away."""
        self.path.mkdir(parents=True, exist_ok=True)
        lines = self.path / _RESULTS
        _drop_cut_line(lines)
        with lines.open("a") as file:
            file.write(_line(result))
            file.flush()
            os.fsync(file.fileno())

    def leave_out(self, unmade: Result, version: str) -> None:
        """Forget a run whose write was not made, and keep that its scenario does not always make it.

        Args:
            unmade: The run.
            version: The operator's release that did not make it.
        """
        learned = self.learned(version)[unmade.point.scenario]
        self.keep_learned(version, {learned.scenario: learned.without(unmade.point.write)})
        kept = [result for result in self.results() if (result.point, result.version) != (unmade.point, unmade.version)]
        _replace(self.path / _RESULTS, "".join(map(_line, kept)))

    def keep_files(self, point: Point, source: Path) -> str:
        """Keep the files of a run and return their folder, relative to the sweep's."""
        name = f"{_RUNS}/{file_name(point)}"
        target = self.path / name
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.kubeconfig"))
        return name

    def _learned_of_all(self) -> dict[str, dict[str, Any]]:
        file = self.path / _LEARNED
        try:
            data = json.loads(file.read_text()) if file.exists() else {}
            return {version: dict(entries) for version, entries in data.items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise self._not_learned(error) from error

    def _not_learned(self, error: Exception) -> InputError:
        return InputError(f"Expected {self.path / _LEARNED} to be what a sweep has learned: {error!r}. Remove it.")


def file_name(point: Point) -> str:
    """The name of a point's folder, which every file system and archive takes."""
    return "".join(letter if letter.isalnum() or letter in "-._=+" else "_" for letter in str(point))


def missing(planned: Sequence[Point], results: Sequence[Result], version: str) -> list[Point]:
    """The points of a plan that have no result yet, those whose run failed among them."""
    done = {str(result.point) for result in results if result.version == version and not result.error}
    return [point for point in planned if str(point) not in done]


def _learned(learned: Learned) -> dict[str, Any]:
    return {
        "runs": learned.runs,
        "writes": [str(write) for write in learned.writes],
        "unstable": dict(learned.unstable),
        "scenario": learned.scenario,
        "end": {"facts": dict(learned.end.facts), "unstable": list(learned.end.unstable)},
    }


def _read_learned(entry: Mapping[str, Any]) -> Learned:
    writes = tuple(parse(write).write for write in entry["writes"])
    end = entry.get("end", {"facts": {}, "unstable": ()})
    facts = {subject: tuple(values) for subject, values in end["facts"].items()}
    state = EndState(facts, tuple(end["unstable"]))
    return Learned(entry["scenario"], entry["runs"], writes, entry["unstable"], state)


def _line(result: Result) -> str:
    return json.dumps({**dataclasses.asdict(result), "point": str(result.point)}) + "\n"


def _read_result(record: Mapping[str, Any]) -> Result:
    findings = tuple(Finding(**finding) for finding in record["findings"])
    values = {**record, "point": points.parse(record["point"]), "findings": findings}
    return Result(**values)


def _drop_cut_line(path: Path) -> None:
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def _replace(file: Path, text: str) -> None:
    temporary = file.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(file)
