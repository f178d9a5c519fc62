"""A team's GPUs: quota, queue, two priorities, and a RayJob of each."""

from pathlib import Path

import pulumi

from pulumi_kuberay import (
    ClusterQueue,
    ClusterQueueArgs,
    FlavorQuotas,
    HeadGroup,
    KubernetesObject,
    LocalQueue,
    LocalQueueArgs,
    PodTemplate,
    Preemption,
    QueuePreemption,
    RayClusterTemplate,
    RayJob,
    RayJobArgs,
    ResourceFlavor,
    ResourceFlavorArgs,
    ResourceGroup,
    ResourceQuota,
    Resources,
    Taint,
    TaintEffect,
    TokenAuth,
    Toleration,
    TolerationOperator,
    Volume,
    WorkerGroup,
    WorkloadPriorityClass,
    WorkloadPriorityClassArgs,
    queue,
)

TEAM = "vision"
GPU = "nvidia.com/gpu"
GPUS = pulumi.Config().get_int("gpus") or 8
IMAGE = "rayproject/ray:2.52.0-gpu"


def flavor(name: str, gpus: int, cpus: int, memory: str) -> FlavorQuotas:
    """Quotas of one kind of nodes."""
    return FlavorQuotas(
        name=name,
        resources=[
            ResourceQuota(name="cpu", nominal_quota=str(cpus)),
            ResourceQuota(name="memory", nominal_quota=memory),
            ResourceQuota(name=GPU, nominal_quota=str(gpus)),
        ],
    )


def job(name: str, priority: str, workers: int, needs: list[pulumi.Resource]) -> RayJob:
    """A RayJob with one GPU for each worker; its head needs none, so it takes the flavor of the CPU nodes."""
    code = PodTemplate(volumes=[Volume(name="code", mount_path="/code", config_map="train")])
    args = RayJobArgs(
        namespace=TEAM,
        entrypoint="python /code/train.py",
        scheduling=queue(TEAM, priority_class=priority),
        active_deadline_seconds=6 * 3600,
        cluster=RayClusterTemplate(
            token_auth=TokenAuth(),
            image=IMAGE,
            pods=code,
            head=HeadGroup(
                pod=PodTemplate(resources=Resources(cpu="2", memory="8Gi")), ray_start_params={"num-cpus": "0"}
            ),
            workers=[
                WorkerGroup(
                    name="gpu",
                    replicas=workers,
                    pod=PodTemplate(
                        resources=Resources(cpu="4", memory="32Gi", gpus=1),
                        tolerations=[Toleration(key=GPU, operator=TolerationOperator.EXISTS)],
                    ),
                )
            ],
        ),
    )
    return RayJob(name, args, pulumi.ResourceOptions(depends_on=needs))


namespace = KubernetesObject(TEAM, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
code = KubernetesObject(
    "train",
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "train", "namespace": TEAM},
        "data": {"train.py": Path("train.py").read_text(encoding="utf-8")},
    },
    pulumi.ResourceOptions(depends_on=[namespace]),
)

cpu_nodes = ResourceFlavor("cpu", ResourceFlavorArgs(node_labels={"node-pool": "cpu"}))
gpu_nodes = ResourceFlavor(
    "gpu",
    ResourceFlavorArgs(
        node_labels={"node-pool": "gpu"},
        node_taints=[Taint(key=GPU, effect=TaintEffect.NO_SCHEDULE)],
    ),
)
quota = ClusterQueue(
    TEAM,
    ClusterQueueArgs(
        namespaces=[TEAM],
        preemption=Preemption(within_cluster_queue=QueuePreemption.LOWER_PRIORITY),
        resource_groups=[
            ResourceGroup(
                flavors=[
                    flavor("cpu", gpus=0, cpus=16, memory="64Gi"),
                    flavor("gpu", gpus=GPUS, cpus=32, memory="256Gi"),
                ]
            )
        ],
    ),
    pulumi.ResourceOptions(depends_on=[cpu_nodes, gpu_nodes]),
)
entrance = LocalQueue(
    TEAM,
    LocalQueueArgs(namespace=TEAM, cluster_queue=TEAM),
    pulumi.ResourceOptions(depends_on=[namespace, quota]),
)
training = WorkloadPriorityClass(
    "training", WorkloadPriorityClassArgs(value=1000, description="Training runs that a release waits for.")
)
experiment = WorkloadPriorityClass(
    "experiment", WorkloadPriorityClassArgs(value=100, description="Experiments, which a training run may preempt.")
)

job("train-detector", "training", workers=6, needs=[entrance, training, code])
job("try-augmentation", "experiment", workers=4, needs=[entrance, experiment, code])
