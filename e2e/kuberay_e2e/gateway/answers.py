"""Answers that the gateway gives itself, in the words of an API server."""

import json
from dataclasses import dataclass

from multidict import CIMultiDict

from kuberay_e2e.gateway.requests import ApiRequest

_REASONS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 504: "Timeout"}


@dataclass(frozen=True)
class Answer:
    """A response that the gateway makes itself or has from a Ray head."""

    status: int
    body: bytes
    content_type: str = "application/json"


def failure(code: int, reason: str, message: str) -> Answer:
    """A `Status` object that says why a request failed.

    Args:
        code: HTTP status.
        reason: Kubernetes' word for it, such as `Conflict`.
        message: A sentence for people.
    """
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return Answer(code, json.dumps(body).encode())


def refusal(code: int, request: ApiRequest) -> tuple[Answer, "CIMultiDict[str]"]:
    """The answer of a fault: what an API server says in a conflict, under load, after an error or too late."""
    answer = failure(code, _REASONS[code], f"the gateway answers {code} to this {request.verb} of {request.resource}")
    headers = CIMultiDict({"Content-Type": answer.content_type})
    if code == 429:
        headers["Retry-After"] = "1"
    return answer, headers
