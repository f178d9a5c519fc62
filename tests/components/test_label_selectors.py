from typing import Any

import pytest

from pulumi_kuberay import LabelSelector, LabelSelectorRequirement, SelectorOperator
from pulumi_kuberay.label_selectors import namespaces_selector, selects
from pulumi_kuberay.rendering import rendered

TEAM = {"team": "research", "empty": ""}


def requirement(key: str, operator: SelectorOperator, *values: str) -> dict[str, Any]:
    selector = LabelSelector(
        match_expressions=[LabelSelectorRequirement(key=key, operator=operator, values=values or None)]
    )
    plain: dict[str, Any] = rendered(selector)
    return plain


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"team": "research"}}, True),
        ({"matchLabels": {"team": "research", "other": "x"}}, False),
        (requirement("team", SelectorOperator.IN, "research", "other"), True),
        (requirement("team", SelectorOperator.IN, "other"), False),
        (requirement("team", SelectorOperator.NOT_IN, "research"), False),
        (requirement("absent", SelectorOperator.NOT_IN, "research"), True),
        (requirement("empty", SelectorOperator.EXISTS), True),
        (requirement("absent", SelectorOperator.EXISTS), False),
        (requirement("empty", SelectorOperator.DOES_NOT_EXIST), False),
        (requirement("absent", SelectorOperator.DOES_NOT_EXIST), True),
    ],
)
def test_a_selector_selects_as_kubernetes_does(selector: dict[str, Any], selected: bool) -> None:
    assert selects(selector, TEAM) is selected


def test_namespaces_are_selected_by_the_label_that_each_has() -> None:
    selector = rendered(namespaces_selector(["b", "a"]))

    assert selects(selector, {"kubernetes.io/metadata.name": "a"})
    assert not selects(selector, {"kubernetes.io/metadata.name": "c"})
