"""What is wrong with a configuration, said with the key and with the place in the file."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pulumi
from declared_fields import snake_case
from stack_file import PROJECT, KeyPath, StackFile

from pulumi_kuberay import ArgumentError


class ConfigError(pulumi.RunError):
    """A configuration that cannot be used; Pulumi prints the message without a traceback."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        path: The keys that lead to it.
        sentence: What was expected, what is there and what to do.
    """

    path: KeyPath
    sentence: str


@contextmanager
def placed(file: StackFile, *path: str | int) -> Iterator[None]:
    """Give a component's complaint about its arguments the place in the file where they are written."""
    try:
        yield
    except ArgumentError as error:
        sentence = str(error)
        mentioned = [key for key in file.keys(path) if snake_case(key) in re.findall(r"\w+", sentence)]
        place = (*path, mentioned[0]) if mentioned else path
        raise config_error([Problem(place, f"{spoken(path)}: {sentence}")], file) from error


def config_error(problems: Iterable[Problem], file: StackFile) -> ConfigError:
    """Return one error that names every problem with its place, in the order of the file."""
    placed = sorted(
        ((file.line(problem.path) or 0, problem.sentence) for problem in problems), key=lambda item: item[0]
    )
    lines = [f"{file.place(line)}{sentence}" for line, sentence in placed]
    if len(lines) == 1:
        return ConfigError(lines[0])
    return ConfigError("\n".join([f"The configuration has {len(lines)} errors:", *(f"- {line}" for line in lines)]))


def spoken(path: KeyPath) -> str:
    """Return a path of keys as people write it: ``kuberay:rayJobs.counter.workers[0].name``."""
    if not path:
        return "The configuration"
    first, *rest = path
    return f"{PROJECT}:{first}" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in rest)
