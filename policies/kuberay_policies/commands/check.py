"""`kuberay-policies check`: read, evaluate, write."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kuberay_model import schemas
from kuberay_model.sentences import listed
from kuberay_model.versions import UnknownGateError, UnsupportedVersionError, Version, supported
from kuberay_policies.commands.errors import CommandError
from kuberay_policies.evaluation import evaluate
from kuberay_policies.formats import Outcome
from kuberay_policies.reading import read
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import DEFAULT_NAME, SettingsError, load

CLUSTER = "cluster"
KUBECTL_TIMEOUT = 30
"""Seconds to wait for kubectl."""

_CRDS = ("rayjobs.ray.io", "rayclusters.ray.io", "rayservices.ray.io", "raycronjobs.ray.io")


def check(
    paths: Sequence[str],
    settings: Settings,
    *,
    state: bool = False,
    excluded: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Outcome:
    """Read what is to be checked, and ask the policies.

    Args:
        paths: Files, folders, or `-` for standard input.
        settings: Settings of the environment.
        state: Whether the files are state files of Pulumi.
        excluded: Patterns of files and folders that are left out of folders.
        notes: What else the report should say.
    """
    inputs = read(paths, state=state, excluded=excluded)
    inputs.notes += notes
    return Outcome(inputs, evaluate(inputs.subjects, settings), settings)


def chosen_settings(
    config: Path | None, environment: str | None, version: str | None, gates: str | None, crds: str | None
) -> tuple[Settings, list[str]]:
    """Return the settings that the options ask for, and what is worth saying about them.

    Args:
        config: A settings file; None for `kuberay-policies.yaml` in the current folder, if there is one.
        environment: One of its environments.
        version: KubeRay version; None for that of the file.
        gates: Feature gates as `A=true,B=false`, laid over those of the file.
        crds: A file or a folder with CRDs, or `cluster`.

    Raises:
        CommandError: An option or the settings file is wrong.
    """
    file = config or (Path(DEFAULT_NAME) if Path(DEFAULT_NAME).is_file() else None)
    if file is None and environment is not None:
        raise CommandError(
            f"The environment {environment!r} is asked for, but there is no {DEFAULT_NAME} here; give --config."
        )
    try:
        settings = Settings() if file is None else load(file, environment)
        if version is not None:
            settings = replace(settings, version=supported(version))
        if gates is not None:
            settings = replace(settings, gate_overrides={**settings.gate_overrides, **_gates(gates)})
        if settings.gates and crds is not None:
            schema = _schema(crds)
            return replace(settings, schema=schema), [_about(schema, settings.version)]
    except (SettingsError, UnsupportedVersionError, UnknownGateError, schemas.SchemaError) as error:
        raise CommandError(str(error)) from None
    return settings, []


def _gates(text: str) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition("=")
        if value.strip().lower() not in ("true", "false"):
            raise CommandError(f"Feature gates are written as RayCronJob=true,Other=false, but {pair!r} was given.")
        found[name.strip()] = value.strip().lower() == "true"
    return found


def _schema(crds: str) -> schemas.Schema:
    if crds != CLUSTER:
        return schemas.from_crds(crds)
    command = ["kubectl", "get", "customresourcedefinitions", *_CRDS, "--ignore-not-found", "-o", "json"]
    try:
        answer = subprocess.run(command, capture_output=True, check=True, timeout=KUBECTL_TIMEOUT, text=True)
        content = json.loads(answer.stdout or "{}")
    except FileNotFoundError:
        raise CommandError("--crds cluster needs kubectl on the PATH; give a file or a folder instead.") from None
    except subprocess.CalledProcessError as error:
        raise CommandError(f"kubectl cannot read the CRDs of the cluster: {error.stderr.strip()}") from None
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        raise CommandError(f"kubectl did not answer with CRDs: {error}.") from None
    return schemas.from_objects([content], "the cluster")


def _about(schema: schemas.Schema, version: Version) -> str:
    """Say which version the CRDs are of, and what follows from it."""
    equal = [known for known in schemas.known() if _agrees(schemas.load(known), schema)]
    if not equal:
        return (
            f"The CRDs of {schema.source} are of no version known here (known: {listed(map(str, schemas.known()))}): "
            f"fields are compared with them, and all other rules are those of KubeRay {version}."
        )
    crds = equal[-1]
    if (crds.major, crds.minor) == (version.major, version.minor):
        return f"The CRDs of {schema.source} are those of KubeRay {crds.major}.{crds.minor}."
    return (
        f"The CRDs of {schema.source} are those of KubeRay {crds.major}.{crds.minor}, and the operator is {version}: "
        "make them one version, because an operator drops fields it does not know."
    )


def _agrees(known: schemas.Schema, given: schemas.Schema) -> bool:
    return all(known.kinds.get(kind) == node for kind, node in given.kinds.items())
