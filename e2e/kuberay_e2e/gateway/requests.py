"""What a request to the Kubernetes API asks for, read from its method, path and query."""

from collections.abc import Mapping
from dataclasses import dataclass

_WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_NAMESPACED_ROOT = "namespaces"


@dataclass(frozen=True)
class ApiRequest:
    """A request to the Kubernetes API in the terms of its RBAC.

    Attributes:
        verb: get, list, watch, create, update, patch, delete, deletecollection; or the lower-case HTTP method
            of a path that names no resource (discovery, /version, /healthz).
        group: API group; empty for the core group.
        version: API version.
        resource: Plural resource name; empty where the path names none.
        namespace: Namespace; empty for cluster-scoped requests and lists of all namespaces.
        name: Object name; empty for lists and creations.
        subresource: Such as `status`, `log`, `proxy`; empty for the object itself.
        tail: What follows a `proxy` subresource, with its leading slash.
    """

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    tail: str = ""

    @property
    def is_write(self) -> bool:
        """True for a request that changes an object."""
        return self.verb in {"create", "update", "patch", "delete", "deletecollection"}

    @property
    def is_proxy(self) -> bool:
        """True for a request that the API server would pass on to a pod, a Service or a node."""
        return self.subresource == "proxy"

    @property
    def service(self) -> tuple[str, str]:
        """Name and port of the Service that a `services/…/proxy` request names as [scheme:]name[:port]."""
        parts = self.name.split(":")
        if len(parts) == 3:
            return parts[1], parts[2]
        if len(parts) == 2:
            return parts[0], parts[1]
        return parts[0], ""


def parse(method: str, path: str, query: Mapping[str, str]) -> ApiRequest:
    """Read a request line.

    Args:
        method: HTTP method, upper case.
        path: Decoded path without query.
        query: Query parameters.
    """
    parts = path.strip("/").split("/")
    if parts[:1] == ["api"] and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return ApiRequest(method.lower())
    namespace = ""
    if rest[0] == _NAMESPACED_ROOT and len(rest) > 2 and rest[2] not in {"status", "finalize"}:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = [*rest, "", "", ""][:3]
    tail = ""
    if subresource == "proxy":
        _, found, after = path.partition(f"/{name}/proxy")
        tail = (after or "/") if found else "/"
    return ApiRequest(_verb(method, name, query), group, version, resource, namespace, name, subresource, tail)


def _verb(method: str, name: str, query: Mapping[str, str]) -> str:
    if method in {"GET", "HEAD"}:
        if query.get("watch") in {"true", "1"}:
            return "watch"
        return "get" if name else "list"
    if method == "DELETE" and not name:
        return "deletecollection"
    return _WRITES.get(method, method.lower())
