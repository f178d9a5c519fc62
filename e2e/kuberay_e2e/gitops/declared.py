"""What a stack declares, found by its own program: no engine, no state, no cluster."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.provider import Constructed, Provider, running_provider
from kuberay_e2e.gitops.pulumi_values import PlainValues
from kuberay_policies.pack.resources import is_object, kind_of
from kuberay_policies.program.preview import declared_resources
from kuberay_policies.program.project import Project, ProjectError
from kuberay_toolchain import Toolchain

PROVIDER = "pulumi-resource-kubernetes"
PROJECT = "kuberay"
"""Name of this project's own program, whose configuration keys are known here."""

_KUEUE = "kuberay:index:Kueue"
_OPERATOR = "kuberay:index:KubeRayOperator"
_RELEASE = "kubernetes:helm.sh/v3:Release"
_CONSTRUCTED = (
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:kustomize/v2:Directory",
    "kubernetes:yaml/v2:ConfigGroup",
    "kubernetes:yaml/v2:ConfigFile",
)
_CHARTS = {"operator": ("kuberay", "kuberay-operator"), "kueue": ("kueue", "kueue")}
"""Keys of the configuration that install a chart: the key of its version, and its name here and in the toolchain."""


@dataclass(frozen=True)
class Declared:
    """An object that a stack declares.

    Attributes:
        manifest: The object.
        components: Pulumi's types of what it is a part of, outermost first.
        kept: Whether Pulumi protects it, or keeps the object when the resource goes.
        identity: What tells one run of a RayJob from another, in hexadecimal; empty if the program says nothing.
        secrets: Paths of values that the program calls secret.
    """

    manifest: Mapping[str, Any]
    components: tuple[str, ...] = ()
    kept: bool = False
    identity: str = ""
    secrets: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The object in a sentence."""
        return title(self.manifest)


@dataclass
class _Families:
    """Resources by URN, for what they inherit from their parents."""

    by_urn: Mapping[str, Mapping[str, Any]]
    _known: dict[str, bool] = field(default_factory=dict)

    def components(self, entry: Mapping[str, Any]) -> tuple[str, ...]:
        *parents, _ = str(entry["urn"]).split("::")[2].split("$")
        return tuple(parents)

    def kept(self, entry: Mapping[str, Any]) -> bool:
        urn = str(entry["urn"])
        if urn not in self._known:
            parent = self.by_urn.get(str(entry["parent"]))
            own = bool(entry["protect"] or entry["retainOnDelete"])
            self._known[urn] = own or (parent is not None and self.kept(parent))
        return self._known[urn]


def title(manifest: Mapping[str, Any]) -> str:
    """Return an object as sentences have it, such as `RayJob ml/train`."""
    metadata = manifest.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    place = f"{named['namespace']}/" if named.get("namespace") else ""
    return f"{manifest.get('kind')} {place}{named.get('name') or named.get('generateName') or 'without name'}"


def declared_objects(program: Path, stack: str, charts: Path | None, toolchain: Toolchain) -> list[Declared]:
    """Run the program of a stack and return its objects, those of Helm charts and kustomizations among them.

    Args:
        program: Folder of the Pulumi project, or one below it.
        stack: Name of the stack.
        charts: Folder with the charts of the operator and of Kueue. Without it charts are those that the configuration
            names, then those that the toolchain pins, if their versions are those of the stack, else they are
            downloaded.
        toolchain: Finds the provider, and the charts that it pins.

    Raises:
        InputError: The stack cannot be rendered; the sentence says why.
    """
    try:
        with _project(program, stack, charts, toolchain) as project:
            entries, error = declared_resources(project, _isolated(project))
            if error:
                raise InputError(_explained(stack, error))
            if project.encrypted:
                raise InputError(
                    f"The stack {stack} has encrypted configuration ({', '.join(project.encrypted)}), which everybody "
                    "could read in rendered YAML. Keep it in a Secret of the cluster, and refer to that."
                )
            return list(_objects(entries, toolchain))
    except ProjectError as error:
        raise InputError(str(error)) from None


def _isolated(project: Project) -> dict[str, str]:
    """Environment of a program that must see no cluster."""
    nowhere = str(project.root / ".no-kubeconfig")
    return {"KUBECONFIG": nowhere, "KUBERNETES_SERVICE_HOST": "", "KUBERNETES_SERVICE_PORT": ""}


def _explained(stack: str, error: str) -> str:
    told = f"The program of the stack {stack} cannot be rendered: {error}"
    if "record_run" in error or "kubeconfig" in error:
        told += " Render has no cluster: a stack that reads one, such as by record_run, is for `pulumi up` only."
    if "could not be fetched" in error:
        told += " Without network, give a folder with the charts: --charts DIR."
    return told


@contextmanager
def _project(program: Path, stack: str, charts: Path | None, toolchain: Toolchain) -> Iterator[Project]:
    project = Project.read(program, stack)
    if charts is not None:
        if not charts.is_dir():
            raise InputError(f"--charts names {charts}, which is no folder.")
        yield Project.read(program, stack, {f"{project.name}:charts": str(charts.resolve())})
        return
    pinned = _pinned_charts(project, toolchain)
    if not pinned:
        yield project
        return
    with tempfile.TemporaryDirectory(prefix="kuberay-charts-") as folder:
        for name, files in pinned.items():
            (Path(folder) / name).symlink_to(files / "chart")
        yield replace(project, config={**project.config, f"{PROJECT}:charts": folder})


def _pinned_charts(project: Project, toolchain: Toolchain) -> dict[str, Path]:
    """Return the charts of this project's program from the toolchain, nothing if it does not pin all of them."""
    config = {key.removeprefix(f"{PROJECT}:"): value for key, value in project.config.items()}
    if project.name != PROJECT or "charts" in config:
        return {}
    versions = _mapping(config.get("versions"))
    found = {}
    for key, (version_key, name) in _CHARTS.items():
        if key in config or (key == "operator" and "crds" in config):
            pinned = toolchain.select(name).version
            wanted = _mapping(config.get(key)).get("version") or versions.get(version_key) or pinned
            if str(wanted).removeprefix("v") != pinned:
                return {}
            found[name] = name
    return {name: toolchain.files(name) for name in found}


def _mapping(text: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _objects(entries: Sequence[Mapping[str, Any]], toolchain: Toolchain) -> Iterator[Declared]:
    families = _Families({str(entry["urn"]): entry for entry in entries})
    for entry in entries:
        _refuse(entry, families)
        if entry["custom"] and is_object(entry["type"]):
            yield _declared(entry["type"], entry["properties"], entry, families)
    remote = [entry for entry in entries if entry["type"] in _CONSTRUCTED]
    if remote:
        with running_provider(toolchain.ensure(PROVIDER)[PROVIDER]) as provider:
            for entry in remote:
                yield from _constructed(provider, entry, families)


def _constructed(provider: Provider, entry: Mapping[str, Any], families: _Families) -> Iterator[Declared]:
    name = str(entry["urn"]).rpartition("::")[2]
    made = provider.construct(entry["type"], name, entry["properties"])
    known = families.components(entry)[-1:] in ((_KUEUE,), (_OPERATOR,))
    if not known and _content(made) != _content(provider.construct(entry["type"], name, entry["properties"])):
        raise InputError(
            f"The {entry['type'].rpartition(':')[2]} {name!r} gives other objects each time, such as random passwords "
            "or certificates. Set the values that it makes up, so that Git has them once."
        )
    for item in made:
        if is_object(item.type):
            declared = _declared(item.type, item.properties, entry, families)
            yield replace(declared, components=(*declared.components, entry["type"]))


def _content(made: Sequence[Constructed]) -> list[str]:
    return sorted(json.dumps([item.type, item.properties], sort_keys=True) for item in made)


def _refuse(entry: Mapping[str, Any], families: _Families) -> None:
    name = str(entry["urn"]).rpartition("::")[2]
    if entry["type"] == _RELEASE:
        raise InputError(
            f"The Helm release {name!r} is installed by Helm, and its objects are not the stack's; set install: chart, "
            "or let the engine install the chart by itself."
        )
    if entry["transforms"] and families.components(entry)[-1:] != (_KUEUE,):
        raise InputError(
            f"The resource {name!r} has transforms, which only Pulumi's engine runs, so that its objects would be "
            "others here. Change its arguments instead."
        )
    if entry["remote"] and entry["type"] not in _CONSTRUCTED:
        raise InputError(
            f"The resource {name!r} of type {entry['type']} is made by a provider that render does not know; render "
            f"knows {', '.join(_CONSTRUCTED)}."
        )


def _declared(token: str, properties: Any, entry: Mapping[str, Any], families: _Families) -> Declared:
    api_version, kind = kind_of(token)
    values = PlainValues()
    given = {key: value for key, value in values.plain(properties).items() if not key.startswith("__")}
    manifest = {"apiVersion": api_version, "kind": kind, **given}
    if values.unknown:
        raise InputError(
            f"{title(manifest)}: the value of {values.unknown[0]} is known only when the stack is deployed, and render "
            "has no cluster to ask. Give it in the configuration, or leave this object to `pulumi up`."
        )
    if values.encrypted:
        raise InputError(
            f"{title(manifest)}: the value of {values.encrypted[0]} is made from an encrypted value of the "
            "configuration, which everybody could read here. Keep it in a Secret of the cluster, and refer to that."
        )
    identity = entry.get("replacementTrigger")
    return Declared(
        manifest,
        families.components(entry),
        families.kept(entry),
        identity if isinstance(identity, str) else "",
        tuple(values.secret),
    )
