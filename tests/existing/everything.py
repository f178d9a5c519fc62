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


def settled(access: Access, quiet: float = 5.0, seconds: float = 60.0) -> set[str]:
    """All objects, once for `quiet` seconds none came or went: a new control plane makes its own for a while."""
    deadline = time.monotonic() + seconds
    last, since = everything(access), time.monotonic()
    while time.monotonic() - since < quiet:
        assert time.monotonic() < deadline, f"Objects still come and go after {seconds:.0f} s."
        time.sleep(0.5)
        if (now := everything(access)) != last:
            last, since = now, time.monotonic()
    return last


def found_again(access: Access, before: set[str], seconds: float = 20.0) -> bool:
    """Assert that there is what there was; what the control plane makes of objects follows them in a moment."""
    deadline = time.monotonic() + seconds
    while (after := everything(access)) != before and time.monotonic() < deadline:
        time.sleep(0.5)
    assert after == before, f"left: {sorted(after - before)}; gone: {sorted(before - after)}"
    return True


def _collections(client: httpx.Client) -> Iterator[str]:
    groups = client.get("/apis").json()["groups"]
    for root in ["/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
        for resource in client.get(root).json().get("resources", ()):
            if "list" in resource["verbs"] and resource["name"] not in _PASSING and "/" not in resource["name"]:
                yield f"{root}/{resource['name']}"
