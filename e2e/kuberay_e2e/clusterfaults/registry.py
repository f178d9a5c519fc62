"""The scenarios."""

from kuberay_e2e.clusterfaults import operators, pods, submitters
from kuberay_e2e.clusterfaults.scenario import Group, Scenario
from kuberay_e2e.clusterfaults.workload import Load, Mode
from kuberay_e2e.errors import InputError

SCENARIOS: tuple[Scenario, ...] = (
    *(
        Scenario(
            "head-pod-killed",
            "The head's containers get SIGKILL and its pod is deleted while the entrypoint runs.",
            Load(mode),
            pods.kill_head,
            patience=180,
        )
        for mode in Mode
    ),
    Scenario(
        "head-pod-killed-submitter-once",
        "As head-pod-killed, with submitterConfig.backoffLimit 0, so that the submitter is not started again.",
        Load(Mode.K8S_JOB, submitter_backoff=0),
        pods.kill_head,
        patience=180,
    ),
    Scenario(
        "worker-pod-killed",
        "The only worker gets SIGKILL and its pod is deleted while a task runs on it.",
        Load(Mode.K8S_JOB, workers=1),
        pods.kill_worker,
    ),
    Scenario(
        "submitter-pod-deleted",
        "The submitter's pod is deleted while the entrypoint runs.",
        Load(Mode.K8S_JOB),
        submitters.delete_pod,
    ),
    Scenario(
        "submitter-oom-killed",
        "The kernel kills the submitter for lack of memory while the entrypoint runs.",
        Load(Mode.K8S_JOB, submitter_memory="400Mi"),
        submitters.run_out_of_memory,
    ),
    Scenario(
        "submitter-never-fits",
        "The submitter has less memory than `ray` needs to start, so that each of its pods is OOM-killed.",
        Load(Mode.K8S_JOB, submitter_memory="40Mi"),
        submitters.never_fit,
    ),
    Scenario(
        "submitter-job-deleted",
        "The submitter Job is deleted with its pod while the entrypoint runs.",
        Load(Mode.K8S_JOB),
        submitters.delete_job,
        patience=45,
    ),
    *(
        Scenario(
            "dashboard-cut",
            "The operator's packets to the dashboard are dropped from before the job's end until 33 s after it.",
            Load(mode),
            operators.cut_dashboard,
        )
        for mode in (Mode.K8S_JOB, Mode.HTTP)
    ),
    Scenario(
        "node-drained",
        "The node of head and submitter is cordoned and both are evicted while the entrypoint runs.",
        Load(Mode.K8S_JOB),
        pods.drain,
        patience=180,
        nodes=2,
    ),
    Scenario(
        "operator-scaled-to-zero",
        "The operator is scaled to zero, the RayJob is deleted, and ten seconds later the operator is scaled back.",
        Load(Mode.K8S_JOB),
        operators.scale_to_zero,
        group=Group.OPERATOR,
    ),
    Scenario(
        "leader-killed",
        "Two operators elect a leader, which gets SIGKILL and whose pod is deleted while the entrypoint runs.",
        Load(Mode.K8S_JOB),
        operators.kill_leader,
        group=Group.LEADER,
    ),
    Scenario(
        "api-server-killed",
        "The API server's container gets SIGKILL on its node while the entrypoint runs.",
        Load(Mode.K8S_JOB),
        operators.kill_api_server,
        group=Group.API_SERVER,
    ),
)
"""Every scenario in every mode that it has, in the order of the report."""


def chosen(names: tuple[str, ...]) -> tuple[Scenario, ...]:
    """Scenarios by their names.

    Args:
        names: Names such as `head-pod-killed`, or with a mode `head-pod-killed[HTTPMode]`; empty: all.

    Raises:
        InputError: There is no scenario of a name.
    """
    known = {scenario.name for scenario in SCENARIOS} | {scenario.title for scenario in SCENARIOS}
    if unknown := [name for name in names if name not in known]:
        raise InputError(
            f"There is no scenario {unknown[0]!r}; there are "
            f"{', '.join(dict.fromkeys(scenario.name for scenario in SCENARIOS))}."
        )
    return tuple(item for item in SCENARIOS if not names or item.name in names or item.title in names)
