"""Requests outlast a webhook that is away for a moment, and say what refused them otherwise."""

from collections.abc import Sequence

import httpx
import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.queueing.requests import create, sent

JOB = {"metadata": {"namespace": "team", "name": "other"}}
AWAY = httpx.Response(500, json={"message": 'failed calling webhook "mjob.kb.io": dial tcp: connection refused'})
DENIED = httpx.Response(403, json={"message": 'admission webhook "mjob.kb.io" denied the request'})
TAKEN = httpx.Response(201, json=JOB)


def answering(answers: Sequence[httpx.Response]) -> httpx.Client:
    left = list(answers)
    return httpx.Client(
        base_url="http://api",
        transport=httpx.MockTransport(lambda _: left.pop(0) if len(left) > 1 else left[0]),
    )


def test_a_request_is_repeated_until_the_webhook_is_back() -> None:
    with answering([AWAY, AWAY, TAKEN]) as client:
        assert create(client, "Job", JOB) == JOB


def test_a_webhook_that_stays_away_refuses_in_the_end() -> None:
    with answering([AWAY]) as client:
        assert sent(lambda: client.post("/jobs"), patience=0.6).status_code == 500


def test_who_expects_the_webhook_to_be_away_is_told_at_once() -> None:
    with answering([AWAY, TAKEN]) as client:
        assert sent(lambda: client.post("/jobs"), patience=0).status_code == 500


def test_what_a_webhook_denies_is_not_repeated() -> None:
    with answering([DENIED, TAKEN]) as client, pytest.raises(HarnessError, match="denied the request"):
        create(client, "Job", JOB)
