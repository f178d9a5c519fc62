"""CEL of the policies on cleanup, deadlines, autoscaling and Kueue."""

from __future__ import annotations

from kuberay_model.sentences import listed
from kuberay_policies.catalogue.deadlines import PRE_RUNNING_DEADLINE, STATUS_CHECK_TIMEOUT
from kuberay_policies.catalogue.kueue import ELASTIC_ANNOTATION, QUEUE_LABEL, QUEUE_PATH
from kuberay_policies.vap.cel import NOTHING, each, finding, literal, strings, together, under, when
from kuberay_policies.vap.registry import Rendering, expression

_STRATEGY = "spec.deletionStrategy"


@expression("P101")
def _cleanup_required(to: Rendering) -> str:
    enough = strings(["DeleteCluster", "DeleteSelf", *(["DeleteWorkers"] if to.parameters.keep_head else [])])
    ends = {
        "SUCCEEDED": ("onSuccess", "['SUCCEEDED']"),
        "FAILED": ("onFailure", "['FAILED', 'Failed']"),
    }
    missing = " + ".join(
        f"((variables.rules.exists(r, r.policy in {enough} && r.status in {statuses})"
        f" || variables.strategy.?{field}.?policy.orValue('') in {enough}) ? [] : ['{end}'])"
        for end, (field, statuses) in ends.items()
    )
    place = (
        "{!has(variables.spec.deletionStrategy) ? 'shutdownAfterJobFinishes'"
        " : size(variables.ruleSpecs) > 0 ? 'deletionStrategy.deletionRules'"
        " : size(variables.legacy) > 0 ? 'deletionStrategy' : 'shutdownAfterJobFinishes'}"
    )
    return when(
        f"!variables.selected && !variables.shutdown && size({missing}) > 0",
        finding(
            f"spec.{place}",
            f"Nothing removes the RayCluster when the job is {{({missing}).join(' or ')}}.",
            "Set shutdownAfterJobFinishes: true, or add a deletion rule DeleteCluster for each end.",
        ),
    )


@expression("P102")
def _stopped_job(_: Rendering) -> str:
    return when(
        "!variables.selected && !variables.shutdown && has(variables.spec.deletionStrategy)",
        finding(
            _STRATEGY,
            "A job that is stopped ends as STOPPED, which no deletion rule matches: its RayCluster stays.",
            "Use shutdownAfterJobFinishes: true with ttlSecondsAfterFinished instead, or delete the RayJob after "
            "stopping the job.",
        ),
    )


@expression("P103")
def _ttl_limit(to: Rendering) -> str:
    most = to.parameters.max_seconds
    wrong, remedy = f"Cleanup comes after {{SECONDS}} s, and at most {most} s are allowed.", f"Use {most} s or less."
    return together(
        when(
            f"variables.ttl > {most}",
            finding("spec.ttlSecondsAfterFinished", wrong.replace("SECONDS", "variables.ttl"), remedy),
        ),
        each(
            "variables.rules",
            "r",
            f"r.ttl > {most}",
            finding("{r.path}.condition.ttlSeconds", wrong.replace("SECONDS", "r.ttl"), remedy),
        ),
    )


@expression("P104")
def _delete_self(_: Rendering) -> str:
    wrong = "DeleteSelf removes the RayJob, and whatever declares it creates it again: the job runs again."
    remedy = "Use DeleteCluster, which keeps the RayJob with its result."
    return together(
        each(
            "variables.legacyPolicies",
            "l",
            "l.policy == 'DeleteSelf'",
            finding(f"{_STRATEGY}.{{l.field}}.policy", wrong, remedy),
        ),
        each("variables.rules", "r", "r.policy == 'DeleteSelf'", finding("{r.path}.policy", wrong, remedy)),
    )


def _deadline(field: str, most: int | None, absent: str, remedy: str) -> str:
    missing = when(f"!has(variables.spec.{field})", finding(f"spec.{field}", absent, remedy))
    if most is None:
        return missing
    long = when(
        f"variables.spec.?{field}.orValue(0) > {most}",
        finding(f"spec.{field}", f"The deadline is {{variables.spec.{field}}} s.", f"Use at most {most} s."),
    )
    return together(missing, long)


@expression("P110")
def _active_deadline(to: Rendering) -> str:
    return _deadline(
        "activeDeadlineSeconds",
        to.parameters.max_seconds,
        "There is no activeDeadlineSeconds, so a job that hangs keeps its RayCluster for ever.",
        "Set activeDeadlineSeconds to the longest time an attempt may take.",
    )


@expression("P111")
def _pre_running_deadline(to: Rendering) -> str:
    if to.version < PRE_RUNNING_DEADLINE:
        return NOTHING
    found = _deadline(
        "preRunningDeadlineSeconds",
        to.parameters.max_seconds,
        "There is no preRunningDeadlineSeconds, so a RayJob whose Pods never start stays Initializing.",
        "Set preRunningDeadlineSeconds to the longest time that Pods may need to start.",
    )
    return under("variables.mode != 'InteractiveMode'", found)


@expression("P112")
def _retry_limit(to: Rendering) -> str:
    submissions = "variables.spec.?submitterConfig.?backoffLimit.orValue(0)"
    return together(
        *(
            when(
                f"{value} > {most}",
                finding(
                    path,
                    f"backoffLimit is {{{value}}}, and at most {most} is allowed.",
                    f"Use {most} or less.",
                ),
            )
            for path, value, most in (
                ("spec.backoffLimit", "variables.backoffLimit", to.parameters.max_retries),
                ("spec.submitterConfig.backoffLimit", submissions, to.parameters.max_submissions),
            )
        )
    )


@expression("P113")
def _deadline_on_existing_cluster(_: Rendering) -> str:
    return when(
        "variables.selected && has(variables.spec.activeDeadlineSeconds)",
        finding(
            "spec.activeDeadlineSeconds",
            "After the deadline the RayJob is Failed, but the job goes on running on the existing RayCluster.",
            "Delete the RayJob at the deadline, which stops the job, or give it a RayCluster of its own.",
        ),
    )


@expression("P114")
def _http_mode(to: Rendering) -> str:
    hangs = "!has(variables.spec.activeDeadlineSeconds)" if to.version < STATUS_CHECK_TIMEOUT else "false"
    return together(
        when(
            f"variables.mode == 'HTTPMode' && {hangs}",
            finding(
                "spec.submissionMode",
                "When the head Pod is lost, a RayJob in HTTPMode stays Running for ever.",
                "Set activeDeadlineSeconds, install KubeRay 1.7, or use K8sJobMode.",
            ),
        ),
        when(
            f"variables.mode == 'HTTPMode' && !({hangs}) && variables.backoffLimit == 0",
            finding(
                "spec.submissionMode",
                "backoffLimit 0 says that the job must not run twice, but in HTTPMode it is submitted again when the "
                "head Pod was replaced.",
                "Use K8sJobMode, or write the job so that it may run twice and waive this policy.",
            ),
        ),
    )


@expression("P115")
def _submission_mode(to: Rendering) -> str:
    allowed = to.parameters.allowed
    if not allowed:
        return NOTHING
    return when(
        f"!(variables.mode in {strings(allowed)})",
        finding("spec.submissionMode", "{variables.mode} is not allowed here.", f"Use {listed(allowed, 'or')}."),
    )


@expression("P120")
def _autoscaler_limit(to: Rendering) -> str:
    most = "g.fields.?maxReplicas.orValue(2147483647)"
    path = "{g.path}.maxReplicas"
    found = [
        each(
            "variables.workers",
            "g",
            f"{most} == 2147483647",
            finding(path, "{g.title} is scaled without a limit.", "Set maxReplicas."),
        )
    ]
    limit = to.parameters.max_replicas
    if limit is not None:
        found.append(
            each(
                "variables.workers",
                "g",
                f"{most} != 2147483647 && {most} > {limit}",
                finding(path, f"maxReplicas is {{{most}}}.", f"Use at most {limit}."),
            )
        )
    return under("variables.autoscaling", together(*found))


@expression("P121")
def _idle_timeout(to: Rendering) -> str:
    most = to.parameters.max_seconds
    wrong = f"An idle worker is removed after {{SECONDS}} s, and at most {most} s are allowed."
    options = "variables.autoscaler.?idleTimeoutSeconds.orValue(0)"
    group = "g.fields.?idleTimeoutSeconds.orValue(0)"
    found = together(
        when(
            f"{options} > {most}",
            finding(
                "spec.rayClusterSpec.autoscalerOptions.idleTimeoutSeconds",
                wrong.replace("SECONDS", options),
                f"Use {most} or less.",
            ),
        ),
        each(
            "variables.workers",
            "g",
            f"{group} > {most}",
            finding("{g.path}.idleTimeoutSeconds", wrong.replace("SECONDS", group), f"Use {most} or less."),
        ),
    )
    return under("variables.autoscaling", found)


@expression("P202")
def _queue_on_existing_cluster(_: Rendering) -> str:
    return together(
        when(
            "variables.selected && variables.queue != '' && variables.hasCluster",
            finding(
                QUEUE_PATH,
                "Kueue refuses a RayJob with both clusterSelector and rayClusterSpec.",
                "Remove clusterSelector.",
            ),
        ),
        when(
            "variables.selected && variables.queue != '' && !variables.hasCluster",
            finding(
                QUEUE_PATH,
                "Kueue does not manage a RayJob with clusterSelector: it starts without quota.",
                "Remove the label, and queue the RayCluster instead.",
            ),
        ),
    )


@expression("P201")
def _queue_required(to: Rendering) -> str:
    patterns = to.parameters.namespaces
    if not patterns:
        return NOTHING
    managed = " || ".join(
        f"object.metadata.namespace.matches({literal('^' + pattern.replace('.', '[.]').replace('*', '.*') + '$')})"
        for pattern in patterns
    )
    return when(
        f"!variables.selected && variables.queue == '' && ({managed})",
        finding(
            QUEUE_PATH,
            "In the namespace {object.metadata.namespace} Ray workloads are admitted by Kueue, and this one names no "
            "queue.",
            f"Set the label {QUEUE_LABEL} to the name of a LocalQueue of the namespace.",
        ),
    )


@expression("P204")
def _pods_without_quota(to: Rendering) -> str:
    most = to.parameters.max_seconds
    found = together(
        when(
            f"variables.ttl > {most}",
            finding(
                "spec.ttlSecondsAfterFinished",
                "The quota is given away when the job ends, and its Pods run on for {variables.ttl} s.",
                f"Use at most {most}.",
            ),
        ),
        each(
            "variables.legacyPolicies",
            "l",
            "l.policy in ['DeleteNone', 'DeleteWorkers']",
            finding(
                f"{_STRATEGY}.{{l.field}}.policy",
                "The quota is given away when the job ends, and {l.policy} keeps Pods.",
                "Use DeleteCluster.",
            ),
        ),
    )
    return under("variables.queue != ''", found)


@expression("P207")
def _elastic(_: Rendering) -> str:
    return when(
        f"variables.queue != '' && variables.autoscaling"
        f" && variables.annotations[?'{ELASTIC_ANNOTATION}'].orValue('') != 'true'",
        finding(
            "spec.rayClusterSpec.enableInTreeAutoscaling",
            "Kueue refuses a queued RayCluster that scales itself.",
            f'Set the annotation {ELASTIC_ANNOTATION}: "true" and turn on Kueue\'s feature gate '
            "ElasticJobsViaWorkloadSlices, or turn autoscaling off.",
        ),
    )
