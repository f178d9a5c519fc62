"""Both back ends behave alike: like Ray."""

from dataclasses import dataclass, replace

import pytest

from kuberay_e2e.ray import Head, Outcome, RayClusterKey, RayHeadError, Submitter
from tests.ray.bench import CLUSTER, COUNTED, MOUNT, Bench, submit_command

TERMINAL = {"SUCCEEDED", "FAILED", "STOPPED"}
ORDER = ["PENDING", "RUNNING", "SUCCEEDED"]
COUNTER = f"python {MOUNT}/counter.py"


@dataclass(frozen=True)
class Submitted:
    submission_id: str
    code: int
    log: str


@pytest.fixture(scope="module")
def succeeded(bench: Bench) -> Submitted:
    code, log = bench.submit_by_pod("submitter-1", "counter-1", COUNTER)
    bench.settle(lambda: bench.ledger.ends("counter-1"))
    return Submitted("counter-1", code, log)


@pytest.fixture(scope="module")
def failed(bench: Bench) -> Submitted:
    code, log = bench.submit_by_pod("submitter-2", "failing-1", "exit 3")
    bench.settle(lambda: bench.ledger.ends("failing-1"))
    return Submitted("failing-1", code, log)


def test_version_document(bench: Bench) -> None:
    status, document = bench.call("GET", "/api/version")

    assert status == 200
    assert set(document) == {"version", "ray_version", "ray_commit", "session_name"}
    assert document["version"] == "4"


def test_health_of_the_head_as_a_sidecar_asks_for_it(bench: Bench) -> None:
    status, text = bench.call("GET", "/api/gcs_healthz")

    assert (status, text) == (200, "success")


def test_submitter_pod_submits_and_follows_to_success(succeeded: Submitted) -> None:
    assert succeeded.code == 0
    assert "Job 'counter-1' submitted successfully" in succeeded.log
    assert "Job 'counter-1' succeeded" in succeeded.log
    assert [line for line in succeeded.log.splitlines() if line in COUNTED] == COUNTED


def test_ledger_of_a_success(bench: Bench, succeeded: Submitted) -> None:
    [accepted] = bench.ledger.accepted(succeeded.submission_id)
    [start] = bench.ledger.starts(succeeded.submission_id)
    [end] = bench.ledger.ends(succeeded.submission_id)

    assert accepted.cluster == CLUSTER
    assert accepted.event.caller == "submitter/submitter-1"
    assert accepted.event.entrypoint == start.event.entrypoint == COUNTER, "the ledger keeps the original paths"
    assert accepted.event.metadata == {"team": "ml"}
    assert accepted.event.runtime_env == {"env_vars": {"counter_name": "test_counter"}}
    assert (end.event.status, end.event.exit_code) == ("SUCCEEDED", 0)
    assert accepted.time <= start.time <= end.time + 0.5
    assert accepted.sequence < start.sequence < end.sequence


@pytest.mark.usefixtures("succeeded")
def test_second_submitter_pod_follows_without_submitting_again(bench: Bench) -> None:
    code, log = bench.submit_by_pod("submitter-1-retry", "counter-1", COUNTER)

    assert code == 0
    assert "submitted successfully" not in log
    assert "Job 'counter-1' succeeded" in log
    assert len(bench.ledger.submissions("counter-1")) == 1
    assert len(bench.ledger.starts("counter-1")) == 1


def test_submitter_pod_of_a_failed_job_succeeds(failed: Submitted) -> None:
    """`ray job logs --follow` exits with 0 whatever became of the job."""
    assert failed.code == 0
    assert "Job 'failing-1' failed" in failed.log


@pytest.mark.usefixtures("failed")
def test_details_of_a_failed_job(bench: Bench) -> None:
    status, job = bench.call("GET", "/api/jobs/failing-1")

    assert status == 200
    assert (job["status"], job["driver_exit_code"]) == ("FAILED", 3)
    assert job["error_type"] == "JOB_ENTRYPOINT_COMMAND_ERROR"
    assert job["message"].startswith("Job entrypoint command failed with exit code 3, last available logs")
    [end] = bench.ledger.ends("failing-1")
    assert (end.event.status, end.event.exit_code) == ("FAILED", 3)


@pytest.mark.usefixtures("succeeded")
def test_details_of_a_succeeded_job(bench: Bench) -> None:
    status, job = bench.call("GET", "/api/jobs/counter-1")

    assert status == 200
    assert job["type"] == "SUBMISSION"
    assert job["submission_id"] == "counter-1"
    assert job["status"] == "SUCCEEDED"
    assert job["message"] == "Job finished successfully."
    assert job["driver_exit_code"] == 0
    assert job["metadata"] == {"team": "ml"}
    assert job["error_type"] is None
    assert job["start_time"] < job["end_time"]
    assert bench.call("GET", f"/api/jobs/{job['job_id']}")[1]["submission_id"] == "counter-1"


@pytest.mark.usefixtures("succeeded", "failed")
def test_list_has_every_job(bench: Bench) -> None:
    status, jobs = bench.call("GET", "/api/jobs/")

    assert status == 200
    by_id = {job["submission_id"]: job["status"] for job in jobs}
    assert by_id["counter-1"] == "SUCCEEDED"
    assert by_id["failing-1"] == "FAILED"


@pytest.mark.usefixtures("succeeded")
def test_logs_and_followed_logs_are_the_same(bench: Bench) -> None:
    status, document = bench.call("GET", "/api/jobs/counter-1/logs")

    assert status == 200
    assert [line for line in document["logs"].splitlines() if line in COUNTED] == COUNTED
    assert bench.follow("counter-1") == document["logs"]


@pytest.mark.usefixtures("succeeded")
def test_taken_submission_id_is_refused(bench: Bench) -> None:
    status, text = bench.call("POST", "/api/jobs/", {"entrypoint": "true", "submission_id": "counter-1"})

    assert status == 500
    assert "Job with submission_id counter-1 already exists. Please use a different submission_id." in text
    [duplicate] = bench.ledger.duplicates("counter-1")
    assert duplicate.event.caller == "operator"
    assert len(bench.ledger.starts("counter-1")) == 1


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("GET", "/logs"), ("POST", "/stop"), ("DELETE", "")])
def test_unknown_job_is_404(bench: Bench, method: str, suffix: str) -> None:
    assert bench.call(method, f"/api/jobs/nobody{suffix}") == (404, "Job nobody does not exist")


def test_list_without_trailing_slash_is_404(bench: Bench) -> None:
    assert bench.call("GET", "/api/jobs")[0] == 404


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({}, "missing 1 required positional argument: 'entrypoint'"),
        ({"entrypoint": 5}, "entrypoint must be a string, got <class 'int'>"),
        ({"entrypoint": "true", "colour": "red"}, "got an unexpected keyword argument 'colour'"),
        ({"entrypoint": "true", "metadata": {"a": 1}}, "metadata values must be strings, got <class 'int'>"),
        ({"entrypoint": "true", "runtime_env": []}, "runtime_env must be a dict, got <class 'list'>"),
        ({"entrypoint": "true", "entrypoint_num_cpus": "2"}, "entrypoint_num_cpus must be a number"),
    ],
)
def test_bad_submission_is_400(bench: Bench, document: dict[str, object], complaint: str) -> None:
    status, text = bench.call("POST", "/api/jobs/", document)

    assert status == 400
    assert complaint in text
    assert bench.ledger.submissions()[-1].event.outcome is Outcome.REFUSED


def test_submission_that_is_not_json_is_500(bench: Bench) -> None:
    assert bench.call("POST", "/api/jobs/", body=b"{")[0] == 500


def test_job_goes_through_its_statuses_in_order(bench: Bench) -> None:
    status, document = bench.call("POST", "/api/jobs/", {"entrypoint": "true"})
    assert status == 200
    submission_id = document["submission_id"]
    assert submission_id.startswith("raysubmit_")
    assert document["job_id"] == submission_id

    seen = bench.statuses(submission_id, until=TERMINAL)

    assert seen == [status for status in ORDER if status in seen], "statuses come in Ray's order"
    assert seen[0] == "PENDING"
    assert seen[-1] == "SUCCEEDED"
    assert len(bench.ledger.accepted(submission_id)) == 1


def test_stop_and_delete(bench: Bench) -> None:
    bench.call("POST", "/api/jobs/", {"entrypoint": "sleep 1000", "submission_id": "sleeper"})
    assert bench.statuses("sleeper", until={"RUNNING"})[-1] == "RUNNING"
    bench.settle(lambda: bench.ledger.running(CLUSTER) == ("sleeper",))

    status, text = bench.call("DELETE", "/api/jobs/sleeper")
    assert status == 500
    assert "Attempted to delete job 'sleeper', but it is in a non-terminal state RUNNING." in text

    assert bench.call("POST", "/api/jobs/sleeper/stop") == (200, {"stopped": True})
    assert bench.statuses("sleeper", until=TERMINAL)[-1] == "STOPPED"
    job = bench.call("GET", "/api/jobs/sleeper")[1]
    assert (job["message"], job["driver_exit_code"]) == ("Job was intentionally stopped.", None)
    bench.settle(lambda: bench.ledger.ends("sleeper"))

    assert bench.call("DELETE", "/api/jobs/sleeper") == (200, {"deleted": True})
    assert bench.call("GET", "/api/jobs/sleeper")[0] == 404
    assert [entry.event.stopped for entry in bench.ledger.stops("sleeper")] == [True]
    assert [entry.event.deleted for entry in bench.ledger.deletions("sleeper")] == [False, True]
    assert [entry.event.status for entry in bench.ledger.ends("sleeper")] == ["STOPPED"]


@pytest.mark.usefixtures("succeeded")
def test_stop_of_a_finished_job_stops_nothing(bench: Bench) -> None:
    assert bench.call("POST", "/api/jobs/counter-1/stop") == (200, {"stopped": False})


def test_second_head_for_a_cluster_is_refused(bench: Bench) -> None:
    with pytest.raises(RayHeadError, match="RayCluster default/counter-abcde has a running head; stop it before"):
        bench.run(bench.backend.start_head(Head(CLUSTER, "uid-2")))
    assert bench.backend.door(CLUSTER) == bench.url


def test_submitter_without_a_head_fails(bench: Bench) -> None:
    nobody = RayClusterKey("default", "nobody")
    log = bench.folder / "early.log"
    early = Submitter("default", "early", "uid", nobody, submit_command("early-1", "true"), log)

    assert bench.run(bench.backend.run_submitter(early)) == 1
    assert bench.backend.door(nobody) is None
    assert bench.run(bench.backend.run_submitter(replace(early, command=["/bin/sh", "-c", "kill -9 $$"]))) == 137
