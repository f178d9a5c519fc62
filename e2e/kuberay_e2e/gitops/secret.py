"""Secrets of a stack: refused, or left to the cluster; never written."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.declared import Declared


class Secrets(StrEnum):
    """What becomes of a Secret with data."""

    REFUSE = "refuse"
    """Nothing is rendered."""

    REFERENCE = "reference"
    """It is left out: what refers to it stays, and somebody else puts it into the cluster."""


def is_secret(manifest: Mapping[str, Any]) -> bool:
    """Tell whether an object is a Secret of the core group."""
    return manifest.get("kind") == "Secret" and manifest.get("apiVersion") == "v1"


def has_data(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a Secret holds something."""
    return bool(manifest.get("data") or manifest.get("stringData"))


def without_secrets(objects: Sequence[Declared], choice: Secrets) -> tuple[list[Declared], tuple[str, ...]]:
    """Return the objects that may be written, and the Secrets that must be in the cluster, as `namespace/name`.

    Raises:
        InputError: A Secret has data and is not to be left out, or another object holds a value that the program calls
            secret.
    """
    written, left_out = [], []
    for item in objects:
        if is_secret(item.manifest) and (has_data(item.manifest) or item.secrets):
            if choice is Secrets.REFUSE:
                raise InputError(
                    f"{item.title} has data, which everybody who reads the repository could read. Have it made in the "
                    "cluster, such as by External Secrets or Sealed Secrets, and take it out of the stack; or leave it "
                    "out of the YAML by --secrets reference."
                )
            metadata = item.manifest["metadata"]
            left_out.append(f"{metadata.get('namespace', 'default')}/{metadata['name']}")
        elif item.secrets:
            raise InputError(
                f"{item.title}: {item.secrets[0]} is a secret of the program, and would be in clear here. Keep it in a "
                "Secret of the cluster, and refer to that by secretKeyRef."
            )
        else:
            written.append(item)
    return written, tuple(sorted(left_out))
