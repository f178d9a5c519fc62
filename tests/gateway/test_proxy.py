"""The gateway passes everything on, records it in order, and acts on the chosen write at the chosen position."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request

from kuberay_e2e.access import Access
from kuberay_e2e.gateway import Gateway, Incarnation
from kuberay_e2e.gateway.calls import Call, Carry, Reply
from kuberay_e2e.gateway.faults import Fault, parse
from kuberay_e2e.gateway.mutants import Mutation, twice_renamed, write
from kuberay_e2e.network import LOOPBACK, free_ports
from kuberay_e2e.trace import Trace

JOBS = "/apis/batch/v1/namespaces/n/jobs"
RAY = "/api/v1/namespaces/n/services/head-svc:dashboard/proxy"


@dataclass
class Upstream:
    """An API server that stores what it is sent, and a Ray head behind it."""

    created: list[str] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    allowed: bool = True
    proxied: int = 0
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post(JOBS, self.create),
            web.get("/apis/ray.io/v1/rayjobs", self.watch),
            web.get("/api/v1/namespaces/n/services/head-svc", self.service),
            web.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", self.review),
            web.get("/api/jobs/known", self.job),
            web.post(RAY + "/api/jobs/", self.submit),
        ]

    async def create(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.created.append(body["metadata"]["name"])
        self.tokens.append(request.headers["Authorization"])
        self.agents.append(request.headers["User-Agent"])
        stored = {"kind": "Job", "metadata": {**body["metadata"], "uid": f"uid-{len(self.created)}"}}
        return web.json_response(stored, status=201)

    async def watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        event = {"type": "ADDED", "object": {"kind": "RayJob", "metadata": {"name": "one"}}}
        await response.write(json.dumps(event).encode() + b"\n")
        await self.more.wait()
        event["object"]["metadata"]["name"] = "two"  # type: ignore[index]
        await response.write(json.dumps(event).encode() + b"\n")
        return response

    async def service(self, _: web.Request) -> web.Response:
        return web.json_response({"spec": {"selector": {"ray.io/cluster": "cluster"}}})

    async def review(self, _: web.Request) -> web.Response:
        return web.json_response({"status": {"allowed": self.allowed}}, status=201)

    async def submit(self, request: web.Request) -> web.Response:
        self.tokens.append(request.headers["Authorization"])
        self.proxied += 1
        return web.json_response({"submission_id": (await request.json())["submission_id"]})

    async def job(self, _: web.Request) -> web.Response:
        self.proxied += 1
        return web.json_response({"status": "RUNNING"})


@dataclass
class Bench:
    """A gateway with one incarnation of an operator before an upstream."""

    gateway: Gateway
    incarnation: Incarnation
    upstream: Upstream
    trace: Trace
    client: aiohttp.ClientSession
    killed: list[int] = field(default_factory=list)

    async def create(self, name: str = "job") -> int:
        body = {"kind": "Job", "metadata": {"name": name}}
        async with self.client.post(self.incarnation.server + JOBS, json=body) as answer:
            await answer.read()
            return answer.status

    def arm(self, text: str) -> Fault:
        return self.gateway.arm(parse(text))


@asynccontextmanager
async def bench(*, ray: bool = True, real_pods: bool = False) -> AsyncIterator[Bench]:
    upstream = Upstream()
    app = web.Application(client_max_size=8 << 20)
    app.add_routes(upstream.routes())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, LOOPBACK, 0)
    await site.start()
    base = f"http://{LOOPBACK}:{runner.addresses[0][1]}"
    trace = Trace()

    def doors(namespace: str, ray_cluster: str) -> str | None:
        return base if ray and (namespace, ray_cluster) == ("n", "cluster") else None

    try:
        async with (
            Gateway(Access(base), trace, None if real_pods else doors) as gateway,
            aiohttp.ClientSession() as client,
        ):
            incarnation = await gateway.open("the-token")
            found = Bench(gateway, incarnation, upstream, trace, client)
            incarnation.kill = lambda: found.killed.append(incarnation.number)
            yield found
    finally:
        upstream.more.set()
        await runner.cleanup()


def run(body: Callable[[Bench], Awaitable[None]], **settings: Any) -> None:
    async def work() -> None:
        async with bench(**settings) as found:
            await asyncio.wait_for(body(found), 20)

    asyncio.run(work())


def test_a_request_reaches_the_api_server_under_the_operators_own_token() -> None:
    async def body(bench: Bench) -> None:
        assert await bench.create() == 201
        assert bench.upstream.tokens == ["Bearer the-token"]
        request, response = bench.trace.events("request", "response")
        assert (request.data["write"], request.data["body"]["metadata"]["name"]) == ("create:Job#1", "job")
        assert (response.data["of"], response.data["status"], response.data["uid"]) == (0, 201, "uid-1")

    run(body)


@pytest.mark.parametrize(
    ("position", "committed", "killed", "delivered"),
    [("before", 0, 1, False), ("committed", 1, 1, False), ("lost", 1, 0, False), ("after", 1, 1, True)],
)
def test_positions(position: str, committed: int, killed: int, delivered: bool) -> None:
    async def body(bench: Bench) -> None:
        fault = bench.arm(f"create:Job@{position}")
        if delivered:
            assert await bench.create() == 201
        else:
            with pytest.raises(aiohttp.ClientError):
                await bench.create()
        assert fault.fired.is_set()
        assert len(bench.upstream.created) == committed
        assert len(bench.killed) == killed
        assert bench.incarnation.dead is bool(killed)
        for response in bench.trace.events("response"):
            assert response.data["delivered"] is delivered

    run(body)


@pytest.mark.parametrize(
    ("code", "committed", "reason"),
    [(409, 0, "Conflict"), (429, 0, "TooManyRequests"), (500, 0, "InternalError"), (504, 1, "Timeout")],
)
def test_error_answers_leave_the_operator_alive(code: int, committed: int, reason: str) -> None:
    async def body(bench: Bench) -> None:
        bench.arm(f"create:Job@{code}")
        metadata = {"kind": "Job", "metadata": {"name": "job"}}
        async with bench.client.post(bench.incarnation.server + JOBS, json=metadata) as answer:
            status = await answer.json()
            assert (answer.status, status["kind"], status["reason"], status["code"]) == (code, "Status", reason, code)
            assert answer.headers.get("Retry-After") == ("1" if code == 429 else None)
        assert (len(bench.upstream.created), bench.killed) == (committed, [])
        assert await bench.create() == 201
        assert bench.trace.events("response")[-2].data["status"] == code

    run(body)


def test_a_stale_cache_gets_the_answer_at_once_and_watch_events_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kuberay_e2e.gateway.proxy.STALE_SECONDS", 0.5)

    async def body(bench: Bench) -> None:
        bench.arm("create:Job@stale")
        assert await bench.create() == 201
        held = bench.gateway._held["jobs"]
        assert not held.is_set()
        bench.gateway._held["rayjobs"] = held
        url = bench.incarnation.server + "/apis/ray.io/v1/rayjobs?watch=true"
        async with bench.client.get(url) as answer:
            line = asyncio.ensure_future(answer.content.readline())
            await asyncio.sleep(0.2)
            assert not line.done()
            assert json.loads(await line)["object"]["metadata"]["name"] == "one"
        assert held.is_set()

    run(body)


def test_only_the_chosen_write_is_disturbed() -> None:
    async def body(bench: Bench) -> None:
        bench.arm("create:Job#2@lost")
        assert await bench.create("one") == 201
        with pytest.raises(aiohttp.ClientError):
            await bench.create("two")
        assert await bench.create("three") == 201
        assert bench.upstream.created == ["one", "two", "three"]

    run(body)


def test_nothing_of_a_dead_incarnation_is_forwarded() -> None:
    async def body(bench: Bench) -> None:
        bench.incarnation.dead = True
        with pytest.raises(aiohttp.ClientError):
            await bench.create()
        assert bench.upstream.created == []
        [request] = bench.trace.events("request")
        assert request.data["refused"] == "the incarnation is dead"

    run(body)


def test_what_stands_in_the_path_of_calls_can_repeat_one_and_both_are_recorded() -> None:
    async def twice(call: Call, carry: Carry) -> Reply:
        await carry(call)
        return await carry(call)

    async def body(bench: Bench) -> None:
        bench.gateway.tamper(twice)
        assert await bench.create() == 201
        bench.gateway.tamper(None)
        assert await bench.create() == 201
        assert bench.upstream.created == ["job"] * 3
        writes = [event.data["write"] for event in bench.trace.events("request")]
        assert writes == ["create:Job#1", "create:Job#2", "create:Job#3"]

    run(body)


def test_what_stands_in_the_path_of_calls_cannot_speak_for_a_dead_incarnation() -> None:
    async def body(bench: Bench) -> None:
        bench.gateway.tamper(Mutation(write("create", "jobs"), twice_renamed))
        bench.arm("create:Job@before")
        with pytest.raises(aiohttp.ClientError):
            await bench.create()
        assert bench.upstream.created == []

    run(body)


def test_a_request_whose_sender_has_gone_before_it_is_handled_goes_nowhere() -> None:
    async def body(bench: Bench) -> None:
        request = make_mocked_request("POST", JOBS)
        request._task, request._protocol.transport = cast("Any", None), None
        assert (await bench.gateway._serve(request)).status == 502
        assert bench.trace.events("request") == []

    run(body)


def test_a_sender_that_dies_within_its_request_leaves_no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async def body(bench: Bench) -> None:
        _, port = bench.incarnation.server.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(LOOPBACK, int(port))
        writer.write(f"POST {JOBS} HTTP/1.1\r\nHost: gateway\r\nContent-Length: 100\r\n\r\n{{".encode())
        await writer.drain()
        while not bench.gateway._handling:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        writer.transport.abort()
        while bench.gateway._handling:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert bench.upstream.created == []

    run(body)
    assert [record.getMessage() for record in caplog.records if record.name == "aiohttp.server"] == []


def test_a_watch_ends_with_the_gateway_although_nothing_more_comes() -> None:
    tasks = set[asyncio.Task[Any]]()

    async def body(bench: Bench) -> None:
        url = bench.incarnation.server + "/apis/ray.io/v1/rayjobs?watch=true"
        answer = await bench.client.get(url)
        await answer.content.readline()
        tasks.update(bench.gateway._handling)
        answer.close()

    run(body)
    assert [task.done() for task in tasks] == [True]


def test_the_next_incarnation_has_a_port_of_its_own() -> None:
    async def body(bench: Bench) -> None:
        bench.incarnation.dead = True
        second = await bench.gateway.open("the-token")
        assert second.number == 2
        assert second.server != bench.incarnation.server
        bench.incarnation = second
        assert await bench.create() == 201

    run(body)


def test_a_closed_port_refuses_connections() -> None:
    async def body(bench: Bench) -> None:
        await bench.gateway.close(bench.incarnation)
        with pytest.raises(aiohttp.ClientError):
            await bench.create()

    run(body)


def test_watch_events_are_passed_on_as_they_come() -> None:
    async def body(bench: Bench) -> None:
        url = bench.incarnation.server + "/apis/ray.io/v1/rayjobs?watch=true"
        async with bench.client.get(url) as answer:
            assert json.loads(await answer.content.readline())["object"]["metadata"]["name"] == "one"
            bench.upstream.more.set()
            assert json.loads(await answer.content.readline())["object"]["metadata"]["name"] == "two"
        seen = [(event.data["event"], event.data["name"]) for event in bench.trace.events("watch")]
        assert seen == [("ADDED", "one"), ("ADDED", "two")]

    run(body)


def test_the_watches_of_an_incarnation_end_with_it() -> None:
    async def body(bench: Bench) -> None:
        async with bench.client.get(bench.incarnation.server + "/apis/ray.io/v1/rayjobs?watch=true") as answer:
            await answer.content.readline()
            await bench.gateway.close(bench.incarnation)
            with pytest.raises(aiohttp.ClientError):
                await answer.content.readline()

    run(body)


def test_a_large_body_is_passed_on_whole() -> None:
    async def body(bench: Bench) -> None:
        name = "x" * (2 << 20)
        assert await bench.create(name) == 201
        assert bench.upstream.created == [name]

    run(body)


def test_a_watch_of_an_api_server_that_is_gone_is_dropped() -> None:
    async def body(bench: Bench) -> None:
        bench.gateway._upstream.access = Access(f"http://{LOOPBACK}:{free_ports(1)[0]}")
        with pytest.raises(aiohttp.ClientError):
            await call(bench, "/apis/ray.io/v1/rayjobs?watch=true")

    run(body)


async def call(bench: Bench, path: str) -> tuple[int, Any]:
    async with bench.client.get(bench.incarnation.server + path) as answer:
        return answer.status, await answer.json(content_type=None)


def test_ray_calls_are_answered_from_the_head_behind_the_service() -> None:
    async def body(bench: Bench) -> None:
        assert await call(bench, RAY + "/api/jobs/known") == (200, {"status": "RUNNING"})
        assert bench.upstream.proxied == 1

    run(body)


def test_a_service_without_a_running_head_has_no_endpoints() -> None:
    async def body(bench: Bench) -> None:
        status, answer = await call(bench, RAY + "/api/jobs/known")
        assert (status, answer["reason"]) == (503, "ServiceUnavailable")

    run(body, ray=False)


def test_a_missing_service_is_not_found() -> None:
    async def body(bench: Bench) -> None:
        path = "/api/v1/namespaces/n/services/other-svc:dashboard/proxy/api/jobs/known"
        status, answer = await call(bench, path)
        assert (status, answer["message"]) == (404, 'services "other-svc" not found')

    run(body)


def test_ray_calls_need_the_right_to_services_proxy() -> None:
    async def body(bench: Bench) -> None:
        bench.upstream.allowed = False
        status, answer = await call(bench, RAY + "/api/jobs/known")
        assert (status, answer["reason"]) == (403, "Forbidden")
        assert bench.upstream.proxied == 0

    run(body)


@pytest.mark.parametrize(
    "path",
    [
        RAY + "/api/serve/applications/",
        "/api/v1/namespaces/n/pods/head:8000/proxy/-/healthz",
        "/api/v1/nodes/node/proxy/metrics",
    ],
)
def test_every_other_proxy_path_is_refused(path: str) -> None:
    async def body(bench: Bench) -> None:
        status, answer = await call(bench, path)
        assert status == 403
        assert "nothing listens behind simulated pods" in answer["message"]

    run(body)


def test_calls_to_ray_in_real_pods_pass_to_the_api_server_and_are_recorded() -> None:
    async def body(bench: Bench) -> None:
        fault = bench.arm("submit:RayJobs@after")
        url, job = bench.incarnation.server + RAY + "/api/jobs/", {"submission_id": "job-1", "entrypoint": "python"}
        async with bench.client.post(url, json=job) as answer:
            assert await answer.json() == {"submission_id": "job-1"}
        assert bench.upstream.tokens == ["Bearer the-token"], "the API server checks the operator's own right"
        request, response = bench.trace.events("request", "response")
        assert (request.data["write"], request.data["body"]) == ("submit:RayJobs#1", job)
        assert (response.data["of"], response.data["status"]) == (request.sequence, 200)
        assert fault.fired.is_set()
        assert bench.killed == [1]

    run(body, real_pods=True)


def test_a_submission_to_real_pods_can_be_held_back() -> None:
    async def body(bench: Bench) -> None:
        bench.arm("submit:RayJobs@before")
        with pytest.raises(aiohttp.ClientError):
            await bench.client.post(bench.incarnation.server + RAY + "/api/jobs/", json={"submission_id": "job-1"})
        assert (bench.upstream.proxied, bench.killed) == (0, [1])

    run(body, real_pods=True)


def test_a_look_at_a_job_is_no_write_and_can_be_answered_wrongly() -> None:
    async def body(bench: Bench) -> None:
        fault = bench.arm("look:RayJobs#2@500")
        answers = [await call(bench, RAY + "/api/jobs/known") for _ in range(3)]
        assert [status for status, _ in answers] == [200, 500, 200]
        assert answers[1][1]["status"] == "Failure", "as the API server says that it could not reach Ray"
        requests = bench.trace.events("request")
        assert [request.data["look"] for request in requests] == [f"look:RayJobs#{number}" for number in (1, 2, 3)]
        assert not any("write" in request.data for request in requests)
        assert fault.fired.is_set()
        assert (bench.upstream.proxied, bench.killed) == (2, [])

    run(body)
