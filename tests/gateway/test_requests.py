"""What a request asks for is read from its line."""

import pytest

from kuberay_e2e.gateway.requests import ApiRequest, parse

CASES = {
    "create": (
        ("POST", "/apis/batch/v1/namespaces/n/jobs", {}),
        ApiRequest("create", "batch", "v1", "jobs", "n"),
    ),
    "status update": (
        ("PUT", "/apis/ray.io/v1/namespaces/n/rayjobs/j/status", {}),
        ApiRequest("update", "ray.io", "v1", "rayjobs", "n", "j", "status"),
    ),
    "delete": (
        ("DELETE", "/api/v1/namespaces/n/pods/p", {}),
        ApiRequest("delete", "", "v1", "pods", "n", "p"),
    ),
    "delete of a collection": (
        ("DELETE", "/api/v1/namespaces/n/pods", {}),
        ApiRequest("deletecollection", "", "v1", "pods", "n"),
    ),
    "get": (("GET", "/api/v1/namespaces/n/services/s", {}), ApiRequest("get", "", "v1", "services", "n", "s")),
    "list of all namespaces": (("GET", "/api/v1/pods", {}), ApiRequest("list", "", "v1", "pods")),
    "watch": (("GET", "/apis/ray.io/v1/rayjobs", {"watch": "true"}), ApiRequest("watch", "ray.io", "v1", "rayjobs")),
    "namespace itself": (("GET", "/api/v1/namespaces/n", {}), ApiRequest("get", "", "v1", "namespaces", "", "n")),
    "discovery": (("GET", "/apis/ray.io/v1", {}), ApiRequest("get")),
    "version": (("GET", "/version", {}), ApiRequest("get")),
}


@pytest.mark.parametrize(("line", "expected"), CASES.values(), ids=CASES.keys())
def test_request_line(line: tuple[str, str, dict[str, str]], expected: ApiRequest) -> None:
    assert parse(*line) == expected


def test_service_proxy_names_service_port_and_path() -> None:
    request = parse("GET", "/api/v1/namespaces/n/services/head-svc:dashboard/proxy/api/jobs/id", {})
    assert request.is_proxy
    assert request.service == ("head-svc", "dashboard")
    assert request.tail == "/api/jobs/id"


def test_service_proxy_with_scheme() -> None:
    request = parse("GET", "/api/v1/namespaces/n/services/http:head-svc:8265/proxy", {})
    assert request.service == ("head-svc", "8265")
    assert request.tail == "/"


@pytest.mark.parametrize(("verb", "write"), [("create", True), ("patch", True), ("get", False), ("watch", False)])
def test_writes(verb: str, write: bool) -> None:
    assert ApiRequest(verb, resource="pods").is_write is write
