"""Pulumi's own words are understood."""

from kuberay_e2e.stack import resource_changes

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
