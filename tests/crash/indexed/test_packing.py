"""What a part has found goes through the log of its pod and back; a log that lost something is not believed."""

import base64
import dataclasses
import io
import json
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kuberay_e2e import samples
from kuberay_e2e.crash import authored
from kuberay_e2e.crash.indexed import unpacking
from kuberay_e2e.crash.indexed.packing import PREFIX, Part, framed, pack
from kuberay_e2e.crash.indexed.unpacking import PackError, unpack, without_pack
from kuberay_e2e.crash.store import SweepFolder
from tests.crash.report.sweeps import STARTS, VERSION, Sweep, learned

HELD = "http/create:RayCluster~job-*#1@before"
BROKEN = "http/create:RayCluster~job-*#1@lost"
FAILED = "http/create:RayCluster~job-*#1@after"
PART = Part(2, 4, 1)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """A sweep of three runs: one held, one broke a promise, one failed."""
    made = Sweep(tmp_path / "sweep").learn(learned())
    made.run(HELD)
    made.run(BROKEN, broken={STARTS: "2"})
    made.run(FAILED, error="The control plane died.")
    return tmp_path / "sweep"


def log(lines: list[str]) -> str:
    return "\n".join(["learning http", "   1/3 held", *lines, ""])


def test_results_and_what_was_learned_come_back(sweep: Path, tmp_path: Path) -> None:
    told = unpack(log(pack(sweep, PART)), tmp_path / "back")
    back, before = SweepFolder(tmp_path / "back"), SweepFolder(sweep)
    assert (told.number, told.parts, told.code) == (2, 4, 1)
    assert back.learned(VERSION) == before.learned(VERSION)
    assert [dataclasses.replace(result, folder="") for result in back.results()] == [
        dataclasses.replace(result, folder="") for result in before.results()
    ]


def test_files_come_back_of_runs_that_did_not_hold(sweep: Path, tmp_path: Path) -> None:
    told = unpack(log(pack(sweep, PART)), tmp_path / "back")
    folders = {str(result.point): result.folder for result in SweepFolder(tmp_path / "back").results()}
    assert not folders[HELD]
    assert (tmp_path / "back" / folders[BROKEN] / "trace.jsonl").read_bytes() == (
        sweep / folders[BROKEN] / "trace.jsonl"
    ).read_bytes()
    assert {path.name for path in (tmp_path / "back" / "runs").iterdir()} == {
        Path(folders[point]).name for point in (BROKEN, FAILED)
    }
    assert told.left_out == ""


def test_files_are_left_out_where_a_log_would_be_too_long(sweep: Path, tmp_path: Path) -> None:
    told = unpack(log(pack(sweep, PART, limit=1)), tmp_path / "back")
    assert told.left_out.startswith("The pack has the files of no run")
    assert not (tmp_path / "back" / "runs").exists()
    assert len(SweepFolder(tmp_path / "back").results()) == 3


def test_a_part_without_results_says_so(tmp_path: Path) -> None:
    told = unpack(log(pack(tmp_path / "nothing", Part(1, 2, 3))), tmp_path / "back")
    assert told.code == 3
    assert not SweepFolder(tmp_path / "back").is_sweep


def test_a_rayjob_of_a_users_own_comes_back(tmp_path: Path) -> None:
    scenario = dataclasses.replace(authored.scenario_of(samples.path()), learns=False)
    authored.keep(tmp_path / "sweep", scenario)
    unpack(log(pack(tmp_path / "sweep", PART)), tmp_path / "back")
    assert [kept.name for kept in authored.kept(tmp_path / "back")] == [scenario.name]


def test_every_line_fits_into_a_pipe_at_once(sweep: Path) -> None:
    assert max(len(line) for line in [*pack(sweep, PART), *framed(bytes(100_000))]) < 4096


def test_other_output_does_not_disturb(sweep: Path, tmp_path: Path) -> None:
    lines = pack(sweep, PART)
    mixed = [part for line in lines for part in (line, "something else")]
    assert unpack(log(mixed), tmp_path / "back").number == 2
    assert set(without_pack(log(mixed))) == {"learning http", "   1/3 held", "something else"}


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda _: [], "Its log has no results."),
        (lambda lines: lines[1:], "The beginning of its results is missing .*containerLogMaxSize"),
        (lambda lines: lines[:-1], r"cut off after line (\d+) of \1"),
        (lambda lines: lines[:1], r"cut off after line 0 of \d+"),
        (lambda lines: [lines[0], *lines[2:]], "line 1 of .* is missing|expected 1 lines, got 0"),
        (lambda lines: [*lines[:1], f"{PREFIX} 1 !!!!", *lines[2:]], "damaged"),
        (lambda lines: [*lines[:1], f"{PREFIX} 1 {base64.b64encode(b'x').decode()}", *lines[2:]], "expected .* bytes"),
        (lambda lines: [*lines[:1], lines[-1]], "expected .* lines, got 0"),
    ],
    ids=["none", "no beginning", "no end", "begin only", "line missing", "no base64", "other content", "empty"],
)
def test_a_pack_that_is_not_whole_is_refused(
    sweep: Path, tmp_path: Path, damage: Callable[[list[str]], list[str]], sentence: str
) -> None:
    with pytest.raises(PackError, match=sentence):
        unpack(log(damage(pack(sweep, PART))), tmp_path / "back")
    assert not (tmp_path / "back").exists()


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> list[str]:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return framed(content.getvalue())


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        member("/etc/passwd"),
        member("../escaped"),
        member("runs/../../escaped"),
        member("runs\\..\\..\\escaped"),
        member("elsewhere/file"),
        member("runs/link", tarfile.SYMTYPE, "/etc"),
        member("runs/hard", tarfile.LNKTYPE, "results.jsonl"),
        member("runs/pipe", tarfile.FIFOTYPE),
        member("runs/disk", tarfile.BLKTYPE),
    ],
    ids=lambda entry: f"{entry.name} {entry.type.decode()}",
)
def test_a_pack_can_write_nothing_but_files_of_a_sweep(tmp_path: Path, entry: tarfile.TarInfo) -> None:
    told = json.dumps(dataclasses.asdict(PART)).encode()
    with pytest.raises(PackError, match="something that is no file of a sweep"):
        unpack(log(archive((member("part.json"), told), (entry, b""))), tmp_path / "a" / "back")
    assert not (tmp_path / "a" / "back").exists()
    assert not list(tmp_path.rglob("escaped"))


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="cannot be unpacked"):
        unpack(log(archive((member("runs/a"), b"1"), (member("runs/a"), b"2"))), tmp_path / "back")


def test_a_pack_that_would_fill_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_UNPACKED_LIMIT", 1000)
    with pytest.raises(PackError, match="would take more than"):
        unpack(log(archive((member("runs/a"), bytes(600)), (member("runs/b"), bytes(600)))), tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("content", [b"no archive", lzma.compress(b"no tar"), b""], ids=["bytes", "xz", "nothing"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(PackError):
        unpack(log(framed(content)), tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("told", [b"[]", b"{", b'{"number": 1}', b'{"number": "x", "parts": 1, "code": 0}'])
def test_a_pack_that_does_not_say_what_it_is_of_is_refused(tmp_path: Path, told: bytes) -> None:
    with pytest.raises(PackError, match="do not say which part"):
        unpack(log(archive((member("part.json"), told))), tmp_path / "back")
