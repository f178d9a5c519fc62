"""Scenarios of a group run side by side, groups one after the other, and each in a namespace of its own."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from kuberay_e2e.clusterfaults import suite
from kuberay_e2e.clusterfaults.scenario import Group, Scenario
from kuberay_e2e.clusterfaults.workload import Load, Mode
from kuberay_e2e.session import Session
from kuberay_e2e.verdicts import State, Verdict


class Record:
    """What ran when."""

    def __init__(self) -> None:
        self.running: set[str] = set()
        self.beside: dict[str, set[str]] = {}
        self.lock = threading.Lock()

    def run(self, name: str) -> None:
        with self.lock:
            self.running.add(name)
        time.sleep(0.2)
        with self.lock:
            self.beside[name] = self.running - {name}
        time.sleep(0.1)
        with self.lock:
            self.running.remove(name)


@dataclass(frozen=True)
class Recorded(Scenario):
    """A scenario that only notes that it ran."""

    record: Record = field(default_factory=Record)
    fails: bool = False

    def run(self, session: Session, namespace: str) -> Verdict:  # noqa: ARG002
        self.record.run(self.name)
        if self.fails:
            raise KeyboardInterrupt
        return Verdict(self.name, State.HELD, 0.3, "", namespace, self.mode)


def scenario(record: Record, name: str, group: Group, *, fails: bool = False) -> Recorded:
    return Recorded(name, "", Load(Mode.HTTP), lambda _: (), group=group, record=record, fails=fails)


def session(answer: Callable[[httpx.Request], httpx.Response]) -> Session:
    def client(**_: object) -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(answer), base_url="http://api")

    return cast(Session, SimpleNamespace(access=SimpleNamespace(client=client)))


def test_groups_run_one_after_the_other_and_verdicts_keep_the_order_of_the_scenarios() -> None:
    record, requests = Record(), list[str]()
    scenarios = [
        scenario(record, "api", Group.API_SERVER),
        scenario(record, "head", Group.NAMESPACE),
        scenario(record, "worker", Group.NAMESPACE),
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request.method)
        return httpx.Response(201 if request.method == "POST" else 200, json={})

    ended: list[str] = []
    verdicts = suite.run(session(answer), scenarios, ended=lambda verdict: ended.append(verdict.scenario))
    assert [verdict.scenario for verdict in verdicts] == ["api", "head", "worker"]
    assert record.beside == {"head": {"worker"}, "worker": {"head"}, "api": set()}
    assert ended[-1] == "api"
    assert len({verdict.seen for verdict in verdicts}) == 3
    assert (requests.count("POST"), requests.count("DELETE")) == (3, 3)


def test_a_namespace_that_is_refused_is_an_error_of_its_scenario_alone() -> None:
    refused = session(lambda _: httpx.Response(403, text="no namespaces for you"))
    [verdict] = suite.run(refused, [scenario(Record(), "head", Group.NAMESPACE)])
    assert verdict.state is State.ERROR
    assert "403: no namespaces for you" in verdict.seen


def test_an_interruption_begins_no_further_group() -> None:
    record = Record()
    scenarios = [
        scenario(record, "head", Group.NAMESPACE, fails=True),
        scenario(record, "api", Group.API_SERVER),
    ]
    with pytest.raises(KeyboardInterrupt):
        suite.run(session(lambda _: httpx.Response(201, json={})), scenarios)
    assert set(record.beside) == {"head"}
