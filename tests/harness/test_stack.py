"""Pulumi's own words are understood."""

from kuberay_e2e.stack import Planned, planned, resource_changes

SAID = """\
Updating (jobs):
 +  kubernetes:ray.io/v1:RayJob counter created (0.1s)
Resources:
    + 2 created
    ~ 1 updated
    - 3 deleted
    +-1 replaced
    16 unchanged

Duration: 4s
"""


def test_summary_of_an_update() -> None:
    assert resource_changes(SAID) == {"created": 2, "updated": 1, "deleted": 3, "replaced": 1, "unchanged": 16}


def test_nothing_to_summarise() -> None:
    assert resource_changes("Updating (jobs):\n") == {}


def test_a_step_of_a_preview_is_named_by_its_own_type_and_name() -> None:
    urn = "urn:pulumi:jobs::kuberay::kuberay:index:RayJob$kubernetes:ray.io/v1:RayJob::team/counter"
    assert planned({"op": "replace", "urn": urn}) == Planned("replace", "kubernetes:ray.io/v1:RayJob", "team/counter")
    root = "urn:pulumi:jobs::kuberay::pulumi:pulumi:Stack::kuberay-jobs"
    assert planned({"op": "same", "urn": root}) == Planned("same", "pulumi:pulumi:Stack", "kuberay-jobs")
