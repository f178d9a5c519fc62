"""What a wrong operator would do is done to its calls at the gateway, and is recorded as if it had done it."""

import asyncio
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import pytest
from multidict import CIMultiDict

from kuberay_e2e.gateway import Incarnation, mutants
from kuberay_e2e.gateway.answers import Answer
from kuberay_e2e.gateway.calls import Call, Reply
from kuberay_e2e.gateway.identity import normalise
from kuberay_e2e.gateway.mutants import Mutation
from kuberay_e2e.gateway.requests import parse
from tests.gateway.test_protobuf import pod

RAYJOB = "/apis/ray.io/v1/namespaces/n/rayjobs/job"
RAY = "/api/v1/namespaces/n/services/head-svc:dashboard/proxy/api/jobs/"


def call(method: str, path: str, body: Mapping[str, Any] | bytes = b"") -> Call:
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Call(
        Incarnation(1, "http://gateway", "token"), parse(method, path, {}), method, path, CIMultiDict(), encoded
    )


def status(**fields: Any) -> Call:
    body = {"metadata": {"name": "job", "resourceVersion": "7"}, "status": fields}
    return call("PUT", RAYJOB + "/status", body)


class Carrier:
    """Carries calls to an API server that answers with what it was sent, one version later where it stored it."""

    def __init__(self, code: int = 200) -> None:
        self.calls: list[Call] = []
        self._code = code

    async def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        body = json.loads(call.body or b"{}") if call.value is not None or not call.body else {}
        if "metadata" in body and "dryRun=All" not in call.query:
            body["metadata"]["resourceVersion"] = "8"
        return Reply(Answer(self._code, json.dumps(body).encode()))

    @property
    def sent(self) -> list[tuple[str, str]]:
        return [(one.method, one.path) for one in self.calls]

    @property
    def statuses(self) -> list[dict[str, Any]]:
        return [json.loads(one.body)["status"] for one in self.calls]


def run(mutation: Mutation, *calls: Call, code: int = 200) -> tuple[Carrier, list[Any]]:
    """Send calls through a mutation; returns what was carried and what was answered."""

    async def work() -> list[Any]:
        replies = [await mutation(one, carrier) for one in calls]
        return [json.loads(reply.answer.body) if reply.answer else None for reply in replies]

    carrier = Carrier(code)
    return carrier, asyncio.run(work())


def test_what_is_not_chosen_passes() -> None:
    mutation = Mutation(mutants.write("create", "jobs"), mutants.twice)
    carrier, _ = run(mutation, status(jobStatus="RUNNING"))
    assert (len(carrier.calls), mutation.acted) == (1, 0)


@pytest.mark.parametrize(("once", "carried"), [(True, 3), (False, 4)])
def test_it_acts_once_unless_it_is_to_act_on_every_call(once: bool, carried: int) -> None:
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.twice, once=once)
    carrier, _ = run(mutation, status(), status())
    assert (len(carrier.calls), mutation.acted) == (carried, 1 if once else 2)


def test_a_status_write_is_chosen_by_what_it_writes() -> None:
    chosen = mutants.write("update", "rayjobs", "status", jobStatus="RUNNING")
    assert chosen(status(jobStatus="RUNNING", jobId="a"))
    assert not chosen(status(jobStatus="PENDING"))
    assert not chosen(call("PUT", RAYJOB, {"status": {"jobStatus": "RUNNING"}}))


@pytest.mark.parametrize(
    ("meta", "releases"),
    [
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, True),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["one"]}, False),
        ({}, False),
    ],
)
def test_the_release_of_a_rayjob(meta: dict[str, Any], releases: bool) -> None:
    assert mutants.releases(call("PUT", RAYJOB, {"metadata": meta})) is releases


@pytest.mark.parametrize("kind", ["json", "protobuf"])
def test_an_object_is_created_again_under_another_generated_name(kind: str) -> None:
    body = pod("job-x2bcd") if kind == "protobuf" else json.dumps({"metadata": {"name": "job-x2bcd"}}).encode()
    carrier, _ = run(
        Mutation(mutants.write("create", "pods"), mutants.twice_renamed),
        call("POST", "/api/v1/namespaces/n/pods", body),
    )
    first, second = (one.head.name for one in carrier.calls if one.head is not None)
    assert first == "job-x2bcd" != second
    assert normalise(second) == "job-*"


def test_a_creation_without_an_object_is_refused() -> None:
    with pytest.raises(ValueError, match="an object in the body of POST /api/v1/namespaces/n/pods"):
        run(Mutation(mutants.write("create", "pods"), mutants.twice_renamed), call("POST", "/api/v1/namespaces/n/pods"))


def test_a_field_of_a_status_is_replaced() -> None:
    mutation = Mutation(
        mutants.write("update", "rayjobs", "status"), mutants.changed(lambda value: value["status"].update(jobId="b"))
    )
    carrier, _ = run(mutation, status(jobId="a", jobStatus="RUNNING"))
    assert carrier.statuses == [{"jobId": "b", "jobStatus": "RUNNING"}]


def test_a_second_update_follows_on_the_version_that_the_first_one_made() -> None:
    mutation = Mutation(
        mutants.write("update", "rayjobs", "status"), mutants.followed(lambda value: value["status"].update(failed=1))
    )
    carrier, [answer] = run(mutation, status(succeeded=1))
    assert carrier.statuses == [{"succeeded": 1}, {"succeeded": 1, "failed": 1}]
    assert json.loads(carrier.calls[1].body)["metadata"]["resourceVersion"] == "8"
    assert answer["status"] == {"succeeded": 1}


def test_nothing_follows_an_update_that_was_refused() -> None:
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.followed(lambda _: None))
    carrier, _ = run(mutation, status(), code=409)
    assert len(carrier.calls) == 1


def test_an_update_is_acknowledged_with_the_next_version_and_not_stored() -> None:
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.acknowledged)
    carrier, [answer] = run(mutation, status(jobStatus="RUNNING"))
    assert carrier.sent == [("PUT", RAYJOB + "/status?dryRun=All")]
    assert answer == {"metadata": {"name": "job", "resourceVersion": "8"}, "status": {"jobStatus": "RUNNING"}}


def test_an_update_that_is_refused_is_not_acknowledged() -> None:
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.acknowledged)
    _, [answer] = run(mutation, status(), code=409)
    assert answer["metadata"]["resourceVersion"] == "7"


@pytest.mark.parametrize("options", [b"", b'{"kind": "DeleteOptions", "propagationPolicy": "Background"}'])
def test_a_deletion_is_answered_and_not_made(options: bytes) -> None:
    mutation = Mutation(mutants.write("delete", "rayjobs"), mutants.pretended)
    carrier, _ = run(mutation, call("DELETE", RAYJOB, options))
    sent = json.loads(carrier.calls[0].body)
    assert (sent["kind"], sent["dryRun"]) == ("DeleteOptions", ["All"])


def test_a_stop_is_answered_and_ray_is_not_asked() -> None:
    mutation = Mutation(mutants.to_ray("stop"), mutants.swallowed_stop)
    carrier, [answer] = run(mutation, call("POST", RAY + "id/stop"))
    assert (carrier.calls, answer) == ([], {"stopped": True})


def test_a_stop_waits_for_the_release() -> None:
    mutation = mutants.ReleasedFirst()
    release = call("PUT", RAYJOB, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
    carrier, _ = run(mutation, call("POST", RAY + "id/stop"), status(), release)
    assert carrier.sent == [("PUT", RAYJOB + "/status"), ("PUT", RAYJOB), ("POST", RAY + "id/stop")]


def test_a_submission_is_repeated_under_another_id() -> None:
    mutation = Mutation(mutants.to_ray("submit"), mutants.repeated(lambda value: value.update(submission_id="b")))
    carrier, _ = run(mutation, call("POST", RAY, {"submission_id": "a"}))
    assert [json.loads(one.body)["submission_id"] for one in carrier.calls] == ["a", "b"]


def test_a_dead_operators_write_is_carried_as_if_it_lived() -> None:
    async def killing(one: Call) -> Reply:
        alive.append(not one.incarnation.dead)
        one.incarnation.dead = True
        return Reply()

    alive: list[bool] = []
    asked = status()
    asyncio.run(Mutation(mutants.write("update", "rayjobs", "status"), mutants.raised)(asked, killing))
    assert alive == [True, True]
    assert asked.incarnation.dead


def test_a_living_operators_write_is_not_raised() -> None:
    carrier, _ = run(Mutation(mutants.write("update", "rayjobs", "status"), mutants.raised), status())
    assert len(carrier.calls) == 1


def test_the_ray_cluster_is_deleted_when_a_status_is_written() -> None:
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.with_cluster_deleted)
    carrier, _ = run(mutation, status(rayClusterName="job-x2bcd"))
    assert carrier.sent[1] == ("DELETE", "/apis/ray.io/v1/namespaces/n/rayclusters/job-x2bcd")
    assert dataclasses.astuple(carrier.calls[1].api)[:4] == ("delete", "ray.io", "v1", "rayclusters")


def test_the_job_is_submitted_when_a_status_is_written() -> None:
    written = {"status": {"rayClusterName": "job-x2bcd", "jobId": "a"}, "spec": {"entrypoint": "python"}}
    mutation = Mutation(mutants.write("update", "rayjobs", "status"), mutants.with_submission)
    carrier, _ = run(mutation, call("PUT", RAYJOB + "/status", written))
    submission = carrier.calls[1]
    assert mutants.to_ray("submit")(submission)
    assert submission.path == "/api/v1/namespaces/n/services/job-x2bcd-head-svc:dashboard/proxy/api/jobs/"
    assert json.loads(submission.body) == {"submission_id": "a", "entrypoint": "python"}


def test_an_operator_ends_after_its_write_and_the_gateway_takes_no_notice() -> None:
    ended: list[int] = []
    asked = status()
    asked.incarnation.kill = lambda: ended.append(1)
    carrier, [answer] = run(Mutation(mutants.write("update", "rayjobs", "status"), mutants.crashed), asked)
    assert (len(carrier.calls), ended, answer, asked.incarnation.dead) == (1, [1], None, False)


@pytest.mark.parametrize(("dead", "writers"), [(False, [1, 2]), (True, [1])])
def test_a_write_is_repeated_in_the_name_of_another_operator_that_lives(dead: bool, writers: list[int]) -> None:
    standby = Incarnation(2, "http://gateway", "token")
    mutation = mutants.Usurped(mutants.write("update", "rayjobs", "status"))
    lease = dataclasses.replace(call("GET", "/apis/coordination.k8s.io/v1/leases"), incarnation=standby)
    standby.dead = dead
    carrier, _ = run(mutation, lease, status())
    assert [one.incarnation.number for one in carrier.calls[1:]] == writers
    assert mutation.acted == len(writers) - 1


def test_a_write_that_the_api_server_refuses_as_stale_is_acted_on_when_it_is_tried_again() -> None:
    mutation = Mutation(
        mutants.write("update", "rayjobs", "status"), mutants.changed(lambda value: value["status"].update(succeeded=0))
    )
    refused, _ = run(mutation, status(succeeded=1), code=409)
    assert mutation.acted == 0
    stored, _ = run(mutation, status(succeeded=1), status(succeeded=1))
    assert [one["succeeded"] for one in (*refused.statuses, *stored.statuses)] == [0, 0, 1]
    assert mutation.acted == 1
