"""What a machine needs for a kind cluster, judged before anything is started.

`gather` looks at the machine; everything else is a pure function of what it saw.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kuberay_e2e import state
from kuberay_e2e.clusters import engine_answers, engine_settings
from kuberay_e2e.clusters.containers import ContainerEngine
from kuberay_e2e.clusters.engine_answers import Answer
from kuberay_e2e.clusters.kind_remains import Remains
from kuberay_e2e.clusters.node_image import NODE, registry_reachable
from kuberay_e2e.errors import HarnessError
from kuberay_toolchain.building import free_mib
from kuberay_toolchain.doctor import Finding, State
from kuberay_toolchain.images import Images
from kuberay_toolchain.images.catalogue import KUBERNETES

NEEDED_MIB = 6000
"""Free disk space in MiB that a cluster with Ray's image takes below the container engine's folder."""

_CAPABILITIES = {12: "CAP_NET_ADMIN", 21: "CAP_SYS_ADMIN", 24: "CAP_SYS_RESOURCE"}
_NEEDED_CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN")
_DELEGATED = frozenset({"cpu", "memory", "pids"})
_CGROUP_V2_ONLY = (1, 35)
_INSTALL = "as root on Debian: scripts/install-container-engine"


@dataclass(frozen=True)
class Machine:
    """What was seen of a machine.

    Attributes:
        answers: Of the container engines, in the order of preference.
        asked: The engine that KIND_EXPERIMENTAL_PROVIDER names; empty for none.
        root: The harness runs as root.
        rootless: The engine runs without root.
        cgroups: `v1` (hybrid too) or `v2`.
        controllers: The control group controllers that the engine has.
        capabilities: Those of `CAP_NET_ADMIN`, `CAP_SYS_ADMIN` and `CAP_SYS_RESOURCE` that this process can have.
        programs: Those of `runc`, `iptables` and `debootstrap` that are on the PATH.
        modules: There is a folder /lib/modules.
        node_made: The node image is in the cache.
        registry: A container registry can be reached.
        free: Free disk space in MiB of the engine's folder; None where that is on another machine.
        leftovers: Names of clusters of killed runs.
        kubernetes: Version of the nodes.
    """

    answers: tuple[Answer, ...]
    asked: str = ""
    root: bool = True
    rootless: bool = False
    cgroups: str = "v2"
    controllers: frozenset[str] = _DELEGATED
    capabilities: frozenset[str] = frozenset(_CAPABILITIES.values())
    programs: frozenset[str] = frozenset({"runc", "iptables", "debootstrap"})
    modules: bool = True
    node_made: bool = True
    registry: bool = False
    free: int | None = NEEDED_MIB
    leftovers: tuple[str, ...] = ()
    kubernetes: str = KUBERNETES

    @property
    def official_node(self) -> bool:
        """Whether nodes are of kind's own image: none was made here, it can be fetched, and it can run here."""
        confined = self.root and not self.rootless and self.engine is not None and self.engine.name == "podman"
        runs = not confined or "CAP_SYS_RESOURCE" in self.capabilities
        return not self.node_made and self.registry and runs

    @property
    def engine(self) -> Answer | None:
        """The engine that is used; None if there is none."""
        try:
            return engine_answers.choose(self.answers, self.asked)
        except HarnessError:
            return None


def gather(images: Images) -> Machine:
    """Look at this machine; nothing is started, built or fetched.

    Args:
        images: Where the node image is looked for.
    """
    answers = tuple(engine_answers.ask(name) for name in engine_answers.ENGINES)
    machine = Machine(
        answers,
        asked=os.environ.get(engine_answers.PROVIDER, ""),
        root=os.geteuid() == 0,
        cgroups=engine_settings.cgroup_version(),
        capabilities=_capabilities(Path("/proc/self/status").read_text()),
        programs=frozenset(name for name in ("runc", "iptables", "debootstrap") if _found(name)),
        modules=engine_settings.MODULES.is_dir(),
        node_made=images.find(NODE) is not None,
        leftovers=tuple(remains.cluster for folder in state.abandoned() if (remains := Remains.of(folder))),
    )
    return machine if machine.engine is None else _with_engine(machine, machine.engine)


def demand(images: Images) -> Machine:
    """Look at this machine and refuse to go on where it lacks something.

    Args:
        images: Where the node image is looked for.

    Raises:
        HarnessError: It does; a sentence for each.
    """
    machine = gather(images)
    check(examine(machine))
    return machine


def examine(machine: Machine) -> list[Finding]:
    """What a machine has and lacks for a kind cluster, with the remedy for each."""
    engine = machine.engine
    if engine is None:
        return [_no_engine(machine), *_leftovers(machine)]
    findings = [Finding("container engine", "Docker or podman", State.FOUND, f"{engine.program} ({engine.said})")]
    if machine.rootless:
        findings.append(_rootless(machine))
    if engine.name == "podman":
        findings += _podman(machine)
    findings += [_cgroups(machine), _disk(machine), _node_image(machine), *_leftovers(machine)]
    return findings


def check(findings: Iterable[Finding]) -> None:
    """Refuse to start a cluster on a machine that lacks something.

    Raises:
        HarnessError: It does; a sentence for each.
    """
    missing = [finding for finding in findings if finding.state is State.MISSING]
    if missing:
        sentences = " ".join(f"{finding.subject}: {finding.advice}." for finding in missing)
        raise HarnessError(f"This machine cannot run a kind cluster. {sentences}")


def _no_engine(machine: Machine) -> Finding:
    try:
        engine_answers.choose(machine.answers, machine.asked)
    except HarnessError as error:
        return Finding("container engine", "Docker or podman", State.MISSING, advice=str(error).rstrip("."))
    raise AssertionError("An engine was chosen after all.")


def _rootless(machine: Machine) -> Finding:
    wanted = "cgroup v2 with delegated controllers"
    absent = sorted(_DELEGATED - machine.controllers)
    if machine.cgroups != "v2":
        advice = "kind without root needs cgroup v2; run as root, or boot with systemd.unified_cgroup_hierarchy=1"
    elif absent:
        advice = (
            f"the controllers {', '.join(absent)} are not delegated to this user; set Delegate=yes for user@.service "
            "(https://kind.sigs.k8s.io/docs/user/rootless/), or run as root"
        )
    else:
        return Finding("rootless", wanted, State.FOUND, ", ".join(sorted(machine.controllers)))
    return Finding("rootless", wanted, State.MISSING, advice=advice)


def _podman(machine: Machine) -> list[Finding]:
    findings = []
    if machine.root and not machine.rootless:
        findings.append(_capability(machine))
    purposes = {"iptables": "for podman's networks"}
    if machine.cgroups == "v1":
        purposes["runc"] = "for cgroup v1"
    for name, purpose in purposes.items():
        if name in machine.programs:
            findings.append(Finding(name, purpose, State.FOUND))
        else:
            advice = f"podman needs {name} here; install it, {_INSTALL}"
            findings.append(Finding(name, purpose, State.MISSING, advice=advice))
    if not machine.modules:
        findings.append(_modules(machine))
    return findings


def _capability(machine: Machine) -> Finding:
    wanted = ", ".join(_NEEDED_CAPABILITIES)
    absent = [name for name in _NEEDED_CAPABILITIES if name not in machine.capabilities]
    if absent:
        advice = (
            f"{', '.join(absent)} cannot be had on this machine, and nodes cannot start without; use a machine or a "
            "container that grants it (--privileged), or --cluster embedded"
        )
        return Finding("capabilities", wanted, State.MISSING, advice=advice)
    if "CAP_SYS_RESOURCE" not in machine.capabilities:
        advice = "CAP_SYS_RESOURCE is missing and worked around: the node image that is made here does without"
        return Finding("capabilities", wanted, State.FOUND, advice=advice)
    return Finding("capabilities", wanted, State.FOUND)


def _modules(machine: Machine) -> Finding:
    if machine.root:
        advice = "it is missing and made when a cluster starts, empty: kind mounts it into its nodes"
        return Finding("/lib/modules", "a folder", State.BUILDABLE, advice=advice)
    advice = "kind mounts it into its nodes, and only root can make it: mkdir /lib/modules as root"
    return Finding("/lib/modules", "a folder", State.MISSING, advice=advice)


def _cgroups(machine: Machine) -> Finding:
    version = tuple(int(part) for part in machine.kubernetes.split(".")[:2])
    if machine.cgroups == "v2":
        return Finding("cgroups", "v2", State.FOUND, "v2")
    if version >= _CGROUP_V2_ONLY:
        advice = (
            f"the kubelet of Kubernetes {machine.kubernetes} refuses cgroup v1; use Kubernetes 1.34 or older, or boot "
            "with systemd.unified_cgroup_hierarchy=1"
        )
        return Finding("cgroups", "v2", State.MISSING, "v1", advice)
    advice = f"cgroup v1 is the old version; Kubernetes {machine.kubernetes} still runs on it"
    return Finding("cgroups", "v1 or v2", State.FOUND, "v1", advice)


def _disk(machine: Machine) -> Finding:
    wanted = f">= {NEEDED_MIB} MiB"
    if machine.free is None:
        return Finding("disk space of the engine", wanted, State.FOUND, "on another machine")
    where = f"{machine.free} MiB free"
    if machine.free >= NEEDED_MIB:
        return Finding("disk space of the engine", wanted, State.FOUND, where)
    advice = (
        f"{where}, {NEEDED_MIB} MiB are needed; free some space, or remove images and volumes that nobody uses "
        "(`podman system prune`, `docker system prune`)"
    )
    return Finding("disk space of the engine", wanted, State.MISSING, where, advice)


def _node_image(machine: Machine) -> Finding:
    if machine.node_made:
        return Finding("node image", machine.kubernetes, State.FOUND, "made on this machine")
    if machine.official_node:
        return Finding("node image", machine.kubernetes, State.BUILDABLE, advice="it is pulled when it is first needed")
    reason = "kind's own image needs CAP_SYS_RESOURCE" if machine.registry else "no container registry can be reached"
    if not machine.root:
        advice = f"{reason}, and only root can make the image: run as root"
        return Finding("node image", machine.kubernetes, State.MISSING, advice=advice)
    if "debootstrap" not in machine.programs:
        advice = f"{reason}, and making the image needs debootstrap; install it, {_INSTALL}"
        return Finding("node image", machine.kubernetes, State.MISSING, advice=advice)
    advice = "it is made when it is first needed, or now by `kuberay-e2e images build node`"
    return Finding("node image", machine.kubernetes, State.BUILDABLE, advice=advice)


def _leftovers(machine: Machine) -> list[Finding]:
    advice = "it was left by a killed run; the next run removes it, if the container engine answers"
    return [Finding("left-over cluster", "none", State.BUILDABLE, name, advice) for name in machine.leftovers]


def _with_engine(machine: Machine, answer: Answer) -> Machine:
    assert answer.program is not None
    facts = ContainerEngine(answer.name, answer.program).facts()
    return replace(
        machine,
        rootless=facts.rootless,
        controllers=facts.controllers,
        free=free_mib(facts.storage) if facts.storage.is_dir() else None,
        registry=machine.node_made or registry_reachable(),
    )


def _found(name: str) -> bool:
    """Whether a program is there; those of the system's administrator may not be on a user's PATH."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") is not None


def _capabilities(status: str) -> frozenset[str]:
    """Capabilities of the bounding set in a text like /proc/self/status."""
    for line in status.splitlines():
        if line.startswith("CapBnd:"):
            mask = int(line.split()[1], 16)
            return frozenset(name for bit, name in _CAPABILITIES.items() if mask >> bit & 1)
    return frozenset()
