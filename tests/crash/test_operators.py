"""The operators of a run are started from the Deployment that was applied."""

from kuberay_e2e.crash.operators import of_release
from kuberay_e2e.operator_process import OperatorSpec

APPLIED = OperatorSpec(
    "ray-system",
    "kuberay-operator",
    "1.6.2",
    "kuberay-operator",
    ("--feature-gates=RayCronJob=false,RayJobDeletionPolicy=true", "--enable-leader-election=false"),
    {},
)


def test_a_release_has_the_gates_that_it_knows() -> None:
    before = of_release(APPLIED, "1.5.1")
    assert before.version == "1.5.1"
    assert "RayCronJob" not in before.args[0]
    assert "RayJobDeletionPolicy=false" in before.args[0]
    assert before.args[1:] == APPLIED.args[1:]
