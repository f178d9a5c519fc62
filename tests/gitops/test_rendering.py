"""The files of a stack: one object each, under names that stay, the same bytes every time."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.declared import Declared
from kuberay_e2e.gitops.job_run import RUN_ANNOTATION
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.rendering import Order, rendered_stack
from kuberay_e2e.gitops.secret import Secrets
from tests.gitops.stacks import REPOSITORY, declared, local_queue, namespace, ray_job, small_stack

JOB = "objects/70-ray-jobs/ml/rayjob.ray.io-train.yaml"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "names": {"kind": "Thing"}, "versions": []},
}


def files(objects: list[Declared], layout: Layout = Layout.PLAIN, **order: Any) -> dict[str, Any]:
    rendered = rendered_stack(objects, Order("dev", layout=layout, repository=REPOSITORY, **order))
    return {path: yaml.safe_load(text) for path, text in rendered.files.items()}


def annotations(content: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = content["metadata"].get("annotations", {})
    return {key: value for key, value in found.items() if key != RUN_ANNOTATION}


def test_each_object_has_a_file_of_its_own_named_by_kind_and_name() -> None:
    assert set(files(small_stack())) == {
        "kuberay-render.json",
        "objects/00-namespaces/namespace-ml.yaml",
        "objects/00-namespaces/kustomization.yaml",
        "objects/40-queues/ml/localqueue.kueue.x-k8s.io-team.yaml",
        "objects/40-queues/kustomization.yaml",
        JOB,
        "objects/70-ray-jobs/kustomization.yaml",
    }


@pytest.mark.parametrize("layout", Layout)
def test_the_order_of_declarations_and_of_keys_does_not_count(layout: Layout) -> None:
    order = Order("dev", layout=layout, repository=REPOSITORY)
    backwards = [Declared(dict(reversed(list(item.manifest.items())))) for item in reversed(small_stack())]
    assert rendered_stack(small_stack(), order) == rendered_stack(backwards, order)


def test_a_name_that_is_no_file_name_is_escaped() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "team:a/b"}}
    assert "objects/50-settings/clusterrole.rbac.authorization.k8s.io-team%3Aa%2Fb.yaml" in files(declared(role))


def test_long_names_stay_apart() -> None:
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a" * 240 + end}} for end in "xy"]
    names = [Path(path).name for path in files(declared(*maps)) if "configmap" in path]
    assert len(set(names)) == 2
    assert all(len(name) < 255 for name in names)


def test_a_job_carries_its_run_in_its_name_but_not_in_its_file() -> None:
    first = files(declared(ray_job()))[JOB]["metadata"]["name"]
    edited = files(declared(ray_job(entrypoint="python other.py")))[JOB]["metadata"]["name"]
    assert first.startswith("train-")
    assert edited.startswith("train-")
    assert first != edited


def test_an_edit_of_what_kuberay_reads_each_time_is_no_other_run() -> None:
    first = files(declared(ray_job()))[JOB]["metadata"]["name"]
    assert files(declared(ray_job(ttlSecondsAfterFinished=5, backoffLimit=2)))[JOB]["metadata"]["name"] == first


def test_the_program_says_which_run_it_is() -> None:
    job = Declared(ray_job(), identity="0123456789abcdef")
    assert files([job])[JOB]["metadata"]["name"] == "train-01234567"


def test_a_job_that_the_program_named_by_its_run_keeps_its_name() -> None:
    job = Declared(ray_job("train-01234567"), components=("kuberay:index:RayJob",))
    assert files([job])[JOB]["metadata"]["name"] == "train-01234567"


def test_a_name_that_only_looks_like_a_run_gets_one() -> None:
    (path,) = [path for path in files(declared(ray_job("train-deadbeef"))) if "rayjob" in path]
    assert path.endswith("rayjob.ray.io-train-deadbeef.yaml")


def test_a_name_too_long_for_its_run_is_refused() -> None:
    with pytest.raises(InputError, match="47 characters, and with the run in it KubeRay allows 38"):
        files(declared(ray_job("t" * 47)))


def test_argocd_gets_waves_and_options() -> None:
    volume = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "ml"}}
    found = files([*small_stack(), *declared(CRD, volume)], Layout.ARGOCD)
    waves = {
        path: int(annotations(content)["argocd.argoproj.io/sync-wave"])
        for path, content in found.items()
        if "objects" in path
    }
    ordered = sorted(waves, key=lambda path: waves[path])
    assert [path.split("/")[1][3:] for path in ordered] == ["namespaces", "crds", "queues", "settings", "ray-jobs"]
    options = {
        path: annotations(content).get("argocd.argoproj.io/sync-options")
        for path, content in found.items()
        if path in waves
    }
    assert [options[path] for path in ordered] == [
        "Prune=false,Delete=false",
        "ServerSideApply=true,Prune=false,Delete=false",
        None,
        "Prune=false,Delete=false",
        None,
    ]


def test_argocd_gets_no_kustomization_because_it_would_take_the_folder_for_one() -> None:
    assert not [path for path in files(small_stack(), Layout.ARGOCD) if path.endswith("kustomization.yaml")]


def test_a_job_is_no_hook() -> None:
    """A hook is run again by every sync, and a sync waits for it."""
    assert set(annotations(files(small_stack(), Layout.ARGOCD)[JOB])) == {"argocd.argoproj.io/sync-wave"}


def test_the_application_leaves_alone_what_kueue_writes() -> None:
    application = files(small_stack(), Layout.ARGOCD)["argocd/application.argoproj.io-dev.yaml"]
    (ignored,) = application["spec"]["ignoreDifferences"]
    assert ignored["kind"] == "RayJob"
    assert ".spec.suspend" in ignored["jqPathExpressions"]
    assert application["spec"]["source"]["path"] == "gitops/dev/objects"
    assert "RespectIgnoreDifferences=true" in application["spec"]["syncPolicy"]["syncOptions"]


def test_without_a_repository_there_is_no_application() -> None:
    rendered = rendered_stack(small_stack(), Order("dev", layout=Layout.ARGOCD))
    assert not [path for path in rendered.files if path.startswith("argocd/")]
    (note,) = rendered.notes
    assert "--repo" in note


def test_flux_gets_a_kustomization_for_each_stage_after_the_one_before() -> None:
    found = files(small_stack(), Layout.FLUX)
    assert "dependsOn" not in found["flux/00-namespaces.yaml"]["spec"]
    assert found["flux/40-queues.yaml"]["spec"]["dependsOn"] == [{"name": "kuberay-dev-namespaces"}]
    assert found["flux/70-ray-jobs.yaml"]["spec"]["dependsOn"] == [{"name": "kuberay-dev-queues"}]
    assert found["flux/40-queues.yaml"]["spec"]["path"] == "./gitops/dev/objects/40-queues"
    assert [found[f"flux/{stage}.yaml"]["spec"]["wait"] for stage in ("40-queues", "70-ray-jobs")] == [True, False]
    assert [found[f"flux/{stage}.yaml"]["spec"]["prune"] for stage in ("00-namespaces", "70-ray-jobs")] == [False, True]
    assert annotations(found["objects/00-namespaces/namespace-ml.yaml"]) == {
        "kustomize.toolkit.fluxcd.io/prune": "disabled"
    }


def test_flux_creates_a_job_once_and_then_leaves_it_to_kueue() -> None:
    assert annotations(files(small_stack(), Layout.FLUX)[JOB]) == {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}


def test_flux_goes_on_applying_a_job_that_a_person_suspends() -> None:
    job = ray_job(suspend=True)
    del job["metadata"]["labels"]
    assert annotations(files(declared(job), Layout.FLUX)[JOB]) == {}


def test_the_ray_autoscaler_is_on_the_drift_allow_list() -> None:
    cluster = ray_job()["spec"]["rayClusterSpec"] | {"enableInTreeAutoscaling": True}
    manifest = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": cluster,
    }
    flux = files(declared(manifest), Layout.FLUX)["flux/60-ray-clusters.yaml"]
    assert "/spec/workerGroupSpecs/0/replicas" in flux["spec"]["ignore"][0]["paths"]
    argocd = files(declared(manifest), Layout.ARGOCD)["argocd/application.argoproj.io-dev.yaml"]
    assert ".spec.workerGroupSpecs[]?.replicas" in argocd["spec"]["ignoreDifferences"][0]["jqPathExpressions"]


def test_what_pulumi_protects_is_never_pruned() -> None:
    queue = Declared(local_queue(), kept=True)
    path = "objects/40-queues/ml/localqueue.kueue.x-k8s.io-team.yaml"
    assert annotations(files([queue], Layout.FLUX)[path]) == {"kustomize.toolkit.fluxcd.io/prune": "disabled"}


def test_the_record_says_what_the_folder_is() -> None:
    rendered = rendered_stack(small_stack(), Order("dev", layout=Layout.FLUX))
    record = json.loads(rendered.files["kuberay-render.json"])
    assert (record["stack"], record["layout"], record["path"]) == ("dev", "flux", "gitops/dev")


SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token", "namespace": "ml"},
    "stringData": {"token": "hunter2"},
}


def test_a_secret_with_data_is_refused() -> None:
    with pytest.raises(InputError, match="Secret ml/token has data") as refused:
        files(declared(SECRET))
    assert "hunter2" not in str(refused.value)


def test_a_secret_may_be_left_to_the_cluster() -> None:
    rendered = rendered_stack([*small_stack(), *declared(SECRET)], Order("dev", secrets=Secrets.REFERENCE))
    assert "hunter2" not in "".join(rendered.files.values())
    assert json.loads(rendered.files["kuberay-render.json"])["secrets"] == ["ml/token"]
    assert rendered.notes == ("Secret ml/token is not in the folder; it must be in the cluster.",)


def test_a_secret_without_data_is_rendered_because_a_controller_fills_it() -> None:
    empty = {key: value for key, value in SECRET.items() if key != "stringData"}
    assert "objects/50-settings/ml/secret-token.yaml" in files(declared(empty))


def test_a_secret_value_in_another_object_is_refused() -> None:
    with pytest.raises(InputError, match=r"RayJob ml/train: spec.entrypoint is a secret of the program"):
        files([Declared(ray_job(), secrets=("spec.entrypoint",))])


def test_an_object_without_a_name_is_refused() -> None:
    job = ray_job()
    job["metadata"] = {"generateName": "train-", "namespace": "ml"}
    with pytest.raises(InputError, match=r"RayJob ml/train- has no metadata.name"):
        files(declared(job))


def test_one_object_twice_is_refused() -> None:
    with pytest.raises(InputError, match="declares Namespace ml twice"):
        files(declared(namespace(), namespace()))


def test_an_empty_stack_is_refused() -> None:
    with pytest.raises(InputError, match="declares no Kubernetes object"):
        files([])
