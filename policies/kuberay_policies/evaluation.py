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


@dataclass
class _Run:
    context: Context
    policies: Sequence[Policy]
    findings: list[Finding] = field(default_factory=list)
    waived: list[Waived] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._by_kind: dict[tuple[str, bool], list[tuple[Policy, Any]]] = {}

    def ask_about(self, subject: Subject, parts: Targets) -> None:
        waiting: dict[tuple[int, str], tuple[Subject, dict[str, Policy]]] = {}
        applicable = self._applicable(subject)

        def wait(policy: Policy, owner: Subject, path: str) -> None:
            waiting.setdefault((id(owner), path), (owner, {}))[1][policy.id] = policy

        for policy, parameters in applicable:
            for part in parts.parts.get(policy.scope, ()):
                try:
                    for found in policy.check(part, parameters, self.context):
                        if isinstance(found, NotYetKnown):
                            wait(policy, found.owner, found.path)
                        else:
                            self._add(policy, found, subject)
                except NotYetKnown as unknown:
                    wait(policy, unknown.owner, unknown.path)
        for path, scopes in parts.hidden:
            for policy, _ in applicable:
                if policy.scope in scopes:
                    wait(policy, subject, path)
        self.deferred += [Deferred(owner, path, tuple(by.values())) for (_, path), (owner, by) in waiting.items()]

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
            tuple(self.deferred),
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

    def _applicable(self, subject: Subject) -> list[tuple[Policy, Any]]:
        key = (subject.kind, subject.options is not None)
        if key not in self._by_kind:
            self._by_kind[key] = [
                (policy, self.context.settings.parameters_of(policy))
                for policy in self.policies
                if (not policy.kinds or subject.kind in policy.kinds)
                and (subject.options is not None or not policy.needs_options)
            ]
        return self._by_kind[key]
