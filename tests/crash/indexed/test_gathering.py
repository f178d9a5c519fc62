"""From the logs of pods to one report: what is whole, what is not, and why, without a cluster."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from kuberay_e2e.access import Access
from kuberay_e2e.api import ClusterReader
from kuberay_e2e.crash.indexed import gathering
from kuberay_e2e.crash.indexed.gathering import Gathered, chosen, gathered
from kuberay_e2e.crash.indexed.manifests import Wish
from kuberay_e2e.crash.indexed.packing import Part, pack
from kuberay_e2e.crash.indexed.pods import PartPod, end_of
from kuberay_e2e.crash.indexed.reading import FreshReader
from kuberay_e2e.crash.indexed.running import Watch, create
from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.errors import HarnessError
from tests.crash.indexed.pods import job, pod
from tests.crash.report.sweeps import Sweep, learned

FIRST, SECOND = "http/create:RayCluster~job-*#1@before", "http/create:RayCluster~job-*#1@committed"
WISH = Wish("harness:1", 2, 2, "sweep", 60)
NO_IMAGE = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}


def log_of(folder: Path, part: int, point: str, code: int = 0, parts: int = 2) -> str:
    """The log of a pod that ran one point."""
    Sweep(folder).learn(learned()).run(point)
    return "\n".join(["2 runs planned", "   1/1 held", *pack(folder, Part(part, parts, code)), ""])


class Api:
    """An API server that has a Job and pods, at each look what comes next; the last stays."""

    def __init__(self, *looks: tuple[dict[str, Any] | None, list[dict[str, Any]]], logs: dict[str, str]) -> None:
        self.looks, self.logs = list(looks), logs
        self.seconds = 0.0
        self.said: list[str] = []
        self.first_log: httpx.Response | None = None
        self.away = 0.0

    def answer(self, request: httpx.Request) -> httpx.Response:
        if self.seconds < self.away:
            return httpx.Response(503, text="The control plane is away.")
        found, pods = self.looks[0]
        path = request.url.path
        if path.endswith("/jobs/crash-sweep"):
            return httpx.Response(404) if found is None else httpx.Response(200, json=found)
        if path.endswith("/log") and self.first_log is not None:
            answer, self.first_log = self.first_log, None
            return answer
        if path.endswith("/log"):
            text = self.logs.get(path.split("/")[-2])
            return httpx.Response(404, text="no log") if text is None else httpx.Response(200, text=text)
        assert request.url.params["labelSelector"] == "batch.kubernetes.io/job-name=crash-sweep"
        if len(self.looks) > 1:
            del self.looks[0]
        return httpx.Response(200, json={"items": pods})

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def watch(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Gathered]:
        client = httpx.Client(transport=httpx.MockTransport(self.answer), base_url="http://api")
        monkeypatch.setattr(Access, "client", lambda *_, **__: client)
        with ClusterReader(Access("http://api")) as reader:
            return Watch(
                lambda: reader, WISH, folder, self.said.append, clock=lambda: self.seconds, sleep=self.sleep
            ).to_its_end()


def test_parts_are_taken_as_they_end_and_make_one_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = {
        "crash-sweep-0-abcde": log_of(tmp_path / "1", 1, FIRST),
        "crash-sweep-1-abcde": log_of(tmp_path / "2", 2, SECOND),
    }
    api = Api(
        (job(), [pod(1, "Pending"), pod(2, "Running")]),
        (job(), [pod(1, "Running"), pod(2, code=0)]),
        (job("Complete"), [pod(1, code=0)]),  # the other one is gone already
        logs=logs,
    )
    parts = api.watch(tmp_path / "parts", monkeypatch)
    assert [part.failure for part in parts] == ["", ""]
    assert gathering.report(parts, tmp_path / "report") == 0
    assert {str(result.point) for result in SweepFolder(tmp_path / "report").results()} == {FIRST, SECOND}
    assert (tmp_path / "report" / "index.html").exists()
    said = capsys.readouterr().out
    assert f"Report: {tmp_path / 'report' / 'index.html'}" in said
    assert api.said[0] == "part 1/2: Pending (crash-sweep-0-abcde)"


def test_a_failed_part_is_told_and_the_others_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = {
        "crash-sweep-0-abcde": log_of(tmp_path / "1", 1, FIRST),
        "crash-sweep-1-abcde": "learning http\nkuberay-e2e: The API server was not ready within 90 s.\n",
    }
    api = Api((job("Failed", "one failed"), [pod(1, code=0), pod(2, "Failed", code=137)]), logs=logs)
    assert gathering.report(api.watch(tmp_path / "parts", monkeypatch), tmp_path / "report") == 3
    said = capsys.readouterr().out
    assert (
        "part 2 failed: Its pod crash-sweep-1-abcde ended as Failed with exit code 137, because it was killed" in said
    )
    assert "Its log has no results." in said
    assert "  | kuberay-e2e: The API server was not ready within 90 s." in said
    assert [str(result.point) for result in SweepFolder(tmp_path / "report").results()] == [FIRST]
    assert "was not ready" in (tmp_path / "report" / "parts" / "part-2.log").read_text()


def test_what_a_part_came_to_before_it_failed_is_reported(tmp_path: Path) -> None:
    log = log_of(tmp_path / "1", 1, FIRST, code=3)
    found = gathered(PartPod.of(pod(1, "Failed", code=3)), log, tmp_path / "parts" / "1", 2)
    assert "ended as Failed with exit code 3. What it had come to until then is in the report." in found.failure
    assert gathering.report([found], tmp_path / "report") == 3
    assert len(SweepFolder(tmp_path / "report").results()) == 1


def test_a_part_that_came_to_nothing_is_told_by_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["kuberay-e2e: The API server was not ready.", *pack(tmp_path / "nothing", Part(2, 2, 3))]
    logs = {"crash-sweep-0-abcde": log_of(tmp_path / "1", 1, FIRST), "crash-sweep-1-abcde": "\n".join(lines)}
    api = Api((job("Failed"), [pod(1, code=0), pod(2, "Failed", code=3)]), logs=logs)
    assert gathering.report(api.watch(tmp_path / "parts", monkeypatch), tmp_path / "report") == 3
    said = capsys.readouterr().out
    assert (
        "ended as Failed with exit code 3. It came to nothing.\n  | kuberay-e2e: The API server was not ready." in said
    )


def test_a_pod_that_ran_another_part_is_noticed(tmp_path: Path) -> None:
    log = log_of(tmp_path / "1", 1, FIRST, parts=3)
    found = gathered(PartPod.of(pod(1, code=0)), log, tmp_path / "parts" / "1", 2)
    assert found.failure == "Its pod was to run part 1 of 2, and ran part 1 of 3."


def test_a_log_that_cannot_be_read_is_a_failed_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = {"crash-sweep-0-abcde": log_of(tmp_path / "1", 1, FIRST)}
    api = Api((job("Complete"), [pod(1, code=0), pod(2, code=0)]), logs=logs)
    assert [part.failure[:24] for part in api.watch(tmp_path / "parts", monkeypatch)] == [
        "",
        "Its log cannot be read: ",
    ]


def test_no_results_at_all_are_no_report(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="None of the 1 parts has results"):
        gathering.report([Gathered(1, failure="Its log has no results.")], tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_a_part_that_the_cluster_took_away_counts_by_its_next_pod() -> None:
    gone = Gathered(1, failure="gone", created="2026-01-01T00:00:00Z")
    whole = Gathered(1, created="2026-01-01T00:01:00Z")
    later = Gathered(1, failure="failed", created="2026-01-01T00:02:00Z")
    assert chosen([gone, later], 1, "Failed") == [later]
    assert chosen([gone, whole, later], 1, "Complete") == [whole]


def test_a_part_none_of_whose_pods_ended_names_the_end_of_the_job() -> None:
    [part] = chosen([], 1, "Failed: DeadlineExceeded: Job was active longer than specified deadline")
    assert "The Job: Failed: DeadlineExceeded" in part.failure


@pytest.mark.parametrize(
    ("pods", "found", "sentence"),
    [
        ([pod(1, "Pending", waiting=NO_IMAGE)], job(), "no image harness:1 after 120 s: ImagePullBackOff: Back-off"),
        ([pod(1, "Running")], job(), "has not ended 120 s after its activeDeadlineSeconds of 60"),
    ],
    ids=["no image", "no end"],
)
def test_a_job_that_cannot_end_is_given_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    pods: list[dict[str, Any]],
    found: dict[str, Any] | None,
    sentence: str,
) -> None:
    with pytest.raises(HarnessError, match=sentence):
        Api((found, pods), logs={}).watch(tmp_path / "parts", monkeypatch)


def test_what_was_gathered_before_somebody_removed_the_job_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {"crash-sweep-0-abcde": log_of(tmp_path / "1", 1, FIRST)}
    api = Api((job(), [pod(1, code=0), pod(2, "Running")]), (None, []), logs=logs)
    first, second = api.watch(tmp_path / "parts", monkeypatch)
    assert first.failure == ""
    assert "It was removed by somebody else" in second.failure


@pytest.mark.parametrize("broken", [503, "cut"], ids=["no answer", "half a log"])
def test_a_log_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: int | str) -> None:
    logs = {f"crash-sweep-{part - 1}-abcde": log_of(tmp_path / str(part), part, FIRST) for part in (1, 2)}
    api = Api((job("Complete"), [pod(1, code=0), pod(2, code=0)]), logs=logs)
    api.first_log = (
        httpx.Response(503) if broken == 503 else httpx.Response(200, text=logs["crash-sweep-0-abcde"][:-80])
    )
    assert [part.failure for part in api.watch(tmp_path / "parts", monkeypatch)] == ["", ""]


def test_a_cluster_that_does_not_answer_for_a_moment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {f"crash-sweep-{part - 1}-abcde": log_of(tmp_path / str(part), part, FIRST) for part in (1, 2)}
    api = Api((job("Complete"), [pod(1, code=0), pod(2, code=0)]), logs=logs)
    api.away = 60.0
    assert [part.failure for part in api.watch(tmp_path / "parts", monkeypatch)] == ["", ""]
    api.away = api.seconds + 500.0
    with pytest.raises(HarnessError, match="got 503"):
        api.watch(tmp_path / "again", monkeypatch)


def test_credentials_are_asked_for_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = 0.0, list[Path]()

    def read(kubeconfig: Path) -> Access:
        asked.append(kubeconfig)
        return Access("http://api")

    monkeypatch.setattr(Access, "read", read)
    with FreshReader(tmp_path / "config", clock=lambda: now) as reader:
        first = reader()
        now = 200.0
        assert reader() is first
        now = 400.0
        assert reader() is not first
    assert asked == [tmp_path / "config"] * 2


def test_an_image_that_is_slow_to_come_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = {f"crash-sweep-{part - 1}-abcde": log_of(tmp_path / str(part), part, FIRST) for part in (1, 2)}
    waiting = (job(), [pod(1, "Pending", waiting=NO_IMAGE), pod(2, "Pending")])
    api = Api(*(waiting for _ in range(20)), (job("Complete"), [pod(1, code=0), pod(2, code=0)]), logs=logs)
    assert [part.failure for part in api.watch(tmp_path / "parts", monkeypatch)] == ["", ""]


def test_what_a_pod_waits_for_is_read() -> None:
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "Insufficient cpu."}
    assert PartPod.of(pod(3, "Pending", conditions=[scheduled])).waiting == "Unschedulable: Insufficient cpu."
    assert PartPod.of(pod(3, "Pending", waiting=NO_IMAGE)).no_image
    taken = PartPod.of(pod(3, "Failed", conditions=[{"type": "DisruptionTarget", "status": "True"}]))
    assert (taken.part, taken.disrupted, taken.ended) == (3, True, True)
    assert not PartPod.of(pod(1, "Running")).ended


def test_the_end_of_a_job_is_in_the_words_of_kubernetes() -> None:
    assert end_of(job()) == ""
    assert end_of({}) == ""
    assert end_of(job("Failed", "it took too long")) == "Failed: BecauseFailed: it took too long"


def test_what_the_cluster_refuses_is_said() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(403, text="jobs.batch is forbidden")

    manifest = {"kind": "Job", "metadata": {"name": "crash-sweep"}}
    with (
        httpx.Client(transport=httpx.MockTransport(refuse), base_url="http://api") as client,
        pytest.raises(HarnessError, match=r"The Job crash-sweep could not be created: 403, jobs.batch is forbidden"),
    ):
        create(client, "/apis/batch/v1/namespaces/sweep/jobs", manifest)


def test_the_sentence_of_an_error_is_told_also_where_logs_follow_it(tmp_path: Path) -> None:
    sentence = "kuberay-e2e: The embedded control plane did not start: kwokctl create did not end within 90 s."
    log = "\n".join(["57 runs planned", sentence, *(f"line {number} of a log" for number in range(30))])
    found = gathered(PartPod.of(pod(1, "Failed", code=3)), log, tmp_path / "part", 2)
    assert found.tail[0] == sentence
    assert found.tail[-1] == "line 29 of a log"
    assert len(found.tail) == 13
