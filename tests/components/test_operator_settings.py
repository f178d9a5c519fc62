from typing import Any

import pytest

from pulumi_kuberay import (
    ArgumentError,
    BatchScheduler,
    HelmChart,
    InstallMode,
    KubeClient,
    KubeRayOperatorArgs,
    KustomizeFolders,
    LogEncoder,
    OperatorConfiguration,
    OperatorEnvironment,
    OperatorImage,
    OperatorLogging,
    OperatorMetrics,
    OperatorProbe,
    OperatorService,
    PullPolicy,
    RbacScope,
    ResourceRequirements,
    ServiceAccount,
    ServiceMonitor,
    ServiceType,
    Toleration,
    TolerationOperator,
)
from pulumi_kuberay.errors import refuse
from pulumi_kuberay.merging import deep_merge
from pulumi_kuberay.operator_checks import operator_problems
from pulumi_kuberay.operator_patch import deployment_patch
from pulumi_kuberay.operator_values import chart_names, operator_values


def values(**args: Any) -> dict[str, Any]:
    """Return the values without those that are always there."""
    return {
        key: value
        for key, value in operator_values(KubeRayOperatorArgs(**args)).items()
        if key not in ("image", "featureGates")
    }


def check(**args: Any) -> None:
    typed = KubeRayOperatorArgs(**args)
    refuse("It cannot work.", operator_problems(typed, deep_merge(operator_values(typed), typed.values or {})))


def test_only_image_and_gates_are_said_when_nothing_is_asked_for() -> None:
    assert set(operator_values(KubeRayOperatorArgs())) == {"image", "featureGates"}


def test_the_image_is_the_published_one_of_the_version() -> None:
    assert operator_values(KubeRayOperatorArgs(version="v1.7.0"))["image"] == {
        "repository": "quay.io/kuberay/operator",
        "tag": "v1.7.0",
    }
    image = OperatorImage(repository="mirror.example/operator", tag="v1.6.2-1", pull_policy=PullPolicy.ALWAYS)
    assert operator_values(KubeRayOperatorArgs(image=image))["image"] == {
        "repository": "mirror.example/operator",
        "tag": "v1.6.2-1",
        "pullPolicy": "Always",
    }


def test_all_feature_gates_are_rendered_because_helm_replaces_lists() -> None:
    args = KubeRayOperatorArgs(version="1.7.0", feature_gates={"RayCronJob": True})

    gates = {gate["name"]: gate["enabled"] for gate in operator_values(args)["featureGates"]}
    assert gates["RayCronJob"] is True
    assert gates["RayJobDeletionPolicy"] is True
    assert gates["RayClusterMTLS"] is False


def test_every_typed_argument_becomes_a_value() -> None:
    assert values(
        version="1.7.0",
        image_pull_secrets=["pull"],
        replicas=2,
        leader_election=True,
        reconcile_concurrency=3.0,
        kube_client=KubeClient(qps=50.5, burst=100),
        use_kubernetes_proxy=True,
        watch_namespaces=("a", "b"),
        service_account=ServiceAccount(create=False, name="ours"),
        batch_scheduler=BatchScheduler.VOLCANO,
        configuration=OperatorConfiguration(
            default_container_envs=[{"name": "A", "value": "1"}],
            head_sidecar_containers=[{"name": "head"}],
            worker_sidecar_containers=[{"name": "worker"}],
            default_pod_annotations={"a": "b"},
            default_pod_labels={"c": "d"},
        ),
        environment=OperatorEnvironment(
            enable_login_shell=True, cluster_domain="cluster.example", rayjob_status_check_timeout_seconds=60
        ),
        env={"OTHER": "x"},
        logging=OperatorLogging(
            stdout_encoder=LogEncoder.CONSOLE,
            file_encoder=LogEncoder.JSON,
            base_dir="/var/log",
            file_name="operator.log",
            size_limit="1Gi",
        ),
        metrics=OperatorMetrics(
            enabled=True,
            service_monitor=ServiceMonitor(
                enabled=True,
                interval_seconds=60,
                honor_labels=False,
                additional_labels={"release": "prometheus"},
                namespace="monitoring",
            ),
        ),
        resources=ResourceRequirements(limits={"memory": "1Gi"}, requests={"cpu": "1"}),
        liveness_probe=OperatorProbe(initial_delay_seconds=30),
        readiness_probe=OperatorProbe(period_seconds=2, failure_threshold=3),
        pod_security_context={"fsGroup": 1},
        security_context={"runAsUser": 1},
        service=OperatorService(type=ServiceType.NODE_PORT, port=80),
        node_selector={"pool": "system"},
        affinity={"nodeAffinity": {}},
        tolerations=[Toleration(key="system", operator=TolerationOperator.EXISTS)],
        priority_class_name="system-cluster-critical",
        labels={"team": "ray"},
        annotations={"e": "f"},
        operator_command="/operator",
        name_override="n",
        fullname_override="f",
        component_override="c",
    ) == {
        "imagePullSecrets": [{"name": "pull"}],
        "replicas": 2,
        "leaderElectionEnabled": True,
        "reconcileConcurrency": 3,
        "kubeClient": {"qps": 50.5, "burst": 100},
        "useKubernetesProxy": True,
        "watchNamespace": ["a", "b"],
        "serviceAccount": {"create": False, "name": "ours"},
        "batchScheduler": {"name": "volcano"},
        "configuration": {
            "enabled": True,
            "defaultContainerEnvs": [{"name": "A", "value": "1"}],
            "headSidecarContainers": [{"name": "head"}],
            "workerSidecarContainers": [{"name": "worker"}],
            "defaultPodAnnotations": {"a": "b"},
            "defaultPodLabels": {"c": "d"},
        },
        "env": [
            {"name": "CLUSTER_DOMAIN", "value": "cluster.example"},
            {"name": "ENABLE_LOGIN_SHELL", "value": "true"},
            {"name": "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS", "value": "60"},
            {"name": "OTHER", "value": "x"},
        ],
        "logging": {
            "stdoutEncoder": "console",
            "fileEncoder": "json",
            "baseDir": "/var/log",
            "fileName": "operator.log",
            "sizeLimit": "1Gi",
        },
        "metrics": {
            "enabled": True,
            "serviceMonitor": {
                "enabled": True,
                "interval": "60s",
                "honorLabels": False,
                "additionalLabels": {"release": "prometheus"},
                "namespace": "monitoring",
            },
        },
        "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}},
        "livenessProbe": {"initialDelaySeconds": 30},
        "readinessProbe": {"periodSeconds": 2, "failureThreshold": 3},
        "podSecurityContext": {"fsGroup": 1},
        "securityContext": {"runAsUser": 1},
        "service": {"type": "NodePort", "port": 80},
        "nodeSelector": {"pool": "system"},
        "affinity": {"nodeAffinity": {}},
        "tolerations": [{"key": "system", "operator": "Exists"}],
        "priorityClassName": "system-cluster-critical",
        "labels": {"team": "ray"},
        "annotations": {"e": "f"},
        "operatorCommand": "/operator",
        "nameOverride": "n",
        "fullnameOverride": "f",
        "componentOverride": "c",
    }


@pytest.mark.parametrize(
    ("scope", "rendered"),
    [
        (RbacScope.CLUSTER, {"rbacEnable": True, "singleNamespaceInstall": False}),
        (
            RbacScope.NAMESPACES,
            {"rbacEnable": True, "singleNamespaceInstall": True, "crNamespacedRbacEnable": True},
        ),
        (
            RbacScope.LEADER_ELECTION,
            {"rbacEnable": True, "singleNamespaceInstall": True, "crNamespacedRbacEnable": False},
        ),
        (RbacScope.NONE, {"rbacEnable": False}),
    ],
)
def test_one_choice_of_roles_sets_the_three_switches_of_the_chart(scope: RbacScope, rendered: dict[str, bool]) -> None:
    assert values(rbac=scope) == rendered


def test_empty_lists_are_left_to_the_chart() -> None:
    assert values(watch_namespaces=[], env={}, image_pull_secrets=[]) == {}


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({}, ("kuberay-operator", "kuberay-operator")),
        ({"fullnameOverride": ""}, ("kuberay-operator", "kuberay-operator")),
        ({"fullnameOverride": "", "nameOverride": "x"}, ("kuberay-operator-x", "kuberay-operator")),
        ({"fullnameOverride": "ray", "serviceAccount": {"name": ""}}, ("ray", "ray")),
        ({"serviceAccount": {"create": False, "name": ""}}, ("kuberay-operator", "default")),
    ],
)
def test_names_of_the_chart(args: dict[str, Any], names: tuple[str, str]) -> None:
    assert chart_names(args, "kuberay-operator") == names


def patched(**args: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    pod = deployment_patch(operator_values(KubeRayOperatorArgs(**args)))["spec"]["template"]["spec"]
    [container] = pod["containers"]
    return pod, container


def test_a_kustomized_container_gets_the_flags_of_the_operator() -> None:
    _, container = patched(
        leader_election=False,
        use_kubernetes_proxy=True,
        watch_namespaces=["a", "b"],
        reconcile_concurrency=4,
        kube_client=KubeClient(qps=50),
        batch_scheduler=BatchScheduler.YUNIKORN,
        logging=OperatorLogging(stdout_encoder=LogEncoder.CONSOLE),
        env={"A": "1"},
    )

    assert container["image"] == "quay.io/kuberay/operator:v1.6.2"
    assert container["args"][0].startswith("--feature-gates=RayClusterStatusConditions=true,")
    assert container["args"][1:] == [
        "--enable-leader-election=false",
        "--use-kubernetes-proxy=true",
        "--enable-metrics=true",
        "--reconcile-concurrency=4",
        "--qps=50",
        "--batch-scheduler=yunikorn",
        "--log-stdout-encoder=console",
        "--watch-namespace=a,b",
    ]
    assert container["env"] == [{"name": "A", "value": "1"}]
    assert "resources" not in container


def test_a_kustomized_pod_gets_the_settings_of_the_chart() -> None:
    pod, container = patched(
        image_pull_secrets=["pull"],
        node_selector={"pool": "system"},
        logging=OperatorLogging(base_dir="/var/log", file_name="ray.log", size_limit="1Gi"),
        liveness_probe=OperatorProbe(period_seconds=1),
    )

    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["nodeSelector"] == {"pool": "system"}
    assert pod["volumes"] == [{"name": "kuberay-logs", "emptyDir": {"sizeLimit": "1Gi"}}]
    assert container["volumeMounts"] == [{"name": "kuberay-logs", "mountPath": "/var/log"}]
    assert "--log-file-path=/var/log/ray.log" in container["args"]
    assert container["livenessProbe"] == {"periodSeconds": 1}


KUSTOMIZE = KustomizeFolders(paths=["x"])


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"chart": HelmChart(), "kustomize": KUSTOMIZE}, "but both are set"),
        ({"kustomize": KUSTOMIZE, "values": {"a": 1}}, "values can be set for the Helm chart only"),
        (
            {"kustomize": KUSTOMIZE, "install": InstallMode.RELEASE, "rbac": RbacScope.NONE},
            "install and rbac can be set for the Helm chart only",
        ),
        (
            {"kustomize": KUSTOMIZE, "metrics": OperatorMetrics(service_monitor=ServiceMonitor(enabled=True))},
            "metrics.service_monitor can be set for the Helm chart only",
        ),
        ({"namespace": "Ray"}, "namespace must be at most 63"),
        ({"watch_namespaces": ["a.b"]}, "A name in watch_namespaces must be at most 63"),
        ({"watch_namespaces": ["a", "a"]}, "watch_namespaces has a namespace twice: a, a"),
        ({"replicas": 0}, "replicas must be 1 or more, but it is 0"),
        ({"values": {"replicas": 0}}, "replicas must be 1 or more, but it is 0"),
        ({"replicas": 2, "leader_election": False}, "2 replicas without leader election"),
        ({"reconcile_concurrency": 0}, "reconcileConcurrency must be 1 or more"),
        ({"kube_client": KubeClient(qps=-1)}, "kubeClient.qps must be 0 or more"),
        ({"service": OperatorService(port=0)}, "service.port must be 1 or more"),
        ({"service": OperatorService(port=70000)}, "service.port must be 65535 or less"),
        ({"liveness_probe": OperatorProbe(period_seconds=0)}, "livenessProbe.periodSeconds must be 1 or more"),
        (
            {"metrics": OperatorMetrics(service_monitor=ServiceMonitor(interval_seconds=0))},
            "interval_seconds of service_monitor must be 1 or more",
        ),
        (
            {"feature_gates": {"SidecarSubmitterRestart": True}},
            "has no feature gate 'SidecarSubmitterRestart'",
        ),
        ({"version": "0.1.0"}, "KubeRay 0.1.0 is not supported"),
        (
            {"metrics": OperatorMetrics(service_monitor=ServiceMonitor(additional_labels={"a": "b"}))},
            "metrics.serviceMonitor.additionalLabels exists in the chart since 1.7.0, but the operator is 1.6.2",
        ),
        (
            {"version": "1.7.0", "metrics": OperatorMetrics(service_monitor=ServiceMonitor(selector={"a": "b"}))},
            "selector exists in the chart before 1.7.0 only, but the operator is 1.7.0.* use additional_labels",
        ),
        (
            {"version": "1.5.2", "configuration": OperatorConfiguration(head_sidecar_containers=[{"name": "a"}])},
            "configuration.headSidecarContainers exists in the chart since 1.6.0, but the operator is 1.5.2",
        ),
        (
            {"environment": OperatorEnvironment(rayjob_status_check_timeout_seconds=60)},
            "rayjob_status_check_timeout_seconds of environment exists since 1.7.0, but the operator is 1.6.2",
        ),
        (
            {"environment": OperatorEnvironment(raycluster_default_requeue_seconds=0)},
            "raycluster_default_requeue_seconds of environment must be 1 or more seconds, but it is 0",
        ),
        (
            {"environment": OperatorEnvironment(enable_login_shell=True), "env": {"ENABLE_LOGIN_SHELL": "false"}},
            "The variable ENABLE_LOGIN_SHELL is in env and, as enable_login_shell, in environment",
        ),
        ({"logging": OperatorLogging(base_dir="/logs")}, "logging has a base_dir without a file_name"),
        ({"logging": OperatorLogging(file_name="a.log")}, "logging has a file_name without a base_dir"),
        (
            {"logging": OperatorLogging(base_dir="logs", file_name="a")},
            "base_dir of logging must be an absolute path, but it is 'logs'",
        ),
        ({"logging": OperatorLogging(size_limit="1Gi")}, "a size_limit without a base_dir"),
        (
            {"logging": OperatorLogging(base_dir="/l", file_name="a", size_limit="big")},
            "size_limit of logging must be a quantity",
        ),
        (
            {"batch_scheduler": BatchScheduler.VOLCANO, "values": {"batchScheduler": {"enabled": True}}},
            "batchScheduler is enabled and named volcano, on which the operator exits",
        ),
        (
            {"batch_scheduler": BatchScheduler.VOLCANO, "rbac": RbacScope.NAMESPACES},
            "The chart of 1.6.2 gives Roles in namespaces no rights for the batch scheduler volcano",
        ),
        (
            {
                "configuration": OperatorConfiguration(),
                "environment": OperatorEnvironment(delete_rayjob_cr_after_job_finishes=True),
            },
            "With configuration the operator of 1.6.2 ignores DELETE_RAYJOB_CR_AFTER_JOB_FINISHES",
        ),
        (
            {"configuration": OperatorConfiguration(), "logging": OperatorLogging(stdout_encoder=LogEncoder.CONSOLE)},
            "writes its log as json whatever logging says",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        check(**args)


@pytest.mark.parametrize(
    "args",
    [
        {"version": "1.7.0", "metrics": OperatorMetrics(service_monitor=ServiceMonitor(additional_labels={"a": "b"}))},
        {"version": "1.5.2", "metrics": OperatorMetrics(service_monitor=ServiceMonitor(selector={"a": "b"}))},
        {"version": "1.7.0", "batch_scheduler": BatchScheduler.VOLCANO, "rbac": RbacScope.NAMESPACES},
        {"version": "1.7.0", "environment": OperatorEnvironment(rayjob_status_check_timeout_seconds=60)},
        {"replicas": 2, "logging": OperatorLogging(base_dir="/l", file_name="a", size_limit="1Gi")},
        {"kustomize": KUSTOMIZE, "replicas": 2, "metrics": OperatorMetrics(enabled=False)},
    ],
)
def test_settings_that_the_version_has_are_accepted(args: dict[str, Any]) -> None:
    check(**args)
