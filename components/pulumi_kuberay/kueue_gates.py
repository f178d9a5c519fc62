"""The feature gates of Kueue 0.19, and what may be done with them.

Source: `pkg/features/kube_features.go` and `pkg/config/validation.go` of Kueue 0.19.2. Kueue exits at start when it is
given a gate that it does not know, a locked one with another value than its own, or one without those that it requires.
"""

from collections.abc import Iterator, Mapping

from kuberay_model.sentences import listed, nearest

GATES_VERSION = "0.19"
"""The minor release whose gates are known here; gates of other releases are passed on as they are."""

ON_BY_DEFAULT = frozenset(
    [
        "AdmissionFairSharing",
        "AdmissionGatedBy",
        "AssignQueueLabelsForPods",
        "CleanupProvisioningRequestsOnEviction",
        "DeferRayServiceFinalizationForRedisCleanup",
        "ElasticJobsViaWorkloadSlices",
        "FairSharingPreemptWithinNominal",
        "FairSharingPrioritizeNonBorrowing",
        "FinishOrphanedWorkloads",
        "FlavorFungibility",
        "FlavorFungibilityPreserveScanProgress",
        "KueueDRAIntegration",
        "KueueDRAIntegrationExtendedResource",
        "KueueDRAIntegrationPartitionableDevices",
        "KueueDRARejectWorkloadsWhenDRADisabled",
        "LWSImmutableGroupSize",
        "LocalQueueMetrics",
        "MetricForWorkloadCreationLatency",
        "MetricsForCohorts",
        "MultiKueue",
        "MultiKueueAdaptersForCustomJobs",
        "MultiKueueIncrementalDispatcherConfig",
        "MultiKueueIncrementalDispatcherRespectConfigOrder",
        "MultiKueueRemoteSpecSync",
        "PartialAdmission",
        "PodIntegrationValidateGroupOwner",
        "PrioritySortingWithinCohort",
        "QuotaCheckStrategy",
        "ReclaimablePods",
        "RemoveFinalizersWithStrictPatch",
        "SchedulingEquivalenceHashing",
        "SkipAncestorCheckForDeletedWorkloads",
        "SkipReassignmentForPodOwnedWorkloads",
        "TASAssignmentsEncodingByHostnamePrefix",
        "TASCacheNodeMatchResults",
        "TASCachingRemainingResources",
        "TASFailedNodeReplacement",
        "TASFailedNodeReplacementFailFast",
        "TASHandleOverlappingFlavors",
        "TASMultiLayerTopology",
        "TASProfileMixed",
        "TASRecomputeAssignmentWithinSchedulingCycle",
        "TASReplaceNodeOnNodeTaints",
        "TASReplaceNodeOnPodTermination",
        "TASValidateWorkloadSliceSize",
        "TLSOptions",
        "TopologyAwareScheduling",
        "ValidateRayAndSparkJobUpdates",
        "VectorizedResourceRequests",
        "VisibilityOnDemand",
        "WorkloadIdentifierAnnotations",
        "WorkloadValidateResourcesAreNonNegative",
        "WorkloadValidationForPodSetMetadata",
    ]
)

OFF_BY_DEFAULT = frozenset(
    [
        "ConcurrentAdmission",
        "CustomMetricLabels",
        "DisableWaitForPodsReady",
        "ElasticJobsViaWorkloadSlicesWithTAS",
        "FailureRecoveryPolicy",
        "FastQuotaReleaseInPodIntegration",
        "KueueDRAIntegrationConsumableCapacity",
        "MultiKueueClusterProfile",
        "MultiKueueKubeConfigPathValidation",
        "MultiKueueManagerQuotaAutomation",
        "MultiKueueOrchestratedPreemption",
        "PrioritizePreemptorWorkloads",
        "PriorityBoost",
        "RecomputeAssignmentUponPreemptionTargetsOverlap",
        "RejectUpdatesToCQWithInvalidOnFlavors",
        "SchedulerLibraryIntegration",
        "SchedulerLongRequeueInterval",
        "SchedulerTimestampPreemptionBuffer",
        "ShortWorkloadNames",
        "SparkApplicationIntegration",
        "TASBalancedPlacement",
        "TASCacheTopologyTree",
        "TASReplaceNodeDueToNotReadyOverFixedTime",
        "TASRespectNodeAffinityPreferred",
        "UnadmittedWorkloadsExplicitStatus",
        "UnadmittedWorkloadsObservability",
        "WorkloadPriorityClassDefaulting",
        "WorkloadRequestUseMergePatch",
    ]
)

LOCKED = {
    "HierarchicalCohorts": True,
    "ManagedJobsNamespaceSelectorAlwaysRespected": True,
    "MultiKueueAllowInsecureKubeconfigs": False,
    "MultiKueueRedoAdmissionOnEvictionInWorker": True,
    "MultiKueueWaitForWorkloadAdmitted": True,
    "ObjectRetentionPolicies": True,
    "PropagateBatchJobLabelsToWorkload": True,
    "SkipFinalizersForPodsSuspendedByParent": True,
}

_PLACEMENT = ("TopologyAwareScheduling",)
_REPLACEMENT = ("TopologyAwareScheduling", "TASFailedNodeReplacement")
_DEVICES = ("KueueDRAIntegration",)

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "ElasticJobsViaWorkloadSlicesWithTAS": ("ElasticJobsViaWorkloadSlices", "TopologyAwareScheduling"),
    "KueueDRAIntegrationConsumableCapacity": _DEVICES,
    "KueueDRAIntegrationExtendedResource": _DEVICES,
    "KueueDRAIntegrationPartitionableDevices": _DEVICES,
    "TASBalancedPlacement": _PLACEMENT,
    "TASFailedNodeReplacement": _PLACEMENT,
    "TASFailedNodeReplacementFailFast": _REPLACEMENT,
    "TASHandleOverlappingFlavors": _PLACEMENT,
    "TASMultiLayerTopology": _PLACEMENT,
    "TASProfileMixed": _PLACEMENT,
    "TASRecomputeAssignmentWithinSchedulingCycle": _PLACEMENT,
    "TASReplaceNodeDueToNotReadyOverFixedTime": _REPLACEMENT,
    "TASReplaceNodeOnNodeTaints": _PLACEMENT,
    "TASReplaceNodeOnPodTermination": _REPLACEMENT,
    "TASRespectNodeAffinityPreferred": _PLACEMENT,
    "UnadmittedWorkloadsExplicitStatus": ("UnadmittedWorkloadsObservability",),
}
"""Gates that must be on where the gate named first is on."""


def gate_problems(version: str, gates: Mapping[str, bool]) -> Iterator[str]:
    """Say which gates Kueue would exit on.

    Args:
        version: Release of Kueue, such as 0.19.2.
        gates: Gate name to on or off.
    """
    for name, enabled in gates.items():
        if not isinstance(enabled, bool):
            yield f"The feature gate {name} is on (true) or off (false), but {enabled!r} was given."
        elif version.startswith(f"{GATES_VERSION}."):
            yield from _known_gate_problems(version, name, enabled)
    if version.startswith(f"{GATES_VERSION}."):
        yield from _missing_gates(version, gates)


def _known_gate_problems(version: str, name: str, enabled: bool) -> Iterator[str]:
    known = ON_BY_DEFAULT | OFF_BY_DEFAULT | set(LOCKED)
    if name not in known:
        similar = nearest(name, sorted(known))
        hint = f"did you mean {similar}?" if similar else "remove it."
        yield f"Kueue {version} has no feature gate {name!r}, and exits at start when it is given one; {hint}"
    elif LOCKED.get(name, enabled) != enabled:
        yield f"Kueue {version} has locked the feature gate {name} to {LOCKED[name]}; remove it."


def _missing_gates(version: str, gates: Mapping[str, bool]) -> Iterator[str]:
    defaults = {**dict.fromkeys(ON_BY_DEFAULT, True), **dict.fromkeys(OFF_BY_DEFAULT, False), **LOCKED}
    on = {name for name, enabled in {**defaults, **gates}.items() if enabled is True}
    for name, required in REQUIRED.items():
        off = [other for other in required if other not in on]
        if name in on and off:
            yield (
                f"Kueue {version} has the feature gate {name} on, which requires {listed(off, 'and')}; turn that on, "
                f"or set {name} to false."
            )
