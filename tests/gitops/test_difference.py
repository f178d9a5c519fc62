"""What a sync of a change does, told before it is merged."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops import report
from kuberay_e2e.gitops.declared import Declared
from kuberay_e2e.gitops.difference import Difference, Effect, difference
from kuberay_e2e.gitops.layout import Layout
from kuberay_e2e.gitops.tree import Tree
from tests.gitops.stacks import declared, local_queue, namespace, ray_job, small_stack, write


def change(
    place: Path, before: Sequence[Declared], after: Sequence[Declared], layout: Layout = Layout.ARGOCD
) -> Difference:
    base = write(place / "base", before, layout)
    return difference(base, Tree.read(write(place / "now", after, layout)))


def with_job(job: dict[str, object]) -> list[Declared]:
    return declared(namespace(), local_queue(), job)


def test_the_same_folder_twice_is_no_difference(tmp_path: Path) -> None:
    found = change(tmp_path, small_stack(), small_stack())
    assert found.changes == ()
    tree = Tree.read(tmp_path / "now")
    assert "A sync of this change does nothing." in report.text(tree, [], found)


def test_a_new_job_will_run(tmp_path: Path) -> None:
    (found,) = change(tmp_path, declared(namespace()), declared(namespace(), ray_job())).of(Effect.RUNS)
    assert found.title.startswith("RayJob ml/train-")
    assert found.consequence == "It runs when the queue team admits it."


def test_a_job_that_is_held_back_does_not_run(tmp_path: Path) -> None:
    job = ray_job(suspend=True)
    del job["metadata"]["labels"]
    (found,) = change(tmp_path, declared(namespace()), declared(namespace(), job)).of(Effect.RUNS)
    assert "runs when somebody resumes it" in found.consequence


def test_an_edit_of_a_job_is_a_replacement(tmp_path: Path) -> None:
    found = change(tmp_path, small_stack(), with_job(ray_job(entrypoint="python other.py")))
    (job,) = found.of(Effect.REPLACED)
    assert "is pruned, and stopped if it runs" in job.consequence
    assert 'spec.entrypoint: "python train.py" -> "python other.py"' in [str(field) for field in job.fields]
    assert found.of(Effect.RUNS) == []


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (Layout.ARGOCD, "nothing runs again"),
        (Layout.PLAIN, "nothing runs again"),
        (Layout.FLUX, "counts from the next run"),
    ],
)
def test_an_edit_of_a_deadline_runs_nothing(tmp_path: Path, layout: Layout, said: str) -> None:
    found = change(tmp_path, small_stack(), with_job(ray_job(activeDeadlineSeconds=60)), layout)
    (job,) = found.of(Effect.CHANGED)
    assert said in job.consequence
    assert [str(field) for field in job.fields] == ["spec.activeDeadlineSeconds: 3600 -> 60"]
    assert found.of(Effect.REPLACED) == []


def test_what_goes_from_git_is_pruned_unless_it_has_state(tmp_path: Path) -> None:
    found = change(tmp_path, small_stack(), declared(local_queue("other")))
    assert [job.consequence for job in found.of(Effect.ENDS)] == ["It is pruned, and stopped if it runs."]
    removed = {item.title: item.consequence for item in found.of(Effect.REMOVED)}
    assert removed["Namespace ml"] == "It stays in the cluster, because it is never pruned."
    assert removed["LocalQueue ml/team"] == "It is pruned."


def test_nobody_prunes_plain_yaml(tmp_path: Path) -> None:
    found = change(tmp_path, small_stack(), declared(namespace()), Layout.PLAIN)
    assert {item.consequence for item in found.of(Effect.ENDS)} == {
        "It stays in the cluster until somebody deletes it."
    }


def test_an_insertion_into_a_list_of_named_things_is_one_difference(tmp_path: Path) -> None:
    job = ray_job()
    (old,) = job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    job["spec"]["rayClusterSpec"]["workerGroupSpecs"] = [{**old, "groupName": "first"}, old]
    (found,) = change(tmp_path, small_stack(), with_job(job)).of(Effect.REPLACED)
    assert [field.path for field in found.fields if "workerGroupSpecs" in field.path] == [
        "spec.rayClusterSpec.workerGroupSpecs[first]"
    ]


def test_the_first_render_has_an_empty_base(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    found = difference(tmp_path / "base", Tree.read(write(tmp_path / "now", small_stack())))
    assert len(found.of(Effect.RUNS)) == 1
    assert len(found.of(Effect.ADDED)) == 2


def test_a_base_of_another_tool_or_stack_is_refused(tmp_path: Path) -> None:
    tree = Tree.read(write(tmp_path / "now", small_stack()))
    other = write(tmp_path / "other", small_stack(), stack="prod")
    with pytest.raises(InputError, match="is of the stack prod"):
        difference(other, tree)
    (other / "kuberay-render.json").unlink()
    with pytest.raises(InputError, match="was not written by `kuberay-e2e render`"):
        difference(other, tree)


def test_markdown_holds_whatever_a_job_holds(tmp_path: Path) -> None:
    found = change(tmp_path, small_stack(), with_job(ray_job(entrypoint="echo `date` | tee <out> ``")))
    text = report.markdown(Tree.read(tmp_path / "now"), [], found)
    assert "#### Jobs that will be replaced" in text
    assert '```spec.entrypoint: "python train.py" -> "echo `date` | tee <out> ``"```' in text
