"""Writes by positions: what was run, what is equivalent, what cannot exist and what is left to do."""

from pathlib import Path

from kuberay_e2e.crash.lives import BEFORE_UPGRADE
from kuberay_e2e.crash.report import read
from kuberay_e2e.crash.report.coverage import coverage, reasons, sentence
from kuberay_e2e.crash.report.matrix import Mark
from kuberay_e2e.crash.report.summary import Group
from tests.crash.report.sweeps import STARTS, WRITES, Sweep, known, learned


def group(sweep: Sweep) -> Group:
    [only] = read(sweep.folder, known).groups
    return only


def marks(only: Group) -> dict[str, str]:
    return {
        f"{row.write}@{column}": cell.mark.value
        for row in only.matrix.rows
        for column, cell in zip(only.matrix.columns, row.cells, strict=True)
    }


def kills(path: Path) -> Sweep:
    """A sweep of kills alone."""
    sweep = Sweep(path).learn(learned())
    for write in WRITES[:3]:
        sweep.run(f"http/{write}#1@before")
    sweep.run(f"http/{WRITES[3]}#1@before", error="The write was never made.")
    return sweep


def test_rows_are_the_writes_in_the_order_of_a_run_without_a_fault(tmp_path: Path) -> None:
    only = group(Sweep(tmp_path).all_states())
    assert [str(row.write) for row in only.matrix.rows] == [f"{write}#1" for write in WRITES]


def test_columns_are_the_positions_then_the_variants(tmp_path: Path) -> None:
    assert group(kills(tmp_path / "kills")).matrix.columns == ("before", "committed", "lost", "after")
    columns = group(Sweep(tmp_path / "all").all_states()).matrix.columns
    assert columns[:9] == ("before", "committed", "lost", "after", "409", "429", "500", "504", "stale")
    assert all("+" in column for column in columns[9:])
    assert "committed+down=35" in columns[9:]


def test_each_state_has_its_mark(tmp_path: Path) -> None:
    found = marks(group(Sweep(tmp_path).all_states()))
    assert found["create:RayCluster~job-*#1@before"] == Mark.HELD
    assert found["submit:RayJobs~job-*#1@lost"] == Mark.DEVIATES
    assert found["create:RayCluster~job-*#1@lost"] == Mark.VIOLATED
    assert found["create:Pod~job-*-head-*#1@lost"] == Mark.ERROR
    assert found["create:RayCluster~job-*#1@after"] == Mark.EQUIVALENT
    assert found["update:RayJob~job:+ray.io/rayjob-finalizer#1@lost"] == Mark.NOT_RUN
    assert found["create:RayCluster~job-*#1@committed+down=35"] == Mark.HELD
    assert found["create:Pod~job-*-head-*#1@committed+down=35"] == Mark.NOT_PLANNED


def test_an_equivalent_pair_leads_to_the_run_of_the_other(tmp_path: Path) -> None:
    only = group(Sweep(tmp_path).all_states())
    cell = dict(zip(only.matrix.columns, only.matrix.rows[0].cells, strict=True))["after"]
    assert cell.run is not None
    assert str(cell.run.result.point) == f"http/{WRITES[0]}#1@committed"
    assert cell.mark is Mark.EQUIVALENT
    assert cell.why.startswith("In both the write is stored and the operator is gone")


def test_a_pair_may_be_equivalent_to_one_of_another_scenario(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned(), learned("app-fails"))
    sweep.run(f"http/{WRITES[0]}#1@500")
    first, second = read(sweep.folder, known).groups
    cell = dict(zip(second.matrix.columns, second.matrix.rows[0].cells, strict=True))["500"]
    assert (second.name, cell.mark, cell.same) == ("app-fails", Mark.EQUIVALENT, f"http/{WRITES[0]}#1@500")
    assert cell.run is first.runs[0]


def test_a_variant_that_is_planned_is_still_to_be_run(tmp_path: Path) -> None:
    found = marks(group(Sweep(tmp_path).all_states()))
    assert found["create:RayCluster~job-*#1@committed+again"] == Mark.NOT_RUN


def test_an_equivalent_pair_that_was_run_has_its_own_verdict(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    sweep.run("http/create:RayCluster~job-*#1@after", broken={STARTS: "2"})
    assert marks(group(sweep))["create:RayCluster~job-*#1@after"] == Mark.VIOLATED


def test_what_cannot_exist_says_why(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned())
    sweep.run("http/update:RayJob~job:+ray.io/rayjob-finalizer#1@409")
    only = group(sweep)
    assert marks(only)["create:RayCluster~job-*#1@409"] == Mark.IMPOSSIBLE
    assert only.matrix.reasons()["only a change of an object can be answered with a conflict"] == 3


def test_a_write_that_was_not_learned_has_a_row_of_its_own(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned(writes=WRITES[:2]))
    sweep.run("http/create:Job~job#1@before")
    rows = group(sweep).matrix.rows
    assert [(str(row.write), row.stable) for row in rows][-1] == ("create:Job~job#1", False)


def test_a_sweep_of_replays_alone_has_no_empty_columns(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path)
    sweep.run("http/create:RayCluster~job-*#1@500")
    sweep.run("http/create:RayCluster~job-*#1@committed+again")
    only = group(sweep)
    assert only.matrix.columns == ("500", "committed+again")
    figures = coverage(only)
    assert (figures.pairs, figures.variants, figures.not_run, figures.impossible) == (1, 1, 0, 0)


def test_coverage_counts_pairs_and_names_what_is_left(tmp_path: Path) -> None:
    figures = coverage(group(kills(tmp_path)))
    assert (figures.writes, figures.pairs, figures.judged) == (6, 24, 3)
    assert (figures.equivalent, figures.impossible, figures.error, figures.not_run) == (6, 0, 1, 14)
    assert figures.variants == 0
    assert sentence([figures]) == (
        "3 of 24 judged, 6 equivalent to another, 0 impossible, 1 without a verdict, 14 not run"
    )
    assert list(reasons([figures, figures]).values()) == [12]


def test_no_pair_is_counted_twice_or_forgotten(tmp_path: Path) -> None:
    figures = coverage(group(Sweep(tmp_path).all_states()))
    assert figures.pairs == 6 * 9
    assert figures.judged + figures.equivalent + figures.impossible + figures.error + figures.not_run == figures.pairs
    assert figures.variants_judged == 1
    assert f"1 of {figures.variants} with variants judged" in sentence([figures])


def test_the_release_before_an_upgrade_is_no_version_of_its_own(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path).learn(learned()).learn(learned(), version=BEFORE_UPGRADE)
    sweep.run("http")
    sweep.run("http+upgrade")
    sweep.run("http/create:RayCluster~job-*#1@committed+upgrade")
    only = group(sweep)
    assert [str(run.result.point) for run in only.undisturbed] == ["http", "http+upgrade"]
    assert marks(only)["create:RayCluster~job-*#1@committed+upgrade"] == Mark.HELD
