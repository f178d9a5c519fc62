"""What a rule is, what it finds, and the registry of all rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from kuberay_model.rules.job import Job
from kuberay_model.sentences import nearest
from kuberay_model.versions import Version


class Layer(IntEnum):
    """Who reacts to the input, in the order in which it meets them."""

    API_SERVER = 1
    """The API server refuses the object: schema and CEL rules of the CRD."""
    OPERATOR = 2
    """The operator writes `jobDeploymentStatus: ValidationFailed`, for good."""
    RAY_CLUSTER = 3
    """The RayJob passes; the RayCluster controller refuses the RayCluster made from it."""
    NOBODY = 4
    """Nothing refuses it, and it does not do what its author expects."""

    @property
    def refuses(self) -> bool:
        """Whether a finding of this layer means that the RayJob itself is refused."""
        return self <= Layer.OPERATOR


class Severity(Enum):
    """Whether the RayJob cannot work as written (error) or may do harm (warning)."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Problem:
    """What the check of a rule yields.

    Attributes:
        path: Where in the manifest, such as `spec.deletionStrategy.deletionRules[1].condition.ttlSeconds`.
        wrong: A sentence that says what is wrong.
        remedy: A sentence that says what to do.
        place: Key in `OPERATOR_ORDER` of a rule with several places; empty for the rule id.
        item: Index of the list item, for rules that the operator checks item by item.
    """

    path: str
    wrong: str
    remedy: str
    place: str = ""
    item: int = 0


Check = Callable[[Job], Iterator[Problem]]


@dataclass(frozen=True)
class Rule:
    """One thing that is wrong with a RayJob.

    Attributes:
        id: J (RayJob) and C (RayCluster) rules of the operator, X rules of the CRD, U what nobody validates.
        title: What must hold.
        layer: Who reacts.
        severity: How bad it is.
        since: First version with this rule; None for all supported versions.
        until: First version without this rule; None if all newer versions have it.
        note: What else is worth knowing, such as the upstream issue.
        aliases: Other ids of the same rule.
        check: Yields the problems of a RayJob; None for an id that is only explained, as `note` says.
    """

    id: str
    title: str
    layer: Layer
    severity: Severity = Severity.ERROR
    since: Version | None = None
    until: Version | None = None
    note: str = ""
    aliases: tuple[str, ...] = ()
    check: Check | None = field(default=None, repr=False, compare=False)

    def holds_in(self, version: Version) -> bool:
        """Tell whether this version of KubeRay has the rule."""
        return (self.since is None or self.since <= version) and (self.until is None or version < self.until)


@dataclass(frozen=True)
class Finding:
    """A rule that a RayJob breaks, and where.

    Attributes:
        rule: The rule.
        path: Where in the manifest.
        wrong: What is wrong, one sentence.
        remedy: What to do, one sentence.
    """

    rule: Rule
    path: str
    wrong: str
    remedy: str

    @property
    def id(self) -> str:
        """Id of the rule."""
        return self.rule.id

    @property
    def severity(self) -> Severity:
        """Severity of the rule."""
        return self.rule.severity

    @property
    def layer(self) -> Layer:
        """Who reacts."""
        return self.rule.layer

    @property
    def message(self) -> str:
        """What is wrong and what to do."""
        return f"{self.wrong} {self.remedy}"

    def __str__(self) -> str:
        return f"{self.id} {self.path}: {self.message}"


class UnknownRuleError(KeyError):
    """An id that no rule has."""

    def __str__(self) -> str:
        return str(self.args[0])


RULES: dict[str, Rule] = {}
"""Every rule by id, in the order of registration."""


def rule(
    id: str,
    title: str,
    *,
    layer: Layer = Layer.OPERATOR,
    severity: Severity = Severity.ERROR,
    since: Version | None = None,
    until: Version | None = None,
    note: str = "",
    aliases: tuple[str, ...] = (),
) -> Callable[[Check], Check]:
    """Register the decorated check as a rule; the arguments are the attributes of `Rule`."""

    def register(check: Check) -> Check:
        _add(Rule(id, title, layer, severity, since, until, note, aliases, check))
        return check

    return register


def explained_only(id: str, title: str, layer: Layer, note: str, *, since: Version | None = None) -> None:
    """Register an id without a check of its own, with the reason as its note."""
    _add(Rule(id, title, layer, since=since, note=note))


def explain(id: str) -> Rule:
    """Return the rule with this id or alias, letter case ignored.

    Raises:
        UnknownRuleError: No rule has it.
    """
    wanted = id.strip().upper()
    for candidate in RULES.values():
        if wanted == candidate.id or wanted in candidate.aliases:
            return candidate
    hint = f" Did you mean {similar}?" if (similar := nearest(wanted, RULES)) else ""
    raise UnknownRuleError(f"There is no rule {id!r}.{hint}")


def _add(new: Rule) -> None:
    if new.id in RULES:
        raise ValueError(f"The rule {new.id} is registered twice.")
    RULES[new.id] = new
