"""A fault waits for one write and acts on it once."""

import pytest

from kuberay_e2e.errors import InputError
from kuberay_e2e.gateway import Position, WriteIdentity, WriteSelector
from kuberay_e2e.gateway.faults import parse


def test_short_form_means_first_occurrence_committed() -> None:
    fault = parse("create:Job")
    assert fault.write == WriteSelector("create", "Job")
    assert fault.position is Position.COMMITTED


def test_full_form() -> None:
    fault = parse("update:RayJob/status:jobDeploymentStatus=Running#2@before")
    assert fault.write == WriteSelector("update", "RayJob", "status", "jobDeploymentStatus=Running", 2)
    assert fault.position is Position.BEFORE
    assert str(fault) == "update:RayJob/status:jobDeploymentStatus=Running#2@before"


@pytest.mark.parametrize("text", ["", "Job", "create", "make:Job", "create:Job#0", "create:Job@", "create:Job@never"])
def test_other_forms_are_refused_with_the_form_that_is_expected(text: str) -> None:
    with pytest.raises(InputError, match=r"Expected (a write as VERB:KIND|one of the positions)"):
        parse(text)


def test_all_pods_of_a_worker_group_are_deleted_by_one_write() -> None:
    assert parse("deletecollection:Pod@lost").write.matches(WriteIdentity("deletecollection", "Pod"))


def test_only_the_chosen_occurrence_fires_and_only_once() -> None:
    fault = parse("create:Pod#2")
    pods = [WriteIdentity("create", "Pod", name=name) for name in ("head", "worker", "worker")]
    assert [fault.claims(pod) for pod in pods] == [False, True, False]
    assert fault.fired.is_set()


def test_a_change_selects_among_the_writes_of_one_status() -> None:
    fault = parse("update:RayJob/status:jobStatus=SUCCEEDED")
    running = WriteIdentity("update", "RayJob", "status", change="jobStatus=RUNNING")
    ended = WriteIdentity("update", "RayJob", "status", change="jobDeploymentStatus=Complete,jobStatus=SUCCEEDED")
    assert not fault.claims(running)
    assert fault.claims(ended)


@pytest.mark.parametrize(
    ("position", "kills"),
    [
        ("before", True),
        ("committed", True),
        ("lost", False),
        ("after", True),
        ("409", False),
        ("504", False),
        ("stale", False),
    ],
)
def test_positions_that_kill(position: str, kills: bool) -> None:
    assert Position(position).kills is kills


def test_a_name_tells_writes_of_one_kind_apart() -> None:
    fault = parse("create:Service~job-*-head-svc")
    assert fault.write == WriteSelector("create", "Service", name="job-*-head-svc")
    assert str(fault) == "create:Service~job-*-head-svc#1@committed"
    assert not fault.claims(WriteIdentity("create", "Service", name="job-head-svc"))
    assert fault.claims(WriteIdentity("create", "Service", name="job-*-head-svc"))


@pytest.mark.parametrize(("position", "code"), [("409", 409), ("429", 429), ("500", 500), ("504", 504), ("lost", None)])
def test_positions_that_answer_in_the_api_servers_place(position: str, code: int | None) -> None:
    assert Position(position).answer == code


def test_values_select_a_write_that_changes_others_besides() -> None:
    chosen = parse("update:RayJob/status:jobDeploymentStatus=Failed,reason=AppFailed").write

    def changing(change: str) -> WriteIdentity:
        return WriteIdentity("update", "RayJob", "status", change=change)

    assert chosen.matches(changing("jobDeploymentStatus=Failed,jobStatus=FAILED,reason=AppFailed"))
    assert not chosen.matches(changing("jobDeploymentStatus=Failed,reason=DeadlineExceeded"))
    details = parse("update:RayJob/status:endTime,startTime").write
    assert details.matches(changing("endTime,startTime"))
    assert not details.matches(changing("endTime,jobId,startTime"))
