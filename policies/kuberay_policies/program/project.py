"""A Pulumi project and the configuration of one of its stacks, read from files alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kuberay_model.rules.values import mapping, text
from kuberay_model.sentences import listed, nearest
from kuberay_model.yaml_loader import Loader

NAMES = ("Pulumi.yaml", "Pulumi.yml")
ENCRYPTED = "[secret]"
"""Stands for an encrypted value, which nobody can read without the stack's key."""


class ProjectError(Exception):
    """A project or a stack that cannot be previewed; the message is for the user."""


@dataclass(frozen=True)
class Project:
    """A stack of a Pulumi project.

    Attributes:
        root: Folder with Pulumi.yaml.
        folder: Folder of the program.
        name: Name of the project.
        stack: Name of the stack.
        config: Configuration by full key, as text, objects as JSON.
        encrypted: Keys with an encrypted value, for which `ENCRYPTED` stands.
        virtualenv: Virtual environment that Pulumi.yaml names, None for none.
    """

    root: Path
    folder: Path
    name: str
    stack: str
    config: Mapping[str, str]
    encrypted: tuple[str, ...] = ()
    virtualenv: Path | None = None

    @classmethod
    def read(
        cls,
        folder: Path,
        stack: str,
        overrides: Mapping[str, str] | None = None,
        without: tuple[str, ...] = (),
    ) -> Project:
        """Read the project of a folder.

        Args:
            folder: The folder with Pulumi.yaml, or one below it.
            stack: Name of a stack that has a file Pulumi.<stack>.yaml.
            overrides: Values of keys that count instead of those in files.
            without: Keys to leave out.

        Raises:
            ProjectError: There is no such project or stack, or it is no Python program.
        """
        file = _project_file(folder)
        project = _load(file)
        name = text(project.get("name"))
        root = file.parent
        options = _python_options(project, file)
        config_folder = root / (text(project.get("stackConfigDir")) or ".")
        values = _defaults(project, name) | _stack_values(config_folder, stack)
        values |= {_full(key, name): value for key, value in (overrides or {}).items()}
        left_out = {_full(key, name) for key in without}
        if unknown := sorted(left_out - set(values)):
            similar = nearest(unknown[0], values)
            raise ProjectError(
                f"The stack {stack} has no configuration {listed(unknown, 'and no')} to leave out"
                + (f"; did you mean {similar}?" if similar else f"; it has {listed(values)}.")
            )
        values = {key: value for key, value in values.items() if key not in left_out}
        virtualenv = text(options.get("virtualenv"))
        return cls(
            root=root.resolve(),
            folder=(root / (text(project.get("main")) or ".")).resolve(),
            name=name,
            stack=stack,
            config={key: ENCRYPTED if _is_encrypted(value) else _as_text(value) for key, value in values.items()},
            encrypted=tuple(key for key, value in values.items() if _is_encrypted(value)),
            virtualenv=root.resolve() / virtualenv if virtualenv else None,
        )


def _project_file(folder: Path) -> Path:
    if not folder.is_dir():
        raise ProjectError(f"There is no folder {folder}; name one with a Pulumi.yaml.")
    for place in (folder.resolve(), *folder.resolve().parents):
        for name in NAMES:
            if (place / name).is_file():
                return place / name
    raise ProjectError(f"There is no Pulumi.yaml in {folder} or above; name the folder of a Pulumi project.")


def _load(file: Path) -> Mapping[str, Any]:
    try:
        value = yaml.load(file.read_text(encoding="utf-8"), Loader)
    except (OSError, ValueError) as error:
        raise ProjectError(f"{file} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        raise ProjectError(f"{file} is no YAML: {' '.join(str(error).split())}.") from None
    if value is not None and not isinstance(value, Mapping):
        raise ProjectError(f"{file} is a mapping of keys, but this is {value!r}.")
    return mapping(value)


def _python_options(project: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    runtime = project.get("runtime")
    name = runtime if isinstance(runtime, str) else text(mapping(runtime).get("name"))
    if name != "python":
        raise ProjectError(
            f"{file} has the runtime {name or 'none'}, and only Python programs can be run without an engine; check "
            "this one with `pulumi preview --policy-pack`."
        )
    return mapping(mapping(runtime).get("options"))


def _defaults(project: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = {}
    for key, entry in mapping(project.get("config")).items():
        value = entry
        if isinstance(entry, Mapping):
            value = entry["value"] if "value" in entry else entry.get("default")
        if value is not None:
            found[_full(key, name)] = value
    return found


def _stack_values(folder: Path, stack: str) -> dict[str, Any]:
    file = folder / f"Pulumi.{stack}.yaml"
    known = sorted(path.name[len("Pulumi.") : -len(".yaml")] for path in folder.glob("Pulumi.*.yaml"))
    if not stack:
        raise ProjectError(
            f"Say which stack to check with --stack: {listed(known, 'or') if known else 'there is none'}."
        )
    if not file.is_file():
        raise ProjectError(
            f"There is no stack {stack!r}: {file} does not exist; "
            + (f"there is {listed(known)}." if known else "add it, or name the folder of another project.")
        )
    return dict(mapping(_load(file).get("config")))


def _full(key: str, project: str) -> str:
    return key if ":" in key else f"{project}:{key}"


def _is_encrypted(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"secure"}


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(_without_secure(value), default=str)


def _without_secure(value: Any) -> Any:
    if _is_encrypted(value):
        return ENCRYPTED
    if isinstance(value, Mapping):
        return {key: _without_secure(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_secure(inner) for inner in value]
    return value
