"""Rules on how the Ray job is submitted."""

from __future__ import annotations

import math
from collections.abc import Iterator

import yaml

from kuberay_model.rules.job import HEAD_PATH, Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import text
from kuberay_model.yaml_loader import Loader

_TAG = "tag:yaml.org,2002:"


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
    if root is None or root.tag == f"{_TAG}null":
        return None
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
        for key, value in node.value:
            key_kind = key.tag.removeprefix(_TAG)
            if key_kind == "merge":
                if not isinstance(value, yaml.MappingNode | yaml.SequenceNode):
                    return f"the value merged at {where} is no mapping"
            elif not isinstance(key, yaml.ScalarNode) or key_kind == "null":
                return f"the key at line {key.start_mark.line + 1} is no string"
            if (wrong := _unconvertible(value, inner)) is not None:
                return wrong
        return None
    if node.tag == f"{_TAG}float" and not math.isfinite(_number(node.value)):
        return f"the number {node.value} at {where} cannot be written as JSON"
    return None


def _number(source: str) -> float:
    try:
        return float(source.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return 0.0
