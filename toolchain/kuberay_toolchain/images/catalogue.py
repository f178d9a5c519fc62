"""The images there are."""

from __future__ import annotations

from kuberay_toolchain.images.archive import Settings
from kuberay_toolchain.images.recipes import ProgramImage, SystemImage

KUBERNETES = "1.34.4"
ETCD_TAG = "3.6.16-0"
RAY = "2.52.0"
SUITE = "bookworm"

_REGISTRY = "registry.k8s.io"


def _component(name: str, tools: tuple[str, ...] = ()) -> ProgramImage:
    path = f"/usr/local/bin/{name}"
    return ProgramImage(
        name, f"{_REGISTRY}/{name}:v{KUBERNETES}", {name: path}, Settings(entrypoint=(path,)), tools=tools
    )


PAUSE = ProgramImage("pause", f"{_REGISTRY}/pause:3.10.1", {"pause": "/pause"}, Settings(entrypoint=("/pause",)))

CONTROL_PLANE = (
    PAUSE,
    ProgramImage(
        "etcd",
        f"{_REGISTRY}/etcd:{ETCD_TAG}",
        {"etcd": "/usr/local/bin/etcd"},
        Settings(entrypoint=("/usr/local/bin/etcd",), env={"PATH": "/usr/local/bin"}),
    ),
    ProgramImage(
        "coredns",
        f"{_REGISTRY}/coredns/coredns:v1.12.1",
        {"coredns": "/coredns"},
        Settings(entrypoint=("/coredns",)),
    ),
    _component("kube-apiserver"),
    _component("kube-controller-manager"),
    _component("kube-scheduler"),
    _component("kube-proxy", ("xtables-nft-multi",)),
)
"""What kubeadm's control plane runs; etcd in the toolchain's version, which the cluster's configuration names."""

NODE = SystemImage(
    "node",
    f"kindest/node:v{KUBERNETES}",
    SUITE,
    (
        *("systemd", "systemd-sysv", "dbus", "conntrack", "iptables", "nftables", "iproute2", "ethtool", "util-linux"),
        *("mount", "kmod", "libseccomp2", "pigz", "e2fsprogs", "ca-certificates", "curl", "jq", "procps", "hostname"),
        *("socat", "containerd", "runc", "containernetworking-plugins"),
    ),
    Settings(
        entrypoint=("/usr/local/bin/entrypoint", "/sbin/init"),
        env={"container": "docker"},
        stop_signal="SIGRTMIN+3",
    ),
    disk_mib=3000,
    programs=("kubelet", "kubeadm", "kubectl"),
    contents=CONTROL_PLANE,
)

RAY_IMAGE = SystemImage(
    "ray",
    f"rayproject/ray:{RAY}",
    SUITE,
    ("python3", "python3-pip", "wget", "procps", "ca-certificates"),
    Settings(env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/ray"}, user="1000:100", workdir="/home/ray"),
    disk_mib=3500,
)

HARNESS = SystemImage(
    "harness",
    "pulumi-kuberay/harness",
    SUITE,
    ("python3", "python3-pip", "ca-certificates"),
    Settings(
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/home/harness",
            "LC_ALL": "C.UTF-8",
            "XDG_CACHE_HOME": "/opt/cache",
            "PYTHONUNBUFFERED": "1",
        },
        user="1000:1000",
        workdir="/home/harness",
    ),
    disk_mib=5000,
    programs=(
        *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kwokctl", "kubectl"),
        *("kuberay-operator", "kuberay-operator@1.5.1", "pulumi", "pulumi-resource-kubernetes"),
    ),
)
"""What runs a part of the crash sweep in a pod; the tag of its reference is its key."""


def _manager(name: str, reference: str, program: str, folders: dict[str, int] | None = None) -> ProgramImage:
    return ProgramImage(
        name,
        reference,
        {program: "/manager"},
        Settings(entrypoint=("/manager",), user="65532:65532"),
        folders={"/tmp": 0o1777, **(folders or {})},
    )


IMAGES: tuple[ProgramImage | SystemImage, ...] = (
    _manager("operator", "quay.io/kuberay/operator:v1.6.2", "kuberay-operator"),
    _manager("operator@1.5.1", "quay.io/kuberay/operator:v1.5.1", "kuberay-operator@1.5.1"),
    _manager("kueue", f"{_REGISTRY}/kueue/kueue:v0.19.2", "kueue"),
    RAY_IMAGE,
    NODE,
)
"""The images of a kind cluster; `pause` and the control plane's are inside the node's."""

ON_REQUEST: tuple[SystemImage, ...] = (HARNESS,)
"""Images that are made for those who ask for them by name."""
