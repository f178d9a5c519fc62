"""Every object of a cluster, by discovery."""

import time
from collections.abc import Iterator

import httpx

from kuberay_e2e.access import Access

_PASSING = {"events", "leases"}
"""Objects that come and go by themselves."""


def everything(access: Access) -> set[str]:
    """All objects as `group/version/resource namespace/name`, each with its uid."""
    with access.client(timeout=30) as client:
        return {
            f"{path} {item['metadata'].get('namespace', '')}/{item['metadata']['name']} {item['metadata'].get('uid')}"
            for path in _collections(client)
            for item in client.get(path).json().get("items", ())
        }


def found_again(access: Access, before: set[str], seconds: float = 20.0) -> bool:
    """Assert that there is what there was; what the control plane makes of objects follows them in a moment."""
    deadline = time.monotonic() + seconds
    while (after := everything(access)) != before and time.monotonic() < deadline:
        time.sleep(0.5)
    assert after - before == set(), "these are left"
    assert before - after == set(), "these are gone"
    return True


def _collections(client: httpx.Client) -> Iterator[str]:
    groups = client.get("/apis").json()["groups"]
    for root in ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
        for resource in client.get(root).json().get("resources", ()):
            if "list" in resource["verbs"] and resource["name"] not in _PASSING and "/" not in resource["name"]:
                yield f"{root}/{resource['name']}"
