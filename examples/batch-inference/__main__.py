"""Batch inference: an autoscaled RayJob in a queue of Kueue."""

from pathlib import Path

import pulumi

from pulumi_kuberay import (
    Autoscaling,
    ClusterQueue,
    ClusterQueueArgs,
    FlavorQuotas,
    HeadGroup,
    KubernetesObject,
    LocalQueue,
    LocalQueueArgs,
    PodTemplate,
    RayClusterTemplate,
    RayJob,
    RayJobArgs,
    ResourceFlavor,
    ResourceFlavorArgs,
    ResourceGroup,
    ResourceQuota,
    Resources,
    TokenAuth,
    Volume,
    WorkerGroup,
    queue,
    shut_down,
)

config = pulumi.Config()
namespace = config.get("namespace") or "inference"
workers = config.get_int("maxWorkers") or 10
day = config.require("day")

team = KubernetesObject(namespace, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
code = KubernetesObject(
    "infer",
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "infer", "namespace": namespace},
        "data": {"infer.py": Path("infer.py").read_text(encoding="utf-8")},
    },
    pulumi.ResourceOptions(depends_on=[team]),
)

nodes = ResourceFlavor("spot", ResourceFlavorArgs(node_labels={"node-pool": "spot"}))
quota = ClusterQueue(
    "inference",
    ClusterQueueArgs(
        namespaces=[namespace],
        resource_groups=[
            ResourceGroup(
                flavors=[
                    FlavorQuotas(
                        name="spot",
                        resources=[
                            ResourceQuota(name="cpu", nominal_quota=str(4 * workers + 4)),
                            ResourceQuota(name="memory", nominal_quota=f"{16 * workers + 16}Gi"),
                        ],
                    )
                ]
            )
        ],
    ),
    pulumi.ResourceOptions(depends_on=[nodes]),
)
entrance = LocalQueue(
    "inference",
    LocalQueueArgs(namespace=namespace, cluster_queue="inference"),
    pulumi.ResourceOptions(depends_on=[team, quota]),
)

RayJob(
    "inference",
    RayJobArgs(
        namespace=namespace,
        entrypoint=f"python /code/infer.py --day {day}",
        run=day,
        scheduling=queue("inference", elastic=True),
        backoff_limit=1,
        active_deadline_seconds=4 * 3600,
        cleanup=shut_down(ttl_seconds=300),
        cluster=RayClusterTemplate(
            token_auth=TokenAuth(),
            pods=PodTemplate(volumes=[Volume(name="code", mount_path="/code", config_map="infer")]),
            autoscaling=Autoscaling(idle_timeout_seconds=60),
            head=HeadGroup(
                pod=PodTemplate(resources=Resources(cpu="2", memory="8Gi")), ray_start_params={"num-cpus": "0"}
            ),
            workers=[
                WorkerGroup(
                    name="cpu",
                    min_replicas=0,
                    max_replicas=workers,
                    pod=PodTemplate(resources=Resources(cpu="4", memory="16Gi")),
                )
            ],
        ),
    ),
    pulumi.ResourceOptions(depends_on=[entrance, code]),
)
