"""What a ClusterQueue can be told, as Kueue 0.19 reads it (kueue.x-k8s.io/v1beta2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pulumi

from pulumi_kuberay.kueue_quotas import FairSharing, ResourceGroup
from pulumi_kuberay.label_selectors import LabelSelector
from pulumi_kuberay.rendering import FIELD


class QueueingStrategy(StrEnum):
    """The order in which workloads of one priority are looked at."""

    BEST_EFFORT_FIFO = "BestEffortFIFO"
    """By creation; one that does not fit lets later ones pass."""

    STRICT_FIFO = "StrictFIFO"
    """By creation; one that does not fit holds back all later ones."""


class StopPolicy(StrEnum):
    """Whether a queue admits workloads."""

    NONE = "None"
    """It does."""

    HOLD = "Hold"
    """It admits none; admitted workloads run to their end."""

    HOLD_AND_DRAIN = "HoldAndDrain"
    """It admits none; admitted workloads are evicted."""


class FlavorSearch(StrEnum):
    """Whether a workload takes a flavor that does not fit at once, or looks at the next."""

    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FlavorPreference(StrEnum):
    """Which flavor wins when each needs borrowing or preemption."""

    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


@dataclass(kw_only=True)
class FlavorFungibility:
    """When a workload tries the next flavor."""

    when_can_borrow: FlavorSearch | None = None
    """If the workload fits by borrowing. Default: MayStopSearch."""

    when_can_preempt: FlavorSearch | None = None
    """If the workload fits after preempting others. Default: TryNextFlavor."""

    preference: FlavorPreference | None = None
    """Which of several such flavors wins. Needs ``TryNextFlavor`` in both. Default:
    BorrowingOverPreemption."""


class CohortPreemption(StrEnum):
    """Which workloads of a cohort may be preempted to take back nominal quota."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    ANY = "Any"


class BorrowingPreemption(StrEnum):
    """Which workloads of a cohort may be preempted by one that borrows."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"


class QueuePreemption(StrEnum):
    """Which workloads of the same ClusterQueue may be preempted."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"


@dataclass(kw_only=True)
class BorrowWithinCohort:
    """Preemption by a workload that borrows. Not together with fair sharing."""

    policy: BorrowingPreemption | None = None
    """Whom it may preempt. Default: Never."""

    max_priority_threshold: int | None = None
    """Only workloads of this priority or a lower one. Default: no such limit."""


@dataclass(kw_only=True)
class Preemption:
    """When a workload may evict others. Default: never."""

    reclaim_within_cohort: CohortPreemption | None = None
    """Whom it may evict in other queues of the cohort to take back nominal quota. Default: Never."""

    borrow_within_cohort: BorrowWithinCohort | None = None
    """Whom it may evict in the cohort while it borrows; needs `reclaim_within_cohort`. Default: nobody."""

    within_cluster_queue: QueuePreemption | None = None
    """Whom it may evict in its own queue. Default: Never."""


@dataclass(kw_only=True)
class AdmissionCheck:
    """A check that workloads must pass before they are admitted."""

    name: str
    """Name of the AdmissionCheck object."""

    on_flavors: Sequence[str] | None = None
    """Flavors of this queue for which it runs, at most 64. Default: all."""


class AdmissionMode(StrEnum):
    """Whether past use of a LocalQueue counts in the order of admission."""

    USAGE_BASED_ADMISSION_FAIR_SHARING = "UsageBasedAdmissionFairSharing"
    NO_ADMISSION_FAIR_SHARING = "NoAdmissionFairSharing"


class MigrationMode(StrEnum):
    """What an admitted workload does when a flavor listed earlier becomes free."""

    TRY_PREFERRED_FLAVORS = "TryPreferredFlavors"
    RETAIN_FIRST_ADMISSION = "RetainFirstAdmission"


@dataclass(kw_only=True)
class ConcurrentAdmission:
    """Workloads try several flavors at the same time. Needs Kueue's feature gate ConcurrentAdmission (alpha)."""

    mode: MigrationMode
    """``TryPreferredFlavors``: move to a flavor listed earlier when it becomes free.
    ``RetainFirstAdmission``: stay."""

    last_acceptable_flavor: str | None = None
    """Last flavor, in the queue's order, to move to. Only with ``TryPreferredFlavors``. Default: any listed
    before the current one."""


@dataclass(kw_only=True)
class ClusterQueueArgs:
    """Quotas that are shared by the LocalQueues which name this queue."""

    resource_groups: Sequence[ResourceGroup] | None = field(default=None, metadata={FIELD: None})
    """The quotas, at most 16 groups. Default: none, so that nothing is admitted."""

    name: str | None = field(default=None, metadata={FIELD: None})
    """Name of the object. Default: Pulumi's logical name. A change replaces the queue."""

    namespaces: Sequence[str] | None = field(default=None, metadata={FIELD: None})
    """Namespaces whose LocalQueues may use this queue. Default: see `namespace_selector`."""

    namespace_selector: LabelSelector | None = field(default=None, metadata={FIELD: None})
    """The same by labels of the namespaces, instead of `namespaces`. Default: every namespace. (Kueue's own
    default is none at all.)"""

    cohort_name: pulumi.Input[str] | None = None
    """Cohort with whose queues unused quota is shared. Default: none."""

    queueing_strategy: QueueingStrategy | None = None
    """``BestEffortFIFO`` or ``StrictFIFO``. Default: BestEffortFIFO."""

    flavor_fungibility: FlavorFungibility | None = None
    """When the next flavor is tried. Default: Kueue's."""

    preemption: Preemption | None = None
    """Who may be evicted. Default: nobody."""

    admission_checks: Sequence[AdmissionCheck] | None = field(default=None, metadata={FIELD: None})
    """Checks before admission, at most 64. Default: none."""

    stop_policy: StopPolicy | None = None
    """``None``, ``Hold`` or ``HoldAndDrain``. Default: None, the queue admits."""

    fair_sharing: FairSharing | None = None
    """Weight in fair sharing, if Kueue is configured for it. Default: 1."""

    admission_mode: AdmissionMode | None = field(default=None, metadata={FIELD: None})
    """Whether past use counts, if Kueue is configured for admission fair sharing. Default: it does not."""

    concurrent_admission: ConcurrentAdmission | None = field(default=None, metadata={FIELD: None})
    """Try several flavors at the same time. Default: one after the other. A change replaces the queue."""

    labels: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Labels of the object. Default: none."""

    annotations: Mapping[str, str] | None = field(default=None, metadata={FIELD: None})
    """Annotations of the object. Default: none."""

    extra: Mapping[str, Any] | None = field(default=None, metadata={FIELD: None})
    """Fields of ``spec`` merged over everything above; lists are replaced, null removes. Default: none."""
