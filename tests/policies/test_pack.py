"""The policy pack: values as Pulumi hands them over, both forms, the stack as environment, configuration, waivers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi_policy
import pytest
from pulumi_policy.proxy import UNKNOWN_OBJECT_VALUE, UNKNOWN_STRING_VALUE, unknown_checking_proxy

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.pack import policies
from kuberay_policies.pack.environment import PackError, settings, settings_file
from kuberay_policies.pack.resources import is_object
from kuberay_policies.pack.sdk_policies import pack_name
from kuberay_policies.pack.values import plain
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import resolve
from kuberay_policies.subjects import UNKNOWN, Subject
from tests.model.rayjobs import good, put, spec
from tests.policies.projects import FORMS, Workspace, state, workspace

TYPE = "kubernetes:ray.io/v1:RayJob"
URN = f"urn:pulumi:dev::kuberay::{TYPE}::train"


def reported(manifest: dict[str, Any], policy: str, settings_: Settings | None = None, type_: str = TYPE) -> list[str]:
    """What one policy of the pack reports of a resource, given as the SDK gives it."""
    [asked] = [made for made in policies(settings_ or Settings()) if made.name == pack_name(POLICIES[policy])]
    opts = pulumi_policy.PolicyResourceOptions(False, [], None, [], pulumi_policy.PolicyCustomTimeouts(0, 0, 0), [])
    args = pulumi_policy.ResourceValidationArgs(type_, unknown_checking_proxy(manifest), URN, "train", opts, None)
    said: list[str] = []
    assert isinstance(asked, pulumi_policy.ResourceValidationPolicy)

    def report(message: str, _urn: str | None = None) -> None:
        said.append(message)

    asked.validate(args, report)
    return said


def test_values_of_proxies_become_plain() -> None:
    proxy = unknown_checking_proxy({"a": [1.0, 1.5, UNKNOWN_STRING_VALUE], "b": {"c": UNKNOWN_OBJECT_VALUE}, "d": True})
    assert plain(proxy) == {"a": [1, 1.5, UNKNOWN], "b": {"c": UNKNOWN}, "d": True}
    assert isinstance(plain(proxy)["a"][0], int)


def test_a_secret_is_what_it_holds_and_an_unknown_output_is_unknown() -> None:
    signature = "4dabf18193072939515e22adb298388d"
    assert plain({signature: "1b47061264138c4ac30d75fd1eb44270", "value": {"a": 1.0}}) == {"a": 1}
    assert plain({signature: "d0e6a833031e9bbcd3f4e8bde6ca49a4"}) is UNKNOWN


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("kubernetes:ray.io/v1:RayJob", True),
        ("kubernetes:core/v1:ConfigMap", True),
        ("kubernetes:helm.sh/v4:Chart", False),
        ("kubernetes:yaml/v2:ConfigGroup", False),
        ("kubernetes:core/v1:ConfigMapList", False),
        ("kubernetes:core/v1:ConfigMapPatch", False),
        ("kuberay:index:RayJob", False),
        ("pulumi:providers:kubernetes", False),
    ],
)
def test_only_kubernetes_objects_are_looked_at(type_: str, expected: bool) -> None:
    assert is_object(type_) is expected


def test_each_policy_is_one_policy_of_the_pack_with_its_level_and_its_parameters() -> None:
    made = {policy.name: policy for policy in policies(resolve({"policies": {"J3": "warning", "U2": "off"}}))}
    assert len(made) == len(POLICIES)
    levels = {name: made[name].enforcement_level for name in ("j3-suspend-without-shutdown", "u2-no-entrypoint")}
    assert levels == {
        "j3-suspend-without-shutdown": pulumi_policy.EnforcementLevel.ADVISORY,
        "u2-no-entrypoint": pulumi_policy.EnforcementLevel.DISABLED,
    }
    limit = made["p103-ttl-limit"].config_schema
    assert limit is not None and limit.properties["maxSeconds"]["type"] == "integer"
    assert isinstance(made["p507-objects-differ"], pulumi_policy.StackValidationPolicy)


def test_a_policy_reports_through_the_proxies_of_the_sdk() -> None:
    assert reported(good(spec(ttlSecondsAfterFinished=-1.0)), "J4") == [
        "spec.ttlSecondsAfterFinished: ttlSecondsAfterFinished is -1, and it may not be negative. "
        "Use 0 for an immediate shutdown, or a number of seconds."
    ]
    assert reported(good(), "J4") == []


def test_an_unknown_value_is_told_and_not_passed() -> None:
    manifest = good(put("spec.ttlSecondsAfterFinished", UNKNOWN_STRING_VALUE))
    assert reported(manifest, "J4") == [
        "spec.ttlSecondsAfterFinished is known only at deployment; J4 cannot be decided before."
    ]


def test_the_stack_chooses_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "kuberay-policies.yaml"
    file.write_text("environments: {dev: {policies: {J3: warning}}, prod: {kuberayVersion: 1.7.0}}\n")
    assert settings(file, "organization/kuberay/prod", variables={}).environment == "prod"
    assert settings(file, "dev", given="prod", variables={}).environment == "prod"
    assert settings(file, "dev", variables={"KUBERAY_POLICIES_ENVIRONMENT": "prod"}).environment == "prod"
    with pytest.raises(PackError, match=r"dev or prod.*The stack is 'test'; KUBERAY_POLICIES_ENVIRONMENT"):
        settings(file, "test", variables={})


def test_a_settings_file_that_is_asked_for_must_exist(tmp_path: Path) -> None:
    assert settings_file([tmp_path], variables={}) is None
    with pytest.raises(PackError, match=r"none\.yaml does not exist"):
        settings_file([tmp_path], variables={"KUBERAY_POLICIES_SETTINGS": str(tmp_path / "none.yaml")})


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return workspace(tmp_path)


BAD = [Subject(good(spec(suspend=True, shutdownAfterJobFinishes=False)))]
ONLY_J3 = {"policies": {policy.id: "off" for policy in POLICIES.values() if policy.id != "J3"}}


@pytest.mark.parametrize("form", FORMS)
def test_an_error_is_mandatory_and_fails_the_command(space: Workspace, form: str) -> None:
    space.settings(ONLY_J3)
    done = space.analyze(FORMS[form], state(BAD))
    assert done.code != 0, done.output
    assert "[mandatory]  j3-suspend-without-shutdown" in done.output
    assert "spec.suspend: suspend is true, but shutdownAfterJobFinishes is false." in done.output
    assert done.output.count("advisory") == 0


def test_the_executable_answers_with_buffered_output(space: Workspace) -> None:
    done = space.analyze(FORMS["executable"], state([Subject(good())]), PYTHONUNBUFFERED="")
    assert "kuberay@v0.1.0" in done.output


@pytest.mark.parametrize("form", FORMS)
def test_the_name_of_the_stack_is_the_environment(space: Workspace, form: str) -> None:
    space.settings({**ONLY_J3, "environments": {"dev": {"policies": {"J3": "warning"}}, "prod": {}}})
    space.write("")
    assert space.run("stack", "init", "dev").code == 0
    (space.folder / "imported.json").write_text(state(BAD))
    assert space.run("stack", "import", "--file", "imported.json", "--stack", "dev").code == 0
    done = space.run("policy", "analyze", "--stack", "dev", "--policy-pack", str(FORMS[form]))
    assert done.code == 0 and "[advisory]  j3-suspend-without-shutdown" in done.output, done.output
    done = space.run(
        "policy", "analyze", "--stack", "dev", "--policy-pack", str(FORMS[form]), KUBERAY_POLICIES_ENVIRONMENT="prod"
    )
    assert done.code != 0 and "[mandatory]" in done.output, done.output


def test_configuration_of_the_pack_counts_more_than_the_settings(space: Workspace) -> None:
    config = space.folder / "config.json"
    config.write_text(json.dumps({"p103-ttl-limit": {"enforcementLevel": "mandatory", "maxSeconds": 10}}))
    slow = [Subject(good(spec(ttlSecondsAfterFinished=11)))]
    done = space.analyze(FORMS["executable"], state(slow), "--policy-pack-config", str(config))
    assert "[mandatory]  p103-ttl-limit" in done.output, done.output
    assert "Cleanup comes after 11 s, and at most 10 s are allowed." in done.output
    config.write_text(json.dumps({"p103-ttl-limit": {"maxSeconds": "ten"}}))
    done = space.analyze(FORMS["executable"], state(slow), "--policy-pack-config", str(config))
    assert done.code != 0 and "maxSeconds: Invalid type" in done.output


def test_the_environment_can_be_chosen_in_the_configuration_of_the_pack(space: Workspace) -> None:
    space.settings({**ONLY_J3, "environments": {"lab": {"policies": {"J3": "warning"}}}, "defaultEnvironment": "lab"})
    config = space.folder / "config.json"
    config.write_text(json.dumps({"known-only-at-deployment": {"environment": "nowhere"}}))
    done = space.analyze(FORMS["executable"], state(BAD), "--policy-pack-config", str(config))
    assert done.code != 0 and "There is no environment 'nowhere'; there is lab." in done.output


def test_a_waived_finding_is_not_reported(space: Workspace) -> None:
    waiver = {"policies": ["J3"], "targets": ["RayJob default/train"], "reason": "a test", "expires": "2999-12-31"}
    space.settings({**ONLY_J3, "waivers": [waiver]})
    done = space.analyze(FORMS["executable"], state(BAD))
    assert done.code == 0 and "j3-" not in done.output, done.output


def test_wrong_settings_stop_the_command_with_their_line(space: Workspace) -> None:
    (space.folder / "kuberay-policies.yaml").write_text("policies:\n  J333: error\n")
    done = space.analyze(FORMS["executable"], state(BAD))
    assert done.code != 0 and "kuberay-policies.yaml:2" in done.output and "'J333'" in done.output, done.output
