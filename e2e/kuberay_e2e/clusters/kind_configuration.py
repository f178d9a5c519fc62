"""What kind is told about a cluster whose node image was made on this machine.

Fields: https://kind.sigs.k8s.io/docs/user/configuration/
"""

import json
from pathlib import Path
from typing import Any

import yaml

from kuberay_toolchain.images.catalogue import ETCD_TAG

POD_RANGE = "10.244.0.0/16"
SERVICE_RANGE = "10.96.0.0/16"

_NETWORK_FILE = "/etc/cni/net.d/05-kuberay-e2e.conflist"
_RESOLVER_FILE = "/etc/kuberay-e2e/resolv.conf"
_NOBODY = "198.51.100.53"
"""A name server that does not exist: names outside the cluster are not asked for beyond this machine."""

Manifest = dict[str, Any]


def cluster(nodes: int, folder: Path | None) -> Manifest:
    """The configuration for `kind create cluster`.

    Args:
        nodes: How many nodes, the control plane included.
        folder: Receives the network configuration of each node; None for kind's own node image, which brings one.
    """
    roles = ["control-plane", *["worker"] * (nodes - 1)]
    config: Manifest = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "nodes": [{"role": role} for role in roles],
        "networking": {"apiServerAddress": "127.0.0.1", "podSubnet": POD_RANGE, "serviceSubnet": SERVICE_RANGE},
    }
    if folder is None:
        return config
    config["networking"]["disableDefaultCNI"] = True
    config["kubeadmConfigPatches"] = [yaml.safe_dump(patch) for patch in _patches()]
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {_NOBODY}\n")
    for index, node in enumerate(config["nodes"]):
        file = folder / f"network-{index}.json"
        file.write_text(json.dumps(network(index)))
        node["extraMounts"] = [
            {"hostPath": str(path), "containerPath": target, "readOnly": True}
            for path, target in ((file, _NETWORK_FILE), (resolver, _RESOLVER_FILE))
        ]
    return config


def network(index: int) -> Manifest:
    """The CNI configuration of a node: a bridge whose pods have addresses of the node's own range.

    Args:
        index: Number of the node, 0 for the control plane.
    """
    return {
        "cniVersion": "1.0.0",
        "name": "kuberay-e2e",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "pods",
                "isGateway": True,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": pod_range(index)}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            },
            {"type": "portmap", "capabilities": {"portMappings": True}},
        ],
    }


def pod_range(index: int) -> str:
    """Addresses of the pods of a node."""
    return f"10.244.{index}.0/24"


def _patches() -> list[Manifest]:
    return [
        {
            "kind": "ClusterConfiguration",
            "etcd": {"local": {"imageTag": ETCD_TAG, "extraArgs": {"unsafe-no-fsync": "true"}}},
        },
        {
            "kind": "KubeletConfiguration",
            "featureGates": {"KubeletInUserNamespace": True},
            "resolvConf": _RESOLVER_FILE,
        },
    ]
