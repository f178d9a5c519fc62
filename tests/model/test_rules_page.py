"""The page on the rules is made from the rules, and the one in docs/ is up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from kuberay_model.rules import RULES, explain
from kuberay_model.rules.page import document, markdown, text, versions
from kuberay_model.rules_page import main

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_page_in_docs_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(RULES.values()), "run python -m kuberay_model.rules_page FILE"


def test_every_rule_has_a_section_with_who_reacts_severity_and_versions() -> None:
    page = document(RULES.values())
    for rule in RULES.values():
        assert f"\n### {rule.id}: {rule.title}\n" in page
        assert markdown(rule) in page
        assert all(f"**{name}**" in markdown(rule) for name in ("Who reacts", "Severity", "Versions"))


def test_a_rule_is_shown_as_text() -> None:
    assert text(explain("J24")).splitlines() == [
        "J24  A RayJob with clusterSelector has no retries.",
        "",
        "Who reacts:    The operator writes jobDeploymentStatus: ValidationFailed, which a later edit does not cure.",
        "Severity:      error",
        "Versions:      1.6 and 1.7",
        "Check:         Each retry creates a new RayCluster.",
    ]


@pytest.mark.parametrize(("id", "seen"), [("J1", "all"), ("U6", "1.5 and 1.6"), ("C12", "1.7")])
def test_versions_are_named_by_their_minor_number(id: str, seen: str) -> None:
    assert versions(explain(id)) == seen


def test_the_page_is_written_to_a_file(tmp_path: Path) -> None:
    assert main([str(tmp_path / "rules.md")]) == 0
    assert (tmp_path / "rules.md").read_text(encoding="utf-8") == document(RULES.values())
