"""Real pods and real Ray under a sweep, on a kind cluster; the operator runs behind the gateway all the same."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kuberay_e2e.clusterfaults import workload
from kuberay_e2e.clusterfaults.executions import MOUNT, Executions
from kuberay_e2e.crash.ground import Stage
from kuberay_e2e.crash.learning import answered
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.ray import Ledger, RayClusterKey, Script
from kuberay_e2e.ray.ledger import AnyEntry, Entry, Start, Stop
from kuberay_e2e.ray.observed import ObservedRay
from kuberay_e2e.session import Session
from kuberay_e2e.trace import Event, Trace

_PACE = 5.0
"""A real head takes 20 s where a simulated one takes none, and more beside others on two CPUs."""

_CODE = """
import os
import sys
import time
import uuid

FOLDER = "{FOLDER}"
plan = [one.split(":") for one in sys.argv[1].split(",")]
attempt = len(os.listdir(FOLDER))
run = uuid.uuid4().hex


def say(word):
    with open(f"{FOLDER}/{run}", "a") as file:
        print(run, os.uname().nodename, word, time.time(), file=file, flush=True)


say("start")
seconds, code = plan[min(attempt, len(plan) - 1)]
end = time.monotonic() + float(seconds)
while time.monotonic() < end:
    time.sleep(min(0.5, max(0.0, end - time.monotonic())))
    say("beat")
say("end")
sys.exit(int(code))
"""


class RealGround:
    """Real pods and real Ray.

    Args:
        session: A session on a cluster with nodes that can be entered, its operator `local` and not started.
        folder: Receives what submitters print.
    """

    def __init__(self, session: Session, folder: Path) -> None:
        self.session = session
        self._folder = folder

    def gateway(self, trace: Trace) -> Gateway:
        """A gateway that passes the calls to Ray on to the API server's service proxy."""
        return Gateway(self.session.access, trace, None)

    def stage(self, namespace: str, trace: Trace, scripts: Sequence[Script], /) -> Stage:
        """The run's code and the folder in which each start of its entrypoint is counted."""
        return RealStage(self.session, namespace, trace, scripts, self._folder / namespace)


class RealStage:
    """One run's share of a real cluster.

    Args:
        session: The session.
        namespace: The run's namespace.
        trace: The run's trace.
        scripts: What each attempt of the job does.
        logs: Receives what submitters print.
    """

    pace = _PACE

    def __init__(self, session: Session, namespace: str, trace: Trace, scripts: Sequence[Script], logs: Path) -> None:
        self._session = session
        self._trace = trace
        self._arguments = ",".join(f"{script.duration:g}:{script.code or 0}" for script in scripts)
        self._executions = Executions(session.cluster, namespace)
        self._executions.prepare()
        self._ledger = Ledger()
        self._witness = ObservedRay(session.access, trace, self._ledger, logs)
        self._session.engine.call(self._witness.__aenter__())
        with session.access.client() as client:
            answer = client.post(f"/api/v1/namespaces/{namespace}/configmaps", json=_config_map())
        if not answer.is_success:
            raise HarnessError(f"Expected a ConfigMap with the entrypoint; the API server said {answer.text[:300]}")

    def workload(self, manifest: Mapping[str, Any]) -> Mapping[str, Any]:
        """The manifest on images and probes of this cluster, with an entrypoint that counts its starts."""
        return realised(manifest, self._executions.folder, self._arguments)

    def ledger(self) -> Sequence[AnyEntry]:
        """What Ray remembers, the starts as the entrypoint itself counted them, and the stops as the gateway saw."""
        seen = [entry for entry in self._ledger.entries if not isinstance(entry.event, Start)]
        starts: list[AnyEntry] = [
            Entry(0, run.start, RayClusterKey(self._executions.namespace, run.pod), "", Start("python"))
            for run in self._executions.read()
        ]
        whole = [*seen, *starts, *stops(self._trace.events())]
        numbers = itertools.count()
        return [replace(entry, sequence=next(numbers)) for entry in sorted(whole, key=lambda entry: entry.time)]

    def close(self) -> None:
        """Stop watching, and remove the folders from the nodes."""
        self._session.engine.call(self._witness.__aexit__(None, None, None))
        self._executions.remove()


def stops(events: Sequence[Event]) -> list[AnyEntry]:
    """The operator's requests to stop a job, from a trace of its gateway."""
    answers = answered(events)
    found: list[AnyEntry] = []
    for event in events:
        if event.kind == "request" and str(event.data.get("write", "")).startswith("stop:"):
            status = answers.get(event.sequence, 0)
            key = RayClusterKey(str(event.data["namespace"]), str(event.data["name"]))
            job_id = str(event.data["path"]).rstrip("/").split("/")[-2]
            found.append(Entry(0, event.time, key, job_id, Stop("operator", 200 <= status < 300, status)))
    return found


def realised(manifest: Mapping[str, Any], folder: str, arguments: str) -> Mapping[str, Any]:
    """A scenario's RayJob as it can run here: pods, submitter and entrypoint of the harness, the rest as it is.

    Args:
        manifest: The RayJob.
        folder: The folder on the nodes in which starts are counted.
        arguments: What each attempt does: seconds and exit code, joined by commas.
    """
    spec = dict(manifest["spec"])
    load = workload.Load(workload.Mode(spec.get("submissionMode", "K8sJobMode")), workers=1)
    if "entrypoint" in spec:
        spec["entrypoint"] = f"python /code/job.py {arguments}"
    if "rayClusterSpec" in spec:
        cluster = dict(spec["rayClusterSpec"])
        head = workload.ray_pod("ray-head", load, folder, memory="1536Mi", probes=workload.head_probes())
        cluster["headGroupSpec"] = {
            **cluster["headGroupSpec"],
            "rayStartParams": {"num-cpus": "1", "no-monitor": "true", "include-log-monitor": "false"},
            "template": _over(cluster["headGroupSpec"]["template"], head),
        }
        worker = workload.ray_pod("ray-worker", load, folder, memory="1Gi")
        cluster["workerGroupSpecs"] = [
            {**group, "rayStartParams": {"num-cpus": "1"}, "template": _over(group["template"], worker)}
            for group in cluster.get("workerGroupSpecs") or ()
        ]
        spec["rayClusterSpec"] = cluster
    if load.mode is workload.Mode.K8S_JOB and "submitterPodTemplate" not in spec:
        spec["submitterPodTemplate"] = workload.submitter(load)
    return {**manifest, "spec": spec}


def _over(template: Mapping[str, Any], real: Mapping[str, Any]) -> Mapping[str, Any]:
    """A real pod template, with what the scenario asks of the pod beside its container."""
    asked = {name: value for name, value in template["spec"].items() if name != "containers"}
    return {**template, "spec": {**real["spec"], **asked}}


def _config_map() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": workload.CONFIG_MAP},
        "data": {"job.py": _CODE.replace("{FOLDER}", MOUNT)},
    }
