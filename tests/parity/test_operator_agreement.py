"""The rules agree with a real API server and a real operator: who refuses a RayJob, and by which rule."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from kuberay_e2e.api import KINDS
from kuberay_e2e.session import Session
from kuberay_model.rules import Finding, Layer, validate
from kuberay_model.versions import DEFAULT
from tests.model.rayjobs import good
from tests.model.test_rayjob_rules import CASES, Case
from tests.parity.messages import rule_of

PATIENCE = 240.0
"""Seconds that the operator may take for all RayJobs on a loaded machine."""
ACCEPTED = 10
"""How many RayJobs that everybody accepts are tried too; each of them gets a RayCluster."""

NOT_TRIED = {"X16", "U4"}
"""Rules with examples that the operator was not seen to judge: an integer that it cannot decode, and a submitter
without a container, for which no status was written within `PATIENCE`."""

_PANIC_OF_KUEUE = "denied the request: panic"
"""Where another test has put Kueue 0.19.2 on the cluster: its webhook vrayjob.kb.io panics on a RayJob whose Pods have
no container, in a queue or not, so that the operator never sees it."""

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Trial:
    """A RayJob that is applied.

    Attributes:
        rule: The rule whose example it is.
        manifest: The RayJob.
        findings: What the rules find.
    """

    rule: str
    manifest: dict[str, Any]
    findings: list[Finding]

    @property
    def refused_at_once(self) -> bool:
        """Whether the API server is expected to refuse it when it is asked to be strict about unknown fields."""
        return any(finding.layer is Layer.API_SERVER or finding.id == "X12" for finding in self.findings)

    @property
    def refusal(self) -> str:
        """The rule by which the operator is expected to refuse it; empty if it accepts it."""
        return next((finding.id for finding in self.findings if finding.layer is Layer.OPERATOR), "")


def _trials(namespace: str) -> Iterator[Trial]:
    for index, case in enumerate(CASES):
        if case.version == str(DEFAULT) and not case.gates and case.rule not in NOT_TRIED:
            yield from _trial(namespace, index, case)


def _trial(namespace: str, index: int, case: Case) -> Iterator[Trial]:
    manifest = good(*case.bad)
    metadata, spec = manifest.get("metadata"), manifest.get("spec")
    if not isinstance(metadata, dict) or "name" not in metadata:
        return
    if "status" in manifest or (isinstance(spec, dict) and "managedBy" in spec):
        return  # a status is not applied, and an operator leaves the RayJobs of other managers alone
    metadata["namespace"] = namespace
    if metadata["name"] == "train":
        metadata["name"] = f"case-{index}"
    yield Trial(case.rule, manifest, validate(manifest))


def _apply(session: Session, trials: list[Trial]) -> Mapping[str, tuple[int, str]]:
    """Apply RayJobs, and return status and text of each answer by name."""
    answers = {}
    with session.access.client() as client:
        for trial in trials:
            metadata = trial.manifest["metadata"]
            answer = client.patch(
                f"{KINDS['RayJob'].format(namespace=metadata['namespace'])}/{quote(metadata['name'], safe='')}",
                params={"fieldManager": "parity", "fieldValidation": "Strict"},
                headers={"Content-Type": "application/apply-patch+yaml"},
                json=trial.manifest,
            )
            answers[metadata["name"]] = (answer.status_code, answer.text)
    return answers


def _wait_judged(session: Session, namespace: str, names: set[str]) -> Mapping[str, Mapping[str, Any]]:
    """Wait until the operator has written a status for every RayJob, and return the statuses by name."""
    deadline = time.monotonic() + PATIENCE
    judged: dict[str, Mapping[str, Any]] = {}
    with session.access.client() as client:
        while set(judged) != names:
            jobs = client.get(KINDS["RayJob"].format(namespace=namespace)).json()["items"]
            statuses = {job["metadata"]["name"]: job.get("status", {}) for job in jobs}
            judged |= {name: status for name, status in statuses.items() if status.get("jobDeploymentStatus")}
            assert time.monotonic() < deadline, f"the operator has not judged {sorted(names - set(judged))}"
            time.sleep(0.5)
    return judged


@pytest.mark.usefixtures("kuberay_operator")
def test_the_api_server_and_the_operator_refuse_what_the_rules_say(
    kuberay_session: Session,
    kuberay_namespace: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trials = list(_trials(kuberay_namespace))
    refused = [trial for trial in trials if trial.refused_at_once or trial.refusal]
    accepted = [trial for trial in trials if not trial.refused_at_once and not trial.refusal][:ACCEPTED]
    chosen = {trial.manifest["metadata"]["name"]: trial for trial in (*refused, *accepted)}

    answers = _apply(kuberay_session, list(chosen.values()))
    for name in [name for name, (code, text) in answers.items() if code == 500 and _PANIC_OF_KUEUE in text]:
        del answers[name], chosen[name]
    differences = [
        f"{trial.rule}: the API server says {code} {text}, the rules {[str(finding) for finding in trial.findings]}"
        for (name, (code, text)), trial in zip(answers.items(), chosen.values(), strict=True)
        if (code >= 400) != trial.refused_at_once
    ]
    assert not differences, "\n".join(differences)

    waiting = {name for name, trial in chosen.items() if not trial.refused_at_once}
    for name, status in _wait_judged(kuberay_session, kuberay_namespace, waiting).items():
        invalid = status["jobDeploymentStatus"] == "ValidationFailed"
        seen = rule_of(status["message"]) if invalid else ""
        if seen != chosen[name].refusal:
            differences.append(f"{chosen[name].rule}: the operator says {status}, the rules {chosen[name].refusal!r}")
    assert not differences, "\n".join(differences)
    with capsys.disabled():
        hit = {trial.refusal for trial in chosen.values() if not trial.refused_at_once} - {""}
        at_once = {finding.id for trial in refused for finding in trial.findings if finding.layer is Layer.API_SERVER}
        print(f"\n{len(chosen)} RayJobs applied: {len(at_once)} rules of the API server, {len(hit)} of the operator")
    assert len(hit) >= 40 and len(at_once) >= 12
