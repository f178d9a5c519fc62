"""What a campaign does about runs that came to nothing; whole campaigns are in tests/e2e."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kuberay_e2e.crash import catalogue
from kuberay_e2e.crash.campaign import Campaign, Order
from kuberay_e2e.crash.places import MEMORY, Place
from kuberay_e2e.crash.point import Point
from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.crash.sweep import Outcome
from kuberay_e2e.gateway import Position
from kuberay_e2e.verdicts import State, Verdict

SCENARIO = catalogue.BY_NAME["k8sjob"]


class Runs:
    """A cluster on which each point errs as often as is said, and then holds.

    Args:
        folder: Where it keeps its files.
        errs: How often a point errs.
        unmade: Whether it errs because the operator does not make the write.
    """

    def __init__(self, folder: Path, errs: Callable[[Point], int], *, unmade: bool = False) -> None:
        self._folder = folder
        self._errs = errs
        self._unmade = unmade
        self.ran: list[Point] = []
        self.workers: list[int] = []
        self.ends: Any = {}

    def all(
        self, points: Sequence[Point], *, workers: int, ended: Callable[[Outcome], None], seconds: float | None
    ) -> None:
        assert seconds is None
        self.workers.append(workers)
        for point in points:
            self.ran.append(point)
            failed = self.ran.count(point) <= self._errs(point)
            why = "It did not act." if failed else ""
            ended(Outcome(point, (), 0.1, self._folder / "none", why, unmade=failed and self._unmade))


def campaign(folder: Path, runs: Runs, *positions: Position, upgrades: bool = True) -> tuple[list[Verdict], str]:
    """Run the points of one scenario; default: all."""

    @contextmanager
    def opened(_: object) -> Iterator[Any]:
        yield runs

    said = io.StringIO()
    place = Place(opened, 6, learning_runs=1, subset=lambda points: points, memory=MEMORY, upgrades=upgrades)
    with Campaign(SweepFolder(folder / "sweep"), Console(file=said, width=200), "again", place) as opened_campaign:
        verdicts = opened_campaign.run(Order((SCENARIO,), positions))
    return verdicts, said.getvalue()


@pytest.fixture(autouse=True)
def _no_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_run_with_an_error_is_made_once_more_with_fewer_beside_it(tmp_path: Path) -> None:
    runs = Runs(tmp_path, lambda point: int("RayCluster~job-*#1" in str(point)))
    verdicts, said = campaign(tmp_path, runs, Position.BEFORE)
    again = [point for point in set(runs.ran) if runs.ran.count(point) == 2]
    assert again and all("RayCluster~job-*#1" in str(point) for point in again)
    assert runs.workers == [6, 2]
    assert f"{len(again)} of them had an error and are made once more, 2 at a time" in said
    assert State.ERROR not in [verdict.state for verdict in verdicts]


def test_a_second_error_stays(tmp_path: Path) -> None:
    runs = Runs(tmp_path, lambda point: 9 * ("RayCluster~job-*#1" in str(point)))
    verdicts, _ = campaign(tmp_path, runs, Position.BEFORE)
    assert max(runs.ran.count(point) for point in runs.ran) == 2
    assert State.ERROR in [verdict.state for verdict in verdicts]


def test_where_most_runs_have_an_error_none_is_made_again(tmp_path: Path) -> None:
    runs = Runs(tmp_path, lambda _: 9)
    campaign(tmp_path, runs, Position.BEFORE)
    assert len(runs.ran) == len(set(runs.ran)) > 3


def test_a_write_that_is_not_made_twice_is_known_as_one_that_is_not_always_made(tmp_path: Path) -> None:
    runs = Runs(tmp_path, lambda point: 9 * (str(point.write) == "create:RayCluster~job-*#1"), unmade=True)
    verdicts, said = campaign(tmp_path, runs, Position.BEFORE)
    assert "k8sjob/create:RayCluster~job-*#1@before is left out: the write was not made, twice" in said
    assert State.ERROR not in [verdict.state for verdict in verdicts]
    folder = SweepFolder(tmp_path / "sweep")
    assert "k8sjob/create:RayCluster~job-*#1@before" not in [str(result.point) for result in folder.results()]
    learned = folder.learned("1.6.2")["k8sjob"]
    assert "create:RayCluster~job-*#1" not in map(str, learned.writes)
    assert learned.unstable["create:RayCluster~job-*#1"] == (
        "made in 3 of 3 runs without a fault, and not in two that were to disturb it"
    )
    again = Runs(tmp_path, lambda _: 0)
    campaign(tmp_path, again, Position.BEFORE)
    assert again.ran == []


def test_a_write_that_is_made_the_second_time_stays(tmp_path: Path) -> None:
    runs = Runs(tmp_path, lambda point: int(str(point.write) == "create:RayCluster~job-*#1"), unmade=True)
    _, said = campaign(tmp_path, runs, Position.BEFORE)
    assert "left out:" not in said
    assert "create:RayCluster~job-*#1" in map(str, SweepFolder(tmp_path / "sweep").learned("1.6.2")["k8sjob"].writes)


@pytest.mark.parametrize("upgrades", [True, False])
def test_upgrades_are_planned_where_the_release_before_runs(tmp_path: Path, upgrades: bool) -> None:
    runs = Runs(tmp_path, lambda _: 0)
    campaign(tmp_path, runs, upgrades=upgrades)
    assert any(point.upgrade for point in runs.ran) == upgrades
