"""The rules agree with the operator's own validation, on thousands of random RayJobs.

`PARITY_EXAMPLES` says how many; the seed is fixed, so that a run is repeated exactly.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from kuberay_model import schemas
from kuberay_model.rules import RULES, Finding, Layer, defaulted, validate
from kuberay_model.schemas.checking import violations
from kuberay_model.versions import DEFAULT
from tests.model.rayjobs import good, put
from tests.model.test_rayjob_rules import CASES, Case
from tests.parity.manifests import RAY_JOBS
from tests.parity.messages import RAY_CLUSTER, rule_of
from tests.parity.texts import LABEL_KEYS, LABEL_VALUES, NAMES, RAY_VERSIONS, RUNTIME_ENVIRONMENTS
from tests.parity.verdicts import Operator, Verdict

EXAMPLES = int(os.environ.get("PARITY_EXAMPLES", "2000"))
REACHABLE = {
    rule.id
    for rule in RULES.values()
    if rule.check is not None and rule.holds_in(DEFAULT) and rule.layer in (Layer.OPERATOR, Layer.RAY_CLUSTER)
}
"""Rules that a RayJob can break and that the operator or the RayCluster controller has."""
EXAMPLES_OF_RULES: list[Case] = [case for case in CASES if case.version == str(DEFAULT)]
ABOUT_DELETION_RULES = ("J10", "J11", "J12", "J13", "J14", "J15")
"""Rules whose violations the operator reports together, a line each."""
SCHEMA = schemas.load(DEFAULT).kinds["RayJob"]
UNDECODABLE = {"X1", "X13", "X16"}
"""Rules without which the operator cannot even read the RayJob."""

Manifest = Mapping[str, Any]


def stored(manifest: Manifest) -> Manifest:
    """Return a RayJob as the API server stores it: without unknown fields, with defaults and a generated name."""
    job = defaulted(manifest)
    for unknown in violations(SCHEMA, job):
        if unknown.keyword == schemas.UNKNOWN_FIELD:
            _remove(job, unknown.path)
    metadata = job.get("metadata")
    if isinstance(metadata, dict) and not metadata.get("name") and metadata.get("generateName"):
        job["metadata"] = {**metadata, "name": f"{metadata['generateName']}xxxxx"}
    return job


def _remove(job: Any, path: schemas.Path) -> None:
    *parents, last = path
    for key in parents:
        job = job[key]
    del job[last]


def compare(operator: Operator, manifest: Manifest, gates: Mapping[str, bool]) -> str:
    """Ask both sides, and return the rule on which they agree; `accepted` or `unreadable` if there is none."""
    findings = validate(manifest, gates=gates)
    verdict = operator.ask(stored(manifest), gates)
    assert not verdict.panic, f"the operator panics: {verdict.panic}"
    if verdict.decode:
        assert UNDECODABLE & {finding.id for finding in findings}, verdict.decode
        return "unreadable"
    refused = [finding for finding in findings if finding.layer is Layer.OPERATOR]
    if verdict.error:
        return _agree_on_refusal(verdict.error, refused)
    assert not refused, f"the operator accepts it, but there is {refused[0]}"
    return _agree_on_cluster(verdict, findings)


def _agree_on_refusal(message: str, findings: list[Finding]) -> str:
    rule = rule_of(message)
    assert findings, f"the operator refuses it by {rule}: {message}"
    assert findings[0].id == rule, f"the operator says {message!r}, the rules say {findings[0]}"
    if rule in ABOUT_DELETION_RULES:
        theirs = Counter(rule_of(line) for line in message.split("\n"))
        ours = Counter(finding.id for finding in findings if finding.id in ABOUT_DELETION_RULES)
        # The operator goes on with the next rule after the first problem of one, the rules report them all.
        assert set(theirs) <= set(ours) and theirs["J14"] == ours["J14"], f"{theirs} of the operator, {ours} here"
    return rule


def _agree_on_cluster(verdict: Verdict, findings: Iterable[Finding]) -> str:
    ids = {finding.id for finding in findings}
    if verdict.construct:
        assert "U6" in ids, verdict.construct
        return "U6"
    refused = {finding.id for finding in findings if finding.layer is Layer.RAY_CLUSTER}
    if verdict.cluster:
        rule = rule_of(verdict.cluster, RAY_CLUSTER)
        assert refused == {rule}, verdict.cluster
        return rule
    assert not refused, f"the RayCluster controller accepts what {refused} refuses"
    return "accepted"


def test_the_rules_and_the_operator_agree_on_random_rayjobs(
    operator: Operator, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: Counter[str] = Counter()
    differences: list[str] = []

    # Nothing is shrunk: among so many RayJobs the smallest that differs is small enough.
    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(RAY_JOBS)
    def ask(drawn: tuple[Manifest, Mapping[str, bool]]) -> None:
        try:
            seen[compare(operator, *drawn)] += 1
        except AssertionError as difference:
            differences.append(f"{str(difference).splitlines()[0]}\n{json.dumps(drawn)}")

    # The example of each rule comes first, so that every one is hit at least once.
    for case in EXAMPLES_OF_RULES:
        seen[compare(operator, good(*case.bad), case.gates)] += 1
    ask()
    with capsys.disabled():
        hit = REACHABLE & set(seen)
        print(f"\n{seen.total()} RayJobs, {len(hit)} of {len(REACHABLE)} rules hit: {dict(seen.most_common())}")
    smallest = sorted(differences, key=len)[:5]
    assert not differences, f"{len(differences)} differences, such as\n" + "\n".join(smallest)
    assert set(seen) >= REACHABLE, f"no RayJob broke {sorted(REACHABLE - set(seen))}"


@pytest.mark.parametrize("case", EXAMPLES_OF_RULES, ids=lambda case: case.rule)
def test_they_agree_on_what_is_near_the_examples_and_right(operator: Operator, case: Case) -> None:
    compare(operator, good(*case.fine), case.gates)


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("metadata.name", NAMES),
        ("spec.runtimeEnvYAML", RUNTIME_ENVIRONMENTS),
        ("spec.rayClusterSpec.headGroupSpec.labels", [{key: "a"} for key in LABEL_KEYS]),
        ("spec.rayClusterSpec.headGroupSpec.labels", [{"key": value} for value in LABEL_VALUES]),
    ],
    ids=["names", "runtime environments", "label keys", "label values"],
)
def test_they_agree_on_texts_near_the_edge(operator: Operator, path: str, texts: Iterable[Any]) -> None:
    for text in texts:
        compare(operator, good(put(path, text)), {})


@pytest.mark.parametrize("version", RAY_VERSIONS)
def test_they_agree_on_which_ray_has_token_authentication(operator: Operator, version: str) -> None:
    cluster = "spec.rayClusterSpec"
    compare(operator, good(put(f"{cluster}.authOptions.mode", "token"), put(f"{cluster}.rayVersion", version)), {})


def test_a_difference_would_be_noticed(operator: Operator) -> None:
    manifest = good(put("spec.backoffLimit", -1))
    verdict = operator.ask(defaulted(manifest), {})
    with pytest.raises(AssertionError, match="the operator refuses it by J34"):
        _agree_on_refusal(verdict.error, [])
    with pytest.raises(AssertionError, match=r"the operator says .*backoffLimit.*, the rules say J32"):
        _agree_on_refusal(verdict.error, validate(good(put("spec.activeDeadlineSeconds", 0))))
