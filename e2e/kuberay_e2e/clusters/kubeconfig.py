"""The user's kubeconfig: read once, and never written to."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from kuberay_e2e.errors import InputError

_FILES = {"cluster": ("certificate-authority",), "user": ("client-certificate", "client-key", "tokenFile")}
"""Fields that name files, relative to the folder of the kubeconfig."""


def default_path() -> Path:
    """The first file of $KUBECONFIG, else ~/.kube/config, as kubectl has it."""
    first = next((part for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part), "")
    return Path(first) if first else Path.home() / ".kube" / "config"


def one_context(path: Path, context: str | None) -> tuple[str, dict[str, Any]]:
    """A context of a kubeconfig, and a kubeconfig with nothing but this context.

    Args:
        path: The user's file.
        context: Name of the context; default: the file's current one.

    Raises:
        InputError: The file cannot be read, or has no such context, or the context names no cluster or user of it.
    """
    config = _read(path)
    name = context or config.get("current-context")
    contexts = _named(config, "contexts")
    if not name:
        raise InputError(
            f"{path} has no current context. Choose one of its contexts by --context: {_listed(contexts)}."
        )
    if name not in contexts:
        raise InputError(f"There is no context {name!r} in {path}. Choose one by --context: {_listed(contexts)}.")
    chosen = contexts[name].get("context") or {}
    parts = {}
    for kind in ("cluster", "user"):
        entry = _named(config, f"{kind}s").get(chosen.get(kind, ""))
        if entry is None or not isinstance(entry.get(kind), Mapping):
            raise InputError(f"The context {name!r} of {path} refers to a {kind} that the file does not have.")
        parts[kind] = {**entry, kind: _absolute(entry[kind], kind, path.absolute().parent)}
    return name, {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [contexts[name]],
        "clusters": [parts["cluster"]],
        "users": [parts["user"]],
    }


def write(config: Mapping[str, Any], path: Path) -> Path:
    """Write a kubeconfig that only its owner can read."""
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(dict(config)))
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(path.read_text())
    except OSError as error:
        raise InputError(
            f"The kubeconfig {path} cannot be read ({error.strerror}). Name one by --kubeconfig or KUBECONFIG."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no kubeconfig: {error}.") from error
    if not isinstance(config, dict) or not isinstance(config.get("contexts"), list):
        raise InputError(f"{path} is no kubeconfig: it has no list of contexts.")
    return config


def _named(config: Mapping[str, Any], section: str) -> dict[str, Any]:
    entries = config.get(section) or []
    return {entry["name"]: entry for entry in entries if isinstance(entry, Mapping) and "name" in entry}


def _listed(contexts: Mapping[str, Any]) -> str:
    return ", ".join(sorted(contexts)) or "none"


def _absolute(part: Mapping[str, Any], kind: str, folder: Path) -> dict[str, Any]:
    return {key: str(folder / value) if key in _FILES[kind] and value else value for key, value in part.items()}
