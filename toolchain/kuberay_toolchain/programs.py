"""The catalogue: which programs there are, in which version, and how each is built from its Go module.

One Go module folder per set of programs that agree on their dependencies; the folder's `go.mod` and
`go.sum` pin every source file, also of a module of which only files are wanted. A new program is one more
entry in `PROGRAMS`; a second version of a program is an entry with the same name, its own version and its
own module folder.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kuberay_toolchain.errors import UnknownProgram

MODULES = Path(__file__).parent / "modules"


@dataclass(frozen=True)
class ModuleFile:
    """A file or folder that an upstream Go module ships.

    Attributes:
        module: Go module path; its version is the one pinned by the building module's `go.mod`.
        path: The file or folder, relative to the root of that module.
        alias: Another name for the copy than the last element of `path`.
    """

    module: str
    path: str
    alias: str = ""

    @property
    def name(self) -> str:
        """The name of the copy."""
        return self.alias or self.path.rsplit("/", 1)[-1]

    @property
    def recipe(self) -> dict[str, str]:
        """What shapes the copy, for the cache key."""
        return {name: value for name, value in asdict(self).items() if value}


@dataclass(frozen=True)
class GoModule:
    """A folder with a `go.mod`, and how the programs in it are built.

    Attributes:
        folder: The folder that holds `go.mod` and `go.sum`.
        ldflags: Arguments for the Go linker, added to `-s -w`.
        overlay: Upstream files laid over the folder at build time (`go build -overlay`), by their own name.
        disk_mib: Free disk space in MiB that a build from nothing needs: sources, Go's build cache, programs.
    """

    folder: Path
    ldflags: tuple[str, ...] = ()
    overlay: tuple[ModuleFile, ...] = ()
    disk_mib: int = 500

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def go_version(self) -> str:
        """The lowest Go version that may build the module: the `go` line of its `go.mod`."""
        for line in (self.folder / "go.mod").read_text().splitlines():
            if line.startswith("go "):
                return line.split()[1]
        raise UnknownProgram(f"{self.folder / 'go.mod'} has no `go` line, so no Go can be chosen; add one.")


@dataclass(frozen=True)
class Probe:
    """How to ask a binary for its version.

    Attributes:
        args: The arguments to run it with.
        pattern: A regular expression over its output; group 1 is the version without a leading `v`.
    """

    args: tuple[str, ...]
    pattern: str


@dataclass(frozen=True)
class Program:
    """One program in one version.

    Attributes:
        name: The file name of the program.
        version: Its release, without a leading `v`.
        module: The Go module that builds it.
        package: The import path of its main package, or "." for the module folder itself.
        probe: How to ask for its version. Without one, a binary on the PATH is never taken, since nothing
            tells what it is; a path given by the caller is taken at its word.
        files: What callers need from the module at run time: kept in the cache as `files/<name>`.
        beside: Upstream files that must lie in the same folder as the binary.
        companions: Programs of the same release without which the binary is not used from the PATH:
            each must lie beside it or on the PATH itself.
        plugin_of: The program that looks for this one in its own folder: in the cache it is linked there.
        on_request: Whether it is made available only to those who ask for it by name.
    """

    name: str
    version: str
    module: GoModule
    package: str
    probe: Probe | None = None
    files: tuple[ModuleFile, ...] = ()
    beside: tuple[ModuleFile, ...] = ()
    companions: tuple[str, ...] = ()
    plugin_of: str = ""
    on_request: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def cache_key(self) -> str:
        """The name of the cache folder: the version and a short hash of everything that shapes the binary."""
        digest = hashlib.sha256()
        for file in sorted(path for path in self.module.folder.iterdir() if path.is_file()):
            digest.update(f"{file.name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
        recipe = {
            "package": self.package,
            "ldflags": self.module.ldflags,
            "overlay": [file.recipe for file in self.module.overlay],
            "files": [file.recipe for file in (*self.files, *self.beside)],
            "platform": f"{platform.system()}-{platform.machine()}",
        }
        digest.update(json.dumps(recipe, sort_keys=True).encode())
        return f"{self.version}-{digest.hexdigest()[:12]}"


_ETCD = GoModule(MODULES / "etcd", disk_mib=500)
_KWOK = GoModule(MODULES / "kwok", ("-X sigs.k8s.io/kwok/pkg/consts.Version=0.8.0",), disk_mib=800)
_OPERATOR = GoModule(MODULES / "kuberay-operator", disk_mib=700)
_OPERATOR_1_5 = GoModule(MODULES / "kuberay-operator-1.5.1", disk_mib=700)
_VALIDATION = GoModule(MODULES / "kuberay-validation", disk_mib=700)
_KUEUE = GoModule(
    MODULES / "kueue",
    (
        "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v0.19.2",
        # Certificates of the visibility API go below the working folder; upstream's /visibility needs root.
        "-X sigs.k8s.io/kueue/pkg/visibility.certDir=visibility",
    ),
    disk_mib=1200,
)
_KUSTOMIZE_CONTROLLER = GoModule(MODULES / "kustomize-controller", disk_mib=2500)
_PULUMI_YAML = GoModule(
    MODULES / "pulumi-yaml",
    ("-X github.com/pulumi/pulumi-yaml/pkg/version.Version=v1.25.0",),
    disk_mib=1500,
)
_ACTIONLINT = GoModule(MODULES / "actionlint", ("-X github.com/rhysd/actionlint.version=1.7.12",), disk_mib=200)
_KUBECONFORM = GoModule(MODULES / "kubeconform", ("-X main.version=v0.7.0",), disk_mib=200)
_KUBERNETES = GoModule(
    MODULES / "kubernetes",
    (
        "-X k8s.io/component-base/version.gitVersion=v1.34.4",
        "-X k8s.io/component-base/version.gitMajor=1",
        "-X k8s.io/component-base/version.gitMinor=34",
    ),
    disk_mib=1500,
)
_KIND = GoModule(MODULES / "kind", disk_mib=200)
_COREDNS = GoModule(MODULES / "coredns", disk_mib=700)
_PAUSE = GoModule(MODULES / "pause", disk_mib=100)
_PULUMI = GoModule(
    MODULES / "pulumi",
    ("-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1",),
    disk_mib=1500,
)
_OPERATOR_MODULE = "github.com/ray-project/kuberay/ray-operator"
_PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_PROVIDER = GoModule(
    MODULES / "pulumi-kubernetes",
    ("-X main.version=4.25.0",),
    overlay=(
        ModuleFile(_PROVIDER_MODULE, "cmd/pulumi-resource-kubernetes/schema.json"),
        ModuleFile(_PROVIDER_MODULE, "cmd/pulumi-resource-kubernetes/terraform-mapping.json"),
    ),
    disk_mib=1500,
)


def _kubernetes(name: str, probe: Probe, *, on_request: bool = False) -> Program:
    return Program(name, "1.34.4", _KUBERNETES, f"k8s.io/kubernetes/cmd/{name}", probe, on_request=on_request)


_KUBERNETES_VERSION = Probe(("--version",), r"Kubernetes v(\S+)")
_KWOK_VERSION = Probe(("--version",), r"version v?(\d\S*)")

PROGRAMS: tuple[Program, ...] = (
    Program(
        "etcd",
        "3.6.16",
        _ETCD,
        "go.etcd.io/etcd/server/v3",
        Probe(("--version",), r"etcd Version: (\S+)"),
    ),
    _kubernetes("kube-apiserver", _KUBERNETES_VERSION),
    _kubernetes("kube-controller-manager", _KUBERNETES_VERSION),
    _kubernetes("kube-scheduler", _KUBERNETES_VERSION),
    _kubernetes("kubectl", Probe(("version", "--client"), r"Client Version: v(\S+)")),
    _kubernetes("kubelet", _KUBERNETES_VERSION, on_request=True),
    _kubernetes("kubeadm", Probe(("version", "-o", "short"), r"v(\d\S*)"), on_request=True),
    _kubernetes("kube-proxy", _KUBERNETES_VERSION, on_request=True),
    Program("kwok", "0.8.0", _KWOK, "sigs.k8s.io/kwok/cmd/kwok", _KWOK_VERSION),
    Program("kwokctl", "0.8.0", _KWOK, "sigs.k8s.io/kwok/cmd/kwokctl", _KWOK_VERSION),
    Program(
        "kuberay-operator",
        "1.6.2",
        _OPERATOR,
        _OPERATOR_MODULE,
        files=(
            ModuleFile(_OPERATOR_MODULE, "config"),
            ModuleFile("github.com/ray-project/kuberay", "helm-chart/kuberay-operator", "chart"),
        ),
    ),
    Program(
        "kuberay-operator",
        "1.5.1",
        _OPERATOR_1_5,
        _OPERATOR_MODULE,
        files=(ModuleFile(_OPERATOR_MODULE, "config"),),
    ),
    Program("kuberay-validation", "1.6.2", _VALIDATION, "."),
    Program(
        "kueue",
        "0.19.2",
        _KUEUE,
        "sigs.k8s.io/kueue/cmd/kueue",
        files=(
            ModuleFile("sigs.k8s.io/kueue", "charts/kueue", "chart"),
            ModuleFile("sigs.k8s.io/kueue", "config/components"),
        ),
    ),
    Program(
        "pulumi",
        "3.274.1",
        _PULUMI,
        "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        Probe(("version",), r"v(\d\S*)"),
        beside=(ModuleFile("github.com/pulumi/pulumi/sdk/v3", "python/cmd/pulumi-language-python-exec"),),
        companions=("pulumi-language-python",),
    ),
    Program(
        "pulumi-language-yaml",
        "1.25.0",
        _PULUMI_YAML,
        "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
        plugin_of="pulumi",
    ),
    Program("pulumi-resource-kubernetes", "4.25.0", _PROVIDER, "."),
    Program(
        "kind",
        "0.33.0",
        _KIND,
        "sigs.k8s.io/kind",
        Probe(("--version",), r"version (\d\S*)"),
        files=(ModuleFile("sigs.k8s.io/kind", "images/base/files", "base"),),
        on_request=True,
    ),
    Program("coredns", "1.12.1", _COREDNS, ".", on_request=True),
    Program("pause", "3.10.1", _PAUSE, ".", on_request=True),
    Program(
        "kustomize-controller",
        "1.9.6",
        _KUSTOMIZE_CONTROLLER,
        "github.com/fluxcd/kustomize-controller",
        files=(ModuleFile("github.com/fluxcd/kustomize-controller", "config/crd/bases", "crds"),),
        on_request=True,
    ),
    Program(
        "kubeconform",
        "0.7.0",
        _KUBECONFORM,
        "github.com/yannh/kubeconform/cmd/kubeconform",
        Probe(("-v",), r"v(\d\S*)"),
        on_request=True,
    ),
    Program(
        "actionlint",
        "1.7.12",
        _ACTIONLINT,
        "github.com/rhysd/actionlint/cmd/actionlint",
        Probe(("-version",), r"^(\d\S*)"),
        on_request=True,
    ),
)
"""Every known program, in the order in which they are built; the first of a name is its default version."""


def usual_names(programs: Iterable[Program]) -> list[str]:
    """Name the programs that are made available to those who ask for none, with the version where it is no default."""
    names: dict[str, None] = {}
    for program in programs:
        if not program.on_request:
            names[f"{program.name}@{program.version}" if program.name in names else program.name] = None
    return list(names)


def select(programs: Iterable[Program], name: str) -> Program:
    """Find a program by `name` (the default version) or `name@version`.

    Raises:
        UnknownProgram: If there is none.
    """
    wanted, _, version = name.partition("@")
    known = list(programs)
    for program in known:
        if program.name == wanted and version in ("", program.version):
            return program
    versions = [program.version for program in known if program.name == wanted]
    if versions:
        raise UnknownProgram(f"There is no {wanted} in version {version} here; the versions are {', '.join(versions)}.")
    raise UnknownProgram(
        f"There is no program called {wanted!r} here; the programs are "
        f"{', '.join(dict.fromkeys(program.name for program in known))}."
    )


def by_module(programs: Sequence[Program]) -> list[tuple[GoModule, list[Program]]]:
    """Group programs by Go module: one `go build` for a group shares its packages."""
    groups: dict[GoModule, list[Program]] = {}
    for program in programs:
        groups.setdefault(program.module, []).append(program)
    return list(groups.items())


def describe(programs: Sequence[Program]) -> str:
    """Name programs and their versions for a message: `kwok, kwokctl 0.8.0`."""
    versions: dict[str, list[str]] = {}
    for program in programs:
        versions.setdefault(program.version, []).append(program.name)
    return "; ".join(f"{', '.join(names)} {version}" for version, names in versions.items())
