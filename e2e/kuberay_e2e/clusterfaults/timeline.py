"""What happened to a RayJob under a fault, line by line, in seconds from its creation."""

from collections.abc import Mapping, Sequence
from typing import Any

from kuberay_e2e.clusterfaults.executions import Execution
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.trace import Event


def lines(recording: Recording, executions: Sequence[Execution]) -> tuple[str, ...]:
    """The changes of status, the coming and going of what it owns, the faults, and the runs of its entrypoint.

    Args:
        recording: The RayJob's part of the trace.
        executions: The runs of its entrypoint.
    """
    if not recording.rayjob:
        return ()
    begin = recording.rayjob[0].time
    entries = [(event.time, text) for event, text in _objects(recording)]
    entries += [(event.time, f"** {event.data['action']}") for event in _faults(recording)]
    for number, execution in enumerate(executions, 1):
        entries.append((execution.start, f"entrypoint started in {execution.pod} (run {number})"))
        word = "ended" if execution.ended else "was last heard"
        entries.append((execution.last, f"entrypoint {word} in {execution.pod} (run {number})"))
    return tuple(f"{time - begin:+7.1f} s  {text}" for time, text in sorted(entries, key=lambda entry: entry[0]))


def _faults(recording: Recording) -> list[Event]:
    names = {(event.data["namespace"]) for event in recording.rayjob}
    return [
        e for e in recording.events if e.kind == "fault" and e.data.get("namespace") in names and "action" in e.data
    ]


def _objects(recording: Recording) -> list[tuple[Event, str]]:
    found = []
    before: dict[str, str] = {}
    for event in sorted((*recording.rayjob, *recording.owned), key=lambda event: event.sequence):
        text = _state(event.data)
        if before.get(event.data["uid"]) != text:
            before[event.data["uid"]] = text
            found.append((event, f"{event.data['object_kind']} {event.data['name']}: {text}"))
    return found


def _state(data: Mapping[str, Any]) -> str:
    if data["event"] == "DELETED":
        return "gone"
    words = {"RayJob": _rayjob, "Job": _job, "RayCluster": _ray_cluster}.get(data["object_kind"], _phase)(data)
    return f"{words}, being deleted" if data["deletion"] else words


def _rayjob(data: Mapping[str, Any]) -> str:
    status = data.get("status") or {}
    words = [status.get("jobDeploymentStatus") or "New", status.get("jobStatus") or "-", status.get("reason") or ""]
    return " ".join(filter(None, words))


def _job(data: Mapping[str, Any]) -> str:
    status = data.get("status") or {}
    counts = [f"{status[word]} {word}" for word in ("active", "succeeded", "failed") if status.get(word)]
    ends = [c["type"] for c in status.get("conditions") or () if c["status"] == "True" and c["type"] != "FailureTarget"]
    return ", ".join([*counts, *ends]) or "created"


def _ray_cluster(data: Mapping[str, Any]) -> str:
    return str((data.get("status") or {}).get("state") or "created")


def _phase(data: Mapping[str, Any]) -> str:
    return str(data.get("phase") or "there")
