"""The manifests: what the pods may do, and that the Job is one that Kubernetes takes."""

from pathlib import Path

import pytest

from kuberay_e2e.crash.indexed import manifests
from kuberay_e2e.crash.indexed.manifests import Wish

WISH = Wish("registry.example.com/harness:1", 4, 2, "sweep", 960, ("--scenario", "http"))


def test_each_index_is_a_part_and_no_more_run_at_once_than_wished() -> None:
    spec = manifests.job(WISH)["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 2)
    assert manifests.job(Wish("i", 2, 9, "sweep", 60))["spec"]["parallelism"] == 2
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert (spec["backoffLimitPerIndex"], spec["activeDeadlineSeconds"]) == (0, 960)
    assert spec["ttlSecondsAfterFinished"] > 0


def test_a_pod_runs_its_part_with_the_options_of_the_user() -> None:
    [container] = manifests.job(WISH)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == WISH.image
    assert container["command"][-3:] == ["kuberay_e2e.crash.indexed.part", "4", "/work/sweep"]
    assert container["args"] == ["--scenario", "http"]


def test_a_pod_has_no_rights() -> None:
    """What the `restricted` Pod Security Standard asks for, and no token of a service account."""
    pod = manifests.job(WISH)["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"emptyDir"} == {kind for volume in pod["volumes"] for kind in volume if kind != "name"}
    labels = manifests.namespace(WISH, "run-x")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert labels["kuberay-e2e/run"] == "run-x"


@pytest.mark.parametrize(
    ("cpu", "asked", "most"), [(2.0, "2000m", "2000m"), (0.25, "250m", "2000m"), (4, "4000m", "4000m")]
)
def test_a_part_may_use_two_cpus_where_it_asks_for_fewer(cpu: float, asked: str, most: str) -> None:
    [container] = manifests.job(Wish("i", 1, 1, "sweep", 60, cpu=cpu))["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": asked, "memory": "3Gi"}
    assert container["resources"]["limits"] == {"cpu": most, "memory": "3Gi"}


def test_what_a_pod_writes_is_in_its_volumes() -> None:
    [container] = manifests.job(WISH)["spec"]["template"]["spec"]["containers"]
    mounts = [Path(mount["mountPath"]) for mount in container["volumeMounts"]]
    written = [Path(entry["value"]) for entry in container["env"]] + [Path(container["command"][-1]), Path("/tmp")]
    assert all(any(path.is_relative_to(mount) for mount in mounts) for path in written)
