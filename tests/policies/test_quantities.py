"""Amounts and image references as Kubernetes and container runtimes read them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kuberay_policies.images import Image
from kuberay_policies.quantities import quantity, shown


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("500m", Fraction(1, 2)),
        (2, Fraction(2)),
        (0.5, Fraction(1, 2)),
        ("1.5", Fraction(3, 2)),
        ("8Gi", Fraction(8 * 1024**3)),
        ("1M", Fraction(1_000_000)),
        ("2e3", Fraction(2000)),
        ("100n", Fraction(1, 10**7)),
        ("1Ei", Fraction(1024**6)),
        (".5", Fraction(1, 2)),
        (True, None),
        ("", None),
        ("1 Gi", None),
        ("one", None),
        ("1e999999", None),
        (None, None),
    ],
)
def test_amounts(text: object, amount: Fraction | None) -> None:
    assert quantity(text) == amount


def test_amounts_are_shown_as_people_write_them() -> None:
    assert shown("memory", Fraction(1536 * 1024**2)) == "1.5Gi"
    assert shown("memory", Fraction(200 * 1024**2)) == "200Mi"
    assert shown("cpu", Fraction(1, 2)) == "0.5"


@pytest.mark.parametrize(
    ("reference", "image"),
    [
        ("ray", Image("docker.io", "library/ray", "", "")),
        ("rayproject/ray:2.52.0", Image("docker.io", "rayproject/ray", "2.52.0", "")),
        ("localhost/ray:1", Image("localhost", "ray", "1", "")),
        ("registry.example:5000/a/b", Image("registry.example:5000", "a/b", "", "")),
        ("quay.io/a/b:1@sha256:ab", Image("quay.io", "a/b", "1", "sha256:ab")),
    ],
)
def test_image_references(reference: str, image: Image) -> None:
    assert Image.parse(reference) == image


def test_the_version_of_ray_is_read_from_the_tag() -> None:
    assert Image.parse("a/ray:2.52.0-py311-gpu").ray_version == "2.52.0"
    assert Image.parse("a/ray:nightly").ray_version == ""
    assert Image.parse("a/b:ray2.52.0-torch2.9.1").ray_version == "", "which of the two is Ray's is not known"


def test_a_registry_is_no_prefix_of_another() -> None:
    assert Image.parse("quay.io/ray/x:1").is_from("quay.io/ray")
    assert not Image.parse("quay.io/rayleak/x:1").is_from("quay.io/ray")
    assert not Image.parse("quay.io.evil.example/x:1").is_from("quay.io")
