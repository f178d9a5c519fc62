import tarfile
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from recording_engine import Engine, Run

from pulumi_kuberay import (
    AdmissionFairSharing,
    ArgumentError,
    CertManager,
    FairSharingPolicy,
    HelmChart,
    Integrations,
    InternalCertManagement,
    Kueue,
    KueueArgs,
    KueueConfiguration,
    KueueFramework,
    KueueImage,
    KueueMetrics,
    LabelSelector,
    LabelSelectorRequirement,
    LeaderElection,
    MetricsService,
    Probe,
    Prometheus,
    PullPolicy,
    QuotaCheck,
    RequeuingStrategy,
    ResourceHandling,
    ResourceRequirements,
    ResourceTransformation,
    SelectorOperator,
    SharePreemption,
    TransformationStrategy,
    WaitForPodsReady,
    WebhookService,
    WorkloadRetention,
)
from pulumi_kuberay.kueue import object_transform
from pulumi_kuberay.kueue_configuration import DEFAULT_CONFIGURATION
from pulumi_kuberay.kueue_values import full_name, kueue_values

CHART = "kubernetes:helm.sh/v4:Chart"
NAMESPACE = "kubernetes:core/v1:Namespace"
CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
WEBHOOK = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"


def declare(run: Run, **args: Any) -> Engine:
    return run(lambda: Kueue("kueue", KueueArgs(**args)))


def values(**args: Any) -> dict[str, Any]:
    return kueue_values(KueueArgs(**args), DEFAULT_CONFIGURATION)


def configured(**args: Any) -> dict[str, Any]:
    text = values(configuration=KueueConfiguration(**args))["managerConfig"]["controllerManagerConfigYaml"]
    final: dict[str, Any] = yaml.safe_load(text)
    return final


def test_by_default_the_released_chart_and_image_are_installed_in_a_namespace_of_their_own(run: Run) -> None:
    engine = declare(run)

    chart = engine.one(CHART)
    assert chart["chart"] == "oci://registry.k8s.io/kueue/charts/kueue"
    assert chart["version"] == "0.19.2"
    assert chart["namespace"] == "kueue-system"
    assert "repositoryOpts" not in chart
    assert chart["values"]["controllerManager"]["manager"]["image"] == {
        "repository": "registry.k8s.io/kueue/kueue",
        "tag": "v0.19.2",
        "pullPolicy": "IfNotPresent",
    }
    assert engine.one(NAMESPACE)["metadata"] == {"name": "kueue-system"}


def test_nothing_but_the_image_and_the_configuration_differs_from_the_chart_by_default() -> None:
    assert set(values()) == {"controllerManager", "managerConfig"}
    assert set(values()["controllerManager"]) == {"manager"}
    assert configured() == DEFAULT_CONFIGURATION


def test_the_chart_may_come_from_another_repository_or_registry(run: Run) -> None:
    chart = declare(run, chart=HelmChart(repository="https://charts.example/", version="0.19.0")).one(CHART)
    assert (chart["chart"], chart["version"]) == ("kueue", "0.19.0")
    assert chart["repositoryOpts"] == {"repo": "https://charts.example/"}

    chart = declare(run, version="v0.18.5", chart=HelmChart(repository="oci://mirror.example/charts/")).one(CHART)
    assert (chart["chart"], chart["version"]) == ("oci://mirror.example/charts/kueue", "0.18.5")


@pytest.fixture
def local_chart(tmp_path: Path) -> Path:
    folder = tmp_path / "kueue"
    folder.mkdir()
    own = {"kind": "Configuration", "integrations": {"frameworks": ["batch/job"]}, "webhook": {"port": 1234}}
    content = {"managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(own)}}
    (folder / "values.yaml").write_text(yaml.safe_dump(content))
    return folder


def test_a_chart_on_this_machine_keeps_its_own_configuration_but_for_what_is_said(run: Run, local_chart: Path) -> None:
    packed = local_chart.with_suffix(".tgz")
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(local_chart, arcname="kueue")

    for path in (local_chart, packed):
        said = KueueConfiguration(manage_jobs_without_queue_name=True)
        chart = declare(run, chart=HelmChart(path=str(path)), configuration=said).one(CHART)
        assert chart["chart"] == str(path)
        assert "version" not in chart
        assert yaml.safe_load(chart["values"]["managerConfig"]["controllerManagerConfigYaml"]) == {
            "kind": "Configuration",
            "integrations": {"frameworks": ["batch/job"]},
            "webhook": {"port": 1234},
            "manageJobsWithoutQueueName": True,
        }


def test_outputs_follow_the_names_that_the_chart_gives(run: Run) -> None:
    seen: list[Any] = []

    def program() -> None:
        kueue = Kueue("kueue", KueueArgs(namespace="queues", fullname_override="q", create_namespace=False))
        pulumi.Output.all(kueue.namespace, kueue.deployment_name, kueue.service_account_name).apply(seen.extend)

    assert run(program).inputs(NAMESPACE) == []
    assert seen == ["queues", "q-controller-manager", "q-controller-manager"]


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ({}, "kueue"),
        ({"nameOverride": "queue"}, "kueue-queue"),
        ({"nameOverride": "kue"}, "kueue"),
        ({"fullnameOverride": "a" * 70}, "a" * 63),
    ],
)
def test_names_of_the_chart(named: dict[str, Any], name: str) -> None:
    assert full_name(named) == name


def test_typed_arguments_become_values() -> None:
    assert values(
        image=KueueImage(repository="mirror.example/kueue", tag="v1", pull_policy=PullPolicy.ALWAYS),
        replicas=2,
        feature_gates={"ConcurrentAdmission": True},
        resources=ResourceRequirements(limits={"memory": "1Gi"}),
        liveness_probe=Probe(initial_delay_seconds=30),
        readiness_probe=Probe(period_seconds=2, failure_threshold=5),
        log_level=4,
        pod_annotations={"a": "b"},
        priority_class_name="system-cluster-critical",
        pod_security_context={"runAsUser": 1},
        container_security_context={"privileged": False},
        image_pull_secrets=["pull"],
        node_selector={"pool": "system"},
        host_network=True,
        min_available=1,
        cert_manager=CertManager(issuer_name="ours", issuer_kind="ClusterIssuer"),
        prometheus=Prometheus(namespace="prometheus", tls_config={"insecureSkipVerify": False}),
        metrics_service=MetricsService(labels={"a": "b"}),
        webhook_service=WebhookService(ip_families=["IPv4", "IPv6"]),
        visibility_flow_control=True,
        dashboard=True,
        dashboard_values={"backend": {"ingress": {"enabled": False}}},
        cluster_domain="cluster.example",
        values={"controllerManager": {"replicas": 3}, "newValue": 1},
    ) | {"managerConfig": None} == {
        "controllerManager": {
            "replicas": 3,
            "featureGates": [{"name": "ConcurrentAdmission", "enabled": True}],
            "manager": {
                "image": {"repository": "mirror.example/kueue", "tag": "v1", "pullPolicy": "Always"},
                "resources": {"limits": {"memory": "1Gi"}},
                "logLevel": 4,
                "podAnnotations": {"a": "b"},
                "priorityClassName": "system-cluster-critical",
                "podSecurityContext": {"runAsUser": 1},
                "containerSecurityContext": {"privileged": False},
            },
            "livenessProbe": {"initialDelaySeconds": 30},
            "readinessProbe": {"periodSeconds": 2, "failureThreshold": 5},
            "imagePullSecrets": [{"name": "pull"}],
            "nodeSelector": {"pool": "system"},
            "hostNetwork": True,
            "dnsPolicy": "ClusterFirstWithHostNet",
            "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
        },
        "managerConfig": None,
        "enableCertManager": True,
        "certManager": {"issuerRef": {"name": "ours", "kind": "ClusterIssuer", "group": "cert-manager.io"}},
        "enablePrometheus": True,
        "metrics": {
            "prometheusNamespace": "prometheus",
            "serviceMonitor": {"tlsConfig": {"insecureSkipVerify": False}},
        },
        "metricsService": {"labels": {"a": "b"}},
        "webhookService": {"ipDualStack": {"enabled": True, "ipFamilies": ["IPv4", "IPv6"]}},
        "enableVisibilityAPF": True,
        "enableKueueViz": True,
        "kueueViz": {"backend": {"ingress": {"enabled": False}}},
        "kubernetesClusterDomain": "cluster.example",
        "newValue": 1,
    }


def test_the_configuration_is_laid_over_the_one_of_the_chart() -> None:
    final = configured(
        manage_jobs_without_queue_name=True,
        managed_jobs_namespace_selector=LabelSelector(match_labels={"kueue": "yes"}),
        integrations=Integrations(
            frameworks=[KueueFramework.RAY_JOB, KueueFramework.RAY_CLUSTER], label_keys_to_copy=["team"]
        ),
        wait_for_pods_ready=WaitForPodsReady(
            timeout_seconds=600,
            recovery_timeout_seconds=0,
            block_admission=True,
            requeuing_strategy=RequeuingStrategy(backoff_limit_count=3),
        ),
        fair_sharing=FairSharingPolicy(preemption_strategies=[SharePreemption.LESS_THAN_INITIAL_SHARE]),
        admission_fair_sharing=AdmissionFairSharing(usage_half_life_seconds=604800, resource_weights={"cpu": 0}),
        resources=ResourceHandling(
            exclude_resource_prefixes=["example.com/"],
            transformations=[
                ResourceTransformation(
                    input="nvidia.com/mig-1g.5gb",
                    strategy=TransformationStrategy.REPLACE,
                    outputs={"example.com/gpu-memory": "5Gi"},
                )
            ],
        ),
        object_retention=WorkloadRetention(after_finished_seconds=3600),
        leader_election=LeaderElection(lease_duration_seconds=30),
        group_kind_concurrency={"Workload.kueue.x-k8s.io": 20.0},
        metrics=KueueMetrics(enable_cluster_queue_resources=True, local_queue_metrics=False),
        extra={"tls": {"minVersion": "VersionTLS13"}, "clientConnection": {"burst": 1000}},
    )

    default = DEFAULT_CONFIGURATION
    assert final == {
        **default,
        "metrics": {
            "bindAddress": ":8443",
            "enableClusterQueueResources": True,
            "localQueueMetrics": {"enable": False},
        },
        "leaderElection": {**default["leaderElection"], "leaseDuration": "30s"},
        "controller": {
            "groupKindConcurrency": {**default["controller"]["groupKindConcurrency"], "Workload.kueue.x-k8s.io": 20}
        },
        "clientConnection": {"qps": 300, "burst": 1000},
        "integrations": {"frameworks": ["ray.io/rayjob", "ray.io/raycluster"], "labelKeysToCopy": ["team"]},
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchLabels": {"kueue": "yes"}},
        "waitForPodsReady": {
            "timeout": "600s",
            "recoveryTimeout": "0s",
            "blockAdmission": True,
            "requeuingStrategy": {"backoffLimitCount": 3},
        },
        "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
        "admissionFairSharing": {"usageHalfLifeTime": "604800s", "resourceWeights": {"cpu": 0}},
        "resources": {
            "excludeResourcePrefixes": ["example.com/"],
            "transformations": [
                {
                    "input": "nvidia.com/mig-1g.5gb",
                    "strategy": "Replace",
                    "outputs": {"example.com/gpu-memory": "5Gi"},
                }
            ],
        },
        "objectRetentionPolicies": {"workloads": {"afterFinished": "3600s"}},
        "tls": {"minVersion": "VersionTLS13"},
    }


def everything_but(*namespaces: str) -> LabelSelector:
    requirement = LabelSelectorRequirement(
        key="kubernetes.io/metadata.name", operator=SelectorOperator.NOT_IN, values=list(namespaces)
    )
    return LabelSelector(match_expressions=[requirement])


def test_namespaces_that_kueue_manages_leave_out_the_system_and_its_own() -> None:
    selector = everything_but("kube-system", "kueue-system")
    assert configured(managed_jobs_namespace_selector=selector)["managedJobsNamespaceSelector"] == {
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "NotIn",
                "values": ["kube-system", "kueue-system"],
            }
        ]
    }


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"integrations": Integrations(frameworks=[KueueFramework.JOB] * 2)}, "A framework is there twice"),
        ({"integrations": Integrations(external_frameworks=["Foo"])}, "must be written Kind.version.group.com"),
        ({"extra": {"integrations": {"frameworks": ["rayjob"]}}}, "Kueue has no framework 'rayjob'; it has batch/job"),
        ({"extra": {"integrations": None}}, "has no frameworks; name at least one"),
        (
            {"managed_jobs_namespace_selector": LabelSelector()},
            "selects the namespace kube-system, where Kueue must not",
        ),
        ({"managed_jobs_namespace_selector": everything_but("kube-system")}, "selects the namespace kueue-system"),
        ({"wait_for_pods_ready": WaitForPodsReady(timeout_seconds=0)}, "timeout_seconds .* must be 1 or more seconds"),
        ({"object_retention": WorkloadRetention(after_finished_seconds=-1)}, "must be 0 or more seconds, but it is -1"),
        (
            {"wait_for_pods_ready": WaitForPodsReady(requeuing_strategy=RequeuingStrategy(backoff_base_seconds=-1))},
            "backoffBaseSeconds of requeuing_strategy must be 0 or more, but it is -1",
        ),
        (
            {"fair_sharing": FairSharingPolicy(preemption_strategies=[])},
            "preemption_strategies of fair_sharing must be",
        ),
        (
            {"fair_sharing": FairSharingPolicy(preemption_strategies=list(reversed(SharePreemption)))},
            "or both in this order",
        ),
        (
            {"admission_fair_sharing": AdmissionFairSharing(usage_half_life_seconds=1, resource_weights={"cpu": -1})},
            "The weight of cpu in admission_fair_sharing must be 0 or more",
        ),
        (
            {
                "resources": ResourceHandling(
                    quota_check_strategy=QuotaCheck.IGNORE_UNDECLARED, exclude_resource_prefixes=["a"]
                )
            },
            "exclude_resource_prefixes cannot go with the quota_check_strategy IgnoreUndeclared",
        ),
        (
            {"resources": ResourceHandling(transformations=[ResourceTransformation(input="a")] * 2)},
            "An input is transformed twice",
        ),
        (
            {"resources": ResourceHandling(transformations=[ResourceTransformation(input="a", outputs={"b": "x"})])},
            "The output b of the transformation of a must be a quantity",
        ),
        (
            {"internal_cert_management": InternalCertManagement(enable=False)},
            "so that the webhooks would have no certificate",
        ),
    ],
)
def test_a_configuration_that_kueue_would_exit_on_is_refused_at_preview(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        configured(**args)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"namespace": "Queues"}, "Its namespace must be"),
        ({"replicas": 0}, "replicas must be 1 or more, but it is 0"),
        (
            {"replicas": 2, "configuration": KueueConfiguration(leader_election=LeaderElection(leader_elect=False))},
            "2 replicas without leader election",
        ),
        ({"replicas": 1, "min_available": 2}, "min_available is 2, but there are only 1 replicas"),
        ({"log_level": -1}, "log_level must be 0 or more"),
        (
            {"feature_gates": {"TopologyAwareSheduling": True}},
            "Kueue 0.19.2 has no feature gate 'TopologyAwareSheduling'.* did you mean TopologyAwareScheduling?",
        ),
        (
            {"feature_gates": {"UnadmittedWorkloadsExplicitStatus": True}},
            "UnadmittedWorkloadsExplicitStatus on, which requires UnadmittedWorkloadsObservability",
        ),
        ({"feature_gates": {"KueueDRAIntegration": False}}, "KueueDRAIntegrationExtendedResource to false"),
        ({"feature_gates": {"HierarchicalCohorts": False}}, "has locked the feature gate HierarchicalCohorts to True"),
        (
            {
                "feature_gates": {"ConcurrentAdmission": True},
                "configuration": KueueConfiguration(extra={"featureGates": {"LocalQueueMetrics": True}}),
            },
            "Feature gates are in feature_gates and in the configuration",
        ),
        (
            {
                "cert_manager": CertManager(),
                "configuration": KueueConfiguration(internal_cert_management=InternalCertManagement(enable=True)),
            },
            "only one of them can make certificates",
        ),
        ({"cert_manager": CertManager(issuer_kind="ClusterIssuer")}, "without an issuer_name; name the issuer"),
        ({"webhook_service": WebhookService(ip_family_policy="PreferDualStack")}, "without ip_families"),
        ({"dashboard_values": {"a": 1}}, "dashboard is off; turn it on, or drop them"),
        ({"values": {"managerConfig": {"controllerManagerConfigYaml": "a: ["}}}, "is not valid YAML"),
        ({"values": {"managerConfig": {"controllerManagerConfigYaml": "- a"}}}, "must be a mapping"),
        ({"values": {"managerConfig": {"controllerManagerConfigYaml": "a: 1"}}}, "has no frameworks"),
    ],
)
def test_arguments_that_cannot_work_are_refused(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        values(**args)


def test_gates_of_a_release_that_is_not_known_here_are_passed_on() -> None:
    gates = values(version="0.20.0", feature_gates={"BrandNew": True})["controllerManager"]["featureGates"]
    assert gates == [{"name": "BrandNew", "enabled": True}]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "is no Helm chart with a values.yaml"), ("- a", "must be a mapping"), ("a: 1", "name a chart of Kueue")],
)
def test_a_folder_that_is_no_chart_of_kueue_is_refused(
    run: Run, tmp_path: Path, content: str | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / "values.yaml").write_text(content)
    with pytest.raises(ArgumentError, match=sentence):
        declare(run, chart=HelmChart(path=str(tmp_path)))


def transformed(type_: str, keep_crds: bool = True, wait: bool = True) -> pulumi.ResourceTransformResult | None:
    props = {"kind": "Any", "metadata": {"name": "x", "annotations": {"kept": "yes"}}}
    args = pulumi.ResourceTransformArgs(True, type_, "x", props, pulumi.ResourceOptions(version="1"))
    return object_transform(keep_crds, wait)(args)


@pytest.mark.parametrize("keep", [True, False])
def test_crds_are_protected_and_retained_unless_they_are_throwaway(keep: bool) -> None:
    result = transformed(CRD, keep_crds=keep)

    assert result is not None
    assert (result.opts.protect, result.opts.retain_on_delete, result.opts.version) == (keep, keep, "1")
    assert dict(result.props) == {
        "kind": "Any",
        "metadata": {
            "name": "x",
            "annotations": {"kept": "yes", "pulumi.com/waitFor": "condition=Established"},
        },
    }


def test_pulumi_waits_for_the_certificate_of_the_webhooks_unless_it_is_told_not_to() -> None:
    result = transformed(WEBHOOK)

    assert result is not None
    assert dict(result.props) == {
        "kind": "Any",
        "metadata": {
            "name": "x",
            "annotations": {
                "kept": "yes",
                "pulumi.com/waitFor": "jsonpath={.webhooks[*].clientConfig.caBundle}",
            },
        },
    }
    assert transformed(WEBHOOK, wait=False) is None


def test_other_objects_of_the_chart_are_left_alone() -> None:
    assert transformed("kubernetes:apps/v1:Deployment") is None
