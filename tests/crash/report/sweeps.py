"""Sweeps made by hand: results, traces and ledgers, small enough to read."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.point import Point, parse
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.deviations import Deviation, Deviations, Occurrence
from kuberay_e2e.gateway.faults import parse as parse_fault
from kuberay_e2e.ray import Ledger, RayClusterKey, Start, Submission
from kuberay_e2e.ray.ledger import End, Outcome
from kuberay_e2e.trace import Trace
from kuberay_e2e.verdicts import Finding

VERSION = "1.6.2"
BEGIN = 1767225600.0
STARTS = "the entrypoint runs as often as it should"
WRITES = (
    "update:RayJob~job:+ray.io/rayjob-finalizer",
    "update:RayJob/status~job:jobDeploymentStatus=Initializing",
    "create:RayCluster~job-*",
    "create:Pod~job-*-head-*",
    "submit:RayJobs~job-*",
    "update:RayJob/status~job:jobDeploymentStatus=Complete",
)
TWICE = Deviation(
    "submits-twice",
    "http/submit:RayJobs*@lost",
    STARTS,
    "A submission whose answer is lost is not made again.",
    "^2$",
    ("+1 s submitted",),
    "The operator takes a lost answer for a failure.",
    "none found; near to https://github.com/ray-project/kuberay/issues/4824 (a restart)",
    occurrence=Occurrence.SOMETIMES,
)
KNOWN = Deviations((TWICE,))


def known(version: str) -> Deviations:
    """The deviations of `VERSION`; none of others."""
    return KNOWN if version == VERSION else Deviations()


def learned(scenario: str = "http", writes: Iterable[str] = WRITES, **unstable: str) -> Learned:
    return Learned(scenario, 3, tuple(parse_fault(write).write for write in writes), unstable)


def findings(broken: Mapping[str, str] | None = None, starts: int = 1) -> tuple[Finding, ...]:
    """What the oracles found; `broken` has what was seen, by promise."""
    kept = {"reaches its end": "it did", STARTS: str(starts), "nothing is left": "5 objects gone"}
    found = {**{promise: Finding(promise, True, seen) for promise, seen in kept.items()}}
    for promise, seen in (broken or {}).items():
        found[promise] = Finding(promise, False, seen, "1")
    return tuple(found.values())


def spans(seconds: float) -> dict[str, float]:
    return {"goal": 8.078, "settled": 12.104, "gone": seconds}


class Sweep:
    """Fills the folder of a sweep."""

    def __init__(self, path: Path) -> None:
        self.folder = SweepFolder(path)

    def learn(self, *scenarios: Learned, version: str = VERSION) -> "Sweep":
        self.folder.keep_learned(version, {one.scenario: one for one in scenarios})
        return self

    def run(
        self,
        point: str,
        *,
        broken: Mapping[str, str] | None = None,
        starts: int = 1,
        error: str = "",
        files: bool = True,
        seconds: float = 12.5,
        version: str = VERSION,
        entrypoint: str = "python main.py",
    ) -> Result:
        where = parse(point)
        folder = ""
        if files:
            with tempfile.TemporaryDirectory() as slot:
                record(Path(slot), where, starts=starts, entrypoint=entrypoint)
                folder = self.folder.keep_files(where, Path(slot))
        found = () if error else findings(broken, starts)
        return self._keep(Result(where, version, seconds, found, error, spans(seconds), folder))

    def keep_with(self, point: str, folder: str, *, broken: Mapping[str, str]) -> Result:
        """A result that has the files of another run."""
        return self._keep(Result(parse(point), VERSION, 12.5, findings(broken), "", spans(12.5), folder))

    def _keep(self, result: Result) -> Result:
        self.folder.keep(result)
        return result

    def all_states(self) -> "Sweep":
        """A sweep of one scenario with a run in each state."""
        self.learn(learned(**{"create:Pod~job-*-workers-worker-*#2": "made in 2 of 3 runs"}))
        self.run("http")
        for write in WRITES:
            for position in ("before", "committed"):
                self.run(f"http/{write}#1@{position}")
        self.run("http/submit:RayJobs~job-*#1@lost", broken={STARTS: "2"}, starts=2, seconds=20.0)
        self.run("http/create:RayCluster~job-*#1@lost", broken={"nothing is left": "RayCluster job-2, Pod job-2-head"})
        self.run("http/create:Pod~job-*-head-*#1@lost", error="The write was never made, so that nothing was tested.")
        self.run("http/create:RayCluster~job-*#1@committed+down=35")
        return self


def record(folder: Path, point: Point, *, starts: int = 1, entrypoint: str = "python main.py") -> None:
    """The trace and the ledger of a run in which the operator is killed where the point says."""
    now = BEGIN

    def clock() -> float:
        return now

    trace = Trace(folder / "trace.jsonl", clock=clock)
    ledger = Ledger(folder / "ledger.jsonl", clock=clock)
    (folder / "ledger.jsonl").touch()
    incarnation = 1
    trace.add("operator", event="started", incarnation=1, version=VERSION)

    def rayjob(event: str = "MODIFIED", deletion: str = "", **status: Any) -> None:
        _object(trace, "RayJob", "job", event, status=status, deletion=deletion)

    def write(text: str) -> None:
        nonlocal incarnation, now
        now += 0.4
        identity = parse_fault(text).write
        hit = point.write is not None and str(identity) == str(point.write)
        kind = f"{identity.kind}/{identity.subresource}" if identity.subresource else identity.kind
        change = f":{identity.change}" if identity.change else ""
        request = trace.add(
            "request",
            incarnation=incarnation,
            verb=identity.verb,
            path="/",
            resource=identity.kind.lower() + "s",
            name=identity.name,
            write=f"{identity.verb}:{kind}{change}#1",
            write_name=identity.name,
            body={"spec": {"entrypoint": entrypoint}},
        )
        if hit:
            trace.add("fault", of=request.sequence, fault=str(point.fault()), incarnation=incarnation)
        if not hit or point.position.forwards:
            withheld = hit and point.position.value in ("committed", "lost")
            trace.add("response", of=request.sequence, status=200, delivered=not withheld)
        if hit and point.position.kills:
            trace.add("operator", event="killed", incarnation=incarnation, of=request.sequence)
            now += 1 + point.down
            incarnation += 1
            trace.add("operator", event="started", incarnation=incarnation, version=VERSION)

    rayjob("ADDED")
    write(WRITES[0])
    write(WRITES[1])
    rayjob(jobDeploymentStatus="Initializing")
    write(WRITES[2])
    _object(trace, "RayCluster", "job-x7k2p", "ADDED")
    write(WRITES[3])
    _object(trace, "Pod", "job-x7k2p-head-bq9wz", "ADDED", labels={"ray.io/node-type": "head"}, phase="Pending")
    now += 1.5
    _object(trace, "Pod", "job-x7k2p-head-bq9wz", labels={"ray.io/node-type": "head"}, phase="Running")
    _object(trace, "RayCluster", "job-x7k2p", status={"state": "ready"})
    rayjob(jobDeploymentStatus="Running")
    key = RayClusterKey("run-1", "job-x7k2p")
    for _ in range(starts):
        write(WRITES[4])
        ledger.record(key, "job-4tqxm", Submission(entrypoint, "operator", Outcome.ACCEPTED, 200))
        ledger.record(key, "job-4tqxm", Start(entrypoint))
    rayjob(jobDeploymentStatus="Running", jobStatus="RUNNING")
    now += 2
    ledger.record(key, "job-4tqxm", End("SUCCEEDED", 0))
    write(WRITES[5])
    rayjob(jobDeploymentStatus="Complete", jobStatus="SUCCEEDED")
    now += 4
    rayjob(deletion="2026-01-01T00:00:45Z", jobDeploymentStatus="Complete", jobStatus="SUCCEEDED")
    now += 0.3
    _object(trace, "Pod", "job-x7k2p-head-bq9wz", "DELETED", labels={"ray.io/node-type": "head"}, phase="Running")
    _object(trace, "RayCluster", "job-x7k2p", "DELETED", status={"state": "ready"})
    rayjob("DELETED", jobDeploymentStatus="Complete", jobStatus="SUCCEEDED")
    trace.close()


def _object(trace: Trace, kind: str, name: str, event: str = "MODIFIED", **data: Any) -> None:
    known = {"object_kind": kind, "name": name, "uid": name, "owners": [], "labels": {}, "deletion": ""}
    trace.add("object", **{**known, "event": event, **data})
