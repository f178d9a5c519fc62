"""`kuberay-e2e doctor` judges kind by itself, and by the exit code only where kind is asked for."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from kuberay_e2e.cli import app
from kuberay_e2e.clusters import requirements
from tests.kind.test_requirements import GOOD, NO_DOCKER, NO_PODMAN

LACKING = replace(GOOD, answers=(NO_DOCKER, NO_PODMAN))


def doctor(machine: requirements.Machine, *arguments: str) -> tuple[int, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requirements, "gather", lambda _: machine)
        result = CliRunner().invoke(app, ["doctor", *arguments])
    return result.exit_code, " ".join(result.stdout.split())


def test_what_kind_needs_is_listed_as_optional() -> None:
    code, said = doctor(LACKING)
    assert "for --cluster kind, which is optional" in said
    assert "container engine" in said
    assert code == doctor(GOOD)[0]


def test_what_kind_needs_counts_where_kind_is_asked_for() -> None:
    code, said = doctor(LACKING, "--cluster", "kind")
    assert code == 1
    assert "optional" not in said


def test_kind_itself_is_looked_for_where_it_is_asked_for() -> None:
    assert "kind │ 0.33.0" in doctor(GOOD, "--cluster", "kind")[1]
    assert "kind │ 0.33.0" not in doctor(GOOD)[1]


def test_another_cluster_is_bad_usage() -> None:
    assert doctor(GOOD, "--cluster", "minikube")[0] == 2
