"""What a pod's containers are given: environment variables and files from ConfigMaps and Secrets."""

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from kuberay_e2e.errors import HarnessError

Fetch = Callable[[str, str, str], Awaitable[Mapping[str, Any] | None]]
"""Reads an object by kind, namespace and name; None where there is none."""

_REFERENCE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


async def environment(pod: Mapping[str, Any], container: Mapping[str, Any], fetch: Fetch) -> dict[str, str]:
    """The environment of a container, its references resolved as a kubelet resolves them.

    Raises:
        HarnessError: A ConfigMap, Secret or key that is not optional is missing.
    """
    namespace = pod["metadata"]["namespace"]
    found: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        kind, reference = (
            ("ConfigMap", source["configMapRef"]) if "configMapRef" in source else ("Secret", source["secretRef"])
        )
        data = await _data(kind, namespace, reference, fetch)
        found |= {source.get("prefix", "") + key: value.decode(errors="replace") for key, value in data.items()}
    for entry in container.get("env") or ():
        value = entry.get("value", "")
        if "valueFrom" in entry:
            resolved = await _value(pod, entry["valueFrom"], fetch)
            if resolved is None:
                continue
            value = resolved
        found[entry["name"]] = _REFERENCE.sub(lambda match: found.get(match[1], match[0]), value)
    return found


async def files(pod: Mapping[str, Any], container: Mapping[str, Any], fetch: Fetch, folder: Path) -> dict[str, Path]:
    """Write the container's ConfigMap and Secret volumes below a folder.

    Returns:
        The path on this machine for each path in the container.
    """
    namespace = pod["metadata"]["namespace"]
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    mounted: dict[str, Path] = {}
    for number, mount in enumerate(container.get("volumeMounts") or ()):
        volume = volumes.get(mount["name"], {})
        if "configMap" in volume:
            source, kind = volume["configMap"], "ConfigMap"
        elif "secret" in volume:
            source, kind = {"name": volume["secret"].get("secretName"), **volume["secret"]}, "Secret"
        else:
            continue
        data = await _data(kind, namespace, source, fetch)
        items = {item["key"]: item["path"] for item in source.get("items") or ()} or {key: key for key in data}
        target = folder / str(number)
        for key, path in items.items():
            if key in data:
                file = target / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data[key])
        target.mkdir(parents=True, exist_ok=True)
        mounted[mount["mountPath"]] = target / mount["subPath"] if mount.get("subPath") else target
    return mounted


async def _value(pod: Mapping[str, Any], source: Mapping[str, Any], fetch: Fetch) -> str | None:
    namespace = pod["metadata"]["namespace"]
    for field, kind in (("secretKeyRef", "Secret"), ("configMapKeyRef", "ConfigMap")):
        if field in source:
            reference = source[field]
            data = await _data(kind, namespace, reference, fetch)
            if reference["key"] in data:
                return data[reference["key"]].decode(errors="replace")
            if reference.get("optional"):
                return None
            raise HarnessError(f"Expected the key {reference['key']!r} in the {kind} {namespace}/{reference['name']}.")
    if "fieldRef" in source:
        return _field(pod, source["fieldRef"]["fieldPath"])
    return ""


def _field(pod: Mapping[str, Any], path: str) -> str:
    if match := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path):
        return str((pod["metadata"].get(match[1]) or {}).get(match[2], ""))
    value: Any = pod
    for part in path.split("."):
        value = value.get(part, {}) if isinstance(value, Mapping) else {}
    return value if isinstance(value, str) else ""


async def _data(kind: str, namespace: str, reference: Mapping[str, Any], fetch: Fetch) -> dict[str, bytes]:
    found = await fetch(kind, namespace, reference["name"])
    if found is None:
        if reference.get("optional"):
            return {}
        raise HarnessError(
            f"Expected the {kind} {namespace}/{reference['name']} that the pod refers to; there is none."
        )
    binary = found.get("data" if kind == "Secret" else "binaryData") or {}
    text = {} if kind == "Secret" else found.get("data") or {}
    return {
        **{key: value.encode() for key, value in text.items()},
        **{key: base64.b64decode(value) for key, value in binary.items()},
    }
