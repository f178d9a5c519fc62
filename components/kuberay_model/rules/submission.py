"""Rules on how the Ray job is submitted."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import yaml

from kuberay_model.rules.job import HEAD_PATH, Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import text
from kuberay_model.yaml_loader import Loader

_TAG = "tag:yaml.org,2002:"
_RESOLVED = frozenset({"int", "float", "bool", "null"})
_NOT_IN_JSON = frozenset({".inf", "+.inf", "-.inf", ".nan"})
_RESOLVER = yaml.resolver.Resolver()


@rule("J25", "A RayJob in InteractiveMode has no retries")
def interactive_with_retries(job: Job) -> Iterator[Problem]:
    """A retry would take the job id of the first attempt."""
    if job.mode == "InteractiveMode" and job.backoff_limit > 0:
        yield Problem(
            "spec.backoffLimit",
            f"backoffLimit is {job.backoff_limit}, but a job submitted by hand cannot be retried.",
            "Set backoffLimit: 0, or choose another submissionMode.",
        )


@rule("J26", "A RayJob in SidecarMode has no submitterPodTemplate")
def sidecar_with_template(job: Job) -> Iterator[Problem]:
    """There is no submitter Pod in this mode."""
    if job.mode == "SidecarMode" and "submitterPodTemplate" in job.spec:
        yield Problem(
            "spec.submitterPodTemplate",
            "submitterPodTemplate is set, but SidecarMode has no submitter Pod.",
            "Remove it, or use K8sJobMode.",
        )


@rule(
    "J27",
    "A RayJob in SidecarMode has no submitterConfig",
    note="This holds even with the feature gate SidecarSubmitterRestart of 1.7, whose guide sets "
    "submitterConfig.backoffLimit.",
)
def sidecar_with_config(job: Job) -> Iterator[Problem]:
    """There is no submitter Job in this mode."""
    if job.mode == "SidecarMode" and "submitterConfig" in job.spec:
        yield Problem(
            "spec.submitterConfig",
            "submitterConfig is set, but SidecarMode has no submitter Job.",
            "Remove it, or use K8sJobMode.",
        )


@rule("J28", "In SidecarMode the head Pod is not restarted")
def sidecar_with_restart(job: Job) -> Iterator[Problem]:
    """A restarted submitter would submit again."""
    if job.mode == "SidecarMode" and job.head.restart_policy not in ("", "Never"):
        yield Problem(
            f"{HEAD_PATH}.template.spec.restartPolicy",
            f"The head Pod has restartPolicy {job.head.restart_policy}, and SidecarMode allows Never only.",
            "Remove it or set Never.",
        )


@rule("J31", "runtimeEnvYAML is a YAML mapping")
def runtime_env(job: Job) -> Iterator[Problem]:
    """Parse the string; what the keys mean is left to Ray."""
    if (wrong := _runtime_env_error(text(job.spec.get("runtimeEnvYAML")))) is not None:
        yield Problem(
            "spec.runtimeEnvYAML",
            f"runtimeEnvYAML cannot be read: {wrong}.",
            "Write a YAML mapping such as 'pip: [requests]'.",
        )


def _runtime_env_error(source: str) -> str | None:
    try:
        loader = Loader(source)
        try:
            if not loader.check_node():
                return None
            root = loader.get_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return f"{error.problem}{where}"
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return " ".join(str(error).split())
    if root is None:
        return None
    if isinstance(root, yaml.ScalarNode) and root.tag == f"{_TAG}null":
        return _unconvertible_scalar(root)
    if not isinstance(root, yaml.MappingNode):
        kind = "list" if isinstance(root, yaml.SequenceNode) else "single value"
        return f"it is a {kind}, and a mapping is expected"
    return _unconvertible(root, frozenset())


def _unconvertible(node: yaml.Node, parents: frozenset[int]) -> str | None:
    """Say what keeps a YAML node from being written as JSON."""
    where = f"line {node.start_mark.line + 1}"
    if id(node) in parents:
        return f"the anchor at {where} contains itself"
    inner = parents | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return next(filter(None, (_unconvertible(child, inner) for child in node.value)), None)
    if isinstance(node, yaml.MappingNode):
        return next(filter(None, (_unconvertible_entry(key, value, inner) for key, value in node.value)), None)
    return _unconvertible_scalar(node)


def _unconvertible_entry(key: yaml.Node, value: yaml.Node, parents: frozenset[int]) -> str | None:
    where = f"line {key.start_mark.line + 1}"
    if key.tag == f"{_TAG}merge":
        merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
        if not all(isinstance(part, yaml.MappingNode) for part in merged):
            return f"the value merged at {where} is no mapping"
    elif not isinstance(key, yaml.ScalarNode) or key.tag == f"{_TAG}null":
        return f"the key at {where} is no string"
    return _mistagged(key) or _unconvertible(value, parents)


def _unconvertible_scalar(node: yaml.Node) -> str | None:
    if node.tag == f"{_TAG}float" and node.value.lower() in _NOT_IN_JSON:
        return f"the number {node.value} at line {node.start_mark.line + 1} cannot be written as JSON"
    return _mistagged(node)


def _mistagged(node: yaml.Node) -> str | None:
    where = f"line {node.start_mark.line + 1}"
    kind = node.tag.removeprefix(_TAG)
    if kind in _RESOLVED:
        plain = _implicit_kind(node.value)
        if plain != kind and (kind, plain) != ("float", "int"):
            return f"{node.value!r} at {where} is no {kind}"
    if kind == "binary" and not _is_base64(node.value):
        return f"the binary value at {where} is no base64"
    return None


def _implicit_kind(source: str) -> str:
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, source, (True, False))  # type: ignore[no-untyped-call]
    return tag.removeprefix(_TAG)


def _is_base64(source: str) -> bool:
    joined = source.replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(joined, validate=True)
    except ValueError:
        return False
    return len(joined) % 4 == 0
