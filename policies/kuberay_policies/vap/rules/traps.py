"""CEL of the rules on what nothing refuses although it breaks."""

from __future__ import annotations

from kuberay_model.rules.cleanup import GATE, STRATEGY
from kuberay_model.rules.lifecycle_traps import QUEUE_LABEL
from kuberay_model.rules.submission_traps import MODES
from kuberay_model.sentences import listed
from kuberay_model.versions import Version
from kuberay_policies.vap.cel import each, finding, literal, strings, together, under, when
from kuberay_policies.vap.registry import Rendering, expression

_QUEUED = f"variables.labels[?'{QUEUE_LABEL}'].orValue('') != ''"
_RULES = f"{STRATEGY}.deletionRules"

_QUOTED = r"""([^\\'";|&<>\n`$]|\\.|'[^']*'|"([^"\\`$]|\\.)*")"""
_INSIDE_DOUBLE = r"""("([^"\\`$]|\\.)*)?"""
_OPERATOR = rf"(?s)^{_QUOTED}*([;|&<>\n`$]|{_INSIDE_DOUBLE}[`$])"

_BEFORE = f"variables.entrypoint.find({literal(_OPERATOR)})"
_FOUND = f"{_BEFORE}.substring(size({_BEFORE}) - 1)"
_SEEN = (
    f"{_FOUND} == '\\n' ? 'a line break' : {_FOUND} in ['&', '|', ';', '<', '>']"
    f" && variables.entrypoint.substring(size({_BEFORE})).startsWith({_FOUND}) ? {_FOUND} + {_FOUND} : {_FOUND}"
)

_NUMBER = r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?"
_ENTRY = rf"\s*\"([^\"\\]|\\.)*\"\s*:\s*{_NUMBER}\s*"
_NUMBERS = rf"^\s*\{{(\s*|{_ENTRY}(,{_ENTRY})*)\}}\s*$"


@expression("U1")
def _unknown_mode(_: Rendering) -> str:
    return when(
        f"!(variables.mode in {strings(MODES)})",
        finding(
            "spec.submissionMode",
            "There is no submissionMode '{variables.mode}': the RayJob becomes Running and nothing is submitted.",
            f"Use {listed(MODES, 'or')}.",
        ),
    )


@expression("U2")
def _no_entrypoint(_: Rendering) -> str:
    return when(
        "variables.mode != 'InteractiveMode' && variables.entrypoint == '' && !variables.ownCommand",
        finding(
            "spec.entrypoint",
            "entrypoint is empty, so the submission fails.",
            "Set the command that starts the job.",
        ),
    )


@expression("U3")
def _shell_entrypoint(_: Rendering) -> str:
    return when(
        "variables.mode in ['K8sJobMode', 'SidecarMode'] && !variables.ownCommand"
        f" && variables.entrypoint.matches({literal(_OPERATOR)})",
        finding(
            "spec.entrypoint",
            f"The shell of the submitter, not of the RayCluster, acts on {{{_SEEN}}} in the entrypoint.",
            "Put the commands into a script or into sh -c '...'.",
        ),
    )


@expression("U4")
def _submitter_template(_: Rendering) -> str:
    path, policy = "spec.submitterPodTemplate.spec", "variables.submitter.?spec.?restartPolicy.orValue('')"
    found = together(
        when(
            "size(variables.submitter.?spec.?containers.orValue(dyn([]))) == 0",
            finding(
                f"{path}.containers",
                "The submitter Pod has no container, and the operator fails on it again and again.",
                "Add one.",
            ),
        ),
        when(
            f"!({policy} in ['Never', 'OnFailure'])",
            finding(
                f"{path}.restartPolicy",
                f"restartPolicy is {{{policy} == '' ? 'not set, which means Always' : {policy}}}: "
                "no Job can be made from it, and the RayJob stays Initializing.",
                "Set Never or OnFailure.",
            ),
        ),
    )
    return under("variables.hasSubmitter", found)


@expression("U5")
def _submitter_ignored(_: Rendering) -> str:
    return each(
        "['submitterPodTemplate', 'submitterConfig']",
        "f",
        "variables.mode in ['HTTPMode', 'InteractiveMode'] && f in variables.spec",
        finding("spec.{f}", "{variables.mode} has no submitter, and {f} is ignored.", "Remove it."),
    )


@expression("U6")
def _metadata_without_version(_: Rendering) -> str:
    readable = r"^v?([0-9]{1,9})([.][0-9]{1,9})?([.][0-9]{1,9})?([-+].*)?$"
    numbers = "variables.rayVersion.find('[0-9]+([.][0-9]+)*').split('.').map(n, int(n))"
    old = f"({numbers}[0] < 2 || ({numbers}[0] == 2 && (size({numbers}) < 2 || {numbers}[1] < 6)))"
    return when(
        "size(variables.spec.?metadata.orValue(dyn({}))) > 0 && variables.mode in ['K8sJobMode', 'SidecarMode']"
        f" && !variables.selected && (!variables.rayVersion.matches('{readable}') || {old})",
        finding(
            "spec.rayClusterSpec.rayVersion",
            "metadata is set, but rayVersion "
            "{variables.rayVersion == '' ? 'is not set' : \"is '\" + variables.rayVersion + \"'\"}: "
            "the RayJob stays Initializing.",
            "Set rayVersion to the version in the image.",
        ),
    )


@expression("U7")
def _entrypoint_resources(_: Rendering) -> str:
    source = "string(variables.spec.?entrypointResources.orValue(''))"
    return when(
        f"{source} != '' && !{source}.matches({literal(_NUMBERS)})",
        finding(
            "spec.entrypointResources",
            f"'{{{source}}}' is no JSON object of numbers, so the submission fails.",
            'Write it like {{"accelerator": 1}}.',
        ),
    )


@expression("U8")
def _leak(to: Rendering) -> str:
    removing = "variables.rules.filter(r, r.policy in ['DeleteCluster', 'DeleteSelf'])"
    return when(
        f"!variables.selected && size({removing}) > 0 && {removing}.all(r, r.onJob)",
        finding(
            _RULES,
            "Every rule that removes the RayCluster waits for a jobStatus, which a failed submission, a "
            "deadline or a stop never brings to SUCCEEDED or FAILED: the RayCluster stays.",
            "Add a rule DeleteCluster with condition.jobDeploymentStatus: Failed."
            if to.version >= Version(1, 6)
            else "Use shutdownAfterJobFinishes instead, or KubeRay 1.6 with jobDeploymentStatus: Failed.",
        ),
    )


@expression("U9")
def _cleanup_ignored(to: Rendering) -> str:
    wrong, remedy = "With clusterSelector nothing is ever deleted.", "Remove it, and delete the RayJob."
    shutdown = when("variables.selected && variables.shutdown", finding("spec.shutdownAfterJobFinishes", wrong, remedy))
    strategy = when("variables.selected && has(variables.spec.deletionStrategy)", finding(STRATEGY, wrong, remedy))
    return together(shutdown, strategy) if to.gate(GATE) else shutdown


@expression("U10")
def _queued(_: Rendering) -> str:
    path = f"metadata.labels[{QUEUE_LABEL}]"
    return together(
        when(
            f"{_QUEUED} && size(variables.ruleSpecs) > 0",
            finding(
                path,
                "Kueue suspends the RayJob, and a RayJob with deletionRules cannot be suspended.",
                "Use shutdownAfterJobFinishes and ttlSecondsAfterFinished instead of rules, or remove the queue.",
            ),
        ),
        when(
            f"{_QUEUED} && size(variables.ruleSpecs) == 0 && !variables.shutdown",
            finding(
                path,
                "Kueue suspends the RayJob, and without shutdownAfterJobFinishes it cannot be suspended.",
                "Set shutdownAfterJobFinishes: true.",
            ),
        ),
    )


@expression("U11")
def _endless_wait(to: Rendering) -> str:
    return when(
        "variables.mode == 'InteractiveMode' && !has(variables.spec.preRunningDeadlineSeconds)",
        finding(
            "spec.preRunningDeadlineSeconds",
            "A RayJob that nobody submits a job to keeps its RayCluster for ever; activeDeadlineSeconds and "
            "suspend do not end the wait.",
            "Set preRunningDeadlineSeconds."
            if to.version >= Version(1, 6)
            else "Use KubeRay 1.6, which has preRunningDeadlineSeconds.",
        ),
    )


@expression("U12")
def _order_across_statuses(_: Rendering) -> str:
    milder = (
        "variables.rules.filter(o, o.policy in variables.deletesCluster && o.onJob != r.onJob"
        " && o.status == (o.onJob ? 'FAILED' : 'Failed') && r.ttl < o.ttl)"
    )
    return each(
        "variables.rules",
        "r",
        f"r.policy == 'DeleteSelf' && r.status == (r.onJob ? 'FAILED' : 'Failed') && size({milder}) > 0",
        finding(
            "{r.path}.condition.ttlSeconds",
            "A failed RayJob is deleted after {r.ttl} s, before "
            f"deletionRules[{{{milder}[0].index}}] applies after {{{milder}[0].ttl}} s.",
            f"Give DeleteSelf a ttlSeconds of at least {{{milder}[0].ttl}}, or remove the other rule.",
        ),
    )


@expression("U15")
def _job_id_reused(_: Rendering) -> str:
    return when(
        "variables.selected && variables.spec.?jobId.orValue('') != '' && variables.mode != 'InteractiveMode'",
        finding(
            "spec.jobId",
            "If the RayCluster has seen this jobId, nothing is submitted and the old result is reported.",
            "Remove jobId, so that each RayJob gets a new one.",
        ),
    )


@expression("U19")
def _endless_retries(_: Rendering) -> str:
    return when(
        "variables.backoffLimit > 0 && !has(variables.spec.activeDeadlineSeconds)"
        " && !has(variables.spec.preRunningDeadlineSeconds)",
        finding(
            "spec.backoffLimit",
            "{variables.backoffLimit + 1} attempts without activeDeadlineSeconds and preRunningDeadlineSeconds "
            "can take for ever.",
            "Set activeDeadlineSeconds; it counts for each attempt.",
        ),
    )
