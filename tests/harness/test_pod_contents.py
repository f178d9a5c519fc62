"""A container gets the environment and files that a kubelet would give it."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kuberay_e2e.errors import HarnessError
from kuberay_e2e.pods import contents

OBJECTS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("ConfigMap", "code"): {"data": {"main.py": "print(1)", "LEVEL": "info"}, "binaryData": {"blob": "AAE="}},
    ("Secret", "token"): {"data": {"key": base64.b64encode(b"s3cret").decode()}},
}


async def fetch(kind: str, _: str, name: str) -> Mapping[str, Any] | None:
    return OBJECTS.get((kind, name))


def pod(container: dict[str, Any], volumes: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    meta = {"name": "p", "namespace": "n", "labels": {"team": "ml"}}
    return {
        "metadata": meta,
        "status": {"podIP": "239.192.0.2"},
        "spec": {"containers": [container], "volumes": volumes},
    }


async def environment(container: dict[str, Any]) -> dict[str, str]:
    return await contents.environment(pod(container), container, fetch)


def run(work: Any) -> Any:
    import asyncio

    return asyncio.run(work)


def test_values_fields_and_references() -> None:
    env = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)-$(MISSING)"},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "TEAM", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['team']"}}},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "token", "key": "key"}}},
        {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "code", "key": "LEVEL"}}},
    ]
    assert run(environment({"env": env})) == {
        "A": "1",
        "B": "1-$(MISSING)",
        "IP": "239.192.0.2",
        "TEAM": "ml",
        "KEY": "s3cret",
        "LEVEL": "info",
    }


def test_whole_maps_with_a_prefix() -> None:
    source = {"envFrom": [{"prefix": "T_", "secretRef": {"name": "token"}}]}
    assert run(environment(source)) == {"T_key": "s3cret"}


def test_missing_optional_reference_is_left_out() -> None:
    reference = {"name": "none", "key": "k", "optional": True}
    assert run(environment({"env": [{"name": "A", "valueFrom": {"secretKeyRef": reference}}]})) == {}


def test_missing_reference_is_told() -> None:
    with pytest.raises(HarnessError, match="Expected the Secret n/none that the pod refers to"):
        run(environment({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k"}}}]}))


def test_missing_key_is_told() -> None:
    with pytest.raises(HarnessError, match="Expected the key 'other' in the Secret n/token"):
        run(environment({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "token", "key": "other"}}}]}))


def test_files_of_volumes(tmp_path: Path) -> None:
    container = {
        "volumeMounts": [
            {"name": "code", "mountPath": "/home/ray/samples"},
            {"name": "secret", "mountPath": "/etc/key", "subPath": "renamed"},
            {"name": "scratch", "mountPath": "/tmp/scratch"},
        ]
    }
    volumes = [
        {"name": "code", "configMap": {"name": "code"}},
        {"name": "secret", "secret": {"secretName": "token", "items": [{"key": "key", "path": "renamed"}]}},
        {"name": "scratch", "emptyDir": {}},
    ]
    mounted = run(contents.files(pod(container, volumes), container, fetch, tmp_path))
    assert set(mounted) == {"/home/ray/samples", "/etc/key"}
    assert (mounted["/home/ray/samples"] / "main.py").read_text() == "print(1)"
    assert (mounted["/home/ray/samples"] / "blob").read_bytes() == b"\x00\x01"
    assert mounted["/etc/key"].read_text() == "s3cret"
