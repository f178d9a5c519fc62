from typing import Any

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import (
    ArgumentError,
    ClusterQueue,
    ClusterQueueArgs,
    Cohort,
    CohortArgs,
    FairSharing,
    FlavorQuotas,
    LabelSelector,
    LabelSelectorRequirement,
    LocalQueue,
    LocalQueueArgs,
    ResourceFlavor,
    ResourceFlavorArgs,
    ResourceGroup,
    ResourceQuota,
    SelectorOperator,
    StopPolicy,
    Taint,
    TaintEffect,
    Toleration,
    TolerationOperator,
    WorkloadPriorityClass,
    WorkloadPriorityClassArgs,
)
from pulumi_kuberay.kueue_cluster_queue import cluster_queue_manifest
from pulumi_kuberay.kueue_cluster_queue_args import (
    AdmissionCheck,
    BorrowingPreemption,
    BorrowWithinCohort,
    CohortPreemption,
    ConcurrentAdmission,
    FlavorFungibility,
    FlavorPreference,
    FlavorSearch,
    MigrationMode,
    Preemption,
    QueueingStrategy,
    QueuePreemption,
)
from pulumi_kuberay.kueue_cohort import cohort_manifest
from pulumi_kuberay.kueue_local_queue import local_queue_manifest
from pulumi_kuberay.kueue_priority_class import workload_priority_class_manifest
from pulumi_kuberay.kueue_resource_flavor import resource_flavor_manifest

KUEUE = "kubernetes:kueue.x-k8s.io/v1beta2"


def quotas(flavor: str = "default", **amounts: str) -> FlavorQuotas:
    return FlavorQuotas(
        name=flavor,
        resources=[
            ResourceQuota(name=name, nominal_quota=amount)
            for name, amount in (amounts or {"cpu": "8", "memory": "32Gi"}).items()
        ],
    )


def limited(**limits: str) -> ResourceGroup:
    resource = ResourceQuota(name="cpu", nominal_quota="8", **limits)
    return ResourceGroup(flavors=[FlavorQuotas(name="default", resources=[resource])])


def cluster_queue_spec(**args: Any) -> dict[str, Any]:
    spec: dict[str, Any] = cluster_queue_manifest("gpu", ClusterQueueArgs(**args))["spec"]
    return spec


def test_a_platform_of_queues_is_one_object_each_under_the_names_that_jobs_use(run: Run) -> None:
    def program() -> None:
        flavor = ResourceFlavor("spot", ResourceFlavorArgs(node_labels={"cloud.example/spot": "true"}))
        cohort = Cohort("research", CohortArgs(fair_sharing=FairSharing(weight="2")))
        group = ResourceGroup(
            flavors=[FlavorQuotas(name=flavor.name, resources=[ResourceQuota(name="cpu", nominal_quota="8")])]
        )
        queue = ClusterQueue("gpu", ClusterQueueArgs(resource_groups=[group], cohort_name=cohort.name))
        LocalQueue("team-a", LocalQueueArgs(namespace="ray-jobs", cluster_queue=queue.name))
        WorkloadPriorityClass("urgent", WorkloadPriorityClassArgs(value=1000, description="Pages somebody."))

    engine = run(program)

    assert engine.one(f"{KUEUE}:ResourceFlavor")["spec"] == {"nodeLabels": {"cloud.example/spot": "true"}}
    assert engine.one(f"{KUEUE}:Cohort")["spec"] == {"fairSharing": {"weight": "2"}}
    queue = engine.one(f"{KUEUE}:ClusterQueue")
    assert queue["metadata"] == {"name": "gpu"}
    assert queue["spec"]["cohortName"] == "research"
    assert queue["spec"]["resourceGroups"] == [
        {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "8"}]}],
        }
    ]
    local = engine.one(f"{KUEUE}:LocalQueue")
    assert local["metadata"] == {"name": "team-a", "namespace": "ray-jobs"}
    assert local["spec"] == {"clusterQueue": "gpu"}
    priority = engine.one(f"{KUEUE}:WorkloadPriorityClass")
    assert (priority["value"], priority["description"]) == (1000, "Pages somebody.")
    assert "spec" not in priority


def test_outputs_are_the_names_that_other_objects_refer_to(run: Run) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        queue = LocalQueue("a", LocalQueueArgs(namespace="jobs", cluster_queue="gpu", name="team-a"))
        pulumi.Output.all(queue.name, queue.namespace).apply(lambda names: seen.update(local=names))
        ClusterQueue("b", ClusterQueueArgs(name="gpu")).name.apply(lambda name: seen.update(cluster=name))

    run(program)
    assert seen == {"local": ["team-a", "jobs"], "cluster": "gpu"}


def test_by_default_every_namespace_may_use_a_cluster_queue() -> None:
    assert cluster_queue_spec()["namespaceSelector"] == {}


def test_namespaces_are_selected_by_name_or_by_label() -> None:
    assert cluster_queue_spec(namespaces=["b", "a", "b"])["namespaceSelector"] == {
        "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["a", "b"]}]
    }
    by_label = LabelSelector(match_labels={"team": "research"})
    assert cluster_queue_spec(namespace_selector=by_label)["namespaceSelector"] == {"matchLabels": {"team": "research"}}


def test_every_flavor_lists_its_quotas_in_the_order_of_the_group() -> None:
    group = ResourceGroup(flavors=[quotas(cpu="8", memory="32Gi"), quotas("spot", memory="64Gi", cpu="16")])

    [rendered] = cluster_queue_spec(resource_groups=[group])["resourceGroups"]
    assert rendered["coveredResources"] == ["cpu", "memory"]
    assert [[resource["name"] for resource in flavor["resources"]] for flavor in rendered["flavors"]] == [
        ["cpu", "memory"],
        ["cpu", "memory"],
    ]


def test_every_field_of_a_cluster_queue_reaches_its_spec() -> None:
    spec = cluster_queue_spec(
        resource_groups=[limited(borrowing_limit="4", lending_limit="2")],
        cohort_name="research",
        queueing_strategy=QueueingStrategy.BEST_EFFORT_FIFO,
        flavor_fungibility=FlavorFungibility(
            when_can_borrow=FlavorSearch.TRY_NEXT_FLAVOR,
            when_can_preempt=FlavorSearch.TRY_NEXT_FLAVOR,
            preference=FlavorPreference.PREEMPTION_OVER_BORROWING,
        ),
        preemption=Preemption(
            reclaim_within_cohort=CohortPreemption.ANY,
            borrow_within_cohort=BorrowWithinCohort(
                policy=BorrowingPreemption.LOWER_PRIORITY, max_priority_threshold=100
            ),
            within_cluster_queue=QueuePreemption.LOWER_OR_NEWER_EQUAL_PRIORITY,
        ),
        admission_checks=[AdmissionCheck(name="provisioning", on_flavors=["default"])],
        stop_policy=StopPolicy.HOLD,
        fair_sharing=FairSharing(weight="0.5"),
        concurrent_admission=ConcurrentAdmission(
            mode=MigrationMode.TRY_PREFERRED_FLAVORS, last_acceptable_flavor="default"
        ),
    )

    [flavor] = spec["resourceGroups"][0]["flavors"]
    assert flavor["resources"] == [{"name": "cpu", "nominalQuota": "8", "borrowingLimit": "4", "lendingLimit": "2"}]
    assert {key: value for key, value in spec.items() if key != "resourceGroups"} == {
        "namespaceSelector": {},
        "cohortName": "research",
        "queueingStrategy": "BestEffortFIFO",
        "flavorFungibility": {
            "whenCanBorrow": "TryNextFlavor",
            "whenCanPreempt": "TryNextFlavor",
            "preference": "PreemptionOverBorrowing",
        },
        "preemption": {
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
            "withinClusterQueue": "LowerOrNewerEqualPriority",
        },
        "admissionChecksStrategy": {"admissionChecks": [{"name": "provisioning", "onFlavors": ["default"]}]},
        "stopPolicy": "Hold",
        "fairSharing": {"weight": "0.5"},
        "concurrentAdmissionPolicy": {
            "migration": {
                "mode": "TryPreferredFlavors",
                "constraints": {"lastAcceptableFlavorName": "default"},
            }
        },
    }


def test_extra_is_merged_last_and_looked_at_too() -> None:
    spec = cluster_queue_spec(cohort_name="a", extra={"cohortName": "b", "newField": 1, "namespaceSelector": None})
    assert spec == {"cohortName": "b", "newField": 1, "resourceGroups": []}

    with pytest.raises(ArgumentError, match="The cohort_name must be at most 253"):
        cluster_queue_spec(extra={"cohortName": "No Name"})


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"name": "Gpu"}, "Its name must be at most 253 lower-case letters"),
        ({"namespaces": []}, "namespaces is empty, so that no job could use the queue"),
        ({"namespaces": ["a.b"]}, "A namespace must be at most 63 lower-case letters, digits and '-'"),
        ({"namespaces": ["a"], "namespace_selector": LabelSelector()}, "has namespaces and a namespace_selector"),
        (
            {
                "namespace_selector": LabelSelector(
                    match_expressions=[LabelSelectorRequirement(key="team", operator=SelectorOperator.IN)]
                )
            },
            "The operator In of team in namespace_selector needs values",
        ),
        (
            {
                "namespace_selector": LabelSelector(
                    match_expressions=[
                        LabelSelectorRequirement(key="team", operator=SelectorOperator.EXISTS, values=["a"])
                    ]
                )
            },
            "The operator Exists of team in namespace_selector takes no values",
        ),
        ({"namespace_selector": LabelSelector(match_labels={"a b": "c"})}, "A key in matchLabels"),
        ({"cohort_name": "-"}, "The cohort_name must be"),
        ({"resource_groups": [ResourceGroup(flavors=[])]}, "A resource group has no flavors; name at least one"),
        ({"resource_groups": [limited(borrowing_limit="1")]}, "The borrowing_limit of cpu .* needs a cohort_name"),
        ({"resource_groups": [limited(lending_limit="1")]}, "The lending_limit of cpu .* needs a cohort_name"),
        (
            {"resource_groups": [limited(lending_limit="9")], "cohort_name": "a"},
            "The lending_limit of cpu in the flavor default is 9, more than its nominal_quota of 8",
        ),
        (
            {"resource_groups": [ResourceGroup(flavors=[quotas(cpu="eight")])]},
            "The nominal_quota of cpu in the flavor default must be a quantity such as 40, 500m or 200Gi",
        ),
        ({"resource_groups": [ResourceGroup(flavors=[quotas(cpu="-1")])]}, "must not be negative, but it is '-1'"),
        (
            {"resource_groups": [ResourceGroup(flavors=[quotas("a", cpu="1", memory="1Gi"), quotas("b", cpu="1")])]},
            "The flavor b has no quota for memory, which its resource group covers",
        ),
        (
            {"resource_groups": [ResourceGroup(covered_resources=["cpu"], flavors=[quotas(cpu="1", memory="1Gi")])]},
            "The flavor default has a quota for memory, which its resource group does not cover",
        ),
        (
            {"resource_groups": [ResourceGroup(flavors=[quotas("a", cpu="1"), quotas("a", cpu="2")])]},
            "The flavor a is there twice",
        ),
        (
            {
                "resource_groups": [
                    ResourceGroup(flavors=[quotas("a", cpu="1")]),
                    ResourceGroup(flavors=[quotas("b", cpu="1")]),
                ]
            },
            "The resource cpu is there twice",
        ),
        (
            {
                "resource_groups": [
                    ResourceGroup(
                        flavors=[FlavorQuotas(name="a", resources=[ResourceQuota(name="cpu", nominal_quota="1")] * 2)]
                    )
                ]
            },
            "The flavor a has two quotas for cpu",
        ),
        (
            {"resource_groups": [ResourceGroup(flavors=[quotas(**{"a/b/c": "1"})])]},
            "The name of a resource must be a name of at most 63",
        ),
        (
            {"resource_groups": [ResourceGroup(flavors=[quotas(f"f{number}") for number in range(65)])]},
            "There are 65 flavors in one resource group, but Kueue takes at most 64",
        ),
        (
            {
                "preemption": Preemption(
                    borrow_within_cohort=BorrowWithinCohort(policy=BorrowingPreemption.LOWER_PRIORITY)
                )
            },
            "borrow_within_cohort has the policy LowerPriority, but reclaim_within_cohort is Never",
        ),
        (
            {"flavor_fungibility": FlavorFungibility(preference=FlavorPreference.BORROWING_OVER_PREEMPTION)},
            "needs TryNextFlavor in when_can_borrow and when_can_preempt, but they are MayStopSearch and TryNextFlavor",
        ),
        ({"fair_sharing": FairSharing(weight="-1")}, "The weight of fair_sharing must not be negative"),
        ({"fair_sharing": FairSharing(weight="1n")}, "The weight of fair_sharing must be 0 or above 1n"),
        (
            {
                "resource_groups": [ResourceGroup(flavors=[quotas("a")])],
                "admission_checks": [AdmissionCheck(name="check", on_flavors=["b"])],
            },
            r"The admission check check is for flavors that the queue does not have: \['b'\]",
        ),
        (
            {"admission_checks": [AdmissionCheck(name="check"), AdmissionCheck(name="check")]},
            "An admission check is there twice",
        ),
        (
            {"concurrent_admission": ConcurrentAdmission(mode=MigrationMode.RETAIN_FIRST_ADMISSION)},
            "concurrent_admission needs exactly one resource group, but there are 0",
        ),
        (
            {
                "resource_groups": [ResourceGroup(flavors=[quotas("a")])],
                "queueing_strategy": QueueingStrategy.STRICT_FIFO,
                "concurrent_admission": ConcurrentAdmission(
                    mode=MigrationMode.RETAIN_FIRST_ADMISSION, last_acceptable_flavor="b"
                ),
            },
            "StrictFIFO.* last_acceptable_flavor needs the mode TryPreferredFlavors.* which is no flavor of the queue",
        ),
    ],
)
def test_a_cluster_queue_that_kueue_would_refuse_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        cluster_queue_manifest("gpu", ClusterQueueArgs(**args))


def test_all_reasons_are_told_at_once() -> None:
    with pytest.raises(ArgumentError) as refusal:
        cluster_queue_manifest("Gpu", ClusterQueueArgs(cohort_name="Research", fair_sharing=FairSharing(weight="x")))

    assert str(refusal.value).startswith("The ClusterQueue Gpu cannot be used. Its name must")
    assert "The cohort_name must" in str(refusal.value)
    assert "The weight of fair_sharing must" in str(refusal.value)


def test_a_flavor_has_the_labels_taints_and_tolerations_of_its_nodes() -> None:
    spec = resource_flavor_manifest(
        "spot",
        ResourceFlavorArgs(
            node_labels={"cloud.example/spot": "true"},
            node_taints=[Taint(key="spot", value="true", effect=TaintEffect.NO_SCHEDULE)],
            tolerations=[
                Toleration(
                    key="spot", operator=TolerationOperator.EXISTS, effect=TaintEffect.NO_EXECUTE, toleration_seconds=60
                )
            ],
            topology_name="racks",
        ),
    )["spec"]

    assert spec == {
        "nodeLabels": {"cloud.example/spot": "true"},
        "nodeTaints": [{"key": "spot", "effect": "NoSchedule", "value": "true"}],
        "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}],
        "topologyName": "racks",
    }


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"name": "a_b"}, "Its name must be"),
        ({"node_labels": {f"key{number}": "" for number in range(9)}}, "There are 9 node_labels, but Kueue takes at"),
        ({"node_labels": {"key": "a b"}}, "The value of key in node_labels must be"),
        (
            {"node_taints": [Taint(key="a", effect=TaintEffect.NO_SCHEDULE)] * 2},
            "has the taint a with the effect NoSchedule 2",
        ),
        (
            {"tolerations": [Toleration(value="a")]},
            "The operator of the toleration of every key of the flavor must be Exists",
        ),
        (
            {"tolerations": [Toleration(key="a", operator=TolerationOperator.EXISTS, value="b")]},
            "has the operator Exists and a value",
        ),
        ({"tolerations": [Toleration(key="a", toleration_seconds=1)]}, "which need the effect NoExecute"),
        ({"topology_name": "racks"}, "It has a topology_name but no node_labels"),
        ({"extra": {"nodeTaints": [{"key": "a", "effect": "Never"}]}}, "must be one of NoSchedule, PreferNoSchedule"),
    ],
)
def test_a_flavor_that_kueue_would_refuse_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        resource_flavor_manifest("spot", ResourceFlavorArgs(**args))


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"name": "a" * 64}, "Its name, which jobs give as a label, must be at most 63"),
        ({"namespace": "Jobs"}, "Its namespace must be"),
        ({"cluster_queue": ""}, "The cluster_queue must be"),
        ({"fair_sharing": FairSharing(weight="much")}, "The weight of fair_sharing must be a quantity"),
    ],
)
def test_a_local_queue_that_no_job_could_use_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        local_queue_manifest("team-a", LocalQueueArgs(**{"namespace": "jobs", "cluster_queue": "gpu", **args}))


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"value": 2**31}, "Its value must be from -2147483648 to 2147483647, but it is 2147483648"),
        ({"value": 1, "description": "a" * 2049}, "Its description has 2049 characters, but Kueue takes 2048"),
        ({"value": 1, "name": "a" * 64}, "Its name, which jobs give as a label, must be at most 63"),
    ],
)
def test_a_priority_class_that_kueue_would_refuse_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        workload_priority_class_manifest("urgent", WorkloadPriorityClassArgs(**args))


def test_the_value_of_a_priority_class_is_a_whole_number_whatever_the_language_of_the_program() -> None:
    manifest = workload_priority_class_manifest("urgent", WorkloadPriorityClassArgs(value=10.0))  # type: ignore[arg-type]
    assert repr(manifest["value"]) == "10"


def test_a_cohort_lends_to_its_queues_and_borrows_from_its_parent() -> None:
    spec = cohort_manifest(
        "research",
        CohortArgs(parent_name="company", resource_groups=[limited(borrowing_limit="4", lending_limit="9")]),
    )["spec"]

    assert spec["parentName"] == "company"
    [flavor] = spec["resourceGroups"][0]["flavors"]
    assert flavor["resources"][0]["lendingLimit"] == "9"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"resource_groups": [limited(borrowing_limit="4")]}, "needs a parent_name, but there is none"),
        ({"parent_name": "research"}, "Its parent_name is its own name"),
    ],
)
def test_a_cohort_that_kueue_would_refuse_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        cohort_manifest("research", CohortArgs(**args))
