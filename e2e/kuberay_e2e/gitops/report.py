"""What a check says, as text for a terminal and as Markdown for a pull request."""

from collections.abc import Iterator, Sequence

from kuberay_e2e.gitops.difference import Difference, Effect, ObjectChange
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.tree import Tree

_MOST_FIELDS = 12
_MOST_OBJECTS = 40
_SIGNS = {
    Effect.RUNS: "+",
    Effect.REPLACED: "~",
    Effect.ENDS: "-",
    Effect.ADDED: "+",
    Effect.CHANGED: "~",
    Effect.REMOVED: "-",
}


def text(tree: Tree, findings: Sequence[Finding], change: Difference | None) -> str:
    """Return the report for a terminal."""
    lines = [str(finding) for finding in findings]
    if change is not None:
        lines += _change_text(change)
    return "\n".join([*lines, summary(tree, findings)])


def markdown(tree: Tree, findings: Sequence[Finding], change: Difference | None) -> str:
    """Return the report for a pull request."""
    lines = [f"### Stack `{tree.record.stack}` for {tree.record.layout}", "", summary(tree, findings)]
    if findings:
        lines += ["", "| | Where | Rule | What |", "|---|---|---|---|"]
        lines += [
            f"| {finding.severity} | {_code(_place(finding))} | {_cell(finding.rule)} | {_cell(finding.message)} |"
            for finding in findings
        ]
    if change is not None:
        lines += ["", *_change_markdown(change)]
    return "\n".join(lines) + "\n"


def summary(tree: Tree, findings: Sequence[Finding]) -> str:
    """Return the number of objects and findings in a sentence."""
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    told = ", ".join(_counted(count, severity) for severity, count in counts.items())
    return f"{len(tree.objects)} objects of the stack {tree.record.stack} for {tree.record.layout}: {told}."


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _headline(change: Difference) -> str:
    counts = [(len(change.of(effect)), effect) for effect in Effect]
    told = [f"{effect}: {count}" for count, effect in counts if count]
    return f"A sync of this change: {'; '.join(told)}." if told else "A sync of this change does nothing."


def _change_text(change: Difference) -> Iterator[str]:
    yield _headline(change)
    for effect in Effect:
        if found := change.of(effect):
            yield f"{effect}:"
            for item in found[:_MOST_OBJECTS]:
                told = f": {item.consequence}" if item.consequence else ""
                yield f"  {_SIGNS[effect]} {item.title} ({item.file}){told}"
                yield from (f"      {line}" for line in _fields(item))
            if len(found) > _MOST_OBJECTS:
                yield f"  … and {len(found) - _MOST_OBJECTS} more"


def _change_markdown(change: Difference) -> Iterator[str]:
    yield f"**{_headline(change)}**"
    for effect in Effect:
        if found := change.of(effect):
            yield from ("", f"#### {effect[0].upper()}{effect[1:]}", "")
            for item in found[:_MOST_OBJECTS]:
                yield f"- {_code(item.title)}{f': {item.consequence}' if item.consequence else ''}"
                yield from (f"  - {_code(line)}" for line in _fields(item))
            if len(found) > _MOST_OBJECTS:
                yield f"- … and {len(found) - _MOST_OBJECTS} more"


def _fields(item: ObjectChange) -> Iterator[str]:
    yield from (str(field) for field in item.fields[:_MOST_FIELDS])
    if len(item.fields) > _MOST_FIELDS:
        yield f"… and {len(item.fields) - _MOST_FIELDS} more fields"


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def _code(value: str) -> str:
    """Return text as code, whatever it holds."""
    flat = " ".join(value.split())
    fence = "`"
    while fence in flat:
        fence += "`"
    return f"{fence}{' ' if flat.startswith('`') else ''}{flat}{' ' if flat.endswith('`') else ''}{fence}"


def _cell(value: str) -> str:
    return " ".join(value.replace("|", "\\|").replace("<", "&lt;").split())
