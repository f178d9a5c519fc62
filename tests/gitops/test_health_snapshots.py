"""The health of what operator and Kueue wrote in every state: recorded on an embedded cluster."""

import pytest

from kuberay_e2e.gitops.health import documents
from kuberay_e2e.gitops.health.rayjob import GRADES
from kuberay_model.outcome import Kind, outcome
from kuberay_model.states import JobDeploymentStatus
from tests.gitops.evaluators import argocd, flux
from tests.gitops.states import SNAPSHOTS, STATES, State

SCRIPTS = {name.rpartition("_")[2]: text for name, text in documents.argocd()["data"].items()}
ENTRIES = {entry["kind"]: entry for entry in documents.flux()}


@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state.path.stem))
def test_argocd_shows(state: State) -> None:
    health = argocd(SCRIPTS[state.kind], state.read())
    assert health.status == state.argocd, health.message


@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state.path.stem))
def test_flux_computes(state: State) -> None:
    assert flux(ENTRIES[state.kind], state.read()) == state.flux


def test_every_recording_is_one_of_a_state() -> None:
    assert {path.name for path in SNAPSHOTS.iterdir()} == {state.path.name for state in STATES}


def test_every_outcome_and_every_status_of_a_rayjob_was_recorded() -> None:
    rayjobs = [state.read() for state in STATES if state.kind == "RayJob"]
    assert {outcome(item).kind for item in rayjobs} == set(GRADES) - {Kind.UNKNOWN}
    seen = {(item.get("status") or {}).get("jobDeploymentStatus", "") for item in rayjobs}
    assert seen == set(JobDeploymentStatus)
