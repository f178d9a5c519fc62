"""The settings of a pack: which file, and which environment of it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kuberay_model.rules.values import mapping
from kuberay_model.yaml_loader import ManifestLoader
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import DEFAULT_NAME, SettingsError, load, resolve

FILE_VARIABLE = "KUBERAY_POLICIES_SETTINGS"
"""Environment variable with the path of the settings file."""
ENVIRONMENT_VARIABLE = "KUBERAY_POLICIES_ENVIRONMENT"
"""Environment variable with the name of the environment; without it the stack's name is that of the environment."""


class PackError(Exception):
    """The pack cannot work as it is configured; the message is for the user."""


def settings_file(folders: Sequence[Path], given: str = "", variables: Mapping[str, str] = os.environ) -> Path | None:
    """Return the settings file, None if there is none.

    Args:
        folders: Where a file of the usual name is looked for, in order.
        given: Path from the configuration of the pack; it comes before the environment variable.
        variables: The environment.

    Raises:
        PackError: The file that is asked for does not exist.
    """
    named = given or variables.get(FILE_VARIABLE, "")
    if named:
        file = Path(named).expanduser()
        if not file.is_file():
            raise PackError(f"The settings file {named} does not exist; correct the path ({FILE_VARIABLE}).")
        return file
    return next((folder / DEFAULT_NAME for folder in folders if (folder / DEFAULT_NAME).is_file()), None)


def environment(
    file: Path | None, stack: str, given: str = "", variables: Mapping[str, str] = os.environ
) -> str | None:
    """Return the environment of a stack: the one asked for, else the one with the stack's name, else None.

    Args:
        file: The settings file; None if there is none.
        stack: Name of the stack, with or without organization and project.
        given: Environment from the configuration of the pack; it comes before the environment variable.
        variables: The environment of the process.
    """
    own = stack.rpartition("/")[2]
    return given or variables.get(ENVIRONMENT_VARIABLE) or (own if file and own in _environments(file) else None)


def settings(file: Path | None, stack: str, given: str = "", variables: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings for a stack.

    Args:
        file: The settings file; None for the defaults.
        stack: Name of the stack, as for `environment`.
        given: Environment, as for `environment`.
        variables: The environment of the process.

    Raises:
        PackError: The file is wrong, or has no such environment.
    """
    named = environment(file, stack, given, variables)
    if file is None:
        if named:
            raise PackError(
                f"The environment {named!r} is asked for, but there is no settings file; set {FILE_VARIABLE}."
            )
        return resolve({})
    try:
        return load(file, named)
    except SettingsError as error:
        hint = "" if named else f" The stack is {stack!r}; {ENVIRONMENT_VARIABLE} names another environment."
        raise PackError(f"{error}{hint if stack else ''}") from None


def needs_environment(file: Path | None) -> bool:
    """Tell whether a settings file has environments and none of them is that of everybody who names none."""
    content = _content(file)
    return bool(mapping(content.get("environments"))) and not content.get("defaultEnvironment")


def _environments(file: Path) -> Collection[str]:
    return mapping(_content(file).get("environments"))


def _content(file: Path | None) -> Mapping[str, Any]:
    try:
        return mapping(yaml.load(file.read_text(encoding="utf-8"), ManifestLoader) if file else None)
    except (OSError, ValueError, yaml.YAMLError):
        return {}  # `load` tells what is wrong
