"""Scenarios of a user's own: a manifest with a RayJob, whose end without a fault is learned."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kuberay_e2e.crash.cleanup import Cleanup
from kuberay_e2e.crash.execution import Recorded
from kuberay_e2e.crash.scenario import (
    Condition,
    Expected,
    Scenario,
    cluster_gone,
    ended,
    rayjob_gone,
    workers_gone,
)
from kuberay_e2e.crash.user import COLLECTIONS
from kuberay_e2e.errors import HarnessError, InputError
from kuberay_e2e.lifecycle.recording import Recording
from kuberay_e2e.lifecycle.workload import Workload
from kuberay_e2e.ray import Script
from kuberay_e2e.ray.door import OPERATOR
from kuberay_e2e.ray.ledger import Start, Stop
from kuberay_e2e.ray.script import End

DURATION, END = "kuberay-e2e/duration", "kuberay-e2e/end"
"""Annotations of the RayJob: seconds that its simulated job runs (0.5), and how it ends (SUCCEEDED or FAILED)."""

LONGEST_SECONDS = 30.0
"""A TTL that is longer is not waited for: the RayJob is deleted before."""

_PATIENCE_SECONDS = 60.0
_FOLDER = "scenarios"


def scenario_of(path: Path) -> Scenario:
    """The scenario of a manifest: its RayJob runs to its end, and what KubeRay then cleans up is waited for.

    Its name is the RayJob's. The RayJob is created with the name and in the namespace of the run, and with an
    entrypoint by which the simulated Ray knows it; all else is kept. ConfigMaps, Secrets and the like in the same
    file are made before.

    Args:
        path: YAML with one RayJob.

    Raises:
        InputError: The file cannot be used, KubeRay would refuse the RayJob, or it would not end by itself.
    """
    workload = Workload.read([path], real_pods=True)
    return _scenario(workload.rayjob, _objects(workload), workload.source)


def settled(scenario: Scenario, recorded: Recorded) -> Scenario:
    """A scenario that expects what a run came to, where it is still to be learned; else as it is.

    Args:
        scenario: The scenario.
        recorded: A run without a fault.
    """
    if not scenario.learns:
        return scenario
    recording = Recording.of(recorded.events, recorded.uid)
    final: Mapping[str, Any] = recording.statuses()[-1] if recording.statuses() else {}
    ledger = [entry.event for entry in recorded.ledger]
    expected = Expected(
        job_status=str(final.get("jobStatus") or ""),
        deployment_status=str(final.get("jobDeploymentStatus") or ""),
        reason=str(final.get("reason") or ""),
        attempts=len(recording.values("rayClusterName")),
        starts=sum(isinstance(event, Start) for event in ledger),
        succeeded=int(final.get("succeeded") or 0),
        failed=int(final.get("failed") or 0),
        stopped=any(isinstance(event, Stop) and event.caller == OPERATOR for event in ledger),
        clusters=len(recording.uids("RayCluster")),
        submitters=len(recording.uids("Job")),
    )
    return replace(scenario, expected=expected, learns=False)


def learned(scenario: Scenario, runs: Sequence[Recorded]) -> Scenario:
    """A scenario that expects what all its runs without a fault came to.

    Args:
        scenario: The scenario.
        runs: Its runs, one at least.

    Raises:
        HarnessError: They did not all come to the same.
    """
    found = [settled(scenario, run) for run in runs]
    for other in found[1:]:
        if other.expected != found[0].expected:
            differing = ", ".join(
                f"{name} {value} and {asdict(other.expected)[name]}"
                for name, value in asdict(found[0].expected).items()
                if asdict(other.expected)[name] != value
            )
            raise HarnessError(
                f"The runs of {scenario.name} without a fault do not all come to the same end: {differing}. A scenario "
                "can be disturbed only where its end is certain; make its job and its deadlines so."
            )
    return found[0]


def keep(folder: Path, scenario: Scenario) -> None:
    """Keep a scenario with a sweep, so that its runs can be repeated and judged without the manifest.

    Args:
        folder: The sweep's folder.
        scenario: The scenario; one that was learned takes the place of the same one that was not.

    Raises:
        InputError: The sweep has one of the same name from another manifest.
    """
    file = folder / _FOLDER / f"{scenario.name}.json"
    data = {"manifest": scenario.manifest, "objects": list(scenario.objects)}
    if file.exists() and {name: json.loads(file.read_text())[name] for name in data} != json.loads(json.dumps(data)):
        raise InputError(
            f"The sweep in {folder} has runs of another RayJob {scenario.name}. Choose another folder with --report, "
            f"or remove {file}, learned.json and results.jsonl."
        )
    expected = None if scenario.learns else asdict(scenario.expected)
    if expected or not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**data, "expected": expected}, indent=1) + "\n")


def kept(folder: Path) -> list[Scenario]:
    """The scenarios of users' own that a sweep has.

    Args:
        folder: The sweep's folder.

    Raises:
        InputError: A file is not one of ours.
    """
    found = []
    for file in sorted((folder / _FOLDER).glob("*.json")):
        try:
            data = json.loads(file.read_text())
            scenario = _scenario(data["manifest"], tuple(data["objects"]), str(file))
            expected = data["expected"]
            found.append(replace(scenario, expected=Expected(**expected), learns=False) if expected else scenario)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"Expected {file} to be a scenario that a sweep has kept: {error!r}. Remove it."
            ) from error
    return found


def _scenario(manifest: Mapping[str, Any], objects: tuple[Mapping[str, Any], ...], where: str) -> Scenario:
    script = _script(manifest["metadata"].get("annotations") or {}, where)
    cleanup = Cleanup.of(manifest["spec"], script.end, "Complete" if script.end == "SUCCEEDED" else "Failed")
    goal, ttl = _goal(cleanup)
    return Scenario(
        str(manifest["metadata"]["name"]),
        f"Runs the RayJob of {where}.",
        goal,
        manifest["spec"],
        (script,),
        patience=_PATIENCE_SECONDS + ttl + script.duration,
        manifest=manifest,
        objects=objects,
        learns=True,
    )


def _goal(cleanup: Cleanup) -> tuple[Condition, float]:
    """The last that is waited for, and its TTL."""
    goals = ((cleanup.rayjob, rayjob_gone), (cleanup.cluster, cluster_gone), (cleanup.workers, workers_gone))
    for ttl, goal in goals:
        if ttl is not None and ttl <= LONGEST_SECONDS:
            return goal, ttl
    return ended, 0.0


def _script(annotations: Mapping[str, str], where: str) -> Script:
    end = annotations.get(END, "SUCCEEDED")
    try:
        duration = float(annotations.get(DURATION, "0.5"))
    except ValueError:
        duration = -1.0
    if not 0 <= duration <= LONGEST_SECONDS:
        raise InputError(
            f"{where}: expected the annotation {DURATION} to be a number of seconds from 0 to {LONGEST_SECONDS:.0f}, "
            f"got {annotations[DURATION]!r}."
        )
    ends: Mapping[str, End] = {"SUCCEEDED": "SUCCEEDED", "FAILED": "FAILED"}
    if end not in ends:
        raise InputError(f"{where}: expected the annotation {END} to be SUCCEEDED or FAILED, got {end!r}.")
    return Script(duration=duration, end=ends[end])


def _objects(workload: Workload) -> tuple[Mapping[str, Any], ...]:
    objects = tuple(item for item in workload.others if item["kind"] != "Namespace")
    for item in objects:
        if item["kind"] not in COLLECTIONS:
            raise InputError(
                f"{workload.source}: a sweep cannot make the {item['kind']} {item['metadata']['name']} for each run; "
                f"it makes {', '.join(COLLECTIONS)}. Keep it in another file."
            )
    return objects
