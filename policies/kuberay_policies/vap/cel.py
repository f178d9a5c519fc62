"""Writing CEL: literals, sentences with values in them, and lists of sentences.

A rule is one CEL expression of type list(string): what is wrong, one sentence per finding, empty if nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NOTHING = "[]"
"""The list of a rule that has nothing to say."""

_MARKS = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(text: str) -> str:
    """Return a CEL string literal."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in text) + "'"


def strings(texts: Iterable[str]) -> str:
    """Return a CEL list of string literals."""
    return "[" + ", ".join(literal(text) for text in texts) + "]"


def sentence(template: str) -> str:
    """Return a CEL string: the template, each `{expression}` replaced by its value; `{{` and `}}` are braces."""
    parts: list[str] = []
    plain, end = "", 0
    for mark in _MARKS.finditer(template):
        plain += template[end : mark.start()]
        end = mark.end()
        if mark[0] in ("{{", "}}"):
            plain += mark[0][0]
        else:
            parts += [literal(plain)] * bool(plain) + [f"string({mark[0][1:-1]})"]
            plain = ""
    plain += template[end:]
    return " + ".join([*parts, *([literal(plain)] * bool(plain))]) or "''"


def finding(path: str, wrong: str, remedy: str) -> str:
    """Return a CEL string that says where, what is wrong and what to do; each a template of `sentence`.

    The path is that in a RayJob; other kinds have the spec of the RayCluster or of the RayJob elsewhere.
    """
    for there, here in (("spec.rayClusterSpec", "{variables.clusterPath}"), ("spec", "{variables.jobPath}")):
        if path == there or path.startswith((f"{there}.", f"{there}[")):
            path = f"{here}{path.removeprefix(there)}"
            break
    return sentence(f"{path}: {wrong} {remedy}")


def when(condition: str, *findings: str) -> str:
    """Return the list of findings that there are under a condition."""
    return f"(({condition}) ? [{', '.join(findings)}] : {NOTHING})"


def each(items: str, name: str, condition: str, said: str) -> str:
    """Return one finding per item of a CEL list that fulfils a condition; `name` is the item in both expressions."""
    return f"{items}.filter({name}, {condition}).map({name}, {said})"


def together(*lists: str) -> str:
    """Return the lists one after the other; without any the empty list."""
    return " + ".join(lists) or NOTHING


def listing(items: str) -> str:
    """Return a CEL string that names the items of a list of strings: `a, b and c`."""
    before = f"variables.numbers.filter(n, n < size({items}) - 1).map(n, {items}[n])"
    return f"size({items}) == 1 ? {items}[0] : {before}.join(', ') + ' and ' + {items}[size({items}) - 1]"


def under(condition: str, found: str) -> str:
    """Return a list under a condition, else the empty list."""
    return f"(({condition}) ? ({found}) : {NOTHING})"


def each_of_pods(id: str, field: str, condition: str, said: str) -> str:
    """Return a finding per item of a list in the specs of Pods; the Pod is `p`, the item `c`, its number `i`.

    CEL has no way to flatten lists before Kubernetes 1.34, so that the findings of a Pod are one text, in which each
    but the first has the id before it.
    """
    items = f"p.spec.?{field}.orValue(dyn([]))"
    item = f"p.spec.{field}[i]"
    inner = re.sub(r"\bc\b(?=[.\[?)])", item, condition)
    text = re.sub(r"\bc\b(?=[.\[?)])", item, said)
    numbers = f"variables.numbers.filter(i, i < size({items}))"
    return (
        f"variables.pods.filter(p, {items}.exists(c, {condition}))"
        f".map(p, {numbers}.filter(i, {inner}).map(i, {text}).join({literal(f' {id} ')}))"
    )
