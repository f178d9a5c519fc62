"""For every policy a stack of objects that breaks it, and one, near to it, that keeps it.

The table is shared: each front end must give the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kuberay_model.schemas import from_objects
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import resolve
from kuberay_policies.subjects import Subject
from tests.model.rayjobs import annotated, deletion_rule, good, labelled, legacy, put, rules, spec, without
from tests.model.test_rayjob_rules import CASES, ON_FAILED, ON_FAILURE, ON_SUCCESS

from . import objects
from .objects import (
    CLUSTER,
    HEAD,
    HEAD_CONTAINER,
    HEAD_POD,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    WORKER,
    WORKER_CONTAINER,
    WORKER_POD,
    binding,
    cluster,
    cluster_queue,
    container,
    crd,
    cron_job,
    flavor,
    from_pulumi,
    job,
    local_queue,
    made,
    operator,
    pod_template,
    priority,
    queued,
    role,
    service,
)


@dataclass(frozen=True)
class Twins:
    """A policy, a stack that breaks it, and one that keeps it.

    Attributes:
        policy: Id of the policy.
        bad: Objects of which at least one breaks the policy; several policies may be broken.
        path: Where the policy is broken.
        good: Objects that keep it; empty if `bad` has no twin of its own.
        settings: Content of a settings file.
        crds: CRDs of the cluster; empty for those of the version.
        name: What is special about it.
    """

    policy: str
    bad: tuple[Subject, ...]
    path: str
    good: tuple[Subject, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    crds: tuple[Mapping[str, Any], ...] = ()

    def resolved(self) -> Settings:
        """The settings."""
        schema = from_objects(self.crds, "the cluster") if self.crds else None
        return replace(resolve(self.settings), schema=schema)

    def __str__(self) -> str:
        return f"{self.policy}-{self.name or self.path}"


def stack(*manifests: Any) -> tuple[Subject, ...]:
    """Objects from plain manifests, or subjects as they are."""
    return tuple(given if isinstance(given, Subject) else Subject(given) for given in manifests)


def parameters(policy: str, **values: Any) -> dict[str, Any]:
    """The content of a settings file that sets parameters of a policy."""
    return {"policies": {policy: values}}


def selecting() -> Any:
    """A RayJob on an existing RayCluster."""
    return job(without("spec.rayClusterSpec"), put("spec.clusterSelector", {"ray.io/cluster": "shared"}))


GPU = "nvidia.com/gpu"
GPU_WORKER = put(f"{WORKER_POD}.containers", [container("ray-worker", **{GPU: "1"})])
TOLERATION = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
AUTOSCALING = put(f"{CLUSTER}.enableInTreeAutoscaling", True)
HTTP = spec(submissionMode="HTTPMode")
NO_TOKEN = without(f"{CLUSTER}.authOptions")
SERVED = "spec.rayClusterConfig"
HOST_PATH = {"name": "b", "hostPath": {"path": "/"}}
C = "spec.rayClusterSpec"
HEAD_PATH = f"{C}.headGroupSpec"
WORKER_PATH = f"{C}.workerGroupSpecs[0]"
HEAD_CONTAINER_PATH = f"{HEAD_PATH}.template.spec.containers[0]"
WORKER_CONTAINER_PATH = f"{WORKER_PATH}.template.spec.containers[0]"
QUEUE_PATH = f"metadata.labels[{QUEUE_LABEL}]"
PRIORITY_PATH = f"metadata.labels[{PRIORITY_LABEL}]"


def env(name: str, value: str) -> Any:
    """One environment variable of the head."""
    return put(f"{HEAD_CONTAINER}.env", [{"name": name, "value": value}])


def groups(count: int) -> Any:
    """Worker groups."""
    template = pod_template(container("ray-worker"))
    return put(f"{CLUSTER}.workerGroupSpecs", [{"groupName": f"g{n}", "template": template} for n in range(count)])


def runtime_env(text: str) -> Any:
    """A runtime environment."""
    return spec(runtimeEnvYAML=text)


LIFECYCLE_TWINS = [
    Twins("P101", stack(job(spec(shutdownAfterJobFinishes=False))), "spec.shutdownAfterJobFinishes", stack(job())),
    Twins(
        "P101",
        stack(job(rules(deletion_rule("DeleteCluster", ON_SUCCESS)))),
        "spec.deletionStrategy.deletionRules",
        stack(job(rules(deletion_rule("DeleteCluster", ON_SUCCESS), deletion_rule("DeleteCluster", ON_FAILED)))),
    ),
    Twins(
        "P101",
        stack(job(spec(shutdownAfterJobFinishes=False), legacy("DeleteCluster", "DeleteWorkers"))),
        "spec.deletionStrategy",
        stack(job(spec(shutdownAfterJobFinishes=False), legacy("DeleteCluster", "DeleteCluster"))),
    ),
    Twins(
        "P101",
        stack(cron_job(put("spec.jobTemplate.shutdownAfterJobFinishes", False))),
        "spec.jobTemplate.shutdownAfterJobFinishes",
        stack(cron_job()),
    ),
    Twins(
        "P102",
        stack(job(rules(deletion_rule("DeleteCluster", ON_SUCCESS), deletion_rule("DeleteCluster", ON_FAILED)))),
        "spec.deletionStrategy",
        stack(job()),
    ),
    Twins(
        "P103",
        stack(job(spec(ttlSecondsAfterFinished=90_000))),
        "spec.ttlSecondsAfterFinished",
        stack(job(spec(ttlSecondsAfterFinished=86_400))),
    ),
    Twins(
        "P103",
        stack(job(rules(deletion_rule("DeleteCluster", ON_FAILURE, ttl=120)))),
        "spec.deletionStrategy.deletionRules[0].condition.ttlSeconds",
        stack(job(rules(deletion_rule("DeleteCluster", ON_FAILURE, ttl=60)))),
        parameters("P103", maxSeconds=60),
    ),
    Twins(
        "P104",
        stack(job(rules(deletion_rule("DeleteSelf", ON_FAILED)))),
        "spec.deletionStrategy.deletionRules[0].policy",
        stack(job(rules(deletion_rule("DeleteCluster", ON_FAILED)))),
    ),
    Twins("P110", stack(job(without("spec.activeDeadlineSeconds"))), "spec.activeDeadlineSeconds", stack(job())),
    Twins(
        "P110",
        stack(job(spec(activeDeadlineSeconds=601))),
        "spec.activeDeadlineSeconds",
        stack(job(spec(activeDeadlineSeconds=600))),
        parameters("active-deadline", maxSeconds=600),
        name="limit",
    ),
    Twins(
        "P111", stack(job(without("spec.preRunningDeadlineSeconds"))), "spec.preRunningDeadlineSeconds", stack(job())
    ),
    Twins("P112", stack(job(spec(backoffLimit=4))), "spec.backoffLimit", stack(job(spec(backoffLimit=3)))),
    Twins(
        "P112",
        stack(job(spec(submitterConfig={"backoffLimit": 4}))),
        "spec.submitterConfig.backoffLimit",
        stack(job(spec(submitterConfig={"backoffLimit": 3}))),
    ),
    Twins("P113", stack(selecting()), "spec.activeDeadlineSeconds", stack(job())),
    Twins("P114", stack(job(HTTP)), "spec.submissionMode", stack(job(HTTP, spec(backoffLimit=1)))),
    Twins(
        "P114",
        stack(job(HTTP, spec(backoffLimit=1), without("spec.activeDeadlineSeconds"))),
        "spec.submissionMode",
        stack(job(HTTP, spec(backoffLimit=1))),
        name="endless",
    ),
    Twins(
        "P115",
        stack(job(HTTP)),
        "spec.submissionMode",
        stack(job()),
        parameters("P115", allowed=["K8sJobMode", "SidecarMode"]),
    ),
    Twins(
        "P120",
        stack(job(AUTOSCALING, without(f"{WORKER}.maxReplicas"))),
        f"{WORKER_PATH}.maxReplicas",
        stack(job(AUTOSCALING)),
    ),
    Twins(
        "P121",
        stack(job(AUTOSCALING, put(f"{CLUSTER}.autoscalerOptions", {"idleTimeoutSeconds": 3600}))),
        f"{C}.autoscalerOptions.idleTimeoutSeconds",
        stack(job(AUTOSCALING, put(f"{CLUSTER}.autoscalerOptions", {"idleTimeoutSeconds": 60}))),
    ),
    Twins(
        "P122",
        stack(job(AUTOSCALING, GPU_WORKER)),
        f"{WORKER_PATH}.minReplicas",
        stack(job(AUTOSCALING, GPU_WORKER, put(f"{WORKER}.minReplicas", 0))),
    ),
    Twins(
        "P123",
        stack(cluster(put("spec.enableInTreeAutoscaling", True))),
        "spec.workerGroupSpecs[0].replicas",
        stack(cluster(put("spec.enableInTreeAutoscaling", True), without("spec.workerGroupSpecs.0.replicas"))),
    ),
]

KUEUE_TWINS = [
    Twins("P201", stack(job()), QUEUE_PATH, stack(queued()), parameters("P201", namespaces=["m*"])),
    Twins(
        "P202",
        stack(queued(without("spec.rayClusterSpec"), put("spec.clusterSelector", {"ray.io/cluster": "shared"}))),
        QUEUE_PATH,
        stack(selecting()),
    ),
    Twins("P203", stack(queued(spec(suspend=True))), "spec.suspend", stack(queued())),
    Twins(
        "P204",
        stack(queued(spec(ttlSecondsAfterFinished=301))),
        "spec.ttlSecondsAfterFinished",
        stack(queued(spec(ttlSecondsAfterFinished=300))),
    ),
    Twins(
        "P204",
        stack(queued(legacy("DeleteWorkers", "DeleteCluster"))),
        "spec.deletionStrategy.onSuccess.policy",
        stack(queued(legacy("DeleteCluster", "DeleteCluster"))),
    ),
    Twins("P205", stack(queued(groups(7))), f"{C}.workerGroupSpecs", stack(queued(groups(6))), name="submitter"),
    Twins(
        "P205",
        stack(queued(groups(18), HTTP)),
        f"{C}.workerGroupSpecs",
        stack(queued(groups(17), HTTP)),
        {"kueueVersion": "0.19.2"},
        name="0.19",
    ),
    Twins(
        "P206",
        stack(queued(put(f"{WORKER}.groupName", "Head"))),
        f"{WORKER_PATH}.groupName",
        stack(job(put(f"{WORKER}.groupName", "Head"))),
    ),
    Twins(
        "P206",
        stack(queued(put(f"{WORKER}.groupName", "submitter"))),
        f"{WORKER_PATH}.groupName",
        stack(queued(put(f"{WORKER}.groupName", "submitter"), HTTP)),
        name="submitter",
    ),
    Twins(
        "P207",
        stack(queued(AUTOSCALING)),
        f"{C}.enableInTreeAutoscaling",
        stack(queued(AUTOSCALING, annotated("kueue.x-k8s.io/elastic-job", "true"))),
    ),
    Twins("P208", stack(queued(), local_queue("teams")), QUEUE_PATH, stack(queued(), local_queue())),
    Twins(
        "P208",
        stack(queued(), local_queue(namespace="other")),
        QUEUE_PATH,
        stack(queued()),
        name="other namespace",
    ),
    Twins(
        "P209",
        stack(local_queue(queue="mian"), cluster_queue()),
        "spec.clusterQueue",
        stack(local_queue(), cluster_queue()),
    ),
    Twins(
        "P210",
        stack(cluster_queue(), flavor("gpu")),
        "spec.resourceGroups[0].flavors[0].name",
        stack(cluster_queue(), flavor()),
    ),
    Twins(
        "P211",
        stack(queued(labelled(PRIORITY_LABEL, "hihg")), priority()),
        PRIORITY_PATH,
        stack(queued(labelled(PRIORITY_LABEL, "high")), priority()),
    ),
    Twins(
        "P211",
        stack(job(labelled(PRIORITY_LABEL, "high")), priority()),
        PRIORITY_PATH,
        stack(job()),
        name="without queue",
    ),
    Twins(
        "P212",
        stack(queued(), local_queue(), cluster_queue(cpu="3", memory="64Gi")),
        QUEUE_PATH,
        stack(queued(), local_queue(), cluster_queue(cpu="3500m", memory="64Gi")),
        name="head, workers and submitter",
    ),
    Twins(
        "P212",
        stack(queued(put(f"{WORKER}.numOfHosts", 4)), local_queue(), cluster_queue(cpu="8", memory="64Gi")),
        QUEUE_PATH,
        stack(queued(put(f"{WORKER}.numOfHosts", 4)), local_queue(), cluster_queue(cpu="9500m", memory="64Gi")),
        name="numOfHosts",
    ),
    Twins(
        "P212",
        stack(queued(GPU_WORKER), local_queue(), cluster_queue(cpu="16", memory="64Gi", amd_com__gpu="8")),
        QUEUE_PATH,
        stack(queued(GPU_WORKER), local_queue(), cluster_queue(cpu="16", memory="64Gi", nvidia_com__gpu="2")),
        name="other GPU",
    ),
]

SECURITY_TWINS = [
    Twins("P301", stack(job(NO_TOKEN)), f"{C}.authOptions.mode", stack(job())),
    Twins("P301", stack(cluster(without("spec.authOptions"))), "spec.authOptions.mode", stack(cluster())),
    Twins(
        "P302",
        stack(job(NO_TOKEN, put(f"{HEAD}.serviceType", "LoadBalancer"))),
        f"{HEAD_PATH}.serviceType",
        stack(job(put(f"{HEAD}.serviceType", "LoadBalancer"))),
    ),
    Twins(
        "P302",
        stack(job(put(f"{HEAD}.headService", {"spec": {"type": "NodePort"}}))),
        f"{HEAD_PATH}.headService.spec.type",
        stack(job(put(f"{HEAD}.headService", {"spec": {"type": "ClusterIP"}}))),
        parameters("P302", withToken=False),
    ),
    Twins(
        "P302",
        stack(
            service(
                without("spec.rayClusterConfig.authOptions"),
                put("spec.rayClusterConfig.headGroupSpec.enableIngress", True),
            )
        ),
        "spec.rayClusterConfig.headGroupSpec.enableIngress",
        stack(service()),
    ),
    Twins(
        "P303",
        stack(made("Service", "head", {"type": "LoadBalancer", "selector": {"ray.io/node-type": "head"}}, api="v1")),
        "spec.type",
        stack(made("Service", "head", {"type": "ClusterIP", "selector": {"ray.io/node-type": "head"}}, api="v1")),
    ),
    Twins(
        "P303",
        stack(
            made("Ingress", "ray", {"defaultBackend": {"service": {"name": "x-head-svc"}}}, api="networking.k8s.io/v1")
        ),
        "spec.defaultBackend.service.name",
        stack(made("Ingress", "ray", {"defaultBackend": {"service": {"name": "web"}}}, api="networking.k8s.io/v1")),
    ),
    Twins(
        "P303",
        stack(
            made(
                "HTTPRoute",
                "ray",
                {"rules": [{"backendRefs": [{"name": "train-head-svc"}]}]},
                api="gateway.networking.k8s.io/v1",
            )
        ),
        "spec.rules[0].backendRefs[0].name",
        stack(
            made(
                "HTTPRoute", "ray", {"rules": [{"backendRefs": [{"name": "web"}]}]}, api="gateway.networking.k8s.io/v1"
            )
        ),
    ),
    Twins(
        "P304",
        stack(job(), made("NetworkPolicy", "deny", {}, api="networking.k8s.io/v1", namespace="other")),
        "metadata.namespace",
        stack(job(), made("NetworkPolicy", "deny", {}, api="networking.k8s.io/v1", namespace="ml")),
    ),
    Twins(
        "P310",
        stack(job(put(f"{HEAD_POD}.hostNetwork", True))),
        f"{HEAD_PATH}.template.spec.hostNetwork",
        stack(job()),
    ),
    Twins(
        "P310",
        stack(job(put(f"{WORKER_POD}.volumes", [{"name": "a", "emptyDir": {}}, HOST_PATH]))),
        f"{WORKER_PATH}.template.spec.volumes[1].hostPath",
        stack(job(put(f"{WORKER_POD}.volumes", [{"name": "a", "emptyDir": {}}]))),
    ),
    Twins(
        "P311",
        stack(job(put(f"{WORKER_POD}.initContainers", [{"name": "init", "securityContext": {"privileged": True}}]))),
        f"{WORKER_PATH}.template.spec.initContainers[0].securityContext.privileged",
        stack(job(put(f"{WORKER_POD}.initContainers", [{"name": "init", "securityContext": {"privileged": False}}]))),
    ),
    Twins(
        "P311",
        stack(job(put(f"{HEAD_CONTAINER}.securityContext.capabilities.add", ["SYS_ADMIN", "CHOWN"]))),
        f"{HEAD_CONTAINER_PATH}.securityContext.capabilities.add",
        stack(job(put(f"{HEAD_CONTAINER}.securityContext.capabilities.add", ["CHOWN"]))),
    ),
    Twins(
        "P312",
        stack(job(put(f"{HEAD_POD}.containers", [container("ray-head"), {"name": "logs", "image": "fluent:1"}]))),
        f"{HEAD_PATH}.template.spec.containers[1].securityContext",
        stack(job(put(f"{HEAD_POD}.containers", [container("ray-head"), container("logs")]))),
        name="sidecar",
    ),
    Twins(
        "P312",
        stack(job(spec(submitterPodTemplate={"spec": {"containers": [{"name": "submitter", "image": "ray:1"}]}}))),
        "spec.submitterPodTemplate.spec.containers[0].securityContext",
        stack(job(spec(submitterPodTemplate={"spec": {"containers": [container("submitter")]}}))),
        name="submitter",
    ),
    Twins(
        "P313",
        stack(job(without(f"{HEAD_POD}.automountServiceAccountToken"))),
        f"{HEAD_PATH}.template.spec.automountServiceAccountToken",
        stack(job(AUTOSCALING, without(f"{HEAD_POD}.automountServiceAccountToken"))),
    ),
    Twins(
        "P320",
        stack(job(put(f"{HEAD_CONTAINER}.image", "registry.example:5000/ray:latest"))),
        f"{HEAD_CONTAINER_PATH}.image",
        stack(job(put(f"{HEAD_CONTAINER}.image", "registry.example:5000/ray:latest@sha256:0123"))),
    ),
    Twins(
        "P320",
        stack(job(put(f"{HEAD_CONTAINER}.image", "registry.example:5000/ray"))),
        f"{HEAD_CONTAINER_PATH}.image",
        stack(job(put(f"{HEAD_CONTAINER}.image", "registry.example:5000/ray:1"))),
        name="no tag",
    ),
    Twins(
        "P321",
        stack(job(put(f"{WORKER_CONTAINER}.image", "quay.io/rayproject/ray:2.52.0"))),
        f"{WORKER_CONTAINER_PATH}.image",
        stack(job()),
        parameters("registry-allowed", allowed=["docker.io/rayproject"]),
    ),
    Twins(
        "P322",
        stack(job(put(f"{WORKER_CONTAINER}.image", "registry.example/ml/train:2.50.0-cu12"))),
        f"{WORKER_CONTAINER_PATH}.image",
        stack(job(put(f"{WORKER_CONTAINER}.image", "registry.example/ml/train:2.52.0-cu12"))),
    ),
    Twins(
        "P330",
        stack(job(env("HF_TOKEN", "s3cr3t"))),
        f"{HEAD_CONTAINER_PATH}.env[0].value",
        stack(job(put(f"{HEAD_CONTAINER}.env", [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf"}}}]))),
    ),
    Twins(
        "P330",
        stack(job(env("DATABASE", "postgres://ml:hunter2@db/train"))),
        f"{HEAD_CONTAINER_PATH}.env[0].value",
        stack(job(env("DATABASE", "postgres://ml:$(PASSWORD)@db/train"))),
        name="URL",
    ),
    Twins(
        "P331",
        stack(job(runtime_env("env_vars:\n  WANDB_API_KEY: 0123456789"))),
        "spec.runtimeEnvYAML",
        stack(job(runtime_env("env_vars:\n  WANDB_MODE: offline"))),
    ),
    Twins(
        "P332",
        stack(job(runtime_env("working_dir: https://github.com/somebody/code/archive/main.zip"))),
        "spec.runtimeEnvYAML",
        stack(job(runtime_env("working_dir: s3://ml-code/train.zip\npip: [torch==2.9.0]"))),
        parameters("P332", allowed=["s3://ml-code/"]),
    ),
    Twins(
        "P332",
        stack(job(runtime_env("pip: ['pkg @ git+https://github.com/somebody/pkg']"))),
        "spec.runtimeEnvYAML",
        stack(job(runtime_env("pip: [torch]\nenv_vars: {DOCS: 'https://example.org'}"))),
        name="pip",
    ),
    Twins(
        "P333",
        stack(
            job(put(f"{CLUSTER}.gcsFaultToleranceOptions", {"redisAddress": "r:1", "redisPassword": {"value": "x"}}))
        ),
        f"{C}.gcsFaultToleranceOptions.redisPassword.value",
        stack(
            job(
                put(
                    f"{CLUSTER}.gcsFaultToleranceOptions",
                    {"redisAddress": "r:1", "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "r"}}}},
                )
            )
        ),
    ),
    Twins(
        "P334",
        stack({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"k": "dg=="}}),
        "data",
        stack({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
    ),
]

SCHEDULING_TWINS = [
    Twins(
        "P401",
        stack(job(without(f"{WORKER_CONTAINER}.resources"))),
        f"{WORKER_CONTAINER_PATH}.resources",
        stack(job(without(f"{WORKER_CONTAINER}.resources.requests"))),
    ),
    Twins(
        "P402",
        stack(job(put(f"{HEAD_CONTAINER}.resources.requests.memory", "1Gi"))),
        f"{HEAD_CONTAINER_PATH}.resources.requests.memory",
        stack(job(put(f"{HEAD_CONTAINER}.resources.requests.memory", "2048Mi"))),
    ),
    Twins(
        "P403",
        stack(job(put(f"{WORKER_CONTAINER}.resources.requests", {GPU: 1}))),
        f"{WORKER_CONTAINER_PATH}.resources.requests[{GPU}]",
        stack(job(GPU_WORKER)),
    ),
    Twins(
        "P404",
        stack(job(GPU_WORKER, put(f"{WORKER}.rayStartParams", {"num-gpus": "2"}))),
        f"{WORKER_PATH}.rayStartParams.num-gpus",
        stack(job(GPU_WORKER, put(f"{WORKER}.rayStartParams", {"num-gpus": "1"}))),
    ),
    Twins(
        "P405",
        stack(job(put(f"{WORKER}.replicas", 8))),
        f"{HEAD_PATH}.rayStartParams.num-cpus",
        stack(job(put(f"{WORKER}.replicas", 8), put(f"{HEAD}.rayStartParams", {"num-cpus": "0"}))),
    ),
    Twins(
        "P410",
        stack(job(GPU_WORKER)),
        f"{WORKER_PATH}.template.spec.tolerations",
        stack(job(GPU_WORKER, put(f"{WORKER_POD}.tolerations", [TOLERATION]))),
    ),
    Twins(
        "P411",
        stack(job(put(f"{HEAD_POD}.tolerations", [TOLERATION]))),
        f"{HEAD_PATH}.template.spec.tolerations[0]",
        stack(job(put(f"{HEAD_POD}.tolerations", [{"key": "dedicated", "operator": "Exists"}]))),
    ),
]

WAIVER = {"policies": ["P101"], "targets": ["RayJob ml/*"], "reason": "moves", "expires": "2020-01-31"}
OPERATOR_RIGHTS = (
    ("ray.io", "rayjobs,rayclusters", "create,update,watch"),
    ("batch", "jobs", "create"),
    ("", "pods,services", "create"),
)

OPERATIONS_TWINS = [
    Twins("P500", stack(job()), "expires", (), {"waivers": [WAIVER]}),
    Twins("P500", (), "expires", stack(job()), {"waivers": [{**WAIVER, "expires": "9999-12-31"}]}, name="current"),
    Twins("P501", stack(job(put("metadata.namespace", "default"))), "metadata.namespace", stack(job())),
    Twins(
        "P501",
        stack(job(without("metadata.namespace"))),
        "metadata.namespace",
        stack(job()),
        parameters("P501", required=True),
        name="unset",
    ),
    Twins(
        "P502",
        stack(job(labelled("team", "ml"))),
        "metadata.labels",
        stack(job(labelled("team", "ml"), labelled("owner", "ada"))),
        parameters("P502", required=["team", "owner"]),
    ),
    Twins(
        "P503",
        stack(cluster(put("metadata.name", "a" * 54))),
        "metadata.name",
        stack(cluster(put("metadata.name", "a" * 53))),
    ),
    Twins(
        "P503",
        stack(from_pulumi(job(without("metadata.name")), "a" * 39)),
        "metadata.name",
        stack(from_pulumi(job(without("metadata.name")), "a" * 38)),
        name="Pulumi's own",
    ),
    Twins(
        "P504",
        stack(job(without("metadata.name"), put("metadata.generateName", "train-"))),
        "metadata.name",
        stack(job()),
    ),
    Twins("P505", stack(job(put("apiVersion", "ray.io/v1alpha1"))), "apiVersion", stack(job())),
    Twins("P505", stack(job(put("apiVersion", "ray.io/v2"))), "apiVersion", stack(job()), name="v2"),
    Twins("P505", stack(job(put("kind", "Rayjob"))), "kind", stack(job())),
    Twins("P506", stack(cron_job()), "kind", stack(job()), name="gate off"),
    Twins("P506", (), "kind", stack(cron_job()), {"featureGates": {"RayCronJob": True}}, name="gate on"),
    Twins("P507", stack(job(), job()), "metadata.name", stack(job(), job(put("metadata.namespace", "other")))),
    Twins(
        "P510",
        stack(operator(args=("--watch-namespace=",))),
        "spec.template.spec.containers[0].args",
        stack(operator()),
    ),
    Twins(
        "P511",
        stack(operator(put("spec.replicas", 2), args=("--enable-leader-election=false",))),
        "spec.replicas",
        stack(operator(put("spec.replicas", 2))),
    ),
    Twins(
        "P512",
        stack(operator(args=(f"--feature-gates={objects.ALL_GATES},SidecarSubmitterRestart=true",))),
        "spec.template.spec.containers[0].args",
        stack(operator()),
    ),
    Twins(
        "P513",
        stack(operator(args=("--feature-gates=RayCronJob=false",))),
        "spec.template.spec.containers[0].args",
        stack(operator()),
    ),
    Twins(
        "P513",
        stack(operator()),
        "spec.template.spec.containers[0].args",
        (),
        {"featureGates": {"RayCronJob": True}},
        name="other gates",
    ),
    Twins(
        "P514",
        stack(operator(image="quay.io/kuberay/operator:v1.7.0")),
        "spec.template.spec.containers[0].image",
        stack(operator()),
    ),
    Twins(
        "P514",
        stack(operator(image="quay.io/kuberay/operator:nightly")),
        "spec.template.spec.containers[0].image",
        stack(operator()),
        name="nightly",
    ),
    Twins(
        "P515",
        stack(operator(put("spec.template.spec.containers.0.resources", {}))),
        "spec.template.spec.containers[0].resources.limits.memory",
        stack(operator()),
    ),
    Twins(
        "P516",
        stack(
            operator(image="quay.io/kuberay/operator:v1.7.0"),
            role(*OPERATOR_RIGHTS),
            binding("kuberay-operator"),
        ),
        "spec.template.spec.serviceAccountName",
        stack(
            operator(image="quay.io/kuberay/operator:v1.7.0"),
            role(*OPERATOR_RIGHTS, ("", "persistentvolumeclaims", "*"), ("events.k8s.io", "events", "create")),
            binding("kuberay-operator"),
        ),
    ),
    Twins(
        "P517",
        stack(operator(), role(*OPERATOR_RIGHTS), binding("kuberay-operator")),
        "spec.template.spec.serviceAccountName",
        stack(operator(), role(*OPERATOR_RIGHTS), binding("kuberay-operator", kind="RoleBinding")),
    ),
    Twins(
        "P518",
        stack(job(), binding("default", "cluster-admin", home="ml")),
        f"{HEAD_PATH}.template.spec.serviceAccountName",
        stack(job(), binding("default", "cluster-admin", home="other")),
    ),
    Twins("P520", stack(from_pulumi(crd())), "", stack(from_pulumi(crd(), protect=True))),
    Twins(
        "P521",
        stack(from_pulumi(job(), replace_on_changes=())),
        "spec",
        stack(from_pulumi(job(), replace_on_changes=("spec",), delete_before_replace=True)),
    ),
    Twins(
        "P521",
        stack(from_pulumi(job(), replace_on_changes=("spec",))),
        "metadata.name",
        stack(from_pulumi(job(put("metadata.name", "train-3f2a91bc")), replace_on_changes=())),
    ),
    Twins(
        "P522",
        stack(from_pulumi(job(), ignore_changes=("spec",))),
        "spec",
        stack(from_pulumi(job(), ignore_changes=("spec.suspend",))),
    ),
    Twins("P523", stack(crd("v1alpha1")), "spec.versions", stack(crd())),
]

OPERATOR_TWINS = [
    Twins(
        case.rule,
        stack(good(*case.bad)),
        case.path,
        stack(good(*case.fine)),
        {"kuberayVersion": case.version, "featureGates": case.gates},
    )
    for case in CASES
]
X0_TWINS = [Twins("X0", stack(cluster()), "spec", stack(job()), crds=(crd(),), name="CRD of another kind")]

TWINS: list[Twins] = [
    *LIFECYCLE_TWINS,
    *KUEUE_TWINS,
    *SECURITY_TWINS,
    *SCHEDULING_TWINS,
    *OPERATIONS_TWINS,
    *OPERATOR_TWINS,
    *X0_TWINS,
]
