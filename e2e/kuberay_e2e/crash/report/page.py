"""The report as one HTML page that needs nothing else."""

import base64
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from kuberay_e2e.crash.report import commands, wording
from kuberay_e2e.crash.report.coverage import Coverage, coverage, reasons, sentence
from kuberay_e2e.crash.report.evidence import LEDGER, TRACE, Evidence, read
from kuberay_e2e.crash.report.matrix import Cell, Mark
from kuberay_e2e.crash.report.runs import Run, in_state
from kuberay_e2e.crash.report.summary import Defect, Group, Once, Report, fault_order
from kuberay_e2e.crash.report.timeline import timeline
from kuberay_e2e.gateway import Position
from kuberay_e2e.verdicts import State

TIMELINE_BYTES = 5_500_000
"""How much of the page runs with their timelines may take; of further runs it has what was broken and the replay."""

_OPENED = 6
"""How many of the runs that broke a promise are open when the page is."""

_URGENT = 12
"""How many runs that broke a promise or could not be judged are named at the top."""

_WIDTH = 980
"""Pixels of a lane on a desk; a word that does not fit its bar there is left to the words below."""

_TEMPLATES = Path(__file__).parent / "templates"
_UPSTREAM = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull|discussions)/\d+")

SIGNS: Mapping[str, str] = {
    Mark.HELD: "✓",
    Mark.DEVIATES: "≠",
    Mark.VIOLATED: "✗",
    Mark.ERROR: "!",
    Mark.EQUIVALENT: "=",
    Mark.IMPOSSIBLE: "—",
    Mark.NOT_RUN: "○",
    Mark.NOT_PLANNED: "",
}

_LEGEND = (
    (Mark.HELD, "every promise was kept"),
    (Mark.DEVIATES, "a promise was broken, exactly as a known deviation says (D and its number)"),
    (Mark.VIOLATED, "promises were broken in a way that is not known (how many), or a known deviation has gone"),
    (Mark.ERROR, "the run could not be judged"),
    (Mark.EQUIVALENT, "the same as another position of this write"),
    (Mark.IMPOSSIBLE, "cannot exist"),
    (Mark.NOT_RUN, "still to be run"),
)


@dataclass(frozen=True)
class Part:
    """The section of a scenario.

    Attributes:
        id: Its name in the page.
        title: Its heading.
        group: The scenario's runs.
        told: Disturbed runs that are told in full, as those without a fault are.
        listed: Disturbed runs that have a line.
        counts: How many runs came out how.
        coverage: Which pairs were run.
        once: How often the entrypoint ran, by position.
        defects: The deviations of its version, by id.
    """

    id: str
    title: str
    group: Group
    told: Sequence[Run]
    listed: Sequence[Run]
    counts: Sequence[tuple[str, int]]
    coverage: Coverage
    once: Mapping[str, Once]
    defects: Mapping[str, Defect]

    def numbers(self, cell: Cell) -> str:
        """The numbers of the deviations that happened in a cell's run."""
        known = cell.run.verdict.deviation if cell.run else ()
        return " ".join(f"D{self.defects[name].number}" for name in known)


def page(report: Report, target: Path) -> str:
    """The page.

    Args:
        report: What it tells.
        target: The folder it is written to, from where it links to the files of runs.
    """
    environment = _environment()
    parts = [_part(report, group) for group in report.groups]
    script = (_TEMPLATES / "page.js").read_text()
    return environment.get_template("page.html.j2").render(
        report=report,
        title=wording.title(report),
        head=wording.head(report),
        counts=[(state.value, report.count(state)) for state in State],
        pairs=sentence([part.coverage for part in parts]),
        go_on=commands.go_on(report.folder),
        parts=parts,
        faults=sorted({fault for part in parts for fault in part.once}, key=fault_order),
        reasons=reasons([part.coverage for part in parts]),
        urgent=in_state(report.runs, State.VIOLATED) + in_state(report.runs, State.ERROR),
        most=_URGENT,
        legend=_LEGEND,
        signs=SIGNS,
        bodies=_bodies(parts, report.folder, target, environment),
        opened={run.anchor for run in in_state(report.runs, State.VIOLATED)[:_OPENED]},
        siblings=[("result.json", "result.json"), ("junit.xml", "junit.xml"), ("summary.md", "summary.md")],
        style=Markup((_TEMPLATES / "style.css").read_text()),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _part(report: Report, group: Group) -> Part:
    several = len(report.versions) > 1
    told = [run for run in group.disturbed if run.verdict.state is not State.HELD]
    order = [State.VIOLATED, State.ERROR, State.DEVIATES, State.HELD]
    return Part(
        f"scenario-{group.name}" + (f"-{group.version}" if several else ""),
        group.name + (f" ({group.version})" if several else ""),
        group,
        sorted(told, key=lambda run: (order.index(run.verdict.state), run.number)),
        [run for run in group.disturbed if run.verdict.state is State.HELD],
        [(state.value, len(in_state(group.runs, state))) for state in State],
        coverage(group),
        {once.fault: once for once in group.once},
        {defect.deviation.id: defect for defect in report.defects if defect.version == group.version},
    )


def _bodies(parts: Sequence[Part], folder: Path, target: Path, environment: Environment) -> dict[str, Markup]:
    """What is told of runs, by anchor; the most telling ones get the timelines, as long as there is room."""
    bodies: dict[str, Markup] = {}
    room = TIMELINE_BYTES
    for part, run in _by_interest(parts):
        evidence = read(folder / run.result.folder) if run.result.folder and room > 0 else None
        gap = "" if evidence or not run.result.folder else "The page has no room for its timeline; see its files."
        body = _body(part, run, evidence, gap, _files(run, folder, target), environment)
        room -= len(body.encode())
        bodies[run.anchor] = body
    return bodies


def _by_interest(parts: Sequence[Part]) -> list[tuple[Part, Run]]:
    """Runs without a fault first, then what is violated, errors, the first of each deviation, and the rest."""
    met: set[tuple[str, ...]] = set()
    ranked: list[tuple[int, Part, Run]] = []
    for part in parts:
        ranked += [(0, part, run) for run in part.group.undisturbed]
        for run in part.told:
            ranked.append((_INTEREST[run.verdict.state] + (run.verdict.deviation in met), part, run))
            met.add(run.verdict.deviation)
    return [(part, run) for _, part, run in sorted(ranked, key=lambda entry: entry[0])]


_INTEREST = {State.VIOLATED: 1, State.ERROR: 3, State.DEVIATES: 5}


def _body(
    part: Part,
    run: Run,
    evidence: Evidence | None,
    gap: str,
    files: Sequence[tuple[str, str]],
    environment: Environment,
) -> Markup:
    text = environment.get_template("run.html.j2").render(
        run=run,
        broken=run.result.broken,
        defects=[part.defects[name] for name in run.verdict.deviation if name in part.defects],
        replay=commands.replay(run.result.point),
        files=files,
        gap=gap or (evidence.gap if evidence else ""),
        findings=() if gap else run.result.findings,
        timeline=timeline(evidence, watches=run.result.point.position is Position.STALE) if evidence else None,
    )
    return Markup(text)


def _files(run: Run, folder: Path, target: Path) -> list[tuple[str, str]]:
    if not run.result.folder:
        return []
    where = folder / run.result.folder
    relative = Path(os.path.relpath(where, target)).as_posix()
    return [(name, quote(f"{relative}/{name}")) for name in (TRACE, LEDGER) if (where / name).exists()]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters: dict[str, Any] = {
        "fits": lambda bar, whole: _WIDTH * (bar.end - bar.start) / whole > 8 + 6 * len(bar.label),
        "share": lambda value, whole: f"{100 * value / whole:.2f}%",
        "duration": wording.duration,
        "kuberay": lambda version: f"KubeRay {version}",
        "replay": commands.replay,
        "upstream": _linked,
    }
    environment.filters.update(filters)
    return environment


def _linked(text: str) -> Markup:
    """Text with its issues and pull requests as links."""
    parts, last = [], 0
    for match in _UPSTREAM.finditer(text):
        address = match.group()
        name = "#".join((address.split("/")[4], address.rsplit("/", 1)[1]))
        parts += [escape(text[last : match.start()]), Markup('<a href="{}">{}</a>').format(address, name)]
        last = match.end()
    return Markup("").join([*parts, escape(text[last:])])
