"""The feature gates of Kueue 0.19, and what may be done with them.

Source: `pkg/features/kube_features.go` of Kueue 0.19.2. Kueue exits at start when it is given a gate that it does
not know, or a locked one with another value than its own.
"""

from collections.abc import Iterator, Mapping

from kuberay_model.sentences import nearest

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


def _known_gate_problems(version: str, name: str, enabled: bool) -> Iterator[str]:
    known = ON_BY_DEFAULT | OFF_BY_DEFAULT | set(LOCKED)
    if name not in known:
        similar = nearest(name, sorted(known))
        hint = f"did you mean {similar}?" if similar else "remove it."
        yield f"Kueue {version} has no feature gate {name!r}, and exits at start when it is given one; {hint}"
    elif LOCKED.get(name, enabled) != enabled:
        yield f"Kueue {version} has locked the feature gate {name} to {LOCKED[name]}; remove it."
