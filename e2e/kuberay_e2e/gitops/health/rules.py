"""What the checks of all kinds consist of: ordered rules, the first of which that passes gives grade and sentence."""

from collections.abc import Iterable
from dataclasses import dataclass

from kuberay_e2e.gitops.health.grade import Grade
from kuberay_e2e.gitops.health.predicates import CONDITIONS, ConditionIs, Path, Test


@dataclass(frozen=True)
class Text:
    """A text of the object that a sentence quotes.

    Attributes:
        field: `reason` or `message`.
        path: The object that has the field, or the list of conditions in which it is.
        condition: Type of the condition in that list; default: `path` is the object itself.
    """

    field: str
    path: Path = ("status",)
    condition: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence about an object.

    Attributes:
        parts: Words and quoted texts, in order. It can be said if none of the quoted texts is missing or empty.
        when: What has to hold too; default: nothing.
    """

    parts: tuple[str | Text, ...]
    when: Test | None = None


@dataclass(frozen=True)
class Rule:
    """One line of a check.

    Attributes:
        test: When it holds.
        grade: How well the object is then.
        sentences: What is to be said; the first that can be said is.
    """

    test: Test
    grade: Grade
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Check:
    """How well an object of a kind is.

    Attributes:
        api_version: Group and version of the kind.
        kind: The kind.
        rules: Rules in order: the first that passes gives the grade.
        otherwise: Grade if none passes.
        sentences: What is said then: the first that can be said.
    """

    api_version: str
    kind: str
    rules: tuple[Rule, ...]
    otherwise: Grade
    sentences: tuple[Sentence, ...]

    @property
    def group(self) -> str:
        """The API group."""
        return self.api_version.partition("/")[0]


def plainly(sentence: str) -> tuple[Sentence, ...]:
    """A sentence that quotes nothing."""
    return (Sentence((sentence,)),)


def by_condition(sentence: str, grade: Grade, kind: str, status: str = "True", reasons: Iterable[str] = ()) -> Rule:
    """A rule about a condition, which quotes the condition.

    Args:
        sentence: What is said, without its full stop.
        grade: How well the object is then.
        kind: Type of the condition.
        status: Its status.
        reasons: Its reasons; default: all.
    """
    return Rule(ConditionIs(kind, status, frozenset(reasons)), grade, quoting(sentence, kind))


def quoting(sentence: str, condition: str) -> tuple[Sentence, ...]:
    """A sentence with as much of a condition's reason and message as there is.

    Args:
        sentence: The sentence without its full stop.
        condition: Type of the condition.
    """
    reason, message = (Text(field, CONDITIONS, condition) for field in ("reason", "message"))
    return (
        Sentence((f"{sentence} with reason ", reason, ": ", message, ".")),
        Sentence((f"{sentence} with reason ", reason, ".")),
        Sentence((f"{sentence}.",)),
    )
