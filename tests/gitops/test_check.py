"""What a rendered folder is checked for: each rule finds its defect, in its file, and nothing in a sound folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops import checking
from kuberay_e2e.gitops.declared import Declared
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.tree import Tree
from tests.gitops.stacks import declared, local_queue, ray_job, small_stack, write

JOB = "objects/70-ray-jobs/ml/rayjob.ray.io-train.yaml"
QUEUE = "objects/40-queues/ml/localqueue.kueue.x-k8s.io-team.yaml"
NAMESPACE = "objects/00-namespaces/namespace-ml.yaml"
APPLICATION = "argocd/application.argoproj.io-dev.yaml"
THING = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
}
CRD = "objects/10-crds/customresourcedefinition.apiextensions.k8s.io-things.example.com.yaml"
OPERATOR = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "kuberay-operator", "namespace": "ml"},
    "spec": {
        "selector": {"matchLabels": {"app": "operator"}},
        "template": {
            "metadata": {"labels": {"app": "operator"}},
            "spec": {
                "containers": [
                    {
                        "name": "operator",
                        "image": "quay.io/kuberay/operator:v1.6.2",
                        "env": [{"name": "DELETE_RAYJOB_CR_AFTER_JOB_FINISHES", "value": "true"}],
                    }
                ]
            },
        },
    },
}

Edit = Callable[[dict[str, Any]], None]


def found(folder: Path, rule: str = "") -> list[Finding]:
    """Findings of the rules of this package, not of the policies."""
    rules = {"names", "schema", "order", "prune", "one-shot", "drift", "secret"}
    findings = checking.check(Tree.read(folder), checking.Choices())
    return [finding for finding in findings if finding.rule in ({rule} if rule else rules)]


def errors(folder: Path) -> list[Finding]:
    return [finding for finding in found(folder) if finding.severity is Severity.ERROR]


def edit(folder: Path, file: str, change: Edit) -> None:
    """Change a file by hand."""
    content = yaml.safe_load((folder / file).read_text())
    change(content)
    (folder / file).write_text(yaml.safe_dump(content))


def annotate(name: str, value: str | None) -> Edit:
    def change(content: dict[str, Any]) -> None:
        annotations = content["metadata"].setdefault("annotations", {})
        if value is None:
            del annotations[name]
        else:
            annotations[name] = value

    return change


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of policies are in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("layout", Layout)
def test_a_sound_folder_has_no_errors(tmp_path: Path, layout: Layout) -> None:
    assert errors(write(tmp_path / "out", [*small_stack(), *declared(THING)], layout)) == []


@pytest.mark.parametrize(
    ("layout", "file", "change", "rule", "message"),
    [
        (Layout.PLAIN, JOB, lambda job: job["spec"].update(entrypont="x"), "schema", "did you mean entrypoint?"),
        (Layout.PLAIN, JOB, lambda job: job["spec"].update(backoffLimit="2"), "schema", "expected integer, got '2'"),
        (Layout.PLAIN, JOB, lambda job: job.update(apiVersion="ray.io/v9"), "schema", "no version v9, only v1"),
        (Layout.PLAIN, JOB, lambda job: job["spec"].update(entrypoint="x"), "one-shot", "edited by hand"),
        (Layout.PLAIN, JOB, lambda job: job["metadata"].update(name="train"), "one-shot", "which run it is"),
        (Layout.PLAIN, JOB, annotate("pulumi-kuberay/run", None), "one-shot", "which run it is"),
        (
            Layout.PLAIN,
            JOB,
            lambda job: job["metadata"].update(generateName="t-", name=None),
            "one-shot",
            "generateName",
        ),
        (
            Layout.PLAIN,
            JOB,
            lambda job: job["spec"].update(
                deletionStrategy={
                    "deletionRules": [
                        {"policy": "DeleteSelf", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 9}}
                    ]
                }
            ),
            "one-shot",
            "DeleteSelf",
        ),
        (Layout.ARGOCD, JOB, annotate("argocd.argoproj.io/hook", "Sync"), "one-shot", "every sync delete and run"),
        (
            Layout.ARGOCD,
            JOB,
            annotate("argocd.argoproj.io/sync-options", "Replace=true,Force=true"),
            "one-shot",
            "Force=true, Replace=true delete and create it",
        ),
        (Layout.FLUX, JOB, annotate("kustomize.toolkit.fluxcd.io/ssa", None), "one-shot", "is not IfNotPresent"),
        (Layout.FLUX, JOB, annotate("kustomize.toolkit.fluxcd.io/force", "enabled"), "one-shot", "deletes and creates"),
        (Layout.PLAIN, JOB, lambda job: job["spec"].update(suspend=True), "drift", "spec.suspend is in Git, and Kueue"),
        (Layout.PLAIN, JOB, lambda job: job.update(status={}), "drift", "status is in Git"),
        (Layout.PLAIN, JOB, lambda job: job["metadata"].update(uid="1"), "drift", "metadata.uid is in Git"),
        (Layout.PLAIN, QUEUE, lambda queue: queue["spec"].update(stopPolicy=None), "drift", "spec.stopPolicy is null"),
        (
            Layout.ARGOCD,
            APPLICATION,
            lambda app: app["spec"].pop("ignoreDifferences"),
            "drift",
            "ignoreDifferences does not allow what the cluster writes into RayJob",
        ),
        (
            Layout.ARGOCD,
            APPLICATION,
            lambda app: app["spec"]["syncPolicy"].update(syncOptions=["Replace=true"]),
            "prune",
            "every sync would delete and create all objects",
        ),
        (
            Layout.ARGOCD,
            NAMESPACE,
            annotate("argocd.argoproj.io/sync-options", "Prune=false"),
            "prune",
            "lacks Delete=false",
        ),
        (
            Layout.ARGOCD,
            CRD,
            annotate("argocd.argoproj.io/sync-options", "Prune=false,Delete=false,Replace=true"),
            "prune",
            "lacks ServerSideApply=true",
        ),
        (Layout.FLUX, CRD, annotate("kustomize.toolkit.fluxcd.io/prune", None), "prune", "is not disabled"),
        (Layout.FLUX, "flux/40-queues.yaml", lambda item: item["spec"].update(force=True), "prune", "force is true"),
        (Layout.FLUX, "flux/70-ray-jobs.yaml", lambda item: item["spec"].pop("dependsOn"), "order", "add dependsOn"),
        (
            Layout.FLUX,
            "flux/70-ray-jobs.yaml",
            lambda item: item["spec"].update(wait=True),
            "order",
            "hold back the sync",
        ),
        (Layout.FLUX, "flux/40-queues.yaml", lambda item: item["spec"].update(wait=False), "order", "wait is not true"),
        (Layout.ARGOCD, JOB, annotate("argocd.argoproj.io/sync-wave", "-60"), "order", "later sync wave"),
        (Layout.ARGOCD, JOB, annotate("argocd.argoproj.io/sync-wave", "last"), "order", "no whole number"),
        (Layout.PLAIN, QUEUE, lambda queue: queue["metadata"].update(name="other"), "names", "render calls its file"),
    ],
)
def test_a_defect_is_found_in_its_file(
    tmp_path: Path, layout: Layout, file: str, change: Edit, rule: str, message: str
) -> None:
    folder = write(tmp_path / "out", [*small_stack(), *declared(THING)], layout)
    edit(folder, file, change)
    told = [finding for finding in found(folder, rule) if finding.file == file]
    assert any(message in finding.message for finding in told), found(folder)
    assert all(finding.severity is Severity.ERROR for finding in told)


def test_a_secret_with_data_is_found(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "ml"}}
    folder = write(tmp_path / "out", [*small_stack(), *declared(secret)])
    file = "objects/50-settings/ml/secret-s.yaml"
    edit(folder, file, lambda content: content.update(data={"token": "aHVudGVyMg=="}))
    (finding,) = found(folder, "secret")
    assert finding.file == file
    assert "aHVudGVyMg==" not in finding.message


def test_a_field_of_any_crd_in_the_folder_is_checked(tmp_path: Path) -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"sice": 1}}
    (finding,) = found(write(tmp_path / "out", declared(THING, thing)))
    assert "spec.sice: there is no such field" in finding.message
    assert "did you mean size?" in finding.message


def test_a_kind_whose_crd_nobody_gives_is_told_once(tmp_path: Path) -> None:
    objects = [*small_stack(), *declared(local_queue("zulu"))]
    (finding,) = found(write(tmp_path / "out", objects), "schema")
    assert (finding.severity, finding.file) == (Severity.WARNING, QUEUE)


def test_an_operator_that_deletes_finished_jobs_is_found(tmp_path: Path) -> None:
    objects = [*small_stack(), Declared(OPERATOR, components=("kuberay:index:KubeRayOperator",))]
    (finding,) = found(write(tmp_path / "out", objects), "one-shot")
    assert "DELETE_RAYJOB_CR_AFTER_JOB_FINISHES=true" in finding.message
    assert finding.file == JOB


def test_an_unknown_version_of_the_operator_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", declared(OPERATOR))
    file = next(folder.rglob("deployment*.yaml"))
    file.write_text(file.read_text().replace("v1.6.2", "v9.9.9"))
    with pytest.raises(InputError, match=r"is 9\.9\.9, whose rules are not known"):
        found(folder)


def test_policies_are_asked_too(tmp_path: Path) -> None:
    job = ray_job()
    job["spec"]["shutdownAfterJobFinishes"] = False
    del job["spec"]["ttlSecondsAfterFinished"]
    folder = write(tmp_path / "out", declared(job))
    findings = checking.check(Tree.read(folder), checking.Choices())
    assert any(finding.rule.startswith("P101 ") and finding.file == JOB for finding in findings)


def test_a_wrong_field_is_told_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", small_stack())
    edit(folder, JOB, lambda job: job["spec"].update(backoffLimit="2"))
    findings = checking.check(Tree.read(folder), checking.Choices())
    assert len([finding for finding in findings if finding.path == "spec.backoffLimit"]) == 1


def test_two_objects_in_a_file_are_found(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", small_stack())
    text = (folder / QUEUE).read_text()
    (folder / QUEUE).write_text(f"{text}---\n{text.replace('name: team', 'name: other')}")
    assert any("another object in this file" in finding.message for finding in found(folder, "names"))


def test_one_object_in_two_files_is_found(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", small_stack())
    (folder / "objects/40-queues/ml/again.yaml").write_text((folder / QUEUE).read_text())
    assert any("it is in" in finding.message for finding in found(folder, "names"))


@pytest.mark.parametrize("layout", [Layout.PLAIN, Layout.FLUX])
def test_a_file_that_kustomize_is_not_told_of_is_found(tmp_path: Path, layout: Layout) -> None:
    folder = write(tmp_path / "out", small_stack(), layout)
    edit(folder, "objects/40-queues/kustomization.yaml", lambda content: content.update(resources=["gone.yaml"]))
    messages = [finding.message for finding in found(folder, "names")]
    assert any("does not list this file" in message for message in messages)
    assert any("lists gone.yaml, and there is no such file" in message for message in messages)


def test_a_template_is_refused_with_file_and_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "out", small_stack())
    (folder / QUEUE).write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n")
    with pytest.raises(InputError, match=r"localqueue.*yaml:\d+: The file is a template"):
        Tree.read(folder)


def test_a_folder_of_another_tool_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deployment.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n")
    with pytest.raises(InputError, match="was not written by `kuberay-e2e render`"):
        Tree.read(tmp_path)


@pytest.mark.parametrize(
    ("record", "message"),
    [("{", "cannot be read"), ("{}", "not of this version"), ('{"format": 99}', "not of this version")],
)
def test_a_damaged_record_is_refused(tmp_path: Path, record: str, message: str) -> None:
    folder = write(tmp_path / "out", small_stack())
    (folder / "kuberay-render.json").write_text(record)
    with pytest.raises(InputError, match=message):
        Tree.read(folder)


def test_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder"):
        Tree.read(tmp_path / "absent")


def test_crds_may_come_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "crds.yaml").write_text(yaml.safe_dump(THING))
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": "1"}}
    tree = Tree.read(write(tmp_path / "out", declared(thing)))
    findings = checking.check(tree, checking.Choices(crds=(tmp_path / "crds.yaml",)))
    assert [finding.path for finding in findings if finding.rule == "schema"] == ["spec.size"]
    with pytest.raises(InputError, match="There is no CustomResourceDefinition"):
        checking.check(tree, checking.Choices(crds=(tmp_path / "out",)))
