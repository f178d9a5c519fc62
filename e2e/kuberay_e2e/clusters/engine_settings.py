"""What a container engine is told, so that it can run Kubernetes nodes on this machine.

Fields of podman's file: https://github.com/containers/common/blob/main/docs/containers.conf.5.md
"""

import resource
from collections.abc import Mapping
from pathlib import Path

from kuberay_e2e.errors import HarnessError

MODULES = Path("/lib/modules")
"""kind mounts this folder into its nodes."""

_OPEN_FILES = 1_048_576
_PID_MAX = Path("/proc/sys/kernel/pid_max")


def make_modules_folder(folder: Path = MODULES) -> None:
    """Make the folder that kind mounts where a machine has none, as Docker does by itself; it stays empty.

    Raises:
        HarnessError: Only root can make it.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise HarnessError(
            f"Expected a folder {folder}, which kind mounts into its nodes, and could not make it: {error}. Make an "
            f"empty one as root: mkdir {folder}"
        ) from error


def hard_limits() -> dict[str, int]:
    """What this process may give to a container: open files, and processes of a user.

    They are within this process's own hard limits. podman lowers its limit of processes to the kernel's `pid_max`,
    and then cannot give more than that.
    """
    return {
        "nofile": _within(resource.getrlimit(resource.RLIMIT_NOFILE)[1], _OPEN_FILES),
        "nproc": _within(resource.getrlimit(resource.RLIMIT_NPROC)[1], int(_PID_MAX.read_text())),
    }


def _within(hard: int, wanted: int) -> int:
    return wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)


def settings(limits: Mapping[str, int], *, legacy_cgroups: bool) -> str:
    """Text of podman's configuration file for nodes.

    Args:
        limits: Limits of a node, see `hard_limits`.
        legacy_cgroups: The machine has cgroup v1, alone or beside v2, with which crun cannot start containers.
    """
    ulimits = ", ".join(f'"{name}={value}:{value}"' for name, value in limits.items())
    text = f"[containers]\npids_limit = 0\ndefault_ulimits = [{ulimits}]\n"
    return text + '[engine]\nruntime = "runc"\n' if legacy_cgroups else text


def cgroup_version(root: Path = Path("/sys/fs/cgroup")) -> str:
    """How control groups are mounted: `v2`, or `v1` where any controller is on the first version (hybrid too)."""
    return "v2" if (root / "cgroup.controllers").exists() else "v1"
