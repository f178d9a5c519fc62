"""Selectors of labels, for the namespaces of a queue and the jobs that Kueue manages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pulumi_kuberay.names import label_key_problems, label_value_problems

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"
"""Label that every namespace carries, with its own name."""


class SelectorOperator(StrEnum):
    """How a label is compared with the values of a requirement."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


@dataclass(kw_only=True)
class LabelSelectorRequirement:
    """One condition on a label."""

    key: str
    """Key of the label."""

    operator: SelectorOperator
    """How the label is compared: ``In``, ``NotIn``, ``Exists`` or ``DoesNotExist``."""

    values: Sequence[str] | None = None
    """Values for ``In`` and ``NotIn``, which need one or more; the others take none. Default: none."""


@dataclass(kw_only=True)
class LabelSelector:
    """Conditions on labels that must all hold; without any it selects everything."""

    match_labels: Mapping[str, str] | None = None
    """Labels that must have these values. Default: none."""

    match_expressions: Sequence[LabelSelectorRequirement] | None = None
    """Further conditions. Default: none."""


def namespaces_selector(names: Sequence[str]) -> LabelSelector:
    """Return the selector of exactly these namespaces."""
    requirement = LabelSelectorRequirement(
        key=NAMESPACE_NAME_LABEL, operator=SelectorOperator.IN, values=sorted(set(names))
    )
    return LabelSelector(match_expressions=[requirement])


def selector_problems(what: str, selector: Any) -> Iterator[str]:
    """Say what the API server would refuse in a rendered selector.

    Args:
        what: How the sentences call the selector.
        selector: The selector as Kubernetes reads it; anything but a mapping is not looked at.
    """
    if not isinstance(selector, Mapping):
        return
    for key, value in (selector.get("matchLabels") or {}).items():
        yield from label_key_problems(f"A key in matchLabels of {what}", key)
        yield from label_value_problems(f"The value of {key} in matchLabels of {what}", value)
    for requirement in selector.get("matchExpressions") or ():
        yield from _requirement_problems(what, requirement)


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Tell whether a rendered selector selects an object with these labels."""
    wanted = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(requirement, labels) for requirement in selector.get("matchExpressions") or ()
    )


def _holds(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    if operator in (SelectorOperator.EXISTS, SelectorOperator.DOES_NOT_EXIST):
        return bool((key in labels) == (operator == SelectorOperator.EXISTS))
    return bool((labels.get(key) in requirement["values"]) == (operator == SelectorOperator.IN))


def _requirement_problems(what: str, requirement: Mapping[str, Any]) -> Iterator[str]:
    key, operator, values = requirement.get("key"), requirement.get("operator"), requirement.get("values") or ()
    yield from label_key_problems(f"A key in matchExpressions of {what}", key)
    if operator not in list(SelectorOperator):
        yield (f"The operator of {key} in {what} must be one of {', '.join(SelectorOperator)}, but it is {operator!r}.")
    elif operator in (SelectorOperator.IN, SelectorOperator.NOT_IN) and not values:
        yield f"The operator {operator} of {key} in {what} needs values, but there is none."
    elif operator in (SelectorOperator.EXISTS, SelectorOperator.DOES_NOT_EXIST) and values:
        yield f"The operator {operator} of {key} in {what} takes no values, but there are {list(values)}."
    for value in values:
        yield from label_value_problems(f"A value of {key} in {what}", value)
