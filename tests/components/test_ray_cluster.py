"""A RayCluster, alone or of a RayJob, from typed groups; edits of one that stands alone are made in place."""

from typing import Any

import pulumi
import pytest
from recording_engine import Run

from pulumi_kuberay import (
    ArgumentError,
    AutoscalerVersion,
    Autoscaling,
    GcsFaultTolerance,
    HeadGroup,
    ManagedBy,
    PodSecurityStandard,
    PodTemplate,
    RayCluster,
    RayClusterArgs,
    RayClusterTemplate,
    Resources,
    SecretKey,
    ServiceType,
    TokenAuth,
    UpgradeStrategy,
    UpscalingMode,
    WorkerGroup,
    queue,
    suspended,
)
from pulumi_kuberay.ray_cluster import ray_cluster_manifest
from pulumi_kuberay.ray_cluster_template import image_and_version, ray_cluster_spec
from pulumi_kuberay.rendering import rendered

RAY_CLUSTER = "kubernetes:ray.io/v1:RayCluster"
SCALED = Autoscaling()


def spec(**fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = rendered(ray_cluster_spec(RayClusterTemplate(**fields)))
    return made


def group(**fields: Any) -> dict[str, Any]:
    autoscaling = fields.pop("autoscaling", None)
    [made] = spec(workers=[WorkerGroup(name="small", **fields)], autoscaling=autoscaling)["workerGroupSpecs"]
    return dict(made)


def container(template: dict[str, Any]) -> dict[str, Any]:
    return dict(template["spec"]["containers"][0])


def test_all_pods_have_one_image_unless_a_group_says_otherwise() -> None:
    made = spec(
        image="registry.example/ray:2.53.0",
        workers=[
            WorkerGroup(name="a"),
            WorkerGroup(name="b", pod=PodTemplate(image="registry.example/ray:2.53.0-gpu")),
        ],
    )

    images = [container(item["template"])["image"] for item in (made["headGroupSpec"], *made["workerGroupSpecs"])]
    assert images == [
        "registry.example/ray:2.53.0",
        "registry.example/ray:2.53.0",
        "registry.example/ray:2.53.0-gpu",
    ]


@pytest.mark.parametrize(
    ("image", "version", "expected"),
    [
        (None, None, ("rayproject/ray:2.52.0", "2.52.0")),
        (None, "2.55.0", ("rayproject/ray:2.55.0", "2.55.0")),
        ("rayproject/ray:2.53.0-py311-gpu", None, ("rayproject/ray:2.53.0-py311-gpu", "2.53.0")),
        ("registry:5000/ray:2.53.0@sha256:abc", None, ("registry:5000/ray:2.53.0@sha256:abc", "2.53.0")),
        ("registry:5000/ray:nightly", None, ("registry:5000/ray:nightly", None)),
        ("registry:5000/ray", None, ("registry:5000/ray", None)),
        ("registry:5000/ray:1", "2.53.0", ("registry:5000/ray:1", "2.53.0")),
    ],
)
def test_image_and_ray_version_follow_each_other(
    image: str | None, version: str | None, expected: tuple[str, str | None]
) -> None:
    assert image_and_version(image, version) == expected


def test_what_holds_for_all_pods_holds_for_each_group() -> None:
    made = spec(
        pods=PodTemplate(env={"A": "1"}, node_selector={"pool": "ray"}),
        workers=[WorkerGroup(name="a", pod=PodTemplate(node_selector={"gpu": "yes"}))],
    )

    head, worker = made["headGroupSpec"]["template"], made["workerGroupSpecs"][0]["template"]
    assert head["spec"]["nodeSelector"] == {"pool": "ray"}
    assert worker["spec"]["nodeSelector"] == {"pool": "ray", "gpu": "yes"}
    assert container(head)["env"] == container(worker)["env"] == [{"name": "A", "value": "1"}]


def test_the_head_is_not_exposed_unless_asked() -> None:
    assert not {"serviceType", "enableIngress"} & set(spec()["headGroupSpec"])

    head = spec(head=HeadGroup(service_type=ServiceType.LOAD_BALANCER, ingress=True))["headGroupSpec"]
    assert (head["serviceType"], head["enableIngress"]) == ("LoadBalancer", True)


def test_groups_have_every_field_of_kuberay() -> None:
    made = group(
        replicas=2,
        max_replicas=4,
        num_of_hosts=4,
        ray_start_params={"num-cpus": "0"},
        ray_labels={"zone": "a"},
        extra={"priority": 5},
    )

    assert made | {"template": None} == {
        "groupName": "small",
        "replicas": 2,
        "minReplicas": 2,
        "maxReplicas": 4,
        "numOfHosts": 4,
        "rayStartParams": {"num-cpus": "0"},
        "labels": {"zone": "a"},
        "priority": 5,
        "template": None,
    }


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, (1, 1, 1)),
        ({"replicas": 3}, (3, 3, 3)),
        ({"min_replicas": 2}, (2, 2, 2)),
        ({"replicas": 0, "max_replicas": 5}, (0, 0, 5)),
    ],
)
def test_replicas_are_fixed_without_autoscaling(fields: dict[str, Any], counts: tuple[int, int, int]) -> None:
    made = group(**fields)

    assert (made["replicas"], made["minReplicas"], made["maxReplicas"]) == counts


def test_replicas_belong_to_the_autoscaler_with_autoscaling() -> None:
    made = group(max_replicas=4, autoscaling=SCALED)

    assert "replicas" not in made
    assert (made["minReplicas"], made["maxReplicas"]) == (0, 4)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"replicas": 2, "max_replicas": 1}, "but they are 2, 2 and 1"),
        ({"replicas": -1}, "but they are -1, -1 and -1"),
        ({"replicas": 2, "max_replicas": 4, "autoscaling": SCALED}, "belongs to the Ray autoscaler"),
        ({"autoscaling": SCALED}, "say how far it may grow"),
        ({"min_replicas": 5, "max_replicas": 4, "autoscaling": SCALED}, "but they are 5 and 4"),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        group(**fields)


def test_the_autoscaler_has_options_and_a_token() -> None:
    made = spec(
        autoscaling=Autoscaling(
            version=AutoscalerVersion.V2,
            idle_timeout_seconds=120,
            upscaling_mode=UpscalingMode.CONSERVATIVE,
            image="registry.example/ray:2.53.0",
            resources=Resources(cpu="1"),
            env={"A": "1"},
        )
    )

    assert made["enableInTreeAutoscaling"] is True
    assert made["autoscalerOptions"] == {
        "version": "v2",
        "idleTimeoutSeconds": 120,
        "upscalingMode": "Conservative",
        "image": "registry.example/ray:2.53.0",
        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}},
        "env": [{"name": "A", "value": "1"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    assert made["headGroupSpec"]["template"]["spec"]["automountServiceAccountToken"] is True


def test_the_autoscaler_is_as_secure_as_the_pods() -> None:
    made = spec(autoscaling=SCALED, pods=PodTemplate(security=PodSecurityStandard.BASELINE))

    assert made["autoscalerOptions"] == {}


def test_ray_can_want_a_token() -> None:
    assert spec(token_auth=TokenAuth())["authOptions"] == {"mode": "token"}
    assert spec(token_auth=TokenAuth(secret_name="key"))["authOptions"] == {"mode": "token", "secretName": "key"}


def test_state_can_be_kept_in_redis() -> None:
    made = spec(
        gcs_fault_tolerance=GcsFaultTolerance(
            redis_address="redis:6379", redis_password=SecretKey(name="redis", key="password")
        )
    )

    assert made["gcsFaultToleranceOptions"] == {
        "redisAddress": "redis:6379",
        "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "password"}}},
    }


def test_a_cluster_of_its_own_has_a_name_a_queue_and_an_upgrade_strategy() -> None:
    made = ray_cluster_manifest(
        "team/shared",
        RayClusterArgs(
            cluster_name="shared",
            namespace="team",
            scheduling=queue("default"),
            upgrade_strategy=UpgradeStrategy.RECREATE,
            managed_by=ManagedBy.KUBERAY,
            extra={"headServiceAnnotations": {"a": "b"}},
        ),
    )

    assert made["metadata"] == {
        "name": "shared",
        "namespace": "team",
        "labels": {"kueue.x-k8s.io/queue-name": "default"},
    }
    assert made["spec"]["upgradeStrategy"] == {"type": "Recreate"}
    assert made["spec"]["managedBy"] == "ray.io/kuberay-operator"
    assert made["spec"]["headServiceAnnotations"] == {"a": "b"}
    assert "suspend" not in made["spec"]


def test_a_cluster_can_be_suspended_by_hand() -> None:
    assert ray_cluster_manifest("shared", RayClusterArgs(scheduling=suspended()))["spec"]["suspend"] is True


def test_outputs_name_the_cluster_and_its_head(run: Run) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        image = pulumi.Output.from_input("rayproject/ray:2.53.0")
        template = RayClusterTemplate(image=image, ray_version="2.53.0")
        cluster = RayCluster("shared", RayClusterArgs(namespace="team", cluster=template))
        outputs = pulumi.Output.all(cluster.cluster_name, cluster.namespace, cluster.head_service)
        outputs.apply(lambda values: seen.update(values=values))

    engine = run(program)
    assert seen == {"values": ["shared", "team", "shared-head-svc"]}
    assert container(engine.one(RAY_CLUSTER)["spec"]["headGroupSpec"]["template"])["image"] == "rayproject/ray:2.53.0"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"cluster_name": "a" * 54}, "at most 53 .* has 54 characters"),
        ({"cluster_name": "1st"}, "beginning with a letter"),
        ({"cluster": RayClusterTemplate(), "ray_cluster_spec": {}}, "together with cluster"),
        (
            {
                "scheduling": queue("team"),
                "cluster": RayClusterTemplate(autoscaling=SCALED, workers=[WorkerGroup(name="a", max_replicas=2)]),
            },
            "in a queue of Kueue, but .* autoscaling",
        ),
        ({"cluster": RayClusterTemplate(workers=[WorkerGroup(name="a")] * 2)}, r"- U16 spec\.workerGroupSpecs"),
        (
            {"cluster": RayClusterTemplate(image="ray:latest", token_auth=TokenAuth())},
            r"cannot work on KubeRay 1\.6\.2\.\n- C20 spec\.rayVersion",
        ),
        ({"extra": {"headGroupSpec": {"template": {"spec": {"containers": []}}}}}, "- C1 spec.headGroupSpec"),
    ],
)
def test_a_cluster_that_cannot_work_fails_at_preview(run: Run, args: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        run(lambda: RayCluster("shared", RayClusterArgs(**args)))


def test_rules_on_the_cluster_of_a_job_do_not_hold_for_one_of_its_own(run: Run) -> None:
    args = RayClusterArgs(
        upgrade_strategy=UpgradeStrategy.NONE,
        cluster=RayClusterTemplate(
            ray_version="2.55.0", extra={"authOptions": {"mode": "token", "enableK8sTokenAuth": True}}
        ),
    )

    assert run(lambda: RayCluster("shared", args)).one(RAY_CLUSTER)["spec"]["upgradeStrategy"] == {"type": "None"}
