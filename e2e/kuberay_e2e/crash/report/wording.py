"""Words that several forms of the report have in common."""

from kuberay_e2e.crash.report.summary import Report
from kuberay_e2e.verdicts import State


def title(report: Report) -> str:
    """The title of the report."""
    return f"Crash sweep of the KubeRay operator {', '.join(report.versions)}".rstrip()


def head(report: Report) -> str:
    """What the sweep comes to, in a sentence or two."""
    if not report.runs:
        return "Nothing was run yet."
    violated, error, deviates = (report.count(state) for state in (State.VIOLATED, State.ERROR, State.DEVIATES))
    judged = len(report.runs) - error
    every = "Every run" if not error else f"Each of the {judged} runs that could be judged"
    if violated:
        what = f"{_runs(violated)} broke a promise in a way that is not known."
    elif not judged:
        what = "No run could be judged."
    elif all(run.result.point.write is None for run in report.runs):
        what = f"{every} held, and none had a fault yet."
    else:
        what = f"{every} held" + (f", or deviates as known, as {deviates} do." if deviates else ".")
    return what + (f" {_runs(error)} could not be judged." if error and judged else "")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _runs(count: int) -> str:
    return f"{count} run{'s' if count != 1 else ''}"
