"""A sweep that cannot go on says so, once and to all its runs."""

from pathlib import Path

import pytest

from kuberay_e2e.crash import health
from kuberay_e2e.crash.health import ControlPlaneGone, Health, Stopped, SweepError, is_full, no_space


def test_it_goes_on_while_all_is_well(tmp_path: Path) -> None:
    Health(tmp_path).check()


def test_a_program_that_has_ended_is_noticed_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_INTERVAL_SECONDS", 0.0)
    ended = [""]
    watched = Health(tmp_path, lambda: ended[0])
    watched.check()
    ended[0] = "etcd"
    with pytest.raises(ControlPlaneGone, match="The program etcd of the control plane has ended"):
        watched.check()
    ended[0] = ""
    with pytest.raises(ControlPlaneGone):
        watched.check()


def test_it_is_not_looked_at_by_every_run_anew(tmp_path: Path) -> None:
    answers = iter(["", "etcd"])
    watched = Health(tmp_path, lambda: next(answers))
    for _ in range(100):
        watched.check()
    assert list(answers) == ["etcd"]


def test_a_stop_ends_every_run_at_its_next_look(tmp_path: Path) -> None:
    watched = Health(tmp_path)
    watched.stop()
    for _ in range(2):
        with pytest.raises(Stopped):
            watched.check()


def test_too_little_room_is_said_before_a_run_fails_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_ROOM", 1 << 62)
    with pytest.raises(
        SweepError, match=r"room for the files of a run in .*MiB are left.*what has a result is not run"
    ):
        Health(tmp_path).check()


def test_a_full_disk_is_told_from_other_errors() -> None:
    with pytest.raises(OSError, match="No space left") as full:
        Path("/dev/full").write_text("x")
    with pytest.raises(OSError, match="No such file") as absent:
        Path("/does/not/exist").read_text()
    assert (is_full(full.value), is_full(absent.value)) == (True, False)
    assert "Free some space" in no_space(Path("/tmp"), full.value)
