"""`kuberay-policies preview`: run a program without an engine, evaluate, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kuberay_policies.commands.check import chosen_settings
from kuberay_policies.commands.errors import CommandError
from kuberay_policies.evaluation import evaluate
from kuberay_policies.formats import Outcome
from kuberay_policies.pack.environment import PackError, environment, settings_file
from kuberay_policies.program.preview import preview as declared
from kuberay_policies.program.project import Project, ProjectError
from kuberay_policies.reading import Inputs


def preview(
    program: Path,
    stack: str,
    config: Path | None,
    chosen_environment: str | None,
    version: str | None,
    gates: str | None,
    values: Sequence[str],
    without: Sequence[str],
) -> Outcome:
    """Run the program of a stack and ask the policies about what it declares.

    Args:
        program: Folder of the Pulumi project.
        stack: Name of the stack.
        config: Settings file; None for the usual one here or beside Pulumi.yaml.
        chosen_environment: Environment of the settings file; None for the one with the stack's name.
        version: KubeRay version; None for that of the settings.
        gates: Feature gates, laid over those of the settings.
        values: Configuration of the stack as `KEY=VALUE`, laid over its file.
        without: Keys of the stack's configuration to leave out.

    Raises:
        CommandError: The project, the stack, the program or an option is wrong.
    """
    try:
        project = Project.read(program, stack, _pairs(values), tuple(without))
        file = config or settings_file((Path(), project.root))
        named = environment(file, stack, chosen_environment or "")
        settings, notes = chosen_settings(file, named, version, gates, None)
        found = declared(project)
    except (ProjectError, PackError) as error:
        raise CommandError(str(error)) from None
    inputs = Inputs(subjects=list(found.subjects), files=[str(project.root)], notes=[*notes, *found.notes])
    return Outcome(inputs, evaluate(found.subjects, settings), settings)


def _pairs(values: Sequence[str]) -> Mapping[str, str]:
    for value in values:
        if "=" not in value:
            raise CommandError(f"Configuration is written as KEY=VALUE, but {value!r} was given.")
    return dict(value.split("=", 1) for value in values)
