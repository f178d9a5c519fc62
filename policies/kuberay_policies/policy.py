"""What a policy is, what it finds, and the registry of all policies."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from kuberay_model.sentences import nearest
from kuberay_policies.guarding import NotYetKnown
from kuberay_policies.subjects import Source, Subject
from kuberay_policies.targets import Scope

if TYPE_CHECKING:
    from kuberay_policies.stack import Context


class Severity(Enum):
    """What a finding means for the check."""

    ERROR = "error"
    """The check fails."""
    WARNING = "warning"
    """It is reported, and the check passes."""
    OFF = "off"
    """The policy is not asked."""


class Family(Enum):
    """What policies are about, in the order of the list."""

    LIFECYCLE = "lifecycle"
    KUEUE = "kueue"
    SECURITY = "security"
    SCHEDULING = "scheduling"
    OPERATIONS = "operations"
    OPERATOR = "operator"
    """Rules of KubeRay itself, from `kuberay_model.rules`."""


class Parameters(BaseModel):
    """Parameters of a policy; written in camelCase in files, as Kubernetes does."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, alias_generator=to_camel, populate_by_name=True)


@dataclass(frozen=True)
class Problem:
    """What the check of a policy yields.

    Attributes:
        path: Where in the manifest, such as `spec.rayClusterSpec.headGroupSpec`.
        wrong: A sentence that says what is wrong.
        remedy: A sentence that says what to do.
    """

    path: str
    wrong: str
    remedy: str


Check = Callable[[Any, Any, "Context"], Iterator[Problem | NotYetKnown]]
"""Takes a part of `Policy.scope`, the parameters, and the context: settings and all other objects.

It raises `NotYetKnown` where it cannot go on without a value, and yields one where it can.
"""


@dataclass(frozen=True)
class Policy:
    """One thing that must hold.

    Attributes:
        id: `P` and three digits, or the id of a rule of `kuberay_model.rules`.
        name: The id in words, in kebab-case.
        title: What must hold, one sentence without full stop.
        family: What it is about.
        severity: Severity unless the settings say otherwise.
        scope: What it looks at in one go.
        why: What happens otherwise, for the documentation.
        kinds: `kind` of the objects it applies to; empty for all that have a part of its scope.
        parameters: The model of its parameters; every parameter has a default.
        check: Yields the problems of one part.
        stack_wide: Whether it also looks at other objects, so that it must be asked with all of them.
        needs_options: Whether it looks at Pulumi's resource options, so that plain manifests always keep it.
        sources: Upstream documentation or issues, such as `kuberay#5184`.
    """

    id: str
    name: str
    title: str
    family: Family
    severity: Severity
    scope: Scope
    why: str
    check: Check = field(repr=False, compare=False)
    kinds: frozenset[str] = frozenset()
    parameters: type[Parameters] = Parameters
    stack_wide: bool = False
    needs_options: bool = False
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A policy that an object breaks, and where.

    Attributes:
        policy: The policy.
        severity: Severity in these settings, `ERROR` or `WARNING`.
        subject: The object.
        path: Where in the manifest; empty for the whole object.
        wrong: What is wrong, one sentence.
        remedy: What to do, one sentence.
    """

    policy: Policy
    severity: Severity
    subject: Subject
    path: str
    wrong: str
    remedy: str

    @property
    def source(self) -> Source:
        """Where the object was read."""
        return self.subject.source

    @property
    def message(self) -> str:
        """What is wrong and what to do."""
        return f"{self.wrong} {self.remedy}"

    @property
    def fingerprint(self) -> str:
        """A digest that stays the same when the file moves or grows: policy, object and path."""
        parts = (self.policy.id, self.subject.api_version, self.subject.title, self.path)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class UnknownPolicyError(KeyError):
    """An id or a name that no policy has."""

    def __str__(self) -> str:
        return str(self.args[0])


POLICIES: dict[str, Policy] = {}
"""Every policy by id; import `kuberay_policies.catalogue` to have it filled."""


def add(policy: Policy) -> None:
    """Register a policy.

    Raises:
        ValueError: Its id or its name is taken.
    """
    if policy.id in POLICIES or any(policy.name == other.name for other in POLICIES.values()):
        raise ValueError(f"The policy {policy.id} {policy.name} is registered twice.")
    POLICIES[policy.id] = policy


def policy(
    id: str, name: str, title: str, *, family: Family, scope: Scope, why: str, severity: Severity, **rest: Any
) -> Callable[[Check], Check]:
    """Register the decorated check as a policy; the arguments are the attributes of `Policy`."""

    def register(check: Check) -> Check:
        add(Policy(id, name, title, family, severity, scope, why, check, **rest))
        return check

    return register


def find(id_or_name: str) -> Policy:
    """Return the policy with this id or name, letter case ignored.

    Raises:
        UnknownPolicyError: No policy has it.
    """
    wanted = id_or_name.strip().casefold()
    for candidate in POLICIES.values():
        if wanted in (candidate.id.casefold(), candidate.name):
            return candidate
    known = [name for candidate in POLICIES.values() for name in (candidate.id, candidate.name)]
    hint = f" Did you mean {similar}?" if (similar := nearest(wanted, known)) else ""
    raise UnknownPolicyError(f"There is no policy {id_or_name!r}.{hint} `kuberay-policies list` names them all.")
