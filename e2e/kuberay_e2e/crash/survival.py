"""The oracles of the operators themselves: they end when they are killed, and one at a time writes."""

from kuberay_e2e.crash.evidence import Evidence
from kuberay_e2e.crash.leadership import ENDED, writes_beside_the_leader
from kuberay_e2e.verdicts import Finding


def ends_only_when_killed(evidence: Evidence) -> Finding:
    """No operator ends by itself, whatever it is answered."""
    events = [event.data for event in evidence.recorded.events if event.kind == "operator"]
    crashed = [f"incarnation {data['incarnation']}: {data['code']}" for data in events if data["event"] == ENDED]
    lives = sum(data["event"] == "started" for data in events)
    return Finding("the operator lives on", not crashed, ", ".join(crashed) or f"{lives} lives")


def only_the_leader_writes(evidence: Evidence) -> Finding:
    """Of two operators only the one that holds the Lease writes."""
    wrong = writes_beside_the_leader(evidence.recorded.events)
    return Finding("only the leader writes", not wrong, "; ".join(wrong) or "no other did")
