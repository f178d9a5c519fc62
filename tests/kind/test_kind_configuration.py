"""What kind is told, and what is done to nodes from outside."""

import ipaddress
import json
from pathlib import Path

import yaml

from kuberay_e2e.clusters import kind_configuration as configuration
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.kind_nodes import KindNodes, node_names
from kuberay_e2e.clusters.kind_remains import cluster_name
from kuberay_toolchain.images.catalogue import ETCD_TAG


def recorder(folder: Path, answers: str = "") -> ContainerEngine:
    """An engine that writes down its commands and answers as told."""
    program = folder / "podman"
    program.write_text(f'#!/bin/sh\necho "$*" >> {folder}/calls\n{answers}\n')
    program.chmod(0o755)
    return ContainerEngine("podman", program)


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def test_kinds_own_image_keeps_kinds_own_network() -> None:
    config = configuration.cluster(2, None)
    assert [node["role"] for node in config["nodes"]] == ["control-plane", "worker"]
    assert "disableDefaultCNI" not in config["networking"]
    assert "kubeadmConfigPatches" not in config


def test_the_api_server_listens_on_loopback_only() -> None:
    assert configuration.cluster(1, None)["networking"]["apiServerAddress"] == "127.0.0.1"


def test_our_image_gets_its_etcd_and_the_kubelet_a_user_namespace(tmp_path: Path) -> None:
    patches = {
        patch["kind"]: patch
        for patch in map(yaml.safe_load, configuration.cluster(1, tmp_path)["kubeadmConfigPatches"])
    }
    assert patches["ClusterConfiguration"]["etcd"]["local"]["imageTag"] == ETCD_TAG
    assert patches["KubeletConfiguration"]["featureGates"] == {"KubeletInUserNamespace": True}


def test_every_node_of_our_image_gets_a_network_of_its_own(tmp_path: Path) -> None:
    config = configuration.cluster(3, tmp_path)
    assert config["networking"]["disableDefaultCNI"] is True
    ranges = []
    for node in config["nodes"]:
        mounted = {mount["containerPath"]: Path(mount["hostPath"]) for mount in node["extraMounts"]}
        network = json.loads(mounted["/etc/cni/net.d/05-kuberay-e2e.conflist"].read_text())
        ranges.append(network["plugins"][0]["ipam"]["ranges"][0][0]["subnet"])
        assert all(mount["readOnly"] for mount in node["extraMounts"])
    pods = ipaddress.ip_network(configuration.POD_RANGE)
    networks = [ipaddress.ip_network(text) for text in ranges]
    assert len(set(networks)) == 3
    assert all(network.subnet_of(pods) for network in networks)  # type: ignore[arg-type]


def test_pods_ask_no_name_server_of_the_machine(tmp_path: Path) -> None:
    config = configuration.cluster(1, tmp_path)
    [kubelet] = [patch for patch in map(yaml.safe_load, config["kubeadmConfigPatches"]) if "resolvConf" in patch]
    mounted = {mount["containerPath"]: mount["hostPath"] for mount in config["nodes"][0]["extraMounts"]}
    [line] = Path(mounted[kubelet["resolvConf"]]).read_text().splitlines()
    documentation = ipaddress.ip_network("198.51.100.0/24")
    assert ipaddress.ip_address(line.removeprefix("nameserver ")) in documentation


def test_nodes_are_named_as_kind_names_them() -> None:
    assert node_names("c", 1) == ["c-control-plane"]
    assert node_names("c", 4) == ["c-control-plane", "c-worker", "c-worker2", "c-worker3"]


def test_the_longest_name_of_a_run_makes_a_valid_host_name() -> None:
    [node] = node_names(cluster_name("a" * 40, "a" * 40 + "-0123456789ab"), 1)
    assert len(node) <= 63


def test_nodes_know_and_reach_each_other_and_nobody_else(tmp_path: Path) -> None:
    engine = recorder(tmp_path, '[ "$1" = inspect ] && echo "10.89.0.7"; true')
    nodes = KindNodes(engine, ["c-control-plane", "c-worker"])
    nodes.connect()
    nodes.isolate()
    commands = [call.removeprefix("exec ") for call in calls(tmp_path) if call.startswith("exec")]
    assert commands == [
        "c-control-plane ip route replace 10.244.1.0/24 via 10.89.0.7",
        "c-control-plane sh -c echo '10.89.0.7 c-worker' >>/etc/hosts",
        "c-worker ip route replace 10.244.0.0/24 via 10.89.0.7",
        "c-worker sh -c echo '10.89.0.7 c-control-plane' >>/etc/hosts",
        "c-worker sh -c pkill -x kube-proxy || true",
        "c-control-plane ip route replace 10.96.0.0/16 dev eth0",
        "c-control-plane ip route del default",
        "c-worker ip route replace 10.96.0.0/16 dev eth0",
        "c-worker ip route del default",
    ]


def test_an_image_is_loaded_into_every_node(tmp_path: Path) -> None:
    engine = recorder(tmp_path, "cat > /dev/null")
    (tmp_path / "image.tar").write_text("image")
    KindNodes(engine, ["c-control-plane", "c-worker"]).load(tmp_path / "image.tar")
    assert [call.split()[:5] for call in calls(tmp_path)] == [
        ["exec", "-i", node, "ctr", "--namespace"] for node in ("c-control-plane", "c-worker")
    ]
