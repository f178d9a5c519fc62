"""The check of a RayJob: every combination of its status fields, as `kuberay_model.outcome` reads it.

Nothing of a RayJob is decided here but how good an outcome is to a sync engine.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import ConditionIs, Equals, Not, Test, all_of
from kuberay_e2e.gitops.health.rules import Check, Rule, Sentence, Text
from kuberay_model.outcome import NOT_READY, Kind, outcome
from kuberay_model.states import JobDeploymentStatus, JobStatus

GRADES: Mapping[Kind, Grade] = {
    Kind.NEW: Grade.PROGRESSING,
    Kind.INITIALIZING: Grade.PROGRESSING,
    Kind.WAITING: Grade.SUSPENDED,
    Kind.QUEUED: Grade.SUSPENDED,
    Kind.RUNNING: Grade.PROGRESSING,
    Kind.RETRYING: Grade.PROGRESSING,
    Kind.SUCCEEDED: Grade.HEALTHY,
    Kind.STOPPED: Grade.DEGRADED,
    Kind.FAILED: Grade.DEGRADED,
    Kind.INVALID: Grade.DEGRADED,
    Kind.UNKNOWN: Grade.UNKNOWN,
}
"""How good each outcome is. Stuck is none of them: it takes a clock, and a check sees one status only."""

_DEPLOYMENT = ("status", "jobDeploymentStatus")
_JOB = ("status", "jobStatus")
_KNOWN_JOB = Equals(_JOB, frozenset(JobStatus))
_SUSPENDED = Equals(("spec", "suspend"), frozenset({True}))
_CLUSTER_CONDITIONS = ("status", "rayClusterStatus", "conditions")
_REASON, _MESSAGE = Text("reason"), Text("message")
_MARKS = "\x01\x02"
_Row = tuple[Grade, tuple[Sentence, ...]]


def check() -> Check:
    """The check of a RayJob."""
    odd = {Text("jobDeploymentStatus"): _MARKS[0], Text("jobStatus"): _MARKS[1]}
    both, deployment_only, job_only = (
        _said({text.field: odd[text] for text in given}, odd) for given in (tuple(odd), tuple(odd)[:1], tuple(odd)[1:])
    )
    unknown = tuple(sentence for _, sentence in (both, deployment_only, job_only))
    rules = [Rule(Not(_KNOWN_JOB), both[0], unknown)]
    for deployment in JobDeploymentStatus:
        rules.extend(_rules_of(deployment))
    return Check("ray.io/v1", "RayJob", tuple(rules), both[0], unknown)


def _rules_of(deployment: JobDeploymentStatus) -> Iterator[Rule]:
    suspended, free = (_by_row(deployment, suspend=suspend) for suspend in (True, False))
    here = Equals(_DEPLOYMENT, frozenset({deployment}))
    if suspended == free:
        yield from _split(here, free)
    else:
        yield from _split(all_of(here, _SUSPENDED), suspended)
        yield from _split(all_of(here, Not(_SUSPENDED)), free)


def _split(where: Test, rows: Mapping[_Row, set[JobStatus]]) -> Iterator[Rule]:
    for (grade, sentences), jobs in rows.items():
        test = where if len(rows) == 1 else all_of(where, Equals(_JOB, frozenset(jobs)))
        yield Rule(test, grade, sentences)


def _by_row(deployment: JobDeploymentStatus, *, suspend: bool) -> dict[_Row, set[JobStatus]]:
    """What is said of a deployment status, and for which job statuses."""
    rows: dict[_Row, set[JobStatus]] = {}
    for job in JobStatus:
        row = _row({"jobDeploymentStatus": deployment, "jobStatus": job}, suspend=suspend)
        rows.setdefault(row, set()).add(job)
    return rows


def _row(status: Mapping[str, Any], *, suspend: bool) -> _Row:
    """Grade and sentences of a status, with marks in the place of the texts that `outcome` quotes."""
    texts = {_REASON: _MARKS[0], _MESSAGE: _MARKS[1]}
    said = [
        _said({**status, **{text.field: texts[text] for text in given}}, texts, suspend=suspend)
        for given in ((_REASON, _MESSAGE), (_REASON,))
    ]
    if status["jobDeploymentStatus"] == JobDeploymentStatus.INITIALIZING:
        said += _of_cluster(status, suspend=suspend)
    said += [
        _said({**status, **{text.field: texts[text] for text in given}}, texts, suspend=suspend)
        for given in ((_MESSAGE,), ())
    ]
    [grade] = {grade for grade, _ in said}
    sentences = tuple(dict.fromkeys(sentence for _, sentence in said))
    return grade, sentences[: sentences.index(said[-1][1]) + 1]


def _of_cluster(status: Mapping[str, Any], *, suspend: bool) -> Iterator[tuple[Grade, Sentence]]:
    """What is said while the RayCluster says why it is not ready."""
    for condition, bad in NOT_READY.items():
        reason, message = (Text(field, _CLUSTER_CONDITIONS, condition) for field in ("reason", "message"))
        texts = {reason: _MARKS[0], message: _MARKS[1]}
        for given in ((reason, message), (reason,)):
            quoted = {"type": condition, "status": bad, **{text.field: texts[text] for text in given}}
            grade, sentence = _said({**status, "rayClusterStatus": {"conditions": [quoted]}}, texts, suspend=suspend)
            yield grade, Sentence(sentence.parts, ConditionIs(condition, bad, path=_CLUSTER_CONDITIONS))


def _said(status: Mapping[str, Any], marked: Mapping[Text, str], *, suspend: bool = False) -> tuple[Grade, Sentence]:
    """What `outcome` says of a status, marks taken for the texts that they stand for."""
    seen = outcome({"spec": {"suspend": suspend}, "status": status})
    by_mark = {mark: text for text, mark in marked.items()}
    parts: list[str | Text] = []
    for word in re.split(f"([{_MARKS}])", seen.sentence):
        if word:
            parts.append(by_mark.get(word, word))
    return GRADES[seen.kind], Sentence(tuple(parts))
