"""What a machine lacks for a kind cluster is said before anything starts, with the remedy."""

from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_e2e.clusters.engine_answers import Answer, Problem
from kuberay_e2e.clusters.requirements import NEEDED_MIB, Machine, _capabilities, check, examine
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.doctor import Finding, State

PODMAN = Answer("podman", Path("/usr/bin/podman"), None, "4.3.1")
DOCKER = Answer("docker", Path("/usr/bin/docker"), None, "27.1.0")
NO_DOCKER = Answer("docker", None, Problem.NOT_INSTALLED)
NO_PODMAN = Answer("podman", None, Problem.NOT_INSTALLED)

GOOD = Machine((NO_DOCKER, PODMAN))


def finding(machine: Machine, subject: str) -> Finding:
    [found] = [finding for finding in examine(machine) if finding.subject == subject]
    return found


def refused(machine: Machine) -> str:
    with pytest.raises(HarnessError) as raised:
        check(examine(machine))
    return str(raised.value)


@pytest.mark.parametrize("machine", [GOOD, Machine((DOCKER, NO_PODMAN)), replace(GOOD, cgroups="v1")])
def test_a_machine_with_everything_is_accepted(machine: Machine) -> None:
    assert {finding.state for finding in examine(machine)} == {State.FOUND}
    check(examine(machine))


def test_no_container_engine() -> None:
    machine = Machine((NO_DOCKER, NO_PODMAN))
    assert "scripts/install-container-engine" in refused(machine)
    assert [finding.subject for finding in examine(machine)] == ["container engine"]


def test_an_engine_that_does_not_run() -> None:
    stopped = replace(DOCKER, problem=Problem.NOT_RUNNING, said="Is the docker daemon running?")
    sentence = refused(Machine((stopped, NO_PODMAN)))
    assert "Is the docker daemon running?" in sentence and "systemctl start docker" in sentence


def test_an_engine_that_denies_this_user() -> None:
    denied = replace(DOCKER, problem=Problem.NO_RIGHTS, said="permission denied")
    assert "join the group docker, or run as root" in refused(Machine((denied, NO_PODMAN)))


def test_an_engine_that_the_user_chose_and_that_is_not_there() -> None:
    assert "Expected docker on the PATH" in refused(replace(GOOD, asked="docker"))


def test_too_little_disk() -> None:
    sentence = refused(replace(GOOD, free=NEEDED_MIB - 1))
    assert f"{NEEDED_MIB - 1} MiB free, {NEEDED_MIB} MiB are needed; free some space" in sentence


def test_the_disk_of_an_engine_on_another_machine_is_not_judged() -> None:
    assert finding(replace(GOOD, free=None), "disk space of the engine").where == "on another machine"


@pytest.mark.parametrize("kubernetes", ["1.35.0", "1.40.1", "2.0.0"])
def test_a_kubelet_that_refuses_cgroup_v1(kubernetes: str) -> None:
    sentence = refused(replace(GOOD, cgroups="v1", kubernetes=kubernetes))
    assert f"the kubelet of Kubernetes {kubernetes} refuses cgroup v1" in sentence
    check(examine(replace(GOOD, cgroups="v2", kubernetes=kubernetes)))


def test_cgroup_v1_is_said_to_be_old_where_it_still_works() -> None:
    assert "still runs on it" in finding(replace(GOOD, cgroups="v1", kubernetes="1.34.4"), "cgroups").advice


def test_the_capability_that_is_worked_around_is_said() -> None:
    found = finding(replace(GOOD, capabilities=frozenset({"CAP_SYS_ADMIN", "CAP_NET_ADMIN"})), "capabilities")
    assert found.state is State.FOUND
    assert "CAP_SYS_RESOURCE is missing and worked around" in found.advice


@pytest.mark.parametrize("missing", ["CAP_SYS_ADMIN", "CAP_NET_ADMIN"])
def test_a_capability_that_nodes_cannot_do_without(missing: str) -> None:
    machine = replace(GOOD, capabilities=GOOD.capabilities - {missing})
    assert f"{missing} cannot be had on this machine" in refused(machine)


def test_capabilities_of_this_process_say_nothing_about_another_machine_or_a_user_namespace() -> None:
    check(examine(replace(GOOD, answers=(DOCKER, NO_PODMAN), capabilities=frozenset())))
    check(examine(replace(GOOD, root=False, rootless=True, capabilities=frozenset())))


def test_runc_is_needed_on_cgroup_v1_only() -> None:
    without = GOOD.programs - {"runc"}
    check(examine(replace(GOOD, programs=without, cgroups="v2")))
    assert "podman needs runc here" in refused(replace(GOOD, programs=without, cgroups="v1"))


def test_iptables_is_needed_by_podman() -> None:
    assert "podman needs iptables here" in refused(replace(GOOD, programs=GOOD.programs - {"iptables"}))


def test_a_missing_modules_folder_is_made_by_root_and_asked_of_others() -> None:
    assert finding(replace(GOOD, modules=False), "/lib/modules").state is State.BUILDABLE
    assert "mkdir /lib/modules as root" in refused(replace(GOOD, modules=False, root=False, rootless=True))


def test_rootless_needs_cgroup_v2_and_delegated_controllers() -> None:
    rootless = replace(GOOD, root=False, rootless=True)
    check(examine(rootless))
    assert "kind without root needs cgroup v2" in refused(replace(rootless, cgroups="v1"))
    assert "the controllers cpu are not delegated" in refused(
        replace(rootless, controllers=frozenset({"memory", "pids"}))
    )


def test_the_node_image_is_pulled_where_there_is_a_registry() -> None:
    machine = replace(GOOD, node_made=False, registry=True, programs=GOOD.programs - {"debootstrap"}, root=False)
    assert "it is pulled" in finding(machine, "node image").advice


def test_the_node_image_is_made_where_kinds_own_cannot_run() -> None:
    lacking = replace(GOOD, node_made=False, registry=True, capabilities=GOOD.capabilities - {"CAP_SYS_RESOURCE"})
    assert not lacking.official_node
    sentence = refused(replace(lacking, programs=GOOD.programs - {"debootstrap"}))
    assert "kind's own image needs CAP_SYS_RESOURCE, and making the image needs debootstrap" in sentence
    assert replace(lacking, answers=(DOCKER, NO_PODMAN)).official_node


def test_an_image_that_was_made_here_is_used_rather_than_kinds_own() -> None:
    assert not replace(GOOD, node_made=True, registry=True).official_node


def test_the_node_image_is_made_where_there_is_no_registry() -> None:
    machine = replace(GOOD, node_made=False, registry=False)
    assert finding(machine, "node image").state is State.BUILDABLE
    assert "making the image needs debootstrap" in refused(replace(machine, programs=GOOD.programs - {"debootstrap"}))
    assert "only root can make the image" in refused(replace(machine, root=False))


def test_debootstrap_is_not_needed_for_an_image_that_is_there() -> None:
    check(examine(replace(GOOD, programs=GOOD.programs - {"debootstrap"})))


def test_a_cluster_that_a_killed_run_left_is_named_and_no_obstacle() -> None:
    machine = replace(GOOD, leftovers=("lifecycle-1a2b3c-4d5e6f",))
    assert finding(machine, "left-over cluster").where == "lifecycle-1a2b3c-4d5e6f"
    check(examine(machine))
    assert [found.subject for found in examine(replace(machine, answers=(NO_DOCKER, NO_PODMAN)))] == [
        "container engine",
        "left-over cluster",
    ]


def test_every_lack_is_said_at_once() -> None:
    sentence = refused(replace(GOOD, free=0, programs=frozenset(), cgroups="v1", node_made=False))
    assert all(word in sentence for word in ("disk space", "runc", "iptables", "debootstrap"))


def test_capabilities_are_read_from_the_bounding_set() -> None:
    everything = "CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n"
    assert _capabilities(everything) == {"CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SYS_RESOURCE"}
    assert _capabilities("CapBnd:\t000001fffeffffff\n") == {"CAP_SYS_ADMIN", "CAP_NET_ADMIN"}
    assert _capabilities("") == frozenset()
