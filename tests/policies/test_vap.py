"""The exported policies of admission: what is exported, and that an API server gives the same answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from kuberay_e2e import state
from kuberay_e2e.access import Access
from kuberay_e2e.clusters.embedded import EmbeddedCluster
from kuberay_e2e.session import Programs, Session
from kuberay_model.rules import defaulted
from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import evaluate
from kuberay_policies.policy import Severity
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import resolve
from kuberay_policies.subjects import Subject
from kuberay_policies.vap.export import PLURALS, admissions, coverage, objects
from kuberay_policies.vap.objects import Action
from kuberay_policies.vap.registry import CRD_FIRST, EXPRESSIONS, RAY_KINDS
from tests.model.rayjobs import good, spec
from tests.policies.twins import TWINS

EXPORTED = [policy for policy in POLICIES.values() if policy.id in EXPRESSIONS]
LABEL = "policies-test"
BEFORE_A_CLUSTER = {("P501", "unset"), ("P503", "Pulumi's own")}
"""Twins about what is always set in a cluster: a namespace, and a name. `LIMITS` tells."""
WORDED_DIFFERENTLY = {
    "P312": "all settings are named, not those that are missing",
    "U1": "CEL cannot look for a similar name",
    "J1": "the API server makes another random name",
}


def test_every_policy_is_exported_or_has_a_reason() -> None:
    table = {entry.policy.id: entry for entry in coverage()}
    assert set(table) == set(POLICIES)
    assert all(entry.exported or entry.remark for entry in table.values())
    assert not set(EXPRESSIONS) - set(POLICIES)
    assert not table["J31"].exported and "YAML" in table["J31"].remark


def test_the_rules_that_cel_can_say_are_exported() -> None:
    rules = {id for id in POLICIES if id[0] in "JCU"}
    assert rules - set(EXPRESSIONS) == {"J31"}


def test_errors_deny_and_warnings_warn() -> None:
    deny, warn = admissions(Settings(environment="prod"))
    assert (deny.name, warn.name) == ("kuberay-policies-prod-deny", "kuberay-policies-prod-warn")
    assert deny.binding["spec"] == {"policyName": deny.name, "validationActions": ["Deny"]}
    assert warn.binding["spec"] == {"policyName": warn.name, "validationActions": ["Warn", "Audit"]}
    assert (deny.policy["spec"]["failurePolicy"], warn.policy["spec"]["failurePolicy"]) == ("Fail", "Ignore")
    assert deny.action is Action.DENY and {"J3", "U2"} <= {rule.id for rule in deny.validations}
    assert "U3" in {rule.id for rule in warn.validations}


def test_severities_of_the_settings_decide_and_off_is_left_out() -> None:
    settings = resolve({"policies": {"U3": "error", "J3": "warning", "U2": "off"}})
    deny, warn = ({rule.id for rule in admission.validations} for admission in admissions(settings))
    assert "U3" in deny and "J3" in warn and not {"U2"} & (deny | warn)


def test_only_rules_of_the_version_are_exported() -> None:
    old, new = (
        {rule.id for admission in admissions(resolve({"kuberayVersion": version})) for rule in admission.validations}
        for version in ("1.5.2", "1.7.0")
    )
    assert "C7" in new and "C7" not in old and "J6" in old and "J6" not in new


def test_static_messages_fit_into_one_line() -> None:
    for manifest in objects(admissions(Settings())):
        for validation in manifest["spec"].get("validations", ()):
            assert "\n" not in validation["message"]


def test_an_export_can_be_bound_to_namespaces() -> None:
    deny, _ = admissions(Settings(), namespaces={"team": "ml"})
    assert deny.binding["spec"]["matchResources"] == {"namespaceSelector": {"matchLabels": {"team": "ml"}}}


@dataclass
class Cluster:
    """An API server whose CRDs accept every field, so that no CRD answers before the policies do."""

    client: httpx.Client
    namespaces: set[str] = field(default_factory=lambda: {"default"})
    sets: dict[str, str] = field(default_factory=dict)

    def post(self, path: str, body: Mapping[str, Any], **parameters: str) -> httpx.Response:
        return self.client.post(path, json=body, params=parameters)

    def install(self, name: str, settings: Settings, policies: list[Any]) -> None:
        """Apply what is exported, bound to objects that have the label."""
        for manifest in objects(admissions(settings, policies, name=name)):
            plural = "validatingadmissionpolicies"
            if manifest["kind"].endswith("Binding"):
                plural = "validatingadmissionpolicybindings"
                manifest["spec"]["matchResources"] = {"objectSelector": {"matchLabels": {LABEL: name}}}
            answer = self.post(f"/apis/admissionregistration.k8s.io/v1/{plural}", manifest)
            assert answer.is_success, answer.text[:2000]

    def create(self, name: str, manifest: Mapping[str, Any]) -> tuple[bool, str]:
        """Create an object without storing it; return whether it was accepted, and refusal or warnings."""
        metadata = dict(manifest.get("metadata") or {})
        namespace = metadata.get("namespace") or "team"
        if namespace not in self.namespaces:
            self.post("/api/v1/namespaces", {"metadata": {"name": namespace}}).raise_for_status()
            self.namespaces.add(namespace)
        metadata |= {"labels": {**(metadata.get("labels") or {}), LABEL: name}, "namespace": namespace}
        path = f"/apis/ray.io/v1/namespaces/{namespace}/{PLURALS[str(manifest['kind'])]}"
        answer = self.post(path, {**manifest, "metadata": metadata}, dryRun="All")
        warnings = " ".join(answer.headers.get_list("Warning")).replace('\\"', '"').replace("\\\\", "\\")
        return answer.is_success, f"{answer.json().get('message', '')} {warnings}"


def _crd(kind: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURALS[kind]}.ray.io"},
        "spec": {
            "group": "ray.io",
            "scope": "Namespaced",
            "names": {"plural": PLURALS[kind], "kind": kind, "listKind": f"{kind}List", "singular": kind.lower()},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


@pytest.fixture(scope="module")
def cluster(kuberay_programs: Programs) -> Iterator[Cluster]:
    with ExitStack() as stack:
        run = stack.enter_context(state.claim(state.free_name("admission")))
        embedded = stack.enter_context(EmbeddedCluster(kuberay_programs.paths).up(run))
        made = Cluster(stack.enter_context(Access.read(embedded.kubeconfig).client(timeout=60)))
        for kind in sorted(RAY_KINDS):
            made.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _crd(kind)).raise_for_status()
        groups: dict[str, list[Any]] = {}
        for twins in TWINS:
            if twins.policy in EXPRESSIONS:
                groups.setdefault(json.dumps(twins.settings, sort_keys=True, default=str), []).append(twins)
        for number, (key, members) in enumerate(groups.items()):
            wanted = EXPORTED if number == 0 else [POLICIES[id] for id in sorted({twins.policy for twins in members})]
            made.sets[key] = f"set-{number}"
            made.install(made.sets[key], members[0].resolved(), wanted)
        _wait_until_active(made, list(groups.values())[-1][0])
        yield made


def _wait_until_active(cluster: Cluster, twins: Any) -> None:
    """Policies are active some moments after they are stored; the last one is asked until it answers."""
    name = cluster.sets[json.dumps(twins.settings, sort_keys=True, default=str)]
    _wait_until(lambda: any(twins.policy in cluster.create(name, _stored(subject))[1] for subject in twins.bad))


def _stored(subject: Subject) -> Mapping[str, Any]:
    return defaulted(subject.manifest) if subject.kind == "RayJob" else subject.manifest


@pytest.mark.e2e
@pytest.mark.parametrize(
    "twins",
    [twins for twins in TWINS if twins.policy in EXPRESSIONS and (twins.policy, twins.name) not in BEFORE_A_CLUSTER],
    ids=str,
)
def test_the_api_server_finds_what_the_policy_finds(cluster: Cluster, twins: Any) -> None:
    settings, policy = twins.resolved(), POLICIES[twins.policy]
    name = cluster.sets[json.dumps(twins.settings, sort_keys=True, default=str)]
    for subjects in (twins.bad, twins.good):
        for subject in subjects:
            if subject.kind not in RAY_KINDS:
                continue
            report = evaluate([subject], settings, [policy])
            accepted, said = cluster.create(name, _stored(subject))
            if "is invalid: metadata.name" in said:
                assert report.findings and policy.id == "J2", said
                continue
            for finding in report.findings:
                expected = f"{policy.id} {finding.path}: {finding.message}"
                assert (f"{policy.id} {finding.path}: " if policy.id in WORDED_DIFFERENTLY else expected) in said
            if not report.findings:
                assert f"{policy.id} " not in said
            assert "resulted in error" not in said
            if report.findings and report.findings[0].severity.value == "error":
                assert not accepted


@pytest.mark.e2e
def test_the_crds_of_kuberay_answer_first_where_the_table_says_so(kuberay_session: Session) -> None:
    """With the CRDs of the operator, each bad RayJob is refused: by the policy, or by the CRD before it."""
    name, by_crd, by_policy = "kuberay-crds", set(), set()
    with kuberay_session.access.client(timeout=60) as client:
        made = Cluster(client)
        made.install(name, Settings(), EXPORTED)
        twins_of_errors = [
            twins
            for twins in TWINS
            if twins.policy in EXPRESSIONS
            and not twins.resolved().gate_overrides
            and str(twins.resolved().version) == "1.6.2"
            and not twins.resolved().parameters
            and POLICIES[twins.policy].severity is Severity.ERROR
            and [subject.kind for subject in twins.bad] == ["RayJob"]
        ]
        _wait_until(lambda: not made.create(name, twins_of_errors[0].bad[0].manifest)[0])
        for twins in twins_of_errors:
            _, said = made.create(name, twins.bad[0].manifest)
            if f"{twins.policy} " in said:
                by_policy.add(twins.policy)
            elif (twins.policy, twins.name) in BEFORE_A_CLUSTER or twins.policy == "J35":
                continue
            else:
                assert " is invalid: " in said, (twins.policy, said)
                by_crd.add(twins.policy)
    assert len(by_policy) > 40
    assert by_crd - by_policy == set(CRD_FIRST)


@pytest.mark.e2e
def test_an_edit_of_the_mode_of_a_waiting_job_is_refused(cluster: Cluster) -> None:
    """J35 is about status, which a created object does not have."""
    name = cluster.sets[json.dumps({"featureGates": {}, "kuberayVersion": "1.6.2"}, sort_keys=True)]
    manifest = good(spec(submissionMode="InteractiveMode", preRunningDeadlineSeconds=60))
    manifest["metadata"] |= {"labels": {LABEL: name}, "name": "waiting"}
    path = "/apis/ray.io/v1/namespaces/default/rayjobs"
    manifest["status"] = {"jobDeploymentStatus": "Waiting"}
    stored = cluster.post(path, manifest)
    assert stored.is_success, stored.text
    edited = stored.json()
    edited["spec"]["submissionMode"] = "K8sJobMode"
    answer = cluster.client.put(f"{path}/waiting", json=edited)
    assert "J35 spec.submissionMode: The RayJob waits" in answer.text
    touched = stored.json()
    touched["metadata"]["finalizers"] = ["example.com/mine"]
    assert cluster.client.put(f"{path}/waiting", json=touched).is_success, "nothing that counts has changed"
    assert cluster.client.delete(f"{path}/waiting").is_success
    touched = cluster.client.get(f"{path}/waiting").json()
    touched["metadata"]["finalizers"] = []
    assert cluster.client.put(f"{path}/waiting", json=touched).is_success, "an object that is deleted can always go"


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the API server did not enforce the policies within 60 s"
        time.sleep(0.2)
