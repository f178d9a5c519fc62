"""The report as a short summary in Markdown, as CI systems show it beside a job."""

from collections.abc import Sequence

from kuberay_e2e.crash.report import commands, wording
from kuberay_e2e.crash.report.coverage import coverage, sentence
from kuberay_e2e.crash.report.effects import Guarantee
from kuberay_e2e.crash.report.runs import Run, in_state
from kuberay_e2e.crash.report.summary import Once, Report
from kuberay_e2e.verdicts import State

_MOST = 50
"""How many runs are named; GitHub cuts a summary at 1 MiB."""

_LONGEST = 300
"""Letters of a sentence."""


def markdown(report: Report) -> str:
    """What came out, scenario by scenario, then each run that is violated or could not be judged."""
    lines = [f"# {wording.title(report)}", "", f"**{wording.head(report)}**", ""]
    lines += [
        ", ".join(f"{report.count(state)} {state}" for state in State)
        + f"; {len(report.runs)} runs, {wording.duration(report.seconds)} together.",
        "",
        f"Pairs of write and position: {sentence([coverage(group) for group in report.groups])}.",
        "",
    ]
    if report.groups:
        lines += ["| scenario | runs | held | deviates | violated | error | the entrypoint ran |"]
        lines += ["|---|---:|---:|---:|---:|---:|---|"]
    for group in report.groups:
        counts = " | ".join(str(len(in_state(group.runs, state))) for state in State)
        lines.append(f"| {group.name} {group.version} | {len(group.runs)} | {counts} | {ran(group.once)} |")
    for state, heading in ((State.VIOLATED, "Violated"), (State.ERROR, "Could not be judged")):
        lines += _section(heading, in_state(report.runs, state))
    met = [defect for defect in report.defects if defect.runs]
    if met:
        lines += ["", "## Known deviations", "", "| deviation | runs | upstream |", "|---|---:|---|"]
        lines += [f"| {d.deviation.id} | {len(d.runs)} | {cell(d.deviation.upstream)} |" for d in met]
    lines += ["", f"Go on with `{commands.go_on(report.folder)}`."]
    return "\n".join(lines) + "\n"


def ran(once: Sequence[Once]) -> str:
    """How often the entrypoint ran, positions with the same answer together."""
    found: dict[Guarantee, list[str]] = {}
    for one in once:
        found.setdefault(one.guarantee, []).append(one.fault)
    if len(found) == 1:
        return str(next(iter(found)))
    return "; ".join(f"{guarantee} ({', '.join(faults)})" for guarantee, faults in found.items()) or "not known"


def cell(text: str) -> str:
    """Text that stays in its cell of a table and is no markup."""
    text = " ".join(text.split())
    for letter in "\\|<>`*_[]":
        text = text.replace(letter, f"\\{letter}")
    return text


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return "`" + " ".join(text.split()).replace("|", "\\|").replace("`", "'") + "`"


def _section(heading: str, runs: list[Run]) -> list[str]:
    if not runs:
        return []
    lines = ["", f"## {heading}", ""]
    for run in runs[:_MOST]:
        sentence = run.sentence if len(run.sentence) <= _LONGEST else run.sentence[:_LONGEST] + "…"
        lines += [f"- {code(str(run.result.point))}: {cell(sentence)}", f"  {code(commands.replay(run.result.point))}"]
    if len(runs) > _MOST:
        lines.append(f"- and {len(runs) - _MOST} more, see `index.html`.")
    return lines
