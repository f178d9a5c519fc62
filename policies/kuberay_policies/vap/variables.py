"""Parts of a Ray object by name, as the expressions of the rules use them.

A RayCluster and a RayService are seen as a RayJob with that RayCluster, a RayCronJob as the RayJob of its template.
A variable is evaluated when an expression first needs it, and once per request. Everything is `dyn`, so that an
expression compiles whatever version of the CRD is installed. Lists are numbered by filtering a list of numbers:
the function that CEL has for it is not there before Kubernetes 1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kuberay_policies.vap.cel import strings

ITEMS = 100
"""Longest list whose items get a number; the export refuses longer ones instead of passing over their end."""

HEAD_PATH = "spec.rayClusterSpec.headGroupSpec"
RULES_PATH = "spec.deletionStrategy.deletionRules"
AUTOSCALER_V2_ENV = "RAY_enable_autoscaler_v2"

_EMPTY = "dyn({})"
_NONE = "dyn([])"


def _numbered(items: str) -> str:
    return f"variables.numbers.filter(i, i < size({items}))"


def _group(path: str, title: str, fields: str, index: str) -> str:
    return (
        f"{{'path': dyn({path}), 'title': dyn({title}), 'fields': dyn({fields}), 'index': dyn({index}), "
        f"'params': dyn({fields}.?rayStartParams.orValue({_EMPTY})), "
        f"'pod': dyn({fields}.?template.?spec.orValue({_EMPTY})), "
        f"'containers': dyn({fields}.?template.?spec.?containers.orValue({_NONE})), "
        f"'ray': dyn({fields}.?template.?spec.?containers[?0].orValue({_EMPTY})), "
        f"'restartPolicy': dyn({fields}.?template.?spec.?restartPolicy.orValue(''))}}"
    )


VARIABLES: Mapping[str, str] = {
    "numbers": "[" + ", ".join(map(str, range(ITEMS))) + "]",
    "kind": "object.kind",
    "spec": (
        "(variables.kind == 'RayJob' ? dyn(object.spec)"
        " : variables.kind == 'RayCronJob' ? dyn(object.spec).?jobTemplate.orValue(dyn({}))"
        " : variables.kind == 'RayService'"
        " ? dyn({'rayClusterSpec': dyn(object.spec).?rayClusterConfig.orValue(dyn({}))})"
        " : dyn({'rayClusterSpec': dyn(object.spec)}))"
    ),
    "jobPath": "(variables.kind == 'RayCronJob' ? 'spec.jobTemplate' : 'spec')",
    "clusterPath": (
        "(variables.kind == 'RayCluster' ? 'spec' : variables.kind == 'RayService' ? 'spec.rayClusterConfig'"
        " : variables.jobPath + '.rayClusterSpec')"
    ),
    "status": f"dyn(object).?status.orValue({_EMPTY})",
    "labels": f"dyn(object.metadata).?labels.orValue({_EMPTY})",
    "annotations": f"dyn(object.metadata).?annotations.orValue({_EMPTY})",
    "name": "dyn(object.metadata).?name.orValue('')",
    "mode": "variables.spec.?submissionMode.orValue('K8sJobMode')",
    "suspend": "variables.spec.?suspend.orValue(false)",
    "shutdown": "variables.spec.?shutdownAfterJobFinishes.orValue(false)",
    "ttl": "variables.spec.?ttlSecondsAfterFinished.orValue(0)",
    "backoffLimit": "variables.spec.?backoffLimit.orValue(0)",
    "entrypoint": "string(variables.spec.?entrypoint.orValue('')).trim()",
    "selector": f"variables.spec.?clusterSelector.orValue({_EMPTY})",
    "selected": "size(variables.selector) > 0",
    "hasCluster": "has(variables.spec.rayClusterSpec)",
    "cluster": f"variables.spec.?rayClusterSpec.orValue({_EMPTY})",
    "rayVersion": "string(variables.cluster.?rayVersion.orValue(''))",
    "rayNumbers": (
        r"(variables.rayVersion.matches('^[\\t\\n\\f\\r ]*v?(0|[1-9][0-9]{0,8})([.][0-9]{1,9})+')"
        r" ? variables.rayVersion.find('[0-9]+([.][0-9]+)+').split('.').map(n, int(n)) : [])"
    ),
    "autoscaling": "variables.cluster.?enableInTreeAutoscaling.orValue(false)",
    "autoscaler": f"variables.cluster.?autoscalerOptions.orValue({_EMPTY})",
    "head": f"variables.cluster.?headGroupSpec.orValue({_EMPTY})",
    "headRay": f"variables.head.?template.?spec.?containers[?0].orValue({_EMPTY})",
    "headEnv": f"variables.headRay.?env.orValue({_NONE})",
    "headRestartPolicy": "variables.head.?template.?spec.?restartPolicy.orValue('')",
    "v2Env": f"variables.headEnv.filter(e, e.name == '{AUTOSCALER_V2_ENV}').map(e, e.?value.orValue(''))",
    "v2ByEnv": "(size(variables.v2Env) > 0 && variables.v2Env[0] in ['1', 'true'])",
    "v2": "(variables.autoscaler.?version.orValue('') == 'v2' || variables.v2ByEnv)",
    "workerSpecs": f"variables.cluster.?workerGroupSpecs.orValue({_NONE})",
    "workers": _numbered("variables.workerSpecs")
    + ".map(i, "
    + _group(
        "variables.clusterPath + '.workerGroupSpecs[' + string(i) + ']'",
        "\"Worker group '\" + variables.workerSpecs[i].?groupName.orValue('') + \"'\"",
        "variables.workerSpecs[i]",
        "i",
    )
    + ")",
    "groups": (
        "(variables.hasCluster ? ["
        + _group("variables.clusterPath + '.headGroupSpec'", "'The head group'", "variables.head", "0")
        + "] + variables.workers : [])"
    ),
    "pods": (
        "(variables.groups.map(g, {'path': dyn(g.path + '.template'), 'spec': dyn(g.pod), "
        "'title': dyn(g.path.endsWith('.headGroupSpec') ? 'The head Pod'"
        " : \"A Pod of group '\" + g.fields.?groupName.orValue('') + \"'\"), "
        "'autoscales': dyn(g.path.endsWith('.headGroupSpec') && variables.autoscaling)})"
        " + (has(variables.spec.submitterPodTemplate)"
        " ? [{'path': dyn(variables.jobPath + '.submitterPodTemplate'), "
        f"'spec': dyn(variables.spec.submitterPodTemplate.?spec.orValue({_EMPTY})), "
        "'title': dyn('The submitter Pod'), 'autoscales': dyn(false)}] : []))"
    ),
    "queue": "variables.labels[?'kueue.x-k8s.io/queue-name'].orValue('')",
    "hasToken": "variables.cluster.?authOptions.?mode.orValue('') == 'token'",
    "strategy": f"variables.spec.?deletionStrategy.orValue({_EMPTY})",
    "ruleSpecs": f"variables.strategy.?deletionRules.orValue({_NONE})",
    "rules": _numbered("variables.ruleSpecs") + ".map(i, {'index': dyn(i), "
    "'path': dyn(variables.jobPath + '.deletionStrategy.deletionRules[' + string(i) + ']'), "
    "'policy': dyn(variables.ruleSpecs[i].?policy.orValue('')), "
    "'onJob': dyn(has(variables.ruleSpecs[i].condition.jobStatus)), "
    "'onDeployment': dyn(has(variables.ruleSpecs[i].condition.jobDeploymentStatus)), "
    "'status': dyn(variables.ruleSpecs[i].?condition.?jobStatus.orValue("
    "variables.ruleSpecs[i].?condition.?jobDeploymentStatus.orValue(''))), "
    "'ttl': dyn(variables.ruleSpecs[i].?condition.?ttlSeconds.orValue(0)), "
    "'stage': dyn(variables.ruleSpecs[i].?policy.orValue('') == 'DeleteWorkers' ? 0"
    " : variables.ruleSpecs[i].?policy.orValue('') == 'DeleteCluster' ? 1"
    " : variables.ruleSpecs[i].?policy.orValue('') == 'DeleteSelf' ? 2 : -1)})",
    "deletesCluster": strings(("DeleteCluster", "DeleteWorkers")),
    "comparable": (
        "variables.rules.filter(r, r.onJob != r.onDeployment && r.ttl >= 0"
        " && !(variables.selected && r.policy in variables.deletesCluster)"
        " && !(variables.autoscaling && r.policy == 'DeleteWorkers'))"
    ),
    "distinct": (
        "variables.comparable.filter(r, !variables.comparable.exists(o, o.index < r.index"
        " && o.policy == r.policy && o.onJob == r.onJob && o.status == r.status))"
    ),
    "legacy": "['onSuccess', 'onFailure'].filter(f, f in variables.strategy)",
    "legacyPolicies": (
        "variables.legacy.map(f, {'field': dyn(f), 'policy': dyn(variables.strategy[f].?policy.orValue(''))})"
    ),
    "submitter": (
        f"(variables.mode == 'K8sJobMode' ? variables.spec.?submitterPodTemplate.orValue({_EMPTY}) : {_EMPTY})"
    ),
    "hasSubmitter": "(variables.mode == 'K8sJobMode' && has(variables.spec.submitterPodTemplate))",
    "ownCommand": f"size(variables.submitter.?spec.?containers[?0].?command.orValue({_NONE})) > 0",
    "gcs": f"variables.cluster.?gcsFaultToleranceOptions.orValue({_EMPTY})",
    "gcsStorage": f"variables.gcs.?storage.orValue({_EMPTY})",
    "hasGcs": "has(variables.cluster.gcsFaultToleranceOptions)",
    "history": f"variables.cluster.?historyServerOptions.orValue({_EMPTY})",
    "collector": f"variables.history.?collectorOptions.orValue({_EMPTY})",
    "collectorEnv": f"variables.collector.?env.orValue({_NONE})",
    "networkPolicy": f"variables.cluster.?networkPolicy.orValue({_EMPTY})",
    "networkGroups": f"variables.networkPolicy.?workerGroups.orValue({_NONE})",
}
"""Name to CEL expression; an expression uses only variables before it."""

_REFERENCE = re.compile(r"\bvariables\.(\w+)")


def needed(expressions: Iterable[str], known: Mapping[str, str] = VARIABLES) -> dict[str, str]:
    """Return the variables that expressions use, directly or not, in an order in which they can be defined."""
    wanted: set[str] = set()
    waiting = list(expressions)
    while waiting:
        for name in _REFERENCE.findall(waiting.pop()):
            if name in known and name not in wanted:
                wanted.add(name)
                waiting.append(known[name])
    return {name: expression for name, expression in known.items() if name in wanted}
