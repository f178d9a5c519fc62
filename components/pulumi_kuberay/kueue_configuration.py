"""The configuration file of Kueue's controller: typed arguments laid over what is there, and checked."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pulumi_kuberay.kueue_configuration_args import KueueConfiguration, KueueFramework, SharePreemption
from pulumi_kuberay.label_selectors import NAMESPACE_NAME_LABEL, selector_problems, selects
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.quantities import amount_problems
from pulumi_kuberay.rendering import at, rendered

_F = KueueFramework

DEFAULT_CONFIGURATION: Mapping[str, Any] = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
    "controller": {
        "groupKindConcurrency": {
            "Job.batch": 5,
            "Pod": 5,
            "Workload.kueue.x-k8s.io": 10,
            "LocalQueue.kueue.x-k8s.io": 5,
            "ClusterQueue.kueue.x-k8s.io": 5,
            "ResourceFlavor.kueue.x-k8s.io": 1,
        }
    },
    "clientConnection": {"qps": 300, "burst": 500},
    "integrations": {
        "frameworks": [
            framework.value
            for framework in (
                _F.JOB,
                _F.MPI_JOB,
                _F.RAY_JOB,
                _F.RAY_SERVICE,
                _F.RAY_CLUSTER,
                _F.JOB_SET,
                _F.APP_WRAPPER,
                _F.TRAIN_JOB,
                _F.POD,
                _F.DEPLOYMENT,
                _F.STATEFUL_SET,
                _F.LEADER_WORKER_SET,
            )
        ]
    },
}
"""What the chart of Kueue 0.19.2 configures by itself: the base when the chart is not on this machine."""

_DURATIONS = {
    "wait_for_pods_ready.timeout_seconds": "waitForPodsReady.timeout",
    "wait_for_pods_ready.recovery_timeout_seconds": "waitForPodsReady.recoveryTimeout",
    "admission_fair_sharing.usage_half_life_seconds": "admissionFairSharing.usageHalfLifeTime",
    "admission_fair_sharing.usage_sampling_interval_seconds": "admissionFairSharing.usageSamplingInterval",
    "object_retention.after_finished_seconds": "objectRetentionPolicies.workloads.afterFinished",
    "object_retention.after_deactivated_seconds": "objectRetentionPolicies.workloads.afterDeactivatedByKueue",
    "leader_election.lease_duration_seconds": "leaderElection.leaseDuration",
    "leader_election.renew_deadline_seconds": "leaderElection.renewDeadline",
    "leader_election.retry_period_seconds": "leaderElection.retryPeriod",
    "multi_kueue.gc_interval_seconds": "multiKueue.gcInterval",
    "multi_kueue.worker_lost_timeout_seconds": "multiKueue.workerLostTimeout",
}
_PLACES = {
    "group_kind_concurrency": "controller.groupKindConcurrency",
    "health_probe_bind_address": "health.healthProbeBindAddress",
    "webhook_port": "webhook.port",
    "metrics.local_queue_metrics": "metrics.localQueueMetrics.enable",
}
_AT_LEAST_ONE = frozenset(
    {"wait_for_pods_ready.timeout_seconds", "admission_fair_sharing.usage_sampling_interval_seconds"}
)
_STRATEGIES = (list(SharePreemption)[:1], list(SharePreemption)[1:], list(SharePreemption))


def configuration(base: Mapping[str, Any], args: KueueConfiguration) -> dict[str, Any]:
    """Return the controller's configuration.

    Args:
        base: The chart's own configuration.
        args: What differs.
    """
    merged = deep_merge(base, rendered(args))
    for argument, place in {**_PLACES, **_DURATIONS}.items():
        value = rendered(_argument(args, argument))
        if value is not None:
            merged = deep_merge(merged, at(place, f"{value}s" if argument in _DURATIONS else value))
    final: dict[str, Any] = rendered(deep_merge(merged, args.extra or {}))
    return final


def configuration_text(configured: Mapping[str, Any]) -> str:
    """Return the configuration as the one string that the chart wants."""
    return yaml.safe_dump(configured, sort_keys=False)


def configuration_problems(configured: Mapping[str, Any], args: KueueConfiguration, namespace: str) -> Iterator[str]:
    """Say what Kueue would exit on.

    Source: `pkg/config/validation.go` of Kueue 0.19.2.

    Args:
        configured: The configuration as Kueue reads it.
        args: What it was made from.
        namespace: Namespace of Kueue.
    """
    for argument in _DURATIONS:
        seconds, least = _argument(args, argument), 1 if argument in _AT_LEAST_ONE else 0
        if seconds is not None and seconds < least:
            yield f"{argument} of the configuration must be {least} or more seconds, but it is {seconds}."
    yield from _framework_problems(configured.get("integrations") or {})
    yield from _namespace_problems(configured.get("managedJobsNamespaceSelector"), namespace)
    yield from _requeuing_problems((configured.get("waitForPodsReady") or {}).get("requeuingStrategy") or {})
    yield from _sharing_problems(configured)
    yield from _resource_problems(configured.get("resources") or {})


def _framework_problems(integrations: Mapping[str, Any]) -> Iterator[str]:
    frameworks = integrations.get("frameworks")
    if frameworks is None:
        yield "integrations of the configuration has no frameworks; name at least one kind of jobs."
        return
    for framework in frameworks:
        if framework not in list(KueueFramework):
            yield f"Kueue has no framework {framework!r}; it has {', '.join(KueueFramework)}."
    if len(set(frameworks)) < len(frameworks):
        yield f"A framework is there twice in the configuration: {', '.join(frameworks)}."
    for kind in integrations.get("externalFrameworks") or ():
        if len(kind.split(".")) < 3:
            yield f"The external framework {kind!r} must be written Kind.version.group.com."


def _namespace_problems(selector: Any, namespace: str) -> Iterator[str]:
    if selector is None:
        return
    what = "managed_jobs_namespace_selector"
    reasons = list(selector_problems(what, selector))
    yield from reasons
    for system in () if reasons else ("kube-system", namespace):
        if selects(selector, {NAMESPACE_NAME_LABEL: system}):
            yield (
                f"{what} selects the namespace {system}, where Kueue must not manage pods; leave it out, for example "
                f"with {NAMESPACE_NAME_LABEL} NotIn kube-system, {namespace}."
            )


def _requeuing_problems(strategy: Mapping[str, Any]) -> Iterator[str]:
    for key in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"):
        if strategy.get(key) is not None and strategy[key] < 0:
            yield f"{key} of requeuing_strategy must be 0 or more, but it is {strategy[key]}."


def _sharing_problems(configured: Mapping[str, Any]) -> Iterator[str]:
    sharing = configured.get("fairSharing")
    if sharing is not None and list(sharing.get("preemptionStrategies") or ()) not in _STRATEGIES:
        yield (
            f"preemption_strategies of fair_sharing must be one of {' and '.join(SharePreemption)}, or both in this "
            f"order, but they are {list(sharing.get('preemptionStrategies') or ())}."
        )
    for name, weight in ((configured.get("admissionFairSharing") or {}).get("resourceWeights") or {}).items():
        if weight < 0:
            yield f"The weight of {name} in admission_fair_sharing must be 0 or more, but it is {weight}."


def _resource_problems(resources: Mapping[str, Any]) -> Iterator[str]:
    if resources.get("quotaCheckStrategy") == "IgnoreUndeclared" and resources.get("excludeResourcePrefixes"):
        yield "exclude_resource_prefixes cannot go with the quota_check_strategy IgnoreUndeclared; drop one of them."
    transformations = resources.get("transformations") or ()
    inputs = [transformation["input"] for transformation in transformations]
    if len(set(inputs)) < len(inputs):
        yield f"An input is transformed twice: {', '.join(inputs)}; keep one transformation for each."
    for transformation in transformations:
        for name, amount in (transformation.get("outputs") or {}).items():
            yield from amount_problems(f"The output {name} of the transformation of {transformation['input']}", amount)


def _argument(args: Any, path: str) -> Any:
    for name in path.split("."):
        args = getattr(args, name) if args is not None else None
    return args
