"""Words that several forms of the report have in common."""

from kuberay_e2e.crash.report.summary import Report
from kuberay_e2e.verdicts import State


def title(report: Report) -> str:
    """The title of the report."""
    return f"Crash sweep of the KubeRay operator {', '.join(report.versions)}".rstrip()


def head(report: Report) -> str:
    """What the sweep comes to, in a sentence."""
    if not report.runs:
        return "Nothing was run yet."
    violated, error, deviates = (report.count(state) for state in (State.VIOLATED, State.ERROR, State.DEVIATES))
    if violated:
        what = f"{_runs(violated)} broke a promise in a way that is not known."
    elif deviates:
        what = f"Every run that could be judged held or deviates as known, {deviates} of {len(report.runs)} as known."
    elif error == len(report.runs):
        what = "No run could be judged."
    else:
        what = "Every run that could be judged held."
    return what + (f" {_runs(error)} could not be judged." if error and error < len(report.runs) else "")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"


def _runs(count: int) -> str:
    return f"{count} run{'s' if count != 1 else ''}"
