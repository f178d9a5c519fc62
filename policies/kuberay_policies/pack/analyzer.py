"""What Pulumi's engine talks to: all policies are asked at once about each resource.

The servicer of Pulumi's SDK reads the properties of a resource anew for every policy, which takes minutes for a
stack with CRDs and a hundred policies. This one reads them once. It also takes the stack's name, which the SDK
does not keep, so that the stack chooses the environment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc  # type: ignore[import-untyped]
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, ResourceValidationPolicy
from pulumi_policy.policy import _PolicyAnalyzerServicer
from pydantic import ValidationError

from kuberay_policies.catalogue import POLICIES
from kuberay_policies.evaluation import Deferred, Report, evaluate
from kuberay_policies.pack.environment import PackError, environment, needs_environment, settings, settings_file
from kuberay_policies.pack.resources import is_object, subject, unwanted
from kuberay_policies.pack.sdk_policies import (
    DEFERRED,
    LEVELS,
    deferred_sentence,
    is_stack_wide,
    options_of,
    pack_name,
    policies,
    sentence,
)
from kuberay_policies.pack.values import decoded, plain
from kuberay_policies.policy import Parameters, Policy, Severity
from kuberay_policies.settings import Settings
from kuberay_policies.subjects import Subject

NAME = "kuberay"
VERSION = "0.1.0"
DESCRIPTION = "RayJobs, RayClusters, Kueue and the KubeRay operator"

_RESOURCE = tuple(policy for policy in POLICIES.values() if not is_stack_wide(policy))
_STACK = tuple(policy for policy in POLICIES.values() if is_stack_wide(policy))
_SEVERITIES = {level: severity for severity, level in LEVELS.items()}


class Analyzer(_PolicyAnalyzerServicer):
    """Serves the policies to one `pulumi preview` or `up`."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Make the analyzer.

        Args:
            folders: Where the settings file is looked for, in order.
        """
        self._folders = folders
        self._stack = ""
        self._settings: Settings | None = None
        self._levels: Mapping[str, EnforcementLevel] = {}
        self._told: Mapping[str, EnforcementLevel] = {}
        self._said: set[tuple[str, str]] = set()
        self._policies = [*policies(Settings()), _note()]
        super().__init__(NAME, VERSION, self._policies, EnforcementLevel.ADVISORY, description=DESCRIPTION)

    def ConfigureStack(self, request: Any, context: Any) -> Any:  # noqa: D102 - named by the protocol
        self._stack = request.stack
        self._settle(context)
        return super().ConfigureStack(request, context)

    def GetAnalyzerInfo(self, request: Any, context: Any) -> Any:  # noqa: D102
        current = self._settings or Settings()
        for made, policy in zip(self._policies, POLICIES.values(), strict=False):
            made.enforcement_level = LEVELS[current.severity(policy)]
        self._told = {made.name: made.enforcement_level for made in self._policies if made.enforcement_level}
        return super().GetAnalyzerInfo(request, context)  # type: ignore[no-untyped-call]

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: D102
        answer = super().Configure(request, context)  # type: ignore[no-untyped-call]
        self._levels = {
            name: self._convert_enforcement_level(entry.enforcementLevel)
            for name, entry in request.policyConfig.items()
        }
        self._settle(context)
        return answer

    def Analyze(self, request: Any, context: Any) -> Any:  # noqa: D102
        response = proto.AnalyzeResponse()
        found = self._subject(request)
        if found is not None:
            self._answer(response, evaluate([found], self._settings_for(request.urn, context), _RESOURCE))
        return response

    def AnalyzeStack(self, request: Any, context: Any) -> Any:  # noqa: D102
        response = proto.AnalyzeResponse()
        found = [made for resource in request.resources if (made := self._subject(resource)) is not None]
        if found:
            self._answer(response, evaluate(found, self._settings_for(found[0].source.urn or "", context), _STACK))
        return response

    def _settings_for(self, urn: str, context: Any) -> Settings:
        """Return the settings; `pulumi policy analyze` tells the stack with the first URN only."""
        if self._settings is None:
            self._stack = urn.removeprefix("urn:pulumi:").partition("::")[0]
            self._settle(context)
        assert self._settings is not None
        return self._settings

    def _settle(self, context: Any) -> None:
        own = self._get_policy_config(DEFERRED) or {}
        chosen = str(own.get("environment") or "")
        try:
            file = settings_file(self._folders, str(own.get("settings") or ""))
            if not self._stack and environment(file, "", chosen) is None and needs_environment(file):
                return
            found = settings(file, self._stack, chosen)
        except PackError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise
        self._settings = self._overridden(found, context)

    def _overridden(self, found: Settings, context: Any) -> Settings:
        """Lay the configuration of the pack over the settings; the engine repeats levels that it was told."""
        severities, parameters = dict(found.severities), dict(found.parameters)
        for policy in POLICIES.values():
            name = pack_name(policy)
            level = self._levels.get(name)
            if level is not None and level is not self._told.get(name):
                severities[policy.id] = _SEVERITIES.get(level, Severity.ERROR)
            if given := self._get_policy_config(name):
                parameters[policy.id] = self._parameters(policy, found, plain(given), context)
        return dataclasses.replace(found, severities=severities, parameters=parameters)

    def _parameters(self, policy: Policy, found: Settings, given: Any, context: Any) -> Parameters:
        before = found.parameters_of(policy).model_dump(by_alias=True)
        try:
            return policy.parameters.model_validate({**before, **given})
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors())
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"The configuration of the policy {pack_name(policy)} is wrong: {told}.",
            )
            raise

    def _subject(self, resource: Any) -> Subject | None:
        if not is_object(resource.type):
            return None
        skipped = unwanted(resource.type)
        properties = {key: decoded(value, skipped) for key, value in resource.properties.fields.items()}
        return subject(resource.type, resource.urn, plain(properties), options_of(self._get_resource_options(resource)))

    def _answer(self, response: Any, report: Report) -> None:
        for finding in report.findings:
            policy = finding.policy
            self._diagnose(
                response,
                pack_name(policy),
                f"{policy.id} {policy.title}.",
                sentence(finding),
                LEVELS[finding.severity],
                finding.source.urn or "",
            )
        for deferred in report.deferred:
            if self._is_new(deferred):
                self._diagnose(
                    response,
                    DEFERRED,
                    _NOTE,
                    deferred_sentence(deferred),
                    EnforcementLevel.ADVISORY,
                    deferred.subject.source.urn or "",
                )

    def _is_new(self, deferred: Deferred) -> bool:
        place = (deferred.subject.source.urn or "", deferred.path)
        is_new = place not in self._said
        self._said.add(place)
        return is_new

    def _diagnose(
        self, response: Any, name: str, description: str, message: str, level: EnforcementLevel, urn: str
    ) -> None:
        self._create_report_violation(response, name, description, level)(message, urn)


_NOTE = "What is known only at deployment is checked by `pulumi up`, not by a preview."


def _note() -> ResourceValidationPolicy:
    return ResourceValidationPolicy(
        DEFERRED,
        _NOTE,
        validate=lambda _args, _report: None,
        enforcement_level=EnforcementLevel.ADVISORY,
        config_schema=PolicyConfigSchema(
            {
                "settings": {"type": "string", "description": "Path of the settings file."},
                "environment": {"type": "string", "description": "Environment; default the name of the stack."},
            }
        ),
        display_name="Known only at deployment",
    )
