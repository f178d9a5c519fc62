"""`python -m kuberay_e2e.crash.report.track_record FOLDER [FILE]`: what sweeps have found, as a page in Markdown."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kuberay_e2e.crash.report import commands, summary, suspicions
from kuberay_e2e.crash.report.coverage import coverage, reasons, sentence
from kuberay_e2e.crash.report.markdown import cell, code
from kuberay_e2e.crash.report.runs import Run, in_state
from kuberay_e2e.crash.report.summary import Report, fault_order
from kuberay_e2e.crash.report.suspicions import Suspicion, settled
from kuberay_e2e.crash.report.wording import duration
from kuberay_e2e.crash.store import SweepFolder
from kuberay_e2e.errors import InputError
from kuberay_e2e.verdicts import State

_HEAD = """# Track record

What the crash sweep found in released operators. Made from the results of a sweep by
`python -m kuberay_e2e.crash.report.track_record FOLDER docs/track-record.md`.
"""


def document(report: Report, suspected: Sequence[Suspicion] = ()) -> str:
    """The page.

    Args:
        report: The sweep.
        suspected: What it settles.
    """
    sections = (_run(report), _defects(report), _open(report), _once(report), _settled(report, suspected))
    return _HEAD + "".join("\n" + "\n".join(lines) + "\n" for lines in map(list, sections) if lines)


def _run(report: Report) -> Iterator[str]:
    yield from ("## What was run", "")
    if not report.runs:
        yield "Nothing."
        return
    count, versions = len(report.runs), ", ".join(report.versions)
    each = report.seconds / count
    yield f"{count} runs with KubeRay {versions}, {duration(report.seconds)} of runs, {each:.1f} s each."
    yield ""
    yield "| scenario | KubeRay | writes | positions | runs | held | deviates | violated | error | s a run |"
    yield "|---|---|---:|---|---:|---:|---:|---:|---:|---:|"
    for group in report.groups:
        positions = ", ".join(once for once in dict.fromkeys(run.fault for run in group.runs) if once)
        counts = " | ".join(str(len(in_state(group.runs, state))) for state in State)
        mean = sum(run.result.seconds for run in group.runs) / max(len(group.runs), 1)
        yield (
            f"| {cell(group.name)} | {group.version} | {len(group.learned.writes)} | {positions or 'none'} | "
            f"{len(group.runs)} | {counts} | {mean:.1f} |"
        )
    totals = " | ".join(str(report.count(state)) for state in State)
    writes = sum(len(group.learned.writes) for group in report.groups)
    yield f"| all | | {writes} | | {count} | {totals} | {each:.1f} |"
    figures = [coverage(group) for group in report.groups]
    yield from ("", f"Pairs of write and position: {sentence(figures)}.")
    if left_out := reasons(figures):
        yield from ("", "Left out:", "")
        yield from (f"- {number}: {cell(why)}" for why, number in left_out.items())


def _defects(report: Report) -> Iterator[str]:
    yield from ("## Defects", "")
    met = [defect for defect in report.defects if defect.runs]
    if not met:
        yield "None was met."
    else:
        yield "`Found after` counts the seconds of all runs up to the end of the first that shows the defect."
        yield ""
        yield "| defect | scenario | position | runs | found after | upstream | replay |"
        yield "|---|---|---|---:|---:|---|---|"
    for defect in met:
        first = defect.runs[0]
        scenarios = dict.fromkeys(run.result.point.scenario for run in defect.runs)
        faults = dict.fromkeys(run.fault or "without a fault" for run in defect.runs)
        yield (
            f"| {defect.deviation.id} | {', '.join(scenarios)} | {', '.join(faults)} | {len(defect.runs)} | "
            f"{first.run_seconds:.0f} s, {first.number} runs | {cell(defect.deviation.upstream)} | "
            f"{code(commands.replay(first.result.point))} |"
        )
    if rest := [defect for defect in report.defects if not defect.runs and defect.concerned]:
        yield ""
        yield "Known, and not met: " + ", ".join(f"{d.deviation.id} (in {d.concerned} runs)" for d in rest) + "."


def _open(report: Report) -> Iterator[str]:
    runs: list[Run] = in_state(report.runs, State.VIOLATED, State.ERROR)
    if runs:
        yield from ("## Open", "", "| run | verdict | seen |", "|---|---|---|")
    for run in runs:
        yield f"| {code(str(run.result.point))} | {run.verdict.state} | {cell(run.sentence)} |"


def _once(report: Report) -> Iterator[str]:
    faults = sorted({once.fault for group in report.groups for once in group.once}, key=fault_order)
    if not faults:
        return
    yield from ("## How often the entrypoint ran", "")
    yield "For each attempt of the RayJob, over all runs of a scenario at a position, counted in the Ray ledger."
    yield ""
    yield f"| scenario | {' | '.join(faults)} |"
    yield "|---" * (len(faults) + 1) + "|"
    for group in report.groups:
        seen = {once.fault: f"{once.guarantee} ({once.runs})" for once in group.once}
        if seen:
            name = group.name if len(report.versions) == 1 else f"{group.name} ({group.version})"
            yield f"| {cell(name)} | {' | '.join(seen.get(fault, '') for fault in faults)} |"


def _settled(report: Report, suspected: Sequence[Suspicion]) -> Iterator[str]:
    if suspected:
        yield from ("## Suspicions", "", "| suspicion | source | runs | what the sweep says |", "|---|---|---|---|")
    for one in suspected:
        runs = code(one.runs) if one.runs else ""
        yield f"| {cell(one.suspicion)} | {cell(one.source)} | {runs} | {cell(settled(one, report))} |"


def main(arguments: Sequence[str]) -> int:
    """Write the page to a file, or to standard output."""
    if len(arguments) not in (1, 2):
        print("usage: python -m kuberay_e2e.crash.report.track_record FOLDER [FILE]", file=sys.stderr)
        return 2
    folder = SweepFolder(Path(arguments[0]))
    try:
        if not folder.is_sweep:
            raise InputError(f"Expected {folder.path} to be the folder of a sweep; there is none.")
        text = document(summary.read(folder), suspicions.read())
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    if len(arguments) == 2:
        Path(arguments[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
