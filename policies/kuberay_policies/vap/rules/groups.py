"""CEL of the rules on the groups of the RayCluster and on its autoscaler."""

from __future__ import annotations

from kuberay_model.rules.autoscaling import OPTIONS, START_COMMAND_ENV
from kuberay_model.rules.cleanup import GATE
from kuberay_model.rules.groups import RESOURCE_PARAMS
from kuberay_policies.vap.cel import each, finding, strings, together, under, when
from kuberay_policies.vap.registry import Rendering, expression
from kuberay_policies.vap.variables import AUTOSCALER_V2_ENV, HEAD_PATH

LABEL_KEY = (
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
)
LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"

_GROUPS = "variables.groups"
_WORKERS = "variables.workers"
_HEAD_ENV = f"{HEAD_PATH}.template.spec.containers[0].env"
_USE_V2 = "Set enableInTreeAutoscaling: true and autoscalerOptions.version: v2"


@expression("C1")
def _containers(_: Rendering) -> str:
    return each(
        _GROUPS,
        "g",
        "size(g.containers) == 0",
        finding(
            "{g.path}.template.spec.containers",
            "{g.title} has no container.",
            "Add one; the first container runs Ray.",
        ),
    )


@expression("C2")
def _resources(_: Rendering) -> str:
    params = f"{strings(RESOURCE_PARAMS)}.filter(p, g.params[?p].orValue('') != '')"
    return each(
        _GROUPS,
        "g",
        f"size(g.fields.?resources.orValue(dyn({{}}))) > 0 && size({params}) > 0",
        finding(
            "{g.path}.resources",
            f"{{g.title}} has resources and also {{{params}.join(', ')}} in rayStartParams.",
            "Keep one of the two.",
        ),
    )


@expression("C3")
def _labels(_: Rendering) -> str:
    in_params = each(
        _GROUPS,
        "g",
        "'labels' in g.params",
        finding(
            "{g.path}.rayStartParams.labels",
            "{g.title} has labels in rayStartParams.",
            "Move them to the field labels of the group.",
        ),
    )
    others = f"{_GROUPS}.filter(g, !('labels' in g.params) && has(g.fields.labels)"
    bad_key = f"!k.matches('{LABEL_KEY}') || size(k.split('/')[size(k.split('/')) - 1]) > 63"
    bad_prefix = "k.contains('/') && size(k.split('/')[0]) > 253"
    bad_value = f"size(g.fields.labels[k]) > 63 || !g.fields.labels[k].matches('{LABEL_VALUE}')"
    keys = each(
        f"{others} && g.fields.labels.exists(k, {bad_key} || {bad_prefix}))",
        "g",
        "true",
        finding(
            f"{{g.path}}.labels[{{g.fields.labels.filter(k, {bad_key} || {bad_prefix})[0]}}]",
            f"{{g.title}} has the label key '{{g.fields.labels.filter(k, {bad_key} || {bad_prefix})[0]}}', "
            "which is no Kubernetes label key.",
            "Use letters, digits, '-', '_' and '.', optionally after a DNS subdomain and '/'.",
        ),
    )
    value = f"g.fields.labels.filter(k, {bad_value})[0]"
    values = each(
        f"{others} && g.fields.labels.exists(k, {bad_value}))",
        "g",
        "true",
        finding(
            f"{{g.path}}.labels[{{{value}}}]",
            f"{{g.title}} has the label value '{{g.fields.labels[{value}]}}', which is no Kubernetes label value.",
            "Use at most 63 letters, digits, '-', '_' and '.', bounded by letters or digits.",
        ),
    )
    return together(in_params, keys, values)


@expression("C5")
def _replicas(_: Rendering) -> str:
    low, high = "g.fields.?minReplicas.orValue(0)", "g.fields.?maxReplicas.orValue(2147483647)"
    return together(
        *(
            each(
                _WORKERS,
                "g",
                f"{value} < 0",
                finding(f"{{g.path}}.{name}", f"{{g.title}} has {name} {{g.fields.{name}}}.", "Use 0 or more."),
            )
            for name, value in (("minReplicas", low), ("maxReplicas", high))
        ),
        each(
            _WORKERS,
            "g",
            f"{high} >= 0 && {low} > {high}",
            finding(
                "{g.path}.minReplicas",
                f"{{g.title}} has minReplicas {{{low}}} above maxReplicas {{{high}}}.",
                "Lower minReplicas or raise maxReplicas.",
            ),
        ),
    )


@expression("C6")
def _worker_idle_timeout(_: Rendering) -> str:
    path = "{g.path}.idleTimeoutSeconds"
    return together(
        each(
            _WORKERS,
            "g",
            "g.fields.?idleTimeoutSeconds.orValue(0) < 0",
            finding(path, "{g.title} has idleTimeoutSeconds {g.fields.idleTimeoutSeconds}.", "Use 0 or more."),
        ),
        each(
            _WORKERS,
            "g",
            "g.fields.?idleTimeoutSeconds.orValue(-1) >= 0 && !variables.v2",
            finding(
                path,
                "{g.title} has idleTimeoutSeconds, which needs version 2 of the autoscaler.",
                f"{_USE_V2}, or remove idleTimeoutSeconds.",
            ),
        ),
    )


@expression("C7")
def _worker_priority(_: Rendering) -> str:
    given = "g.fields.?priority.orValue(0) != 0"
    old = (
        "(size(variables.rayNumbers) < 2 || variables.rayNumbers[0] < 2"
        " || (variables.rayNumbers[0] == 2 && variables.rayNumbers[1] < 56))"
    )
    return together(
        each(
            _WORKERS,
            "g",
            f"{given} && {old}",
            finding(
                "{g.path}.priority",
                "{g.title} has a priority, which needs Ray 2.56.0, but rayVersion is "
                "{variables.rayVersion == '' ? 'not set' : \"'\" + variables.rayVersion + \"'\"}.",
                "Raise rayVersion together with the images, or remove priority.",
            ),
        ),
        each(
            _WORKERS,
            "g",
            f"{given} && !{old} && !variables.v2",
            finding(
                "{g.path}.priority",
                "{g.title} has a priority, which needs version 2 of the autoscaler.",
                f"{_USE_V2}, or remove priority.",
            ),
        ),
    )


@expression("C13")
def _suspended_group(to: Rendering) -> str:
    suspended = "g.fields.?suspend.orValue(false)"
    gate = each(
        _WORKERS,
        "g",
        suspended,
        finding(
            "{g.path}.suspend",
            f"{{g.title}} is suspended, but the feature gate {GATE} of the operator is off.",
            f"Remove suspend, or turn {GATE} on in the operator.",
        ),
    )
    autoscaled = each(
        _WORKERS,
        "g",
        f"{suspended} && variables.autoscaling",
        finding(
            "{g.path}.suspend",
            "{g.title} is suspended while enableInTreeAutoscaling is true.",
            "Remove suspend, or turn autoscaling off.",
        ),
    )
    return autoscaled if to.gate(GATE) else together(gate, autoscaled)


@expression("C14")
def _v2_without_autoscaling(_: Rendering) -> str:
    return when(
        "!variables.autoscaling && variables.v2ByEnv",
        finding(
            _HEAD_ENV,
            f"{AUTOSCALER_V2_ENV} is '{{variables.v2Env[0]}}', but enableInTreeAutoscaling is false.",
            f"Remove the variable. {_USE_V2} to use it.",
        ),
    )


@expression("C15")
def _version_set_twice(_: Rendering) -> str:
    return when(
        "variables.autoscaling && has(variables.autoscaler.version) && size(variables.v2Env) > 0",
        finding(
            _HEAD_ENV,
            f"autoscalerOptions.version and {AUTOSCALER_V2_ENV} are both set.",
            "Remove the variable.",
        ),
    )


@expression("C16")
def _restart_policy(_: Rendering) -> str:
    found = each(
        _GROUPS,
        "g",
        "!(g.restartPolicy in ['', 'Never'])",
        finding(
            "{g.path}.template.spec.restartPolicy",
            "{g.title} has restartPolicy {g.restartPolicy}; autoscaler v2 allows Never only.",
            "Remove it or set Never.",
        ),
    )
    return under("variables.autoscaling && variables.autoscaler.?version.orValue('') == 'v2'", found)


@expression("C17")
def _idle_timeout(_: Rendering) -> str:
    return when(
        "variables.autoscaler.?idleTimeoutSeconds.orValue(0) < 0",
        finding(
            f"{OPTIONS}.idleTimeoutSeconds",
            "idleTimeoutSeconds is {variables.autoscaler.idleTimeoutSeconds}.",
            "Use 0 or more.",
        ),
    )


@expression("C18")
def _start_command(_: Rendering) -> str:
    return when(
        f"variables.autoscaler.?env.orValue(dyn([])).exists(e, e.name == '{START_COMMAND_ENV}')",
        finding(f"{OPTIONS}.env", f"{START_COMMAND_ENV} is set by the operator.", "Remove it."),
    )


@expression("U13", limit="a replicas of 0 below minReplicas looks like the default of the CRD")
def _replicas_outside(_: Rendering) -> str:
    count = "g.fields.?replicas.orValue(0)"
    low, high = "g.fields.?minReplicas.orValue(0)", "g.fields.?maxReplicas.orValue(2147483647)"
    used = f"({count} < {low} ? {low} : {high})"
    return each(
        _WORKERS,
        "g",
        f"{count} != 0 && {low} <= {high} && ({count} < {low} || {count} > {high})",
        finding(
            "{g.path}.replicas",
            f"replicas is {{{count}}}, outside of minReplicas {{{low}}} and maxReplicas {{{high}}}: KubeRay uses "
            f"{{{used}}}, while Kueue reserves quota for {{{count}}}.",
            f"Use {{{used}}}, or move the bounds.",
        ),
    )


@expression("U16")
def _group_names(_: Rendering) -> str:
    same = "o.index < g.index && o.fields.groupName == g.fields.groupName"
    return each(
        _WORKERS,
        "g",
        f"{_WORKERS}.exists(o, {same})",
        finding(
            "{g.path}.groupName",
            f"Worker group {{{_WORKERS}.filter(o, {same})[0].index}} also has the name '{{g.fields.groupName}}', "
            "and their Pods count as one group.",
            "Give it another name.",
        ),
    )


@expression("U17")
def _version_differs(_: Rendering) -> str:
    tagged = "(^|/)ray(-ml|-llm)?:[0-9]+[.][0-9]+[.][0-9]+([^0-9.].*)?$"
    image = "string(g.ray.?image.orValue(''))"
    version = f"{image}.find('{tagged}').find(':[0-9]+[.][0-9]+[.][0-9]+').replace(':', '')"
    return each(
        _GROUPS,
        "g",
        f"variables.rayVersion != '' && {image}.matches('{tagged}') && {version} != variables.rayVersion",
        finding(
            "{g.path}.template.spec.containers[0].image",
            f"The image has Ray {{{version}}}, but rayVersion is {{variables.rayVersion}}.",
            "Make them equal: the operator builds commands for rayVersion.",
        ),
    )
