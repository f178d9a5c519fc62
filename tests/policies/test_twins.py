"""One rule set in every front end: the twins of each policy get the same verdict everywhere.

The API server's verdict on them is in `test_vap`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pulumi_policy
import pytest
import yaml
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from kuberay_model.versions import DEFAULT
from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import evaluate
from kuberay_policies.pack import policies
from kuberay_policies.pack.resources import is_object
from kuberay_policies.pack.sdk_policies import pack_name, sentence
from kuberay_policies.policy import Policy
from kuberay_policies.program.preview import preview
from kuberay_policies.program.project import Project
from kuberay_policies.reading import read
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import UNKNOWN, Options, Subject
from kuberay_policies.targets import Scope
from tests.policies.projects import FORMS, resource_type, state, workspace
from tests.policies.twins import TWINS, Twins

SIDES = [(twins, side) for twins in TWINS for side in ("bad", "good") if getattr(twins, side)]
NO_OPTIONS = Options()


def from_pulumi(subject: Subject) -> Subject:
    """The object as one of a Pulumi program, with the options that every front end for Pulumi sees."""
    return Subject(subject.manifest, subject.source, subject.options or NO_OPTIONS)


def expected(subjects: Iterable[Subject], settings: Settings, policy: Policy) -> Counter[str]:
    """What the core finds: path and message."""
    return Counter(f"{found.path}: {found.message}" for found in evaluate(subjects, settings, [policy]).findings)


def encoded(value: Any) -> Any:
    """A value as the engine sends it: numbers are floats, unknown values have a sign of their own."""
    if value is UNKNOWN:
        return UNKNOWN_STRING_VALUE
    if isinstance(value, dict):
        return {key: encoded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encoded(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def in_pack(subject: Subject, number: int) -> Any:
    """Type, inputs, URN, name and options of the object's resource, as the SDK hands them to a policy."""
    kind = resource_type(subject)
    options = subject.options or NO_OPTIONS
    opts = pulumi_policy.PolicyResourceOptions(
        options.protect,
        list(options.ignore_changes),
        options.delete_before_replace,
        [],
        pulumi_policy.PolicyCustomTimeouts(0, 0, 0),
        [],
        options.parent,
    )
    name = subject.resource_name or f"object-{number}"
    urn = subject.source.urn or f"urn:pulumi:dev::kuberay::{kind}::{name}"
    return kind, unknown_checking_proxy(encoded(subject.manifest)), urn, name, opts


def seen_by_pack(subject: Subject) -> Subject:
    """The object with what the engine tells a pack about it: of the options not all, of CRDs the metadata."""
    options = subject.options or NO_OPTIONS
    told = Options(
        protect=options.protect,
        delete_before_replace=options.delete_before_replace,
        ignore_changes=options.ignore_changes,
        parent=options.parent,
    )
    return Subject(subject.manifest, subject.source, told)


def cases(*, kinds: bool = True) -> list[Any]:
    """The twins that consist of Kubernetes objects."""
    return [
        pytest.param(twins, side, id=f"{twins}-{side}-{number}")
        for number, (twins, side) in enumerate(SIDES)
        if POLICIES[twins.policy].scope is not Scope.WAIVER
        and (not kinds or all(subject.api_version and subject.kind for subject in getattr(twins, side)))
    ]


@pytest.mark.parametrize(("twins", "side"), cases())
def test_manifests_in_files(twins: Twins, side: str, tmp_path: Path) -> None:
    subjects = [Subject(subject.manifest) for subject in getattr(twins, side)]
    if any(subject.unknown_paths for subject in subjects):
        pytest.skip("a file has no values that are known only at deployment")
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([_plain(subject.manifest) for subject in subjects]))
    read_back = read([str(tmp_path / "all.yaml")])
    assert not read_back.problems
    settings, policy = twins.resolved(), POLICIES[twins.policy]
    assert _messages(expected(read_back.subjects, settings, policy)) == _messages(expected(subjects, settings, policy))


@pytest.mark.parametrize(("twins", "side"), cases())
def test_a_state_file(twins: Twins, side: str, tmp_path: Path) -> None:
    subjects = [from_pulumi(subject) for subject in getattr(twins, side)]
    if any(subject.unknown_paths for subject in subjects):
        pytest.skip("a state has no values that are known only at deployment")
    (tmp_path / "state.json").write_text(state(subjects))
    read_back = read([str(tmp_path / "state.json")], state=True).subjects
    assert [found.manifest for found in read_back] == [_plain(subject.manifest) for subject in subjects]
    settings, policy = twins.resolved(), POLICIES[twins.policy]
    if not policy.needs_options:
        assert _messages(expected(read_back, settings, policy)) == _messages(expected(subjects, settings, policy))


@pytest.mark.parametrize(("twins", "side"), cases())
def test_the_pack(twins: Twins, side: str) -> None:
    subjects = [seen_by_pack(subject) for subject in getattr(twins, side) if is_object(resource_type(subject))]
    settings, policy = twins.resolved(), POLICIES[twins.policy]
    [made] = policies(settings, [policy])
    assert made.name == pack_name(policy)
    said: Counter[str] = Counter()

    def report(message: str, _urn: str | None = None) -> None:
        if "known only at deployment" not in message:
            said[message] += 1

    resources = [in_pack(subject, number) for number, subject in enumerate(subjects)]
    if isinstance(made, pulumi_policy.StackValidationPolicy):
        told = [
            pulumi_policy.PolicyResource(kind, props, urn, name, opts, None, None, [], {})
            for kind, props, urn, name, opts in resources
        ]
        made.validate(pulumi_policy.StackValidationArgs(told), report)
        found = expected(subjects, settings, policy)
    else:
        assert isinstance(made, pulumi_policy.ResourceValidationPolicy)
        found = Counter()
        for (kind, props, urn, name, opts), subject in zip(resources, subjects, strict=True):
            made.validate(pulumi_policy.ResourceValidationArgs(kind, props, urn, name, opts, None), report)
            found += expected([subject], settings, policy)
    assert _messages(said) == _messages(found)


def test_a_program(tmp_path: Path) -> None:
    """All twins in one program: what the recorder hands on is what was declared."""
    subjects = [
        from_pulumi(subject)
        for twins, side in SIDES
        for subject in getattr(twins, side)
        if subject.api_version and subject.kind and not subject.unknown_paths and is_object(resource_type(subject))
    ]
    (tmp_path / "Pulumi.yaml").write_text("name: kuberay\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "objects.json").write_text(json.dumps([_plain(subject.manifest) for subject in subjects]))
    (tmp_path / "__main__.py").write_text(
        "import json, pathlib, pulumi\n"
        "for number, manifest in enumerate(json.loads(pathlib.Path('objects.json').read_text())):\n"
        "    group = manifest['apiVersion'] if '/' in manifest['apiVersion'] else 'core/' + manifest['apiVersion']\n"
        "    token = f\"kubernetes:{group}:{manifest['kind']}\"\n"
        "    pulumi.CustomResource(token, f'object-{number:05}', manifest)\n"
    )
    declared = sorted(preview(Project.read(tmp_path, "dev")).subjects, key=lambda found: found.resource_name)
    assert len(declared) == len(subjects)
    for found, subject in zip(declared, subjects, strict=True):
        assert _settled(found.manifest) == _settled(_plain(subject.manifest))


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_set_through_pulumi(form: str, tmp_path: Path) -> None:
    """`pulumi policy analyze` reports of all bad twins without settings of their own what the core finds."""
    space = workspace(tmp_path)
    space.settings({"kuberayVersion": str(DEFAULT)})
    chosen = [twins for twins in TWINS if not twins.settings and not POLICIES[twins.policy].needs_options]
    subjects = [
        seen_by_pack(subject)
        for twins in chosen
        for subject in twins.bad
        if subject.api_version and subject.kind and not subject.unknown_paths and is_object(resource_type(subject))
    ]
    done = space.analyze(FORMS[form], state(subjects), "--json")
    said = Counter(
        (event["policyName"], event["message"].partition("\n")[2])
        for event in _events(done.output)
        if event["policyName"] != "known-only-at-deployment"
    )
    alone = [policy for policy in POLICIES.values() if not policy.stack_wide and policy.scope is not Scope.WAIVER]
    wanted: Counter[tuple[str, str]] = Counter()
    for subject in subjects:
        for found in evaluate([subject], Settings(), alone).findings:
            wanted[(pack_name(found.policy), sentence(found))] += 1
    names = {pack_name(policy) for policy in alone}
    assert {key: count for key, count in said.items() if key[0] in names} == dict(wanted)
    assert len(wanted) > 60


def _events(output: str) -> list[Any]:
    found = []
    for line in output.splitlines():
        if line.startswith("{") and (event := json.loads(line).get("policyEvent")):
            found.append(event)
    return found


def _messages(found: Counter[str]) -> Counter[str]:
    """Messages without an empty path, and without where another object is."""
    return Counter(message.removeprefix(": ").partition(" is already given")[0] for message in found.elements())


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _settled(value: Any) -> Any:
    """A value as it comes out of a program: keys with null are gone."""
    if isinstance(value, dict):
        return {key: _settled(inner) for key, inner in value.items() if inner is not None}
    return [_settled(inner) for inner in value] if isinstance(value, list) else value
