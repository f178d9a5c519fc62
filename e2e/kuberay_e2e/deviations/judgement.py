"""From what a scenario found to its verdict, by the deviations that are known."""

from collections.abc import Sequence

from kuberay_e2e.deviations.catalogue import Deviation, Deviations, Occurrence
from kuberay_e2e.verdicts import Finding, State, Verdict


def judge(
    scenario: str,
    findings: Sequence[Finding],
    known: Deviations,
    *,
    expected: str,
    seconds: float,
    mode: str = "",
    evidence: Sequence[str] = (),
) -> Verdict:
    """Judge what a scenario found.

    Every broken promise has to be a known deviation, and every known deviation that always happens has to have
    happened.

    Args:
        scenario: Name of the scenario.
        findings: What was found of its promises.
        known: The known deviations of the versions in use.
        expected: What was expected, a sentence.
        seconds: How long it took.
        mode: Submission mode or other variant.
        evidence: What was recorded.
    """
    concerning = known.concerning(scenario, mode)
    happened: list[Deviation] = []
    sentences: list[str] = []
    for finding in findings:
        if finding.held:
            continue
        matching = [entry for entry in concerning if entry.matches(finding.promise, finding.seen)]
        happened += [entry for entry in matching if entry not in happened]
        if not matching:
            wanted = f"; expected {finding.expected}" if finding.expected else ""
            sentences.append(f"{finding.promise}: broken, and no known deviation: {finding.seen}{wanted}.")
    for entry in concerning:
        if entry.occurrence is Occurrence.ALWAYS and entry not in happened:
            sentences.append(
                f"The known deviation {entry.id} did not happen ({_seen_of(entry.promise, findings)}). If it is gone "
                "for good, delete it from the list of this version."
            )
    state = State.VIOLATED if sentences else State.DEVIATES if happened else State.HELD
    summary = "; ".join(f"{finding.promise}: {finding.seen}" for finding in findings) + "."
    return Verdict(
        scenario,
        state,
        seconds,
        expected,
        " ".join(sentences) or summary,
        mode,
        tuple(entry.id for entry in happened),
        tuple(findings),
        tuple(evidence),
    )


def _seen_of(promise: str, findings: Sequence[Finding]) -> str:
    seen = [finding.seen for finding in findings if finding.promise == promise]
    return f"{promise}: {seen[0]}" if seen else f"the scenario has no promise {promise!r}"
