"""The settings file: what is common to all environments and, under `environments`, what differs in each.

    kuberayVersion: 1.6.2
    policies:
      ttl-limit: {severity: error, maxSeconds: 3600}
    environments:
      dev:
        policies: {token-authentication: warning}
      prod:
        waivers:
          - {policies: [P301], targets: ["RayJob ml/legacy"], reason: moves to Ray 2.52, expires: 2026-12-31}

An environment's policies, parameters and gates are laid over the common ones key by key, its waivers are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from kuberay_model.sentences import listed, nearest
from kuberay_model.versions import DEFAULT, UnknownGateError, UnsupportedVersionError, Version, supported
from kuberay_model.versions import gates as all_gates
from kuberay_model.yaml_documents import DocumentError, documents
from kuberay_model.yaml_loader import ManifestLoader
from kuberay_policies.catalogue import find
from kuberay_policies.policy import Parameters, Policy, Severity, UnknownPolicyError
from kuberay_policies.reading.files import UnreadableError, read_text
from kuberay_policies.settings import KUEUE_DEFAULT, Settings, Waiver
from kuberay_policies.subjects import Source, joined, keys

DEFAULT_NAME = "kuberay-policies.yaml"
"""The settings file that is looked for in the current folder."""

Lines = Mapping[str, int]
"""Line of each path in the file, counted from 1."""


class SettingsError(ValueError):
    """A settings file that cannot be used.

    Attributes:
        file: The file; None if the settings are not from a file.
        problems: What is wrong, each with its line or None.
    """

    def __init__(self, file: str | None, problems: list[tuple[int | None, str]]) -> None:
        super().__init__(file, problems)
        self.file = file
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(
            ":".join(str(part) for part in (self.file, line) if part is not None) + (": " if self.file else "") + text
            for line, text in self.problems
        )


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


def _off(value: object) -> object:
    return "off" if value is False else value  # YAML reads an unquoted off as false


class PolicySetting(BaseModel):
    """Severity and parameters of a policy; a severity alone may be written instead of the mapping."""

    model_config = ConfigDict(extra="allow")

    severity: Annotated[Severity | None, BeforeValidator(_off)] = None


def _setting(value: object) -> object:
    return value if isinstance(value, Mapping | PolicySetting) else {"severity": value}


class WaiverSetting(_Model):
    """Findings that are accepted until a day."""

    policies: Annotated[list[str], Field(min_length=1, description="Ids or names of policies.")]
    targets: Annotated[
        list[str],
        Field(min_length=1, description="`Kind namespace/name` or a Pulumi URN; `*` stands for any text."),
    ]
    reason: Annotated[str, Field(min_length=1, description="Why it is accepted.")]
    expires: Annotated[date, Field(strict=False, description="Last day on which the waiver holds, 2026-12-31.")]


class EnvironmentSettings(_Model):
    """What can be set in common and for an environment."""

    kuberay_version: Annotated[str | None, Field(description="KubeRay version. Default 1.6.2.")] = None
    feature_gates: Annotated[dict[str, bool], Field(description="Gates that differ from the version's defaults.")] = {}
    kueue_version: Annotated[str | None, Field(description="Kueue version. Default 0.17.8.")] = None
    policies: Annotated[
        dict[str, Annotated[PolicySetting, BeforeValidator(_setting)]],
        Field(description="Severity and parameters by id or name of the policy."),
    ] = {}
    waivers: Annotated[list[WaiverSetting], Field(description="Accepted findings.")] = []


class FileSettings(EnvironmentSettings):
    """The whole file."""

    default_environment: Annotated[str | None, Field(description="The environment if none is asked for.")] = None
    environments: Annotated[dict[str, EnvironmentSettings], Field(description="What differs, by environment.")] = {}


def load(file: Path, environment: str | None = None, *, today: date | None = None) -> Settings:
    """Read the settings of an environment from a file.

    Args:
        file: A settings file in YAML or JSON.
        environment: One of `environments`; None for `defaultEnvironment`, or for the common settings of a file
            without environments.
        today: The day against which waivers expire; None for the clock's.

    Raises:
        SettingsError: The file cannot be read or is wrong, or has no such environment.
    """
    try:
        text = read_text(file)
        found = list(documents(text))
    except (UnreadableError, DocumentError) as error:
        raise SettingsError(str(file), [(error.line, error.message)]) from None
    if len(found) > 1:
        message = "One YAML document is expected, and here a second one begins."
        raise SettingsError(str(file), [(found[1].line, message)])
    value = found[0].value if found else {}
    nodes = yaml.compose_all(text, ManifestLoader) if found else []
    lines = {place: line for node in nodes if node is not None for place, line in _lines(node, "")}
    return resolve(value, environment, file=str(file), lines=lines, today=today)


def resolve(
    value: object,
    environment: str | None = None,
    *,
    file: str | None = None,
    lines: Lines | None = None,
    today: date | None = None,
) -> Settings:
    """Return the settings of an environment from the content of a settings file.

    Args:
        value: The content as plain mappings, lists and scalars.
        environment: As for `load`.
        file: The file, for messages.
        lines: Line of each path in the file, for messages.
        today: The day against which waivers expire; None for the clock's.

    Raises:
        SettingsError: The content is wrong, or has no such environment.
    """
    places = lines or {}
    if not isinstance(value, Mapping):
        raise SettingsError(file, [(1, f"Settings are a mapping of keys, but this is {value!r}.")])
    try:
        settings = FileSettings.model_validate(value)
    except ValidationError as error:
        raise SettingsError(file, [_problem(entry, places) for entry in error.errors()]) from None
    name = environment or settings.default_environment
    layers: list[tuple[str, EnvironmentSettings]] = [("", settings)]
    if name is not None:
        if name not in settings.environments:
            raise SettingsError(file, [(places.get("environments"), _no_environment(name, settings))])
        layers.append((f"environments.{name}", settings.environments[name]))
    elif settings.environments:
        names = listed(settings.environments, "or")
        raise SettingsError(
            file,
            [(places.get("environments"), f"Say for which environment to check: {names} (or set defaultEnvironment).")],
        )
    return _Resolution(file, places).settings(name or "", layers, today or date.today())


class _Resolution:
    """Lays the settings of an environment over the common ones, and collects what is wrong."""

    def __init__(self, file: str | None, lines: Lines) -> None:
        self.file = file
        self.lines = lines
        self.problems: list[tuple[int | None, str]] = []
        self.places: dict[str, list[str]] = {}

    def settings(self, name: str, layers: list[tuple[str, EnvironmentSettings]], today: date) -> Settings:
        version, kueue = DEFAULT, KUEUE_DEFAULT
        gates: dict[str, bool] = {}
        values: dict[str, dict[str, Any]] = {}
        severities: dict[str, Severity] = {}
        waivers: list[Waiver] = []
        for path, layer in layers:
            version = self._version(path, "kuberayVersion", layer.kuberay_version, version, supported)
            kueue = self._version(path, "kueueVersion", layer.kueue_version, kueue, Version.parse)
            gates |= layer.feature_gates
            for key, setting in layer.policies.items():
                place = joined(joined(path, "policies"), key)
                if (policy := self._find(key, place)) is not None:
                    self.places.setdefault(policy.id, []).append(place)
                    values.setdefault(policy.id, {}).update(setting.model_extra or {})
                    if setting.severity is not None:
                        severities[policy.id] = setting.severity
            waivers += self._waivers(joined(path, "waivers"), layer)
        self._check_gates(layers, version, gates)
        parameters = {id: self._parameters(find(id), given) for id, given in values.items() if given}
        if self.problems:
            raise SettingsError(self.file, self.problems)
        return Settings(name, version, gates, kueue, severities, parameters, tuple(waivers), today=today)

    def _version(
        self, path: str, key: str, given: str | None, common: Version, understand: Callable[[str], Version]
    ) -> Version:
        if given is None:
            return common
        try:
            return understand(given)
        except UnsupportedVersionError as error:
            self._complain(joined(path, key), str(error))
            return common

    def _check_gates(self, layers: list[tuple[str, EnvironmentSettings]], version: Version, gates: Any) -> None:
        try:
            all_gates(version, gates)
        except UnknownGateError as error:
            paths = [joined(path, "featureGates") for path, layer in layers if layer.feature_gates]
            self._complain(paths[-1], str(error))

    def _find(self, key: str, path: str) -> Policy | None:
        try:
            return find(key)
        except UnknownPolicyError as error:
            self._complain(path, str(error))
            return None

    def _waivers(self, path: str, layer: EnvironmentSettings) -> Iterator[Waiver]:
        for index, waiver in enumerate(layer.waivers):
            place = f"{path}[{index}]"
            policies = [self._find(key, f"{place}.policies[{i}]") for i, key in enumerate(waiver.policies)]
            yield Waiver(
                tuple(policy.id for policy in policies if policy is not None),
                tuple(waiver.targets),
                waiver.reason,
                waiver.expires,
                Source(self.file, self.lines.get(place), pointer=(*keys(path), index)),
            )

    def _parameters(self, policy: Policy, given: dict[str, Any]) -> Parameters:
        try:
            return policy.parameters.model_validate(given)
        except ValidationError as error:
            for entry in error.errors():
                places = [joined(place, entry["loc"][0]) for place in self.places[policy.id]]
                known = [place for place in places if place in self.lines]
                self._complain((known or places)[-1], _sentence(entry, policy.parameters))
            return policy.parameters()

    def _complain(self, path: str, message: str) -> None:
        self.problems.append((self.lines.get(path), f"{path}: {message}"))


def _problem(entry: Any, lines: Lines) -> tuple[int | None, str]:
    path = ""
    line = None
    for key in entry["loc"]:
        path = joined(path, key)
        line = lines.get(path, line)
    models: dict[Any, type[BaseModel]] = {"environments": EnvironmentSettings, "waivers": WaiverSetting}
    model = next((models[key] for key in reversed(entry["loc"][:-1]) if key in models), FileSettings)
    return line, f"{path}: {_sentence(entry, model)}"


def _sentence(entry: Any, model: type[BaseModel]) -> str:
    if entry["type"] != "extra_forbidden":
        message = str(entry["msg"])
        return f"{message[0].upper()}{message[1:]}, but {entry['input']!r} was given."
    known = [info.alias or name for name, info in model.model_fields.items()]
    if not known:
        return "The policy has no parameters; only severity can be set."
    key = str(entry["loc"][-1])
    similar = nearest(key, known)
    return (
        f"There is no {key!r} here; did you mean {similar}?"
        if similar
        else f"There is no {key!r} here; there is {listed(known)}."
    )


def _no_environment(name: str, settings: FileSettings) -> str:
    if not settings.environments:
        return f"The environment {name!r} is asked for, but the file has no environments."
    return f"There is no environment {name!r}; there is {listed(settings.environments)}."


def _lines(node: yaml.Node, path: str) -> Iterator[tuple[str, int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            place = joined(path, key.value)
            yield place, key.start_mark.line + 1
            yield from _lines(value, place)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield f"{path}[{index}]", value.start_mark.line + 1
            yield from _lines(value, f"{path}[{index}]")
