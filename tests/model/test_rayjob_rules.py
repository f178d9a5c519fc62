"""Each rule with a RayJob that breaks it and one, near to it, that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from kuberay_model import schemas
from kuberay_model.rules import (
    RULES,
    Layer,
    Severity,
    UnknownRuleError,
    explain,
    refusal,
    validate,
    validate_structure,
)
from kuberay_model.rules.order import OPERATOR_ORDER

from .crds import crd
from .rayjobs import (
    CLUSTER,
    CONTAINER,
    HEAD,
    WORKER,
    Change,
    annotated,
    autoscaled,
    deletion_rule,
    good,
    head_env,
    labelled,
    legacy,
    put,
    rules,
    selecting,
    spec,
    without,
)

ON_SUCCESS = {"jobStatus": "SUCCEEDED"}
ON_FAILURE = {"jobStatus": "FAILED"}
ON_FAILED = {"jobDeploymentStatus": "Failed"}
FT = put(f"{CLUSTER}.gcsFaultToleranceOptions", {"redisAddress": "redis:6379"})
LONG = "a" * 47
COLLECTOR = {"image": "collector:1", "env": [{"name": "STORAGE_BACKEND", "value": "S3"}]}
SECOND_GROUP = {
    "groupName": "large",
    "template": {"spec": {"containers": [{"name": "ray-worker", "image": "rayproject/ray:2.52.0"}]}},
}


@dataclass(frozen=True)
class Case:
    """A rule, what breaks it, where it is found, and what is near to it and keeps it."""

    rule: str
    bad: tuple[Change, ...]
    path: str
    fine: tuple[Change, ...] = ()
    version: str = "1.6.2"
    gates: dict[str, bool] = field(default_factory=dict)


def rocksdb(**options: Any) -> Change:
    return put(f"{CLUSTER}.gcsFaultToleranceOptions", {"backend": "rocksdb", **options})


def collector(**environment: str) -> Change:
    env = [{"name": name, "value": value} for name, value in environment.items()]
    return put(f"{CLUSTER}.historyServerOptions", {"collectorOptions": {"image": "collector:1", "env": env}})


ROCKSDB = {"GCSFaultToleranceEmbeddedStorage": True}
HISTORY = {"RayClusterHistoryServer": True}
POLICY = {"RayClusterNetworkPolicy": True}
TLS = {"RayClusterMTLS": True}
SIDECAR = spec(submissionMode="SidecarMode")
INTERACTIVE = spec(submissionMode="InteractiveMode", preRunningDeadlineSeconds=60)

CASES = [
    Case("J1", (put("metadata.name", LONG + "a"),), "metadata.name", (put("metadata.name", LONG),)),
    Case("J1", (without("metadata.name"), put("metadata.generateName", "a" * 43)), "metadata.name"),
    Case("J2", (put("metadata.name", "1train"),), "metadata.name", (put("metadata.name", "train-1"),)),
    Case("J2", (put("metadata.name", "Train"),), "metadata.name"),
    Case("J2", (put("metadata.name", "tr.ain"),), "metadata.name"),
    Case("J2", (put("metadata.name", "train\n"),), "metadata.name"),
    Case("J3", (spec(suspend=True, shutdownAfterJobFinishes=False),), "spec.suspend", (spec(suspend=True),)),
    Case(
        "J4",
        (spec(ttlSecondsAfterFinished=-1),),
        "spec.ttlSecondsAfterFinished",
        (spec(ttlSecondsAfterFinished=0),),
    ),
    Case(
        "J5",
        (spec(ttlSecondsAfterFinished=1, shutdownAfterJobFinishes=False),),
        "spec.ttlSecondsAfterFinished",
        (spec(ttlSecondsAfterFinished=1),),
    ),
    Case(
        "J6",
        (legacy("DeleteCluster", "DeleteCluster"),),
        "spec.deletionStrategy",
        (),
        gates={"RayJobDeletionPolicy": False},
    ),
    Case(
        "J7",
        (rules(deletion_rule("DeleteCluster", ON_FAILED)), spec(shutdownAfterJobFinishes=True)),
        "spec.deletionStrategy.deletionRules",
        (rules(deletion_rule("DeleteCluster", ON_FAILED)),),
    ),
    Case(
        "J8",
        (
            rules(deletion_rule("DeleteCluster", ON_FAILED)),
            put("spec.deletionStrategy.onSuccess", {"policy": "DeleteCluster"}),
        ),
        "spec.deletionStrategy",
    ),
    Case("J9", (put("spec.deletionStrategy", {}),), "spec.deletionStrategy"),
    Case(
        "J10",
        (rules(deletion_rule("DeleteCluster", ON_FAILED, ON_FAILURE)),),
        "spec.deletionStrategy.deletionRules[0].condition",
        (rules(deletion_rule("DeleteCluster", ON_FAILURE), deletion_rule("DeleteCluster", ON_FAILED)),),
    ),
    Case("J10", (rules(deletion_rule("DeleteCluster")),), "spec.deletionStrategy.deletionRules[0].condition"),
    Case(
        "J11",
        (rules(deletion_rule("DeleteCluster", ON_FAILED, ttl=-1)),),
        "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds",
        (rules(deletion_rule("DeleteCluster", ON_FAILED, ttl=0)),),
    ),
    Case(
        "J12",
        (selecting(), rules(deletion_rule("DeleteWorkers", ON_FAILED))),
        "spec.deletionStrategy.deletionRules[0].policy",
        (selecting(), rules(deletion_rule("DeleteSelf", ON_FAILED))),
    ),
    Case(
        "J13",
        (autoscaled(), rules(deletion_rule("DeleteWorkers", ON_FAILED))),
        "spec.deletionStrategy.deletionRules[0].policy",
        (autoscaled(), rules(deletion_rule("DeleteCluster", ON_FAILED))),
    ),
    Case(
        "J14",
        (rules(*[deletion_rule("DeleteCluster", ON_FAILURE, ttl=ttl) for ttl in (1, 2)]),),
        "spec.deletionStrategy.deletionRules[1]",
        (rules(deletion_rule("DeleteCluster", ON_FAILURE), deletion_rule("DeleteCluster", ON_SUCCESS)),),
    ),
    Case(
        "J15",
        (
            rules(
                deletion_rule("DeleteSelf", ON_FAILURE, ttl=5),
                deletion_rule("DeleteWorkers", ON_FAILURE, ttl=6),
            ),
        ),
        "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds",
        (
            rules(
                deletion_rule("DeleteSelf", ON_FAILURE, ttl=5),
                deletion_rule("DeleteWorkers", ON_SUCCESS, ttl=6),
            ),
        ),
    ),
    Case("J16", (legacy("DeleteCluster", None),), "spec.deletionStrategy.onFailure"),
    Case(
        "J16",
        (put("spec.deletionStrategy", {"onSuccess": {"policy": "DeleteCluster"}, "onFailure": {}}),),
        "spec.deletionStrategy.onFailure.policy",
        (legacy("DeleteCluster", "DeleteCluster"),),
    ),
    Case(
        "J17",
        (selecting(), legacy("DeleteCluster", "DeleteNone")),
        "spec.deletionStrategy.onSuccess.policy",
        (selecting(), legacy("DeleteNone", "DeleteNone")),
    ),
    Case(
        "J18",
        (autoscaled(), legacy("DeleteCluster", "DeleteWorkers")),
        "spec.deletionStrategy.onFailure.policy",
        (legacy("DeleteCluster", "DeleteWorkers"),),
    ),
    Case(
        "J19",
        (legacy("DeleteNone", "DeleteCluster"),),
        "spec.deletionStrategy.onSuccess.policy",
        (spec(shutdownAfterJobFinishes=False), legacy("DeleteNone", "DeleteCluster")),
    ),
    Case("J20", (selecting(suspend=True, shutdownAfterJobFinishes=True),), "spec.suspend", (selecting(),)),
    Case("J21", (without("spec.rayClusterSpec"),), "spec", (selecting(),)),
    Case("J21", (without("spec.rayClusterSpec"), spec(clusterSelector={})), "spec"),
    Case("J22", (selecting(clusterSelector={"app": "ray"}),), "spec.clusterSelector", (selecting(),)),
    Case("J22", (selecting(clusterSelector={"ray.io/cluster": ""}),), "spec.clusterSelector"),
    Case("J23", (selecting(), SIDECAR), "spec.submissionMode", (selecting(), spec(submissionMode="HTTPMode"))),
    Case("J24", (selecting(backoffLimit=1),), "spec.backoffLimit", (selecting(backoffLimit=0),)),
    Case("J25", (INTERACTIVE, spec(backoffLimit=1)), "spec.backoffLimit", (INTERACTIVE,)),
    Case("J26", (SIDECAR, spec(submitterPodTemplate={})), "spec.submitterPodTemplate", (SIDECAR,)),
    Case("J27", (SIDECAR, spec(submitterConfig={})), "spec.submitterConfig", (spec(submitterConfig={}),)),
    Case(
        "J28",
        (SIDECAR, put(f"{HEAD}.template.spec.restartPolicy", "Always")),
        f"{HEAD}.template.spec.restartPolicy",
        (SIDECAR, put(f"{HEAD}.template.spec.restartPolicy", "Never")),
    ),
    Case(
        "J29",
        (put(f"{CLUSTER}.authOptions.enableK8sTokenAuth", True),),
        f"{CLUSTER}.authOptions.enableK8sTokenAuth",
        (put(f"{CLUSTER}.authOptions.enableK8sTokenAuth", False),),
    ),
    Case("J31", (spec(runtimeEnvYAML="pip: ["),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="pip: []"),)),
    Case("J31", (spec(runtimeEnvYAML="- pip"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="# nothing"),)),
    Case("J31", (spec(runtimeEnvYAML="pip"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="null"),)),
    Case("J31", (spec(runtimeEnvYAML="[a]: b"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="1: b"),)),
    Case("J31", (spec(runtimeEnvYAML="<<: 1"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="<<: {a: 1}"),)),
    Case("J31", (spec(runtimeEnvYAML="a: !!int x"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="a: !!int '1'"),)),
    Case("J31", (spec(runtimeEnvYAML="!!null x"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="a: !mine x"),)),
    Case(
        "J31",
        (spec(runtimeEnvYAML="a: !!binary '%'"),),
        "spec.runtimeEnvYAML",
        (spec(runtimeEnvYAML="a: !!binary aGk="),),
    ),
    Case(
        "J31", (spec(runtimeEnvYAML="a: &a [*a]"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="a: &a [1]\nb: *a"),)
    ),
    Case("J31", (spec(runtimeEnvYAML="a: .inf"),), "spec.runtimeEnvYAML", (spec(runtimeEnvYAML="a: 1.5"),)),
    Case(
        "J32",
        (spec(activeDeadlineSeconds=0),),
        "spec.activeDeadlineSeconds",
        (spec(activeDeadlineSeconds=1),),
    ),
    Case(
        "J33",
        (spec(preRunningDeadlineSeconds=0),),
        "spec.preRunningDeadlineSeconds",
        (spec(preRunningDeadlineSeconds=1),),
    ),
    Case("J34", (spec(backoffLimit=-1),), "spec.backoffLimit", (spec(backoffLimit=0),)),
    Case(
        "J35",
        (put("status", {"jobDeploymentStatus": "Waiting"}),),
        "spec.submissionMode",
        (INTERACTIVE, put("status", {"jobDeploymentStatus": "Waiting"})),
    ),
    Case("C1", (put(f"{HEAD}.template.spec.containers", []),), f"{HEAD}.template.spec.containers"),
    Case(
        "C1",
        (put(f"{WORKER}.template.spec.containers", []),),
        f"{CLUSTER}.workerGroupSpecs[0].template.spec.containers",
    ),
    Case(
        "C2",
        (put(f"{HEAD}.rayStartParams", {"num-cpus": "1"}), put(f"{HEAD}.resources", {"CPU": "1"})),
        f"{HEAD}.resources",
        (put(f"{HEAD}.rayStartParams", {"num-cpus": ""}), put(f"{HEAD}.resources", {"CPU": "1"})),
    ),
    Case(
        "C3",
        (put(f"{WORKER}.rayStartParams", {"labels": ""}),),
        f"{CLUSTER}.workerGroupSpecs[0].rayStartParams.labels",
        (put(f"{WORKER}.labels", {"ray.io/zone": "a.b_c"}),),
    ),
    Case(
        "C3",
        (put(f"{HEAD}.labels", {"zone": "-a"}),),
        f"{HEAD}.labels[zone]",
        (put(f"{HEAD}.labels", {"zone": ""}),),
    ),
    Case("C3", (put(f"{HEAD}.labels", {"a/b/c": "x"}),), f"{HEAD}.labels[a/b/c]"),
    Case("C3", (put(f"{HEAD}.labels", {"/c": "x"}),), f"{HEAD}.labels[/c]"),
    Case("C5", (put(f"{WORKER}.minReplicas", -1),), f"{CLUSTER}.workerGroupSpecs[0].minReplicas"),
    Case("C5", (put(f"{WORKER}.minReplicas", 3),), f"{CLUSTER}.workerGroupSpecs[0].minReplicas", ()),
    Case(
        "C6",
        (put(f"{WORKER}.idleTimeoutSeconds", 60),),
        f"{CLUSTER}.workerGroupSpecs[0].idleTimeoutSeconds",
        (autoscaled("v2"), put(f"{WORKER}.idleTimeoutSeconds", 60)),
    ),
    Case(
        "C6",
        (autoscaled("v2"), put(f"{WORKER}.idleTimeoutSeconds", -1)),
        f"{CLUSTER}.workerGroupSpecs[0].idleTimeoutSeconds",
        (autoscaled(), head_env(RAY_enable_autoscaler_v2="1"), put(f"{WORKER}.idleTimeoutSeconds", 0)),
    ),
    Case(
        "C7",
        (put(f"{WORKER}.priority", 1),),
        f"{CLUSTER}.workerGroupSpecs[0].priority",
        (put(f"{WORKER}.priority", 0),),
        version="1.7.0",
    ),
    Case(
        "C7",
        (put(f"{WORKER}.priority", 1), put(f"{CLUSTER}.rayVersion", "2.56.0")),
        f"{CLUSTER}.workerGroupSpecs[0].priority",
        (put(f"{WORKER}.priority", 1), put(f"{CLUSTER}.rayVersion", "2.56.0"), autoscaled("v2")),
        version="1.7.0",
    ),
    Case(
        "C8",
        (FT, annotated("ray.io/ft-enabled", "false")),
        "metadata.annotations[ray.io/ft-enabled]",
        (FT, annotated("ray.io/ft-enabled", "")),
    ),
    Case(
        "C9",
        (head_env(RAY_REDIS_ADDRESS="r:1"),),
        f"{HEAD}.template.spec.containers[0].env",
        (head_env(RAY_REDIS_ADDRESS="r:1"), annotated("ray.io/ft-enabled", "TRUE")),
    ),
    Case("C10", (FT, head_env(RAY_REDIS_ADDRESS="r:1")), f"{HEAD}.template.spec.containers[0].env", (FT,)),
    Case(
        "C10",
        (FT, head_env(REDIS_PASSWORD="p")),
        f"{HEAD}.template.spec.containers[0].env",
        (head_env(REDIS_PASSWORD="p"),),
    ),
    Case(
        "C10",
        (FT, put(f"{HEAD}.rayStartParams", {"redis-password": "p"})),
        f"{HEAD}.rayStartParams.redis-password",
        (FT, put(f"{HEAD}.rayStartParams", {"redis-password": ""})),
    ),
    Case(
        "C10",
        (FT, annotated("ray.io/external-storage-namespace", "n")),
        "metadata.annotations[ray.io/external-storage-namespace]",
        (annotated("ray.io/external-storage-namespace", "n"),),
    ),
    Case("C11", (head_env(REDIS_USERNAME="u"),), f"{HEAD}.template.spec.containers[0].env"),
    Case(
        "C11",
        (put(f"{HEAD}.rayStartParams", {"redis-username": "u"}),),
        f"{HEAD}.rayStartParams.redis-username",
    ),
    Case("C12", (rocksdb(),), f"{CLUSTER}.gcsFaultToleranceOptions.backend", (), version="1.7.0"),
    Case(
        "C12",
        (rocksdb(redisAddress="r"),),
        f"{CLUSTER}.gcsFaultToleranceOptions.redisAddress",
        (rocksdb(redisAddress=""),),
        "1.7.0",
        ROCKSDB,
    ),
    Case(
        "C12",
        (rocksdb(storage={"claimName": "c", "size": "1Gi"}),),
        f"{CLUSTER}.gcsFaultToleranceOptions.storage.claimName",
        (rocksdb(storage={"claimName": "c"}),),
        "1.7.0",
        ROCKSDB,
    ),
    Case(
        "C12",
        (put(f"{CLUSTER}.gcsFaultToleranceOptions", {"storage": {"size": "1Gi"}}),),
        f"{CLUSTER}.gcsFaultToleranceOptions.storage",
        (put(f"{CLUSTER}.gcsFaultToleranceOptions", {"redisAddress": "r"}),),
        "1.7.0",
    ),
    Case(
        "C12",
        (rocksdb(), head_env(RAY_gcs_storage="rocksdb")),
        f"{HEAD}.template.spec.containers[0].env",
        (rocksdb(),),
        "1.7.0",
        ROCKSDB,
    ),
    Case(
        "C12",
        (rocksdb(), put(f"{CONTAINER}.volumeMounts", [{"name": "x", "mountPath": "/data/gcs"}])),
        f"{HEAD}.template.spec.containers[0].volumeMounts[0]",
        (rocksdb(), put(f"{CONTAINER}.volumeMounts", [{"name": "x", "mountPath": "/data"}])),
        "1.7.0",
        ROCKSDB,
    ),
    Case(
        "C12",
        (rocksdb(), put(f"{HEAD}.template.spec.volumes", [{"name": "gcs-storage"}])),
        f"{HEAD}.template.spec.volumes[0]",
        (rocksdb(), put(f"{HEAD}.template.spec.volumes", [{"name": "other"}])),
        "1.7.0",
        ROCKSDB,
    ),
    Case(
        "C13",
        (put(f"{WORKER}.suspend", True),),
        f"{CLUSTER}.workerGroupSpecs[0].suspend",
        (),
        gates={"RayJobDeletionPolicy": False},
    ),
    Case(
        "C13",
        (autoscaled(), put(f"{WORKER}.suspend", True)),
        f"{CLUSTER}.workerGroupSpecs[0].suspend",
        (put(f"{WORKER}.suspend", True),),
    ),
    Case(
        "C14",
        (head_env(RAY_enable_autoscaler_v2="true"),),
        f"{HEAD}.template.spec.containers[0].env",
        (head_env(RAY_enable_autoscaler_v2="True"),),
    ),
    Case(
        "C15",
        (autoscaled("v1"), head_env(RAY_enable_autoscaler_v2="0")),
        f"{HEAD}.template.spec.containers[0].env",
        (autoscaled(), head_env(RAY_enable_autoscaler_v2="0")),
    ),
    Case(
        "C16",
        (autoscaled("v2"), put(f"{WORKER}.template.spec.restartPolicy", "OnFailure")),
        f"{CLUSTER}.workerGroupSpecs[0].template.spec.restartPolicy",
        (autoscaled("v1"), put(f"{WORKER}.template.spec.restartPolicy", "OnFailure")),
    ),
    Case(
        "C17",
        (put(f"{CLUSTER}.autoscalerOptions.idleTimeoutSeconds", -1),),
        f"{CLUSTER}.autoscalerOptions.idleTimeoutSeconds",
        (put(f"{CLUSTER}.autoscalerOptions.idleTimeoutSeconds", 0),),
    ),
    Case(
        "C18",
        (put(f"{CLUSTER}.autoscalerOptions.env", [{"name": "KUBERAY_GEN_AUTOSCALER_START_CMD"}]),),
        f"{CLUSTER}.autoscalerOptions.env",
        (put(f"{CLUSTER}.autoscalerOptions.env", [{"name": "OTHER"}]),),
        "1.7.0",
    ),
    Case(
        "C19",
        (collector(STORAGE_BACKEND="S3", S3_REGION="eu"),),
        f"{CLUSTER}.historyServerOptions",
        (),
        "1.7.0",
    ),
    Case(
        "C19",
        (put(f"{CLUSTER}.historyServerOptions", {}),),
        f"{CLUSTER}.historyServerOptions.collectorOptions",
        (collector(STORAGE_BACKEND="s3", S3_REGION="eu"),),
        "1.7.0",
        HISTORY,
    ),
    Case(
        "C19",
        (put(f"{CLUSTER}.historyServerOptions.collectorOptions", {"env": COLLECTOR["env"]}),),
        f"{CLUSTER}.historyServerOptions.collectorOptions.image",
        (collector(STORAGE_BACKEND="other"),),
        "1.7.0",
        HISTORY,
    ),
    *(
        Case(
            "C19",
            (collector(**environment),),
            f"{CLUSTER}.historyServerOptions.collectorOptions.env",
            (collector(**environment, **missing),),
            "1.7.0",
            HISTORY,
        )
        for environment, missing in (
            ({}, {"STORAGE_BACKEND": "GCS", "GCS_BUCKET": "b"}),
            ({"STORAGE_BACKEND": "GCS"}, {"GCS_BUCKET": "b"}),
            ({"STORAGE_BACKEND": "azureblob"}, {"AZURE_STORAGE_ACCOUNT_URL": "u"}),
            (
                {"STORAGE_BACKEND": "AZUREBLOB", "AZURE_STORAGE_AUTH_MODE": " Connection_String "},
                {"AZURE_STORAGE_CONNECTION_STRING": "c"},
            ),
            (
                {"STORAGE_BACKEND": "AZUREBLOB", "AZURE_STORAGE_AUTH_MODE": "default"},
                {"AZURE_STORAGE_ACCOUNT_URL": "u"},
            ),
            (
                {"STORAGE_BACKEND": "ALIYUNOSS", "ALIYUN_BUCKET": "b", "ALIYUN_REGION": "r"},
                {"ALIYUN_ENDPOINT": "e"},
            ),
        )
    ),
    Case(
        "C19",
        (collector(STORAGE_BACKEND="S3", S3_REGION="eu", RAY_ROLE="x"),),
        f"{CLUSTER}.historyServerOptions.collectorOptions.env",
        (collector(STORAGE_BACKEND="S3", S3_REGION="eu", ROLE="x"),),
        "1.7.0",
        HISTORY,
    ),
    Case(
        "C19",
        (collector(STORAGE_BACKEND="S3", S3_REGION="eu"), put(f"{CONTAINER}.name", "ray-history-collector")),
        f"{HEAD}.template.spec.containers[0].name",
        (put(f"{CONTAINER}.name", "ray-history-collector"),),
        "1.7.0",
        HISTORY,
    ),
    *(
        Case(
            "C20",
            (put(f"{CLUSTER}.authOptions.mode", "token"), put(f"{CLUSTER}.rayVersion", version)),
            f"{CLUSTER}.rayVersion",
            (put(f"{CLUSTER}.authOptions.mode", "token"), put(f"{CLUSTER}.rayVersion", enough)),
        )
        for version, enough in (("", "2.52.0"), ("2.51.9", "2.52"), ("nightly", "v2.53.0rc1"), ("3", "10.0"))
    ),
    Case("C22", (put(f"{CLUSTER}.networkPolicy", {}),), f"{CLUSTER}.networkPolicy", (), "1.7.0"),
    Case(
        "C22",
        (put(f"{CLUSTER}.networkPolicy", {"mode": "DenyAllEgress", "head": {"ingressRules": [{}]}}),),
        f"{CLUSTER}.networkPolicy.head.ingressRules",
        (put(f"{CLUSTER}.networkPolicy", {"mode": "DenyAllEgress", "head": {"egressRules": [{}]}}),),
        "1.7.0",
        POLICY,
    ),
    Case(
        "C22",
        (put(f"{CLUSTER}.networkPolicy", {"workerGroups": [{"groupName": "none"}]}),),
        f"{CLUSTER}.networkPolicy.workerGroups[0].groupName",
        (put(f"{CLUSTER}.networkPolicy", {"workerGroups": [{"groupName": "small", "ingressRules": [{}]}]}),),
        "1.7.0",
        POLICY,
    ),
    Case(
        "C22",
        (put(f"{CLUSTER}.networkPolicy", {}), put(f"{WORKER}.groupName", "Small")),
        f"{CLUSTER}.workerGroupSpecs[0].groupName",
        (put(f"{WORKER}.groupName", "Small"),),
        "1.7.0",
        POLICY,
    ),
    Case("C23", (put(f"{CLUSTER}.tlsOptions", {}),), f"{CLUSTER}.tlsOptions", (), "1.7.0"),
    Case(
        "C23",
        (put(f"{CLUSTER}.tlsOptions.enabled", True), head_env(RAY_USE_TLS="1")),
        f"{HEAD}.template.spec.containers[0].env",
        (put(f"{CLUSTER}.tlsOptions.enabled", False), head_env(RAY_USE_TLS="1")),
        "1.7.0",
        TLS,
    ),
    Case(
        "C23",
        (
            put(f"{CLUSTER}.tlsOptions.enabled", True),
            put(f"{CLUSTER}.autoscalerOptions.volumeMounts", [{"name": "ray-tls", "mountPath": "/x"}]),
        ),
        f"{CLUSTER}.autoscalerOptions.volumeMounts[0]",
        (put(f"{CLUSTER}.tlsOptions.enabled", True),),
        "1.7.0",
        TLS,
    ),
    Case(
        "C25",
        (put(f"{CLUSTER}.upgradeStrategy.type", "None"),),
        f"{CLUSTER}.upgradeStrategy.type",
        (put(f"{CLUSTER}.upgradeStrategy.type", "None"), spec(clusterSelector={"ray.io/cluster": "shared"})),
    ),
    Case("X1", (spec(suspend="true"),), "spec.suspend", (spec(suspend=True),)),
    Case(
        "X1",
        (spec(backoffLimit=True),),
        "spec.backoffLimit",
        (spec(backoffLimit=1, activeDeadlineSeconds=9),),
    ),
    Case("X1", (put(f"{HEAD}.rayStartParams", {"num-cpus": 1}),), f"{HEAD}.rayStartParams[num-cpus]"),
    Case(
        "X1",
        (put(f"{CONTAINER}.env", [{"name": "A", "value": 1}]),),
        f"{HEAD}.template.spec.containers[0].env[0].value",
    ),
    Case("X1", (spec(rayClusterSpec=[]),), "spec.rayClusterSpec"),
    Case("X1", (put("spec", "x"),), "spec"),
    Case(
        "X1",
        (put(f"{CONTAINER}.ports", [{"containerPort": "80"}]),),
        f"{HEAD}.template.spec.containers[0].ports[0].containerPort",
    ),
    Case(
        "X1",
        (put(f"{CONTAINER}.resources.limits", {"cpu": True}),),
        f"{HEAD}.template.spec.containers[0].resources.limits[cpu]",
        (put(f"{CONTAINER}.resources.limits", {"cpu": 1, "memory": "1Gi"}),),
    ),
    Case("X1", (put(f"{CONTAINER}.args", ["a", None]),), f"{HEAD}.template.spec.containers[0].args[1]"),
    Case(
        "X1",
        (put(f"{CONTAINER}.livenessProbe", {"tcpSocket": {"port": 1.5}}),),
        f"{HEAD}.template.spec.containers[0].livenessProbe.tcpSocket.port",
        (put(f"{CONTAINER}.livenessProbe", {"tcpSocket": {"port": "http"}}),),
    ),
    Case("X2", (without(HEAD),), HEAD),
    Case("X2", (without(f"{HEAD}.template"),), f"{HEAD}.template"),
    Case("X2", (without(f"{WORKER}.groupName"),), f"{CLUSTER}.workerGroupSpecs[0].groupName"),
    Case(
        "X2",
        (put(f"{CLUSTER}.gcsFaultToleranceOptions", {}),),
        f"{CLUSTER}.gcsFaultToleranceOptions.redisAddress",
        (FT,),
    ),
    Case(
        "X2",
        (rules(deletion_rule("DeleteCluster", ON_FAILED)),),
        "spec.deletionStrategy.deletionRules[0].condition.jobStatus",
        (rules(deletion_rule("DeleteCluster", ON_FAILURE)),),
        "1.5.2",
        {"RayJobDeletionPolicy": True},
    ),
    Case(
        "X3",
        (rules(deletion_rule("DeleteCluster", {"jobStatus": "STOPPED"})),),
        "spec.deletionStrategy.deletionRules[0].condition.jobStatus",
        (rules(deletion_rule("DeleteCluster", ON_SUCCESS), deletion_rule("DeleteCluster", ON_FAILED)),),
    ),
    Case("X3", (put(f"{CLUSTER}.authOptions.mode", "Token"),), f"{CLUSTER}.authOptions.mode"),
    Case("X16", (spec(backoffLimit=2**31),), "spec.backoffLimit"),
    Case("X4", (spec(preRunningDeadlineSeconds=0),), "spec.preRunningDeadlineSeconds"),
    Case(
        "X16",
        (put(f"{CONTAINER}.ports", [{"containerPort": 2**31}]),),
        f"{HEAD}.template.spec.containers[0].ports[0].containerPort",
    ),
    Case(
        "X5",
        (put(f"{CONTAINER}.ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]),),
        f"{HEAD}.template.spec.containers[0].ports[1]",
        (put(f"{CONTAINER}.ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]),),
    ),
    Case(
        "X5",
        (put(f"{CONTAINER}.env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),),
        f"{HEAD}.template.spec.containers[0].env[1]",
        (head_env(A="1", B="1"),),
    ),
    Case("X6", (spec(managedBy="me"),), "spec.managedBy", (spec(managedBy="kueue.x-k8s.io/multikueue"),)),
    Case(
        "X7",
        (rules(deletion_rule("DeleteCluster", ON_FAILED)), put("spec.deletionStrategy.onFailure", {})),
        "spec.deletionStrategy",
    ),
    Case(
        "X8",
        (legacy("DeleteCluster", None),),
        "spec.deletionStrategy",
        (legacy("DeleteCluster", "DeleteSelf"),),
    ),
    Case("X9", (rules(),), "spec.deletionStrategy.deletionRules"),
    Case(
        "X10",
        (rules(deletion_rule("DeleteCluster", ON_FAILED, ON_FAILURE)),),
        "spec.deletionStrategy.deletionRules[0].condition",
    ),
    Case("X11", (rules(deletion_rule("DeleteSelf")),), "spec.deletionStrategy.deletionRules[0].condition"),
    Case("X12", (spec(shutdownAfterJobFinish=True),), "spec.shutdownAfterJobFinish"),
    Case("X12", (put(f"{WORKER}.priority", 1),), f"{CLUSTER}.workerGroupSpecs[0].priority"),
    Case(
        "X12", (put(f"{CONTAINER}.imagePullpolicy", "Always"),), f"{HEAD}.template.spec.containers[0].imagePullpolicy"
    ),
    Case("X12", (put("metadata.label", {}),), "metadata.label", (put("metadata.labels", {"a": "b"}),)),
    Case(
        "X13",
        (put(f"{CONTAINER}.resources.limits", {"memory": "5 GB"}),),
        f"{HEAD}.template.spec.containers[0].resources.limits[memory]",
        (put(f"{CONTAINER}.resources.limits", {"memory": "5G"}),),
    ),
    Case(
        "X13",
        (put(f"{CONTAINER}.resources.limits", {"memory": "5G\n"}),),
        f"{HEAD}.template.spec.containers[0].resources.limits[memory]",
    ),
    Case("X14", (put("metadata.name", "Train"),), "metadata.name", (put("metadata.name", "1.train"),)),
    Case("X15", (labelled("a/b/c", "x"),), "metadata.labels[a/b/c]", (labelled("a/b", "x"),)),
    Case("X15", (labelled("team", "a b"),), "metadata.labels[team]", (annotated("team", "a b"),)),
    Case("X15", (annotated("-team", ""),), "metadata.annotations[-team]", (annotated("A.B/team", ""),)),
    Case("U1", (spec(submissionMode="HttpMode"),), "spec.submissionMode", (spec(submissionMode="HTTPMode"),)),
    Case("U1", (spec(submissionMode=""),), "spec.submissionMode", (spec(submissionMode=None),)),
    Case("U2", (spec(entrypoint=" \n"),), "spec.entrypoint", (INTERACTIVE, without("spec.entrypoint"))),
    Case("U3", (spec(entrypoint="pip install x && python a.py"),), "spec.entrypoint"),
    Case(
        "U3",
        (spec(entrypoint='python -c "print($A)"'),),
        "spec.entrypoint",
        (spec(entrypoint="sh -c 'a; b'"),),
    ),
    Case(
        "U3",
        (spec(entrypoint="a | b"),),
        "spec.entrypoint",
        (spec(entrypoint="a | b", submissionMode="HTTPMode"),),
    ),
    Case(
        "U4",
        (spec(submitterPodTemplate={"spec": {"containers": [{"name": "submitter"}]}}),),
        "spec.submitterPodTemplate.spec.restartPolicy",
        (spec(submitterPodTemplate={"spec": {"restartPolicy": "Never", "containers": [{"name": "submitter"}]}}),),
    ),
    Case("U4", (spec(submitterPodTemplate={}),), "spec.submitterPodTemplate.spec.containers"),
    Case("U5", (spec(submissionMode="HTTPMode", submitterConfig={}),), "spec.submitterConfig"),
    Case(
        "U6",
        (spec(metadata={"team": "a"}), without(f"{CLUSTER}.rayVersion")),
        f"{CLUSTER}.rayVersion",
        (spec(metadata={"team": "a"}),),
    ),
    Case(
        "U7",
        (spec(entrypointResources="a: 1"),),
        "spec.entrypointResources",
        (spec(entrypointResources='{"a": 1}'),),
    ),
    Case(
        "U8",
        (rules(deletion_rule("DeleteCluster", ON_SUCCESS), deletion_rule("DeleteCluster", ON_FAILURE)),),
        "spec.deletionStrategy.deletionRules",
        (rules(deletion_rule("DeleteCluster", ON_SUCCESS), deletion_rule("DeleteCluster", ON_FAILED)),),
    ),
    Case("U9", (selecting(shutdownAfterJobFinishes=True),), "spec.shutdownAfterJobFinishes", (selecting(),)),
    Case("U9", (selecting(), rules(deletion_rule("DeleteSelf", ON_FAILED))), "spec.deletionStrategy"),
    Case(
        "U10",
        (labelled("kueue.x-k8s.io/queue-name", "q"), rules(deletion_rule("DeleteCluster", ON_FAILED))),
        "metadata.labels[kueue.x-k8s.io/queue-name]",
        (labelled("kueue.x-k8s.io/queue-name", "q"),),
    ),
    Case(
        "U10",
        (labelled("kueue.x-k8s.io/queue-name", "q"), spec(shutdownAfterJobFinishes=False)),
        "metadata.labels[kueue.x-k8s.io/queue-name]",
    ),
    Case("U11", (spec(submissionMode="InteractiveMode"),), "spec.preRunningDeadlineSeconds", (INTERACTIVE,)),
    Case(
        "U12",
        (
            rules(
                deletion_rule("DeleteSelf", ON_FAILED, ttl=10),
                deletion_rule("DeleteCluster", ON_FAILURE, ttl=100),
            ),
        ),
        "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds",
        (
            rules(
                deletion_rule("DeleteSelf", ON_FAILED, ttl=100),
                deletion_rule("DeleteCluster", ON_FAILURE, ttl=100),
            ),
        ),
    ),
    Case(
        "U13",
        (put(f"{WORKER}.replicas", 3),),
        f"{CLUSTER}.workerGroupSpecs[0].replicas",
        (without(f"{WORKER}.replicas"),),
    ),
    Case("U15", (selecting(jobId="fixed"),), "spec.jobId", (spec(jobId="fixed"),)),
    Case(
        "U16",
        (put(f"{CLUSTER}.workerGroupSpecs", [SECOND_GROUP, SECOND_GROUP]),),
        f"{CLUSTER}.workerGroupSpecs[1].groupName",
    ),
    Case(
        "U17",
        (put(f"{CONTAINER}.image", "rayproject/ray:2.51.0-py311"),),
        f"{HEAD}.template.spec.containers[0].image",
        (put(f"{CONTAINER}.image", "registry.example/mine:1.2.3"),),
    ),
    Case("U19", (spec(backoffLimit=2),), "spec.backoffLimit", (spec(backoffLimit=2, activeDeadlineSeconds=60),)),
]


def _name(case: Case) -> str:
    return f"{case.rule}-{case.path.rpartition('.')[2]}"


@pytest.mark.parametrize("version", ["1.5.1", "1.5.2", "1.6.2"])
def test_nothing_is_found_in_a_good_rayjob(version: str) -> None:
    assert validate(good(), version=version) == []
    assert refusal(good(), version=version) is None


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_broken_rule_is_found_where_it_is_broken(case: Case) -> None:
    findings = validate(good(*case.bad), version=case.version, gates=case.gates)
    mine = [finding for finding in findings if finding.id == case.rule]
    assert case.path in [finding.path for finding in mine], [str(finding) for finding in findings]
    for finding in mine:
        assert finding.wrong[-1] in ".?" and finding.remedy[-1] in ".?", "a finding is made of sentences"


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_what_is_near_and_right_is_accepted(case: Case) -> None:
    findings = validate(good(*case.fine), version=case.version, gates=case.gates)
    assert case.rule not in {finding.id for finding in findings}


@pytest.mark.parametrize("case", [case for case in CASES if explain(case.rule).layer.refuses], ids=_name)
def test_the_rayjob_is_refused(case: Case) -> None:
    assert refusal(good(*case.bad), version=case.version, gates=case.gates) is not None


@pytest.mark.parametrize("case", [case for case in CASES if not explain(case.rule).layer.refuses], ids=_name)
def test_what_nobody_refuses_is_no_refusal(case: Case) -> None:
    found = refusal(good(*case.bad), version=case.version, gates=case.gates)
    assert found is None or found.id != case.rule


def test_every_rule_has_a_case() -> None:
    with_check = {rule.id for rule in RULES.values() if rule.check is not None}
    assert {case.rule for case in CASES} == with_check - {"X0"}


def test_every_known_id_is_explained() -> None:
    ids = [f"J{n}" for n in range(1, 36)] + [f"C{n}" for n in range(1, 26)] + [f"U{n}" for n in range(1, 20)]
    assert all(explain(id).title for id in ids)
    assert explain("u14") is explain("C25")
    explained_only = {rule.id for rule in RULES.values() if rule.check is None}
    assert explained_only == {"J30", "C4", "C21", "C24", "U18"}
    assert all(RULES[id].note for id in explained_only)


def test_an_unknown_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownRuleError, match=r"no rule 'J99'\. Did you mean J9\?"):
        explain("J99")


def test_every_rule_of_the_operator_has_its_place() -> None:
    places = {key.split("/")[0] for step in OPERATOR_ORDER for key in ((step,) if isinstance(step, str) else step)}
    checked = {rule.id for rule in RULES.values() if rule.layer is Layer.OPERATOR and rule.check is not None}
    assert places == checked


def test_the_first_finding_is_the_one_the_operator_reports() -> None:
    manifest = good(
        put("metadata.name", "1train"),
        spec(activeDeadlineSeconds=0, backoffLimit=-1),
        put(f"{WORKER}.minReplicas", 9),
        put(f"{HEAD}.labels", {"zone": "-"}),
    )
    operator = [finding.id for finding in validate(manifest) if finding.layer is Layer.OPERATOR]
    assert operator == ["J2", "C3", "C5", "J32", "J34"]


def test_worker_groups_are_checked_one_after_the_other() -> None:
    bad_containers = {**SECOND_GROUP, "template": {"spec": {"containers": []}}}
    bad_replicas = {**SECOND_GROUP, "groupName": "first", "minReplicas": 2, "maxReplicas": 1}
    manifest = good(put(f"{CLUSTER}.workerGroupSpecs", [bad_replicas, bad_containers]))
    assert [finding.id for finding in validate(manifest)] == ["C5", "C1"]


def test_the_api_server_answers_before_the_operator() -> None:
    found = refusal(good(put("metadata.name", "Train"), spec(managedBy="me")))
    assert found is not None and found.id == "X6"


def test_null_is_unset() -> None:
    assert validate(good(spec(suspend=None, deletionStrategy=None, backoffLimit=None))) == []


def test_rules_follow_the_version() -> None:
    retries = good(selecting(backoffLimit=1, activeDeadlineSeconds=9))
    assert refusal(retries, version="1.5.2") is None
    assert getattr(refusal(retries, version="1.6.2"), "id", None) == "J24"
    strategy = good(legacy("DeleteCluster", "DeleteCluster"))
    assert getattr(refusal(strategy, version="1.5.2"), "id", None) == "J6"
    assert refusal(strategy, version="1.5.2", gates={"RayJobDeletionPolicy": True}) is None
    unversioned = good(spec(metadata={"team": "a"}), without(f"{CLUSTER}.rayVersion"))
    assert [finding.id for finding in validate(unversioned, version="1.7.0")] == ["X0"]


def test_a_finding_reads_as_one_line() -> None:
    (finding,) = validate(good(spec(activeDeadlineSeconds=0)))
    assert str(finding) == (
        "J32 spec.activeDeadlineSeconds: activeDeadlineSeconds is 0, and it must be at least 1. "
        "Set the seconds that an attempt may take, or remove it for no deadline."
    )
    assert finding.severity is Severity.ERROR


def test_without_a_schema_one_finding_says_that_fields_are_not_compared() -> None:
    (finding,) = validate(good(spec(shutdownAfterJobFinish=1)), version="1.7.0")
    assert finding.id == "X0"
    assert "There is no schema of a RayJob of KubeRay 1.7.0 here" in finding.wrong
    assert "--crds" in finding.remedy
    assert refusal(good(), version="1.7.0") is None


def test_a_given_schema_takes_the_place_of_that_of_the_version() -> None:
    given = schemas.from_objects([crd("RayJob", {"apiVersion": {}, "kind": {}, "spec": {"type": "object"}})], "mine")
    (first, *_) = validate({"kind": "RayJob", "spec": {"a": 1}, "other": 1}, version="1.7.0", schema=given)
    assert str(first).startswith("J2")
    found = [f for f in validate({"kind": "RayJob", "other": 1}, version="1.7.0", schema=given) if f.id[0] == "X"]
    assert [(f.id, f.path) for f in found] == [("X12", "other")]
    assert found[0].wrong.startswith("mine has no field 'other'")


@pytest.mark.parametrize(
    ("path", "name", "remedy"),
    [
        ("spec", "shutdownAfterJobFinish", "Did you mean shutdownAfterJobFinishes?"),
        ("spec", "deletionPolicy", "Use deletionStrategy, which replaced it in 1.5."),
        (CONTAINER, "imagePullPolice", "Did you mean imagePullPolicy?"),
        ("spec", "zzz", "Remove it."),
    ],
)
def test_an_unknown_field_is_an_error_with_a_suggestion_that_refuses_nothing(path: str, name: str, remedy: str) -> None:
    manifest = good(put(f"{path}.{name}", "x"))
    (finding,) = validate(manifest)
    assert (finding.id, finding.severity, finding.remedy) == ("X12", Severity.ERROR, remedy)
    assert refusal(manifest) is None


def test_a_field_of_a_later_version_is_suggested_to_be_installed() -> None:
    (finding,) = validate(good(spec(preRunningDeadlineSeconds=5)), version="1.5.2")
    assert finding.remedy == "Install KubeRay 1.6.2 or later, or remove the field."


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (put(f"{CONTAINER}.env", [{"name": "A", "value": 1}]), 'Quote it: "1".'),
        (put(f"{CONTAINER}.env", [{"name": "A", "value": True}]), 'Quote it: "true".'),
        (spec(suspend="true"), "Remove the quotes: true."),
        (spec(backoffLimit="3"), "Remove the quotes: 3."),
        (spec(backoffLimit="three"), "Write an integer."),
        (put(f"{CONTAINER}.resources.limits", {"cpu": []}), "Write an integer or a string."),
    ],
)
def test_the_remedy_of_a_wrong_type_tells_about_quotes(change: Change, remedy: str) -> None:
    assert [finding.remedy for finding in validate(good(change)) if finding.id == "X1"] == [remedy]


@pytest.mark.parametrize(
    ("kind", "path"),
    [("RayCluster", "spec.x"), ("RayService", "spec.serveConfigV2"), ("RayCronJob", "spec.schedule")],
)
def test_the_structure_of_other_kinds_is_compared_too(kind: str, path: str) -> None:
    manifest = {"kind": kind, "spec": {path.rpartition(".")[2]: 1}}
    assert path in {finding.path for finding in validate_structure(manifest)}
    assert all(finding.id[0] == "X" for finding in validate_structure(manifest))


def test_the_manifest_is_left_as_it_was() -> None:
    manifest = good(rules(deletion_rule("DeleteCluster", ON_FAILED)))
    validate(manifest)
    assert manifest == good(rules(deletion_rule("DeleteCluster", ON_FAILED)))


def test_a_runtime_environment_of_many_aliases_is_judged_at_once() -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 60)]
    assert isinstance(validate(good(spec(runtimeEnvYAML="\n".join(["a0: &a0 [1]", *levels])))), list)


@pytest.mark.parametrize("value", [None, 1, True, "x", [], [1], {}, {"a": 1}])
@pytest.mark.parametrize(
    "path",
    [
        "metadata",
        "metadata.annotations",
        "spec",
        "spec.deletionStrategy",
        "spec.deletionStrategy.deletionRules",
        "spec.clusterSelector",
        "spec.runtimeEnvYAML",
        "spec.submitterPodTemplate",
        "spec.entrypointResources",
        CLUSTER,
        f"{CLUSTER}.workerGroupSpecs",
        WORKER,
        f"{CLUSTER}.autoscalerOptions",
        HEAD,
        f"{HEAD}.template.spec",
        f"{HEAD}.labels",
        CONTAINER,
        f"{CONTAINER}.env",
        "status",
    ],
)
def test_a_field_of_any_type_is_answered_with_findings(path: str, value: Any) -> None:
    manifest = good(put(path, value))
    for version in ("1.5.2", "1.6.2", "1.7.0"):
        assert isinstance(validate(manifest, version=version), list)
