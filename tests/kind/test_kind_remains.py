"""What a killed run left of a kind cluster is known, removed by the next run, and kept in mind until that works."""

import json
from pathlib import Path

import pytest

from kuberay_e2e import processes, state
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind_remains import Remains, cluster_name, remove_leftovers
from kuberay_e2e.errors import HarnessError

LISTS = """
case "$1 $2" in
"ps --all") echo "c-1a2b3c-control-plane c-1a2b3c-worker" ;;
"volume ls")
    printf 'v1\\tmap[c-1a2b3c-control-plane:true]\\n'
    printf 'v2\\tc-1a2b3c-worker=true\\n'
    printf 'v3\\tabc-1a2b3c-worker=true\\n'
    printf 'v4\\t\\n' ;;
"network ls") printf 'podman\\nc-1a2b3c\\nc-1a2b3c-too\\n' ;;
esac
"""


def engine(folder: Path, answers: str) -> ContainerEngine:
    """An engine that writes down its commands and answers as told."""
    program = folder / "podman"
    program.write_text(f'#!/bin/sh\necho "$*" >> {folder}/calls\n{answers}\n')
    program.chmod(0o755)
    return ContainerEngine("podman", program)


@pytest.fixture
def killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a killed run, on a machine whose container engine is gone."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = tmp_path / "pulumi-kuberay" / "runs" / "killed"
    (folder / "cluster").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"owner": "kuberay-e2e", "marker": "killed-0123456789ab"}))
    Remains(folder / "cluster", "podman", "killed-6789ab").note()
    return folder


def test_all_of_a_cluster_is_removed_and_nothing_else(tmp_path: Path) -> None:
    remains = Remains(tmp_path, "podman", "c-1a2b3c")
    remains.note()
    removed = remains.remove(engine(tmp_path, LISTS))
    assert removed == ["c-1a2b3c-control-plane", "c-1a2b3c-worker"]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call for call in calls if call.startswith("rm ") or " rm " in call] == [
        "rm --force --volumes --time 0 c-1a2b3c-control-plane c-1a2b3c-worker",
        "volume rm --force v1 v2",
        "network rm c-1a2b3c",
    ]
    assert not (tmp_path / "kind.json").exists()


def test_a_cluster_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    assert Remains(tmp_path, "podman", "c-1a2b3c").remove(engine(tmp_path, "")) == []


def test_a_container_that_dies_slowly_is_removed_when_it_is_dead(tmp_path: Path) -> None:
    dying = f"""
    case "$1" in rm) test -e {tmp_path}/asked || {{
        touch {tmp_path}/asked
        echo "cannot remove container: given PIDs did not die within timeout" >&2
        exit 125
    }} ;; esac"""
    assert len(Remains(tmp_path, "podman", "c-1a2b3c").remove(engine(tmp_path, LISTS + dying))) == 2
    asked = [call for call in (tmp_path / "calls").read_text().splitlines() if call.startswith("rm ")]
    assert len(asked) == 2


def test_a_container_that_cannot_be_removed_is_an_error(tmp_path: Path) -> None:
    refusing = 'case "$1" in rm) echo "permission denied" >&2; exit 125 ;; esac'
    with pytest.raises(HarnessError, match="permission denied"):
        Remains(tmp_path, "podman", "c-1a2b3c").remove(engine(tmp_path, LISTS + refusing))


def test_two_runs_of_one_name_have_clusters_of_different_names() -> None:
    assert cluster_name("nightly", "nightly-0123456789ab") != cluster_name("nightly", "nightly-0123456789ac")
    assert cluster_name("-", "--0123456789ab") == "6789ab"


def test_what_a_run_made_is_known_from_its_folder(killed: Path, tmp_path: Path) -> None:
    assert Remains.of(killed) == Remains(killed / "cluster", "podman", "killed-6789ab")
    assert Remains.of(tmp_path) is None
    assert state.abandoned() == [killed]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"engine": "podman"}'])
def test_a_note_that_was_not_finished_names_no_cluster(killed: Path, text: str) -> None:
    (killed / "cluster" / "kind.json").write_text(text)
    assert Remains.of(killed) is None


def test_a_run_that_goes_on_is_not_abandoned(killed: Path) -> None:
    with state.claim("going-on"):
        assert state.abandoned() == [killed]


def test_a_cluster_whose_engine_is_away_stays_known(killed: Path) -> None:
    with pytest.raises(HarnessError, match="Expected podman on the PATH"):
        remove_leftovers(killed, "killed-0123456789ab")
    [sentence] = state.sweep()
    assert sentence.startswith("What the killed run 'killed' left is still there, to be removed later")
    assert Remains.of(killed) is not None


def test_a_new_run_of_that_name_says_why_it_cannot_begin(killed: Path) -> None:
    with pytest.raises(HarnessError, match="Expected podman on the PATH"), state.claim("killed"):
        raise AssertionError("the run began")
    assert Remains.of(killed) is not None


def test_a_program_that_others_share_is_spared_by_name(tmp_path: Path) -> None:
    marker = "test-kind-spare"
    process = processes.spawn(["sleep", "60"], marker=marker, log=tmp_path / "log")
    try:
        assert processes.reap(marker, spare=("sleep",)) == []
        assert process.poll() is None
        assert processes.reap(marker) == [f"sleep ({process.pid})"]
    finally:
        processes.end(process)
