"""Nothing that is on a user's cluster is replaced; what is there is used only where the user says so."""

from dataclasses import replace

import pytest

from kuberay_e2e.clusters.existing import Wish, decide
from kuberay_e2e.clusters.inventory import InstalledOperator, Inventory
from kuberay_e2e.errors import InputError
from kuberay_e2e.session.on_existing import installation_of

CRDS = ("rayclusters.ray.io", "rayjobs.ray.io")
ROLES = ("kuberay-operator", "rayjob-editor-role")
EMPTY = Inventory("v1.34.4", frozenset({"default", "kube-system"}))
OPERATOR = InstalledOperator("ray", "kuberay-operator", "1.6.2")
INSTALLED = replace(EMPTY, crds=CRDS, operators=(OPERATOR,))
WISH = Wish(("ray-jobs-abc",), "kuberay-e2e-abc", CRDS)
USING = replace(WISH, use_installed=True)


def refusal(inventory: Inventory, wish: Wish) -> str:
    with pytest.raises(InputError) as error:
        decide(inventory, wish, "run")
    return str(error.value)


def test_an_empty_cluster_gets_everything_and_loses_it_again() -> None:
    decision = decide(EMPTY, WISH, "run")
    assert decision.footprint.namespaces == ("kuberay-e2e-abc", "ray-jobs-abc")
    assert decision.footprint.crds == CRDS
    installation = installation_of(decision)
    assert (installation.crds, installation.operator, installation.removes_crds) == (True, True, True)
    assert installation.namespace == "kuberay-e2e-abc"


def test_an_operator_of_the_harness_has_no_rights_outside_its_namespaces() -> None:
    arguments = installation_of(decide(EMPTY, WISH, "run")).arguments
    assert (arguments["rbac"], arguments["watchNamespaces"]) == ("namespaces", ["ray-jobs-abc"])
    assert decide(EMPTY, WISH, "run").footprint.roles == ()


def test_the_user_is_told_what_will_be_made() -> None:
    [made, how] = decide(EMPTY, WISH, "run").sentences()
    assert "kuberay-e2e-abc, ray-jobs-abc" in made
    assert "CRDs rayclusters.ray.io, rayjobs.ray.io" in made
    assert "these namespaces only" in how


def test_a_namespace_that_exists_is_not_used() -> None:
    said = refusal(EMPTY, replace(WISH, namespaces=("default", "team")))
    assert said.startswith("The namespace default of the manifest exists on the cluster already.")


@pytest.mark.parametrize("inventory", [INSTALLED, replace(INSTALLED, operators=()), replace(INSTALLED, crds=())])
def test_what_is_there_is_not_replaced(inventory: Inventory) -> None:
    assert "They are not replaced: use them by --use-installed" in refusal(inventory, WISH)


def test_an_operator_of_another_version_is_not_replaced_and_is_named() -> None:
    old = replace(INSTALLED, operators=(replace(OPERATOR, version="1.4.0"),))
    assert "the operator 1.4.0 of the Deployment ray/kuberay-operator" in refusal(old, WISH)


def test_an_operator_that_is_there_is_used_and_left() -> None:
    decision = decide(INSTALLED, USING, "run")
    assert decision.operator == OPERATOR
    assert (decision.footprint.namespaces, decision.footprint.crds) == (("ray-jobs-abc",), ())
    installation = installation_of(decision)
    assert (installation.crds, installation.operator, installation.removes_crds) == (False, False, False)
    assert (installation.namespace, installation.deployment) == ("ray", "kuberay-operator")
    assert "nobody looks after the Ray objects of this cluster" in " ".join(decision.sentences())


def test_crds_that_are_there_are_used_by_an_operator_of_the_harness() -> None:
    decision = decide(replace(INSTALLED, operators=()), USING, "run")
    assert (decision.operator, decision.footprint.crds) == (None, ())
    assert not installation_of(decision).removes_crds


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (replace(OPERATOR, version="1.0.0"), "KubeRay 1.0.0 is not supported"),
        (replace(OPERATOR, version="nightly"), "whose RayJobs are not known here"),
        (replace(OPERATOR, replicas=0, ready=0), "to have 0 pods"),
        (replace(OPERATOR, ready=0), "has 0 ready"),
        (replace(OPERATOR, watched=("team",)), "looks after team only"),
    ],
)
def test_an_operator_that_cannot_be_used(operator: InstalledOperator, reason: str) -> None:
    assert reason in refusal(replace(INSTALLED, operators=(operator,)), USING)


def test_there_is_nothing_to_be_used() -> None:
    assert "Leave out --use-installed" in refusal(EMPTY, USING)


def test_an_operator_without_crds_cannot_be_used() -> None:
    assert "not the CRD rayjobs.ray.io" in refusal(replace(INSTALLED, crds=()), USING)


def test_two_operators_are_one_too_many() -> None:
    two = replace(INSTALLED, operators=(OPERATOR, replace(OPERATOR, namespace="other")))
    assert "which of them would act" in refusal(two, USING)


def test_no_local_operator_beside_one_that_is_there() -> None:
    assert "Use --operator pod" in refusal(INSTALLED, replace(USING, local=True))


@pytest.mark.parametrize("inventory", [EMPTY, replace(INSTALLED, operators=())])
def test_a_local_operator_takes_nobodys_roles(inventory: Inventory) -> None:
    taken = replace(inventory, roles=frozenset({"kuberay-operator"}))
    wish = replace(WISH, roles=ROLES, local=True, use_installed=bool(inventory.crds))
    assert "called kuberay-operator" in refusal(taken, wish)
    assert decide(inventory, wish, "run").footprint.roles == ROLES
