"""The node image: what kind's own base image adds to Debian, Kubernetes, and the control plane's images.

kind's files (entrypoint, units, configuration of containerd and kubelet) come from its Go module. Differences from
kind's own image: Debian's containerd and runc; no limits and no OOM score for containerd, which a machine without
CAP_SYS_RESOURCE refuses; the network is configured when a cluster is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kuberay_toolchain.images.catalogue import KUBERNETES, PAUSE
from kuberay_toolchain.images.debian import DebianSystem

_SERVICES = """
rm -f /lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service \\
  /lib/systemd/system/multi-user.target.wants/* /etc/systemd/system/*.wants/* \\
  /lib/systemd/system/local-fs.target.wants/* /lib/systemd/system/sockets.target.wants/*udev* \\
  /lib/systemd/system/sockets.target.wants/*initctl* /lib/systemd/system/basic.target.wants/*
echo ReadKMsg=no >> /etc/systemd/journald.conf
systemctl enable kubelet.service containerd.service undo-mount-hacks.service
systemctl mask systemd-binfmt.service
mkdir -p /etc/kubernetes/manifests /opt/cni
ln -s /usr/lib/cni /opt/cni/bin
for program in containerd ctr containerd-shim-runc-v2; do ln -s /usr/bin/$program /usr/local/bin/$program; done
ctr oci spec | jq 'del(.process.rlimits) | .hooks.createContainer += [{"path": "/kind/bin/mount-product-files.sh"}]' \\
  > /etc/containerd/cri-base.json
rm -f /etc/machine-id /etc/resolv.conf /etc/hostname
: > /etc/machine-id
"""

_IMPORT = """
address=/run/import.sock
containerd --config /tmp/import.toml --address $address --state /run/import > /tmp/import.log 2>&1 &
for _ in $(seq 100); do ctr --address $address version > /dev/null 2>&1 && break; sleep 0.1; done
for archive in /tmp/images/*.tar; do
  ctr --address $address --namespace k8s.io images import --all-platforms --no-unpack --digests $archive
done
kill $!
wait $! || true
rm -rf /tmp/images /tmp/import.toml /tmp/import.log
"""

_NOTHING = """# The cluster's own configuration provides this.
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: kube-system}
"""


def furnish(system: DebianSystem, kind_files: Path, programs: Mapping[str, Path]) -> None:
    """Make a node of a Debian system.

    Args:
        system: The system, with its packages.
        kind_files: kind's `images/base/files`.
        programs: kubelet, kubeadm and kubectl.

    Raises:
        ImageFailed: A step failed.
    """
    for source in sorted(path for path in kind_files.rglob("*") if path.is_file()):
        path = f"/{source.relative_to(kind_files)}"
        program = path.startswith(("/usr/local/bin/", "/kind/bin/"))
        system.copy(source, path, 0o755 if program else 0o644)
    for name in ("/etc/systemd/system/containerd.service", "/etc/containerd/config.toml"):
        system.write(name, adapted((system.root / name.lstrip("/")).read_text()))
    for name, program_path in programs.items():
        system.copy(program_path, f"/usr/bin/{name}", 0o755)
    system.write("/kind/version", f"v{KUBERNETES}")
    for name in ("default-cni", "default-storage"):
        system.write(f"/kind/manifests/{name}.yaml", _NOTHING % name)
    system.run(_SERVICES, "setting up the services")


def adapted(text: str) -> str:
    """A unit or a configuration of containerd, without what needs CAP_SYS_RESOURCE, and with our pause image."""
    text = re.sub(r"^(OOMScoreAdjust|Limit[A-Z]+|TasksMax)=.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"restrict_oom_score_adj = false", "restrict_oom_score_adj = true", text)
    return re.sub(r'sandbox_image = "[^"]*"', f'sandbox_image = "{PAUSE.reference}"', text)


def preload(system: DebianSystem, archives: Mapping[str, Path]) -> None:
    """Put images into containerd's store, from where the kubelet takes them.

    Args:
        system: The node's system.
        archives: Image archives by name.

    Raises:
        ImageFailed: containerd refused one.
    """
    for name, archive in archives.items():
        system.copy(archive, f"/tmp/images/{name}.tar")
    system.write("/tmp/import.toml", 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
    system.run(_IMPORT, "importing the control plane's images")


def tools(system: DebianSystem, programs: tuple[str, ...], links: Path) -> dict[str, Path]:
    """Files of network tools and what they load, for an image that has nothing else.

    Args:
        system: The node's system, which has them.
        programs: Programs below /usr/sbin that are called by the names of `iptables`.
        links: An empty folder for symbolic links.

    Returns:
        Where each file comes from, by its path in the image.
    """
    root = system.root.resolve()
    listing = root / "libraries"
    modules = "/usr/lib/*-linux-gnu/xtables/*.so"
    paths = " ".join(f"/usr/sbin/{program}" for program in programs)
    script = f"ldd {paths} {modules} | grep -o '/[^ :]*' | sort -u > /libraries; ls {modules} {paths} >> /libraries"
    system.run(script, "finding the libraries of network tools")
    files = {path: root / path.lstrip("/") for path in dict.fromkeys(listing.read_text().split())}
    listing.unlink()
    files = {path: source.resolve() for path, source in files.items()}
    for name in ("iptables", "ip6tables"):
        for suffix in ("", "-save", "-restore"):
            link = links / f"{name}{suffix}"
            link.symlink_to(programs[0])
            files[f"/usr/sbin/{link.name}"] = link
    return files
