"""What a pod gets from typed fields, and from those of all pods of its RayCluster."""

from typing import Any

import pytest

from pulumi_kuberay import (
    ArgumentError,
    PodSecurityStandard,
    PodTemplate,
    Resources,
    SecretKey,
    Toleration,
    TolerationOperator,
    Volume,
)
from pulumi_kuberay.pod_template import overlaid, pod_template
from pulumi_kuberay.rendering import rendered


def template(pod: PodTemplate, **options: Any) -> dict[str, Any]:
    made: dict[str, Any] = rendered(pod_template(pod, "ray-worker", image="rayproject/ray:2.52.0", **options))
    return made


def container(pod: PodTemplate) -> dict[str, Any]:
    [main] = template(pod)["spec"]["containers"]
    return dict(main)


def test_a_pod_is_restricted_and_has_no_token_unless_told_otherwise() -> None:
    spec = template(PodTemplate())["spec"]

    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert spec["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False


def test_the_image_s_own_user_is_kept_on_request() -> None:
    spec = template(PodTemplate(security=PodSecurityStandard.BASELINE))["spec"]

    assert "securityContext" not in spec and "securityContext" not in spec["containers"][0]


@pytest.mark.parametrize(
    ("pod", "token", "mounted"),
    [
        (PodTemplate(service_account="reader"), False, True),
        (PodTemplate(), True, True),
        (PodTemplate(automount_service_account_token=False), True, False),
    ],
)
def test_a_token_is_there_for_a_service_account_and_for_the_autoscaler(
    pod: PodTemplate, token: bool, mounted: bool
) -> None:
    assert template(pod, token=token)["spec"]["automountServiceAccountToken"] is mounted


def test_resources_are_requests_and_limits_alike() -> None:
    both = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": 2}

    assert container(PodTemplate(resources=Resources(cpu="8", memory="64Gi", gpus=2)))["resources"] == {
        "requests": both,
        "limits": both,
    }


def test_requests_and_limits_can_differ() -> None:
    resources = Resources(
        cpu="8", gpus=1, gpu_resource="amd.com/gpu", requests={"cpu": "500m"}, limits={"cpu": None, "tpu": 4}
    )

    assert container(PodTemplate(resources=resources))["resources"] == {
        "requests": {"cpu": "500m", "amd.com/gpu": 1},
        "limits": {"amd.com/gpu": 1, "tpu": 4},
    }


def test_variables_come_from_values_and_secrets() -> None:
    pod = PodTemplate(
        env={"LEVEL": "debug"},
        secret_env={"TOKEN": SecretKey(name="hub", key="token")},
        env_from=[{"configMapRef": {"name": "settings"}}],
    )

    assert container(pod)["env"] == [
        {"name": "LEVEL", "value": "debug"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
    ]
    assert container(pod)["envFrom"] == [{"configMapRef": {"name": "settings"}}]


def test_volumes_are_mounted_in_the_ray_container() -> None:
    volumes = [
        Volume(name="code", mount_path="/code", config_map="code", read_only=True),
        Volume(name="key", mount_path="/key", secret="key", sub_path="a"),
        Volume(name="data", mount_path="/data", persistent_volume_claim="data"),
        Volume(name="tmp", mount_path="/tmp", empty_dir=True),
        Volume(name="nfs", mount_path="/nfs", source={"nfs": {"server": "nfs", "path": "/"}}),
    ]

    assert template(PodTemplate(volumes=volumes))["spec"]["volumes"] == [
        {"name": "code", "configMap": {"name": "code"}},
        {"name": "key", "secret": {"secretName": "key"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "nfs", "nfs": {"server": "nfs", "path": "/"}},
    ]
    assert container(PodTemplate(volumes=volumes))["volumeMounts"][:2] == [
        {"name": "code", "mountPath": "/code", "readOnly": True},
        {"name": "key", "mountPath": "/key", "subPath": "a"},
    ]


def test_placement_and_metadata_are_those_of_kubernetes() -> None:
    made = template(
        PodTemplate(
            labels={"team": "a"},
            annotations={"note": "b"},
            image_pull_secrets=["registry"],
            node_selector={"pool": "gpu"},
            tolerations=[Toleration(key="nvidia.com/gpu", operator=TolerationOperator.EXISTS)],
            priority_class="high",
            runtime_class="gvisor",
        )
    )

    assert made["metadata"] == {"labels": {"team": "a"}, "annotations": {"note": "b"}}
    spec = made["spec"]
    assert (spec["priorityClassName"], spec["runtimeClassName"]) == ("high", "gvisor")
    assert (spec["nodeSelector"], spec["imagePullSecrets"]) == ({"pool": "gpu"}, [{"name": "registry"}])
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def test_other_containers_stand_beside_the_main_one() -> None:
    spec = template(PodTemplate(sidecars=[{"name": "logs"}], init_containers=[{"name": "fetch"}]))["spec"]

    assert [item["name"] for item in spec["containers"]] == ["ray-worker", "logs"]
    assert [item["name"] for item in spec["initContainers"]] == ["fetch"]


def test_fields_without_a_name_here_are_merged_over_the_rest() -> None:
    pod = PodTemplate(container={"ports": [{"containerPort": 8000}]}, extra={"spec": {"hostNetwork": True}})

    assert container(pod)["ports"] == [{"containerPort": 8000}]
    assert template(pod)["spec"]["hostNetwork"] is True


def test_a_group_s_own_settings_go_over_those_of_all_pods() -> None:
    common = PodTemplate(
        env={"A": "1", "B": "1"},
        image_pull_secrets=["registry"],
        resources=Resources(cpu="1"),
        extra={"spec": {"hostNetwork": True}},
    )
    own = PodTemplate(env={"B": "2"}, resources=Resources(cpu="2"), extra={"spec": {"dnsPolicy": "Default"}})

    pod = overlaid(common, own)
    assert pod.env == {"A": "1", "B": "2"}
    assert pod.image_pull_secrets == ["registry"]
    assert pod.resources == Resources(cpu="2")
    assert pod.extra == {"spec": {"hostNetwork": True, "dnsPolicy": "Default"}}
    assert overlaid(None, own) is own and overlaid(common, None) is common


@pytest.mark.parametrize(
    ("pod", "sentence"),
    [
        (PodTemplate(volumes=[Volume(name="code", mount_path="/code")]), "'code' must have exactly one .* has none"),
        (
            PodTemplate(volumes=[Volume(name="code", mount_path="/code", secret="a", empty_dir=True)]),
            "has secret and empty_dir",
        ),
        (
            PodTemplate(env={"TOKEN": "x"}, secret_env={"TOKEN": SecretKey(name="hub", key="token")}),
            "TOKEN of a pod is set in env and in secret_env",
        ),
    ],
)
def test_a_pod_that_contradicts_itself_is_refused(pod: PodTemplate, sentence: str) -> None:
    with pytest.raises(ArgumentError, match=sentence):
        template(pod)
