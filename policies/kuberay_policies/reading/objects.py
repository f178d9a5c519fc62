"""Kubernetes objects in YAML and JSON: several documents, lists, output of Helm and kustomize."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_model.manifests import is_list
from kuberay_model.yaml_documents import DocumentError, YamlDocument, documents
from kuberay_policies.subjects import Source, Subject, joined

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_TEMPLATE_START = re.compile(r"\{\{|\{%|^\s*<%", re.MULTILINE)
_FREE_TEXT = frozenset({"entrypoint", "runtimeEnvYAML", "command", "args", "value", "data", "stringData"})
"""Fields whose text may have braces of its own."""

RENDER = "render it first, for example with `helm template … | kuberay-policies check -`"


class NoManifest(Exception):
    """A file without Kubernetes objects, such as the values of a chart.

    Attributes:
        line: Line, counted from 1.
        message: What is expected.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


class Unusable(Exception):
    """A file with something that is no Kubernetes object.

    Attributes:
        subjects: Objects of the file that can be checked.
        problems: Line, if known, and what is wrong.
    """

    def __init__(self, subjects: list[Subject], problems: list[tuple[int | None, str]]) -> None:
        super().__init__(subjects, problems)
        self.subjects = subjects
        self.problems = problems


def objects(text: str, file: str) -> Iterator[Subject]:
    """Yield the Kubernetes objects of a text.

    Args:
        text: YAML or JSON.
        file: Where it is from, `-` for standard input.

    Raises:
        NoManifest: Nothing in the text looks like a Kubernetes object.
        Unusable: Something in the text cannot be read, or is no Kubernetes object.
    """
    subjects: list[Subject] = []
    problems: list[tuple[int | None, str]] = []
    strangers: list[int] = []
    try:
        for index, document in enumerate(documents(text)):
            for line, pointer, value in _flat(document):
                if not _looks_like_object(value):
                    strangers.append(line)
                elif wrong := _wrong(value):
                    problems.append((line, wrong))
                else:
                    subjects.append(Subject(value, Source(file, line, index, pointer)))
    except DocumentError as error:
        problems.append((error.line, _explained(text, error)))
    if "{{" in text or "{%" in text:
        problems += [problem for subject in subjects for problem in _templates(subject)]
    if not subjects and not problems and strangers:
        raise NoManifest(strangers[0], "This is no Kubernetes object: apiVersion and kind are missing.")
    problems += [(line, "This is no Kubernetes object: apiVersion and kind are missing.") for line in strangers]
    if problems:
        raise Unusable(subjects, problems)
    yield from subjects


def _flat(document: YamlDocument) -> Iterator[tuple[int, tuple[str | int, ...], Any]]:
    waiting: list[tuple[int, tuple[str | int, ...], Any]] = [(document.line, (), document.value)]
    while waiting:
        line, pointer, value = waiting.pop()
        if is_list(value):
            entries = enumerate(document.items(value["items"]))
            waiting += reversed([(place, (*pointer, "items", index), item) for index, (place, item) in entries])
        else:
            yield line, pointer, value


def _looks_like_object(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    return "apiVersion" in value or "kind" in value or {"metadata", "spec"} <= set(value)


def _wrong(value: Mapping[str, Any]) -> str | None:
    for field in ("apiVersion", "kind"):
        if field not in value:
            return f"The object has no {field}; every Kubernetes object has one."
        if not isinstance(value[field], str) or not value[field]:
            return f"{field} is {value[field]!r}, and it must be a string."
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        return f"metadata of the {value['kind']} is {metadata!r}, and it must be a mapping."
    return None


def _explained(text: str, error: DocumentError) -> str:
    if match := _TEMPLATE_START.search(text):
        line = text.count("\n", 0, match.start()) + 1
        return f"The file is a template ({match.group().strip()} at line {line}); {RENDER}. ({error.message})"
    return error.message


def _templates(subject: Subject) -> Iterator[tuple[int | None, str]]:
    waiting: list[tuple[str, Any]] = [("", subject.manifest)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(joined(path, key), inner) for key, inner in value.items() if key not in _FREE_TEXT]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", inner) for index, inner in enumerate(value)]
        elif isinstance(value, str) and (match := _TEMPLATE.search(value)):
            yield subject.source.line, f"{path} of the {subject.kind} is a template ({match.group()}); {RENDER}."
