"""Asking every policy about every object."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kuberay_model.sentences import listed
from kuberay_policies.catalogue import POLICIES
from kuberay_policies.guarding import NotYetKnown
from kuberay_policies.policy import Finding, Policy, Problem, Severity
from kuberay_policies.settings import Settings, Waiver
from kuberay_policies.stack import Context, Stack
from kuberay_policies.subjects import Subject
from kuberay_policies.targets import Scope, Targets, targets


@dataclass(frozen=True)
class Waived:
    """A finding that a waiver accepts.

    Attributes:
        finding: The finding.
        waiver: The waiver.
    """

    finding: Finding
    waiver: Waiver


@dataclass(frozen=True)
class Deferred:
    """Policies that could not be decided, because a value is known only at deployment.

    Attributes:
        subject: The object.
        path: Path of the value.
        policies: The policies that need it.
    """

    subject: Subject
    path: str
    policies: tuple[Policy, ...]


@dataclass(frozen=True)
class Report:
    """What the policies say about a set of objects.

    Attributes:
        subjects: The objects that were checked.
        policies: The policies that were asked.
        findings: Broken policies that no waiver accepts, in the order of objects, then of policies.
        waived: Broken policies that a waiver accepts.
        deferred: Policies that wait for values known only at deployment.
        unused: Waivers that accept nothing here.
    """

    subjects: tuple[Subject, ...]
    policies: tuple[Policy, ...]
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    unused: tuple[Waiver, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return the number of findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)


def evaluate(subjects: Iterable[Subject], settings: Settings, policies: Iterable[Policy] | None = None) -> Report:
    """Ask the policies about the objects.

    Args:
        subjects: The objects of one stack, folder or cluster; policies that are `stack_wide` see all of them.
        settings: Settings of the environment.
        policies: The policies to ask; None for all. Those that the settings turn off are never asked.
    """
    asked = tuple(
        policy
        for policy in (POLICIES.values() if policies is None else policies)
        if settings.severity(policy) is not Severity.OFF
    )
    given = tuple(subjects)
    dissected = [targets(subject) for subject in given]
    run = _Run(Context(settings, Stack(tuple(dissected))), asked)
    for subject, parts in zip(given, dissected, strict=True):
        run.ask_about(subject, parts)
    run.ask_about_waivers()
    return run.report(given)


Asked = tuple[int, Policy, Any]
"""A policy with its position and its parameters."""


@dataclass
class _Run:
    context: Context
    policies: Sequence[Policy]
    findings: list[Finding] = field(default_factory=list)
    waived: list[Waived] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_kind: dict[tuple[str, bool], dict[Scope, list[Asked]]] = {}
        self._waiting: dict[tuple[int, str], tuple[Subject, dict[str, Policy]]] = {}

    def ask_about(self, subject: Subject, parts: Targets) -> None:
        found: list[tuple[int, Policy, Problem]] = []
        applicable = self._applicable(subject)

        def wait(policy: Policy, owner: Subject, path: str) -> None:
            self._waiting.setdefault((id(owner), path), (owner, {}))[1][policy.id] = policy

        for scope, asked in applicable.items():
            for part in parts.parts.get(scope, ()):
                for position, policy, parameters in asked:
                    try:
                        for problem in policy.check(part, parameters, self.context):
                            if isinstance(problem, NotYetKnown):
                                wait(policy, problem.owner, problem.path)
                            else:
                                found.append((position, policy, problem))
                    except NotYetKnown as unknown:
                        wait(policy, unknown.owner, unknown.path)
        for path, scopes in parts.hidden:
            for scope in scopes:
                for _, policy, _ in applicable.get(scope, ()):
                    wait(policy, subject, path)
        for _, policy, problem in sorted(found, key=lambda entry: entry[0]):
            self._add(policy, problem, subject)

    def ask_about_waivers(self) -> None:
        for waiver in self.context.settings.waivers:
            manifest = {"kind": "Waiver", "metadata": {"name": listed(waiver.policies)}}
            for policy in self.policies:
                if policy.scope is Scope.WAIVER:
                    for found in policy.check(waiver, self.context.settings.parameters_of(policy), self.context):
                        if isinstance(found, Problem):
                            self._add(policy, found, Subject(manifest, waiver.source))

    def report(self, subjects: tuple[Subject, ...]) -> Report:
        used = {id(entry.waiver) for entry in self.waived}
        return Report(
            subjects,
            tuple(self.policies),
            tuple(self.findings),
            tuple(self.waived),
            tuple(Deferred(owner, path, tuple(by.values())) for (_, path), (owner, by) in self._waiting.items()),
            tuple(waiver for waiver in self.context.settings.waivers if id(waiver) not in used),
        )

    def _add(self, policy: Policy, problem: Problem, subject: Subject) -> None:
        settings = self.context.settings
        finding = Finding(policy, settings.severity(policy), subject, problem.path, problem.wrong, problem.remedy)
        waiver = next((waiver for waiver in settings.waivers if waiver.covers(finding, settings.today)), None)
        if waiver is None:
            self.findings.append(finding)
        else:
            self.waived.append(Waived(finding, waiver))

    def _applicable(self, subject: Subject) -> dict[Scope, list[Asked]]:
        key = (subject.kind, subject.options is not None)
        if key not in self._by_kind:
            by_scope: dict[Scope, list[Asked]] = {}
            for position, policy in enumerate(self.policies):
                if (not policy.kinds or subject.kind in policy.kinds) and (
                    subject.options is not None or not policy.needs_options
                ):
                    parameters = self.context.settings.parameters_of(policy)
                    by_scope.setdefault(policy.scope, []).append((position, policy, parameters))
            self._by_kind[key] = by_scope
        return self._by_kind[key]
