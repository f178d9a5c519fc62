"""The track record says what was run, what was found after how long, and which suspicions are settled."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kuberay_e2e.crash.catalogue import BY_NAME
from kuberay_e2e.crash.report import read, suspicions
from kuberay_e2e.crash.report.suspicions import Suspicion, settled
from kuberay_e2e.crash.report.track_record import document, main
from kuberay_e2e.crash.verdict import known_deviations
from kuberay_e2e.errors import InputError
from kuberay_e2e.session import OPERATOR_VERSION
from tests.crash.report.sweeps import Sweep, known

LOST = Suspicion("lost", "A lost answer doubles the job.", "kuberay#4824", "http/submit:*@lost", "submits-twice")


def test_a_defect_is_told_with_the_seconds_until_it_was_found(tmp_path: Path) -> None:
    text = document(read(Sweep(tmp_path).all_states().folder, known))
    [line] = [line for line in text.splitlines() if line.startswith("| submits-twice")]
    cells = [cell.strip() for cell in line.strip("|").split(" | ")]
    assert cells[1:5] == ["http", "lost", "1", "182 s, 14 runs"]
    assert cells[6].startswith("`kuberay-e2e crash replay 'http/submit:RayJobs~job-*#1@lost'`")


def test_what_was_run_is_told_with_its_figures(tmp_path: Path) -> None:
    text = document(read(Sweep(tmp_path).all_states().folder, known))
    assert "17 runs with KubeRay 1.6.2, 3 min 40 s of runs, 12.9 s each." in text
    assert "| http | 1.6.2 | 6 | before, committed, lost, committed+down | 17 | 14 | 1 | 1 | 1 | 12.9 |" in text
    assert "Left out:\n\n- " in text
    assert "| http | exactly once (6) | exactly once (6) | at least once (2) | exactly once (1) |" in text


def test_what_is_open_is_not_hidden(tmp_path: Path) -> None:
    text = document(read(Sweep(tmp_path).all_states().folder, known))
    assert "| `http/create:RayCluster~job-*#1@lost` | violated |" in text
    assert "| `http/create:Pod~job-*-head-*#1@lost` | error |" in text


def test_it_is_the_same_for_the_same_sweep_wherever_that_is(tmp_path: Path) -> None:
    texts = {document(read(Sweep(tmp_path / name).all_states().folder, known), [LOST]) for name in ("a", "b")}
    assert len(texts) == 1
    assert str(tmp_path) not in texts.pop()


@pytest.mark.parametrize(
    ("runs", "deviation", "expected"),
    [
        ("http/submit:*@lost", "submits-twice", "So it is, in 1 of 1 run: submits-twice."),
        ("http/submit:*@before", "submits-twice", "Not so in 1 run."),
        ("http/create:RayCluster*@lost", "", "Open: 1 of 1 run broke a promise in a way that is not known."),
        ("http/submit:*", "another", "Not so, but 1 of 3 runs deviate as known: submits-twice."),
        ("http/create:Pod*@lost", "", "Not tested."),
        ("ttl/*", "", "Not tested."),
    ],
)
def test_a_suspicion_is_settled_by_its_runs(tmp_path: Path, runs: str, deviation: str, expected: str) -> None:
    report = read(Sweep(tmp_path).all_states().folder, known)
    assert settled(Suspicion("one", "It breaks.", "somebody", runs, deviation), report) == expected


def test_the_suspicions_that_come_with_the_sweep_are_of_its_scenarios() -> None:
    found = suspicions.read()
    assert len({one.id for one in found}) == len(found) > 10
    known_ids = {entry.id for entry in known_deviations(OPERATOR_VERSION)}
    for one in found:
        assert bool(one.runs) != bool(one.elsewhere), one.id
        scenario = one.runs.partition("/")[0]
        assert one.elsewhere or any(
            fnmatchcase(name, scenario.partition("+")[0].partition("@")[0]) for name in BY_NAME
        ), one.id
        assert one.deviation in {"", *known_ids}


def test_a_suspicion_that_no_sweep_can_settle_says_what_does(tmp_path: Path) -> None:
    report = read(Sweep(tmp_path).all_states().folder, known)
    assert settled(Suspicion("one", "It breaks.", "somebody", elsewhere="So it is, on kind."), report) == (
        "So it is, on kind."
    )


def test_suspicions_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "suspicions.yaml"
    assert suspicions.read(path) == []
    path.write_text("- {id: a, suspicion: It breaks., source: somebody, runs: 'http*'}\n")
    assert suspicions.read(path) == [Suspicion("a", "It breaks.", "somebody", "http*")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1", "to be a list of suspicions; it is a dict"),
        ("- {id: a}", "Expected the field 'runs' at .*entry 1 to have a value"),
        ("- {id: a, odd: b}", "Unknown field 'odd' at .*entry 1"),
        ("- {id: 1}", "Expected a mapping of texts at .*entry 1"),
        ("- [", "to be YAML"),
    ],
)
def test_a_wrong_file_of_suspicions_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suspicions.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        suspicions.read(path)


def test_it_is_written_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep = Sweep(tmp_path / "sweep").all_states()
    page = tmp_path / "track-record.md"
    assert main([str(sweep.folder.path), str(page)]) == 0
    assert page.read_text().startswith("# Track record\n")
    assert main([str(tmp_path / "nothing")]) == 2
    assert "to be the folder of a sweep; there is none" in capsys.readouterr().err
    assert main([]) == 2
