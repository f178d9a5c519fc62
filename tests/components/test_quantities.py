from decimal import Decimal

import pytest

from pulumi_kuberay.quantities import quantity


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("40", "40"),
        (40, "40"),
        (0.5, "0.5"),
        ("500m", "0.5"),
        ("1n", "0.000000001"),
        ("1k", "1000"),
        ("2Ki", "2048"),
        ("1.5Gi", "1610612736"),
        ("1E", "1000000000000000000"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("12e-1", "1.2"),
        ("-1", "-1"),
        (".5", "0.5"),
        ("5.", "5"),
    ],
)
def test_a_quantity_is_an_amount(text: str | int | float, amount: str) -> None:
    assert quantity(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "1 Gi", "1gi", "Gi", "1K", "1.2.3", "eight", "0x1", True, None, ["1"]])
def test_anything_else_is_none(text: object) -> None:
    assert quantity(text) is None
