"""Policies on secrets in manifests, and on code from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import yaml
from pydantic import Field

from kuberay_model.rules.values import items, mapping, text
from kuberay_model.sentences import listed
from kuberay_model.yaml_loader import ManifestLoader
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.stack import Context
from kuberay_policies.subjects import Subject, joined
from kuberay_policies.targets import Cluster, Container, Job, Scope

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|SECRET_?KEY|"
    r"CREDENTIALS?|CONNECTION_?STRING)(?:_(?:ID|VALUE))?$",
    re.IGNORECASE,
)
_KNOWN_SECRETS = {
    "an AWS access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "a GitHub token": re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_\w{60,}"),
    "an API key": re.compile(r"\bsk-[A-Za-z0-9_-]{32,}"),
    "a Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "a Google API key": re.compile(r"\bAIza[0-9A-Za-z_-]{35}"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a JSON web token": re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    "a password in a URL": re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@]+:(?!\$[({])[^/\s:@]+@"),
}
_REFERENCE = re.compile(r"\$[({]\w+[)}]|\$\w+|/\S+|file:\S+|\s*")
_REMOTE = re.compile(r"(?:git\+)?[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)

USE_SECRET = "Put it into a Secret and refer to it with valueFrom.secretKeyRef."


class Sources(Parameters):
    """Parameters of P332."""

    allowed: Annotated[
        tuple[str, ...],
        Field(
            strict=False,
            description="Beginnings of allowed addresses, such as `s3://ml-code/` or `https://pypi.example/`. "
            "Default none.",
        ),
    ] = ()


def known_secret(value: str) -> str | None:
    """Return what kind of secret a text holds, None if it holds none of a known form."""
    return next((title for title, pattern in _KNOWN_SECRETS.items() if pattern.search(value)), None)


def looks_secret(name: str, value: str) -> str | None:
    """Return what a named text is if it is a secret: by its form, or by its name unless it only refers to one."""
    if kind := known_secret(value):
        return kind
    return "a secret" if _SECRET_NAME.search(name) and not _REFERENCE.fullmatch(value) else None


@policy(
    "P330",
    "no-plaintext-credentials",
    "Containers get secrets by reference only",
    family=Family.SECURITY,
    scope=Scope.CONTAINER,
    severity=Severity.ERROR,
    why="A manifest is read by many: in the repository, in the API server, in Pulumi's state. Whoever may list "
    "Pods reads the environment too.",
)
def plaintext_in_container(container: Container, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at environment variables, commands and arguments."""
    for index, variable in enumerate(items(container.fields.get("env"))):
        fields = mapping(variable)
        name = text(fields.get("name"))
        if kind := looks_secret(name, text(fields.get("value"))):
            yield Problem(
                f"{container.path}.env[{index}].value",
                f"The variable {name} of container {container.name!r} holds {kind} in plain text.",
                USE_SECRET,
            )
    for field in ("command", "args"):
        for index, argument in enumerate(items(container.fields.get(field))):
            if kind := known_secret(text(argument)):
                yield Problem(
                    f"{container.path}.{field}[{index}]",
                    f"The {field} of container {container.name!r} hold {kind} in plain text.",
                    "Put it into a Secret, and read it from the environment or a file.",
                )


@policy(
    "P331",
    "no-plaintext-credentials-in-job",
    "The job and its runtime environment hold no secrets",
    family=Family.SECURITY,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    why="Ray shows the entrypoint and the runtime environment on its dashboard and writes them to its logs.",
    sources=("Ray documentation: Environment dependencies",),
)
def plaintext_in_job(job: Job, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at entrypoint, metadata and runtimeEnvYAML."""
    texts = [(f"{job.path}.entrypoint", "", text(job.fields.get("entrypoint")))]
    texts += [
        (joined(f"{job.path}.metadata", name), str(name), text(value))
        for name, value in mapping(job.fields.get("metadata")).items()
    ]
    for path, name, value in texts:
        if kind := looks_secret(name, value):
            yield Problem(path, f"It holds {kind} in plain text.", "Give it to the containers from a Secret.")
    for place, name, value in _leaves(runtime_env(job), ""):
        if kind := looks_secret(name, value):
            yield Problem(
                f"{job.path}.runtimeEnvYAML",
                f"{place} of the runtime environment holds {kind} in plain text.",
                "Set it on the containers from a Secret; tasks inherit the environment of their container.",
            )


@policy(
    "P332",
    "no-code-from-anywhere",
    "Code and packages of a job come from allowed places",
    family=Family.SECURITY,
    scope=Scope.JOB,
    severity=Severity.ERROR,
    parameters=Sources,
    why="Ray downloads and runs what the runtime environment names. An address outside of the organisation can "
    "change its content, or be taken over.",
    sources=("Ray documentation: Environment dependencies",),
)
def remote_code(job: Job, parameters: Sources, _: Context) -> Iterator[Problem]:
    """Look for addresses in the runtime environment, environment variables left out."""
    environment = {name: value for name, value in mapping(runtime_env(job)).items() if name != "env_vars"}
    for place, _name, value in _leaves(environment, ""):
        for address in _REMOTE.findall(value):
            if address.removeprefix("git+").startswith(parameters.allowed or ("\0",)):
                continue
            allowed = f" from {listed(parameters.allowed, 'or')}" if parameters.allowed else ""
            yield Problem(
                f"{job.path}.runtimeEnvYAML",
                f"{place} of the runtime environment runs code from {_without_login(address)}.",
                f"Put it into the image, or take it{allowed or ' from a place that the parameter `allowed` names'}.",
            )


@policy(
    "P333",
    "redis-password-by-reference",
    "The password of an external Redis is a reference",
    family=Family.SECURITY,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    why="The manifest, and with it the password, is read by many.",
)
def redis_password(cluster: Cluster, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look at gcsFaultToleranceOptions and at rayStartParams."""
    options = mapping(cluster.fields.get("gcsFaultToleranceOptions"))
    if text(mapping(options.get("redisPassword")).get("value")):
        yield Problem(
            f"{cluster.path}.gcsFaultToleranceOptions.redisPassword.value",
            "The password of Redis is in plain text.",
            USE_SECRET,
        )
    password = text(mapping(cluster.head.fields.get("rayStartParams")).get("redis-password"))
    if password and not _REFERENCE.fullmatch(password):
        yield Problem(
            f"{cluster.head.path}.rayStartParams.redis-password",
            "The password of Redis is in plain text.",
            "Use gcsFaultToleranceOptions.redisPassword.valueFrom, or $VARIABLE of the container.",
        )


@policy(
    "P334",
    "no-secret-manifests",
    "Secrets are not written into manifests",
    family=Family.SECURITY,
    scope=Scope.OBJECT,
    severity=Severity.ERROR,
    kinds=frozenset({"Secret"}),
    why="base64 is no encryption: whoever reads the repository reads the secret. Pulumi encrypts Secrets in its "
    "state, so the policy is about files.",
)
def secret_manifest(subject: Subject, _: Parameters, __: Context) -> Iterator[Problem]:
    """Look for data in a Secret from a file."""
    if subject.options is not None or subject.api_version != "v1":
        return
    for field in ("data", "stringData"):
        if any(text(value).strip() for value in mapping(subject.manifest.get(field)).values()):
            yield Problem(
                field,
                "The Secret is written out in the manifest.",
                "Use an external secret store or sealed secrets, or create it outside of the repository.",
            )


def runtime_env(job: Job) -> Any:
    """Return `runtimeEnvYAML` as values, an empty mapping if it is no YAML; J31 reports that."""
    try:
        return yaml.load(text(job.fields.get("runtimeEnvYAML")), ManifestLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}


def _leaves(value: Any, path: str, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path, nearest key and text of every text, each shared part once."""
    waiting = [(value, path, name)]
    seen: set[int] = set()
    while waiting:
        current, place, key = waiting.pop()
        if isinstance(current, str):
            yield place, key, current
        elif isinstance(current, dict | list) and id(current) not in seen:
            seen.add(id(current))
            if isinstance(current, dict):
                entries = [(inner, joined(place, str(k)), str(k)) for k, inner in current.items()]
            else:
                entries = [(inner, f"{place}[{index}]", key) for index, inner in enumerate(current)]
            waiting.extend(reversed(entries))


def _without_login(address: str) -> str:
    return re.sub(r"//[^/@]*@", "//", address)
