"""CEL of the rules on optional features of the RayCluster: GCS fault tolerance, history server, network policy, TLS."""

from __future__ import annotations

from kuberay_model.rules import gcs, history, isolation
from kuberay_policies.vap.cel import each, finding, strings, together, under, when
from kuberay_policies.vap.registry import Rendering, expression
from kuberay_policies.vap.variables import HEAD_PATH

_HEAD_RAY = f"{HEAD_PATH}.template.spec.containers[0]"
_ANNOTATED = f"variables.annotations[?'{gcs.FT_ANNOTATION}'].orValue('')"
_NAMESPACE = f"variables.annotations[?'{gcs.NAMESPACE_ANNOTATION}'].orValue('')"
_MOUNTS = "variables.headRay.?volumeMounts.orValue(dyn([]))"


def _head_env(name: str) -> str:
    return f"variables.headEnv.exists(e, e.name == '{name}')"


def _head_param(name: str) -> str:
    return f"variables.head.?rayStartParams[?'{name}'].orValue('') != ''"


def _set_by_operator(names: tuple[str, ...], env: str, path: str) -> str:
    return each(
        strings(names),
        "n",
        f"{env}.exists(e, e.name == n)",
        finding(f"{path}.env", "{n} is set by the operator.", "Remove it."),
    )


@expression("C8")
def _annotation_and_options(_: Rendering) -> str:
    return when(
        f"variables.hasGcs && {_ANNOTATED} != ''",
        finding(
            f"metadata.annotations[{gcs.FT_ANNOTATION}]",
            f"The annotation {gcs.FT_ANNOTATION} and gcsFaultToleranceOptions are both set.",
            "Remove the annotation.",
        ),
    )


@expression("C9")
def _address_without_fault_tolerance(_: Rendering) -> str:
    return when(
        f"!variables.hasGcs && {_ANNOTATED}.lowerAscii() != 'true' && {_head_env('RAY_REDIS_ADDRESS')}",
        finding(
            f"{_HEAD_RAY}.env",
            "RAY_REDIS_ADDRESS turns GCS fault tolerance on, but gcsFaultToleranceOptions is not set.",
            "Replace the variable by gcsFaultToleranceOptions.redisAddress.",
        ),
    )


def _replaced(path: str, what: str, field: str) -> str:
    return finding(
        path,
        f"{what} is set outside of gcsFaultToleranceOptions.",
        f"Use gcsFaultToleranceOptions.{field} instead.",
    )


@expression("C10")
def _redis_elsewhere(_: Rendering) -> str:
    params, env, annotation = f"{HEAD_PATH}.rayStartParams", f"{_HEAD_RAY}.env", gcs.NAMESPACE_ANNOTATION
    places = (
        (_head_param("redis-password"), f"{params}.redis-password", "redis-password", "redisPassword"),
        (_head_env("REDIS_PASSWORD"), env, "REDIS_PASSWORD", "redisPassword"),
        (_head_env("RAY_REDIS_ADDRESS"), env, "RAY_REDIS_ADDRESS", "redisAddress"),
        (f"{_NAMESPACE} != ''", f"metadata.annotations[{annotation}]", annotation, "externalStorageNamespace"),
    )
    found = together(*(when(condition, _replaced(path, what, field)) for condition, path, what, field in places))
    return under("variables.hasGcs", found)


@expression("C11")
def _redis_username(_: Rendering) -> str:
    param, variable = "redis-username", "REDIS_USERNAME"
    return together(
        when(_head_param(param), _replaced(f"{HEAD_PATH}.rayStartParams.{param}", param, "redisUsername")),
        when(_head_env(variable), _replaced(f"{_HEAD_RAY}.env", variable, "redisUsername")),
    )


@expression("C12")
def _backend(to: Rendering) -> str:
    rocksdb = "variables.gcs.?backend.orValue('') == 'rocksdb'"
    redis_storage = when(
        f"variables.hasGcs && !({rocksdb}) && has(variables.gcs.storage)",
        finding(
            f"{gcs.OPTIONS}.storage",
            "storage belongs to the back end rocksdb, not to redis.",
            "Remove it or the other.",
        ),
    )
    return together(redis_storage, under(rocksdb, _rocksdb(to)))


def _rocksdb(to: Rendering) -> str:
    storage = "variables.gcsStorage"
    extra = f"['size', 'storageClassName', 'accessModes'].filter(f, f in {storage})"
    mounts = f"variables.numbers.filter(i, i < size({_MOUNTS}))"
    volumes = "variables.head.?template.?spec.?volumes.orValue(dyn([]))"
    gate = when(
        "true",
        finding(
            f"{gcs.OPTIONS}.backend",
            f"The back end rocksdb needs the feature gate {gcs.ROCKSDB_GATE} of the operator.",
            "Turn it on, or use redis.",
        ),
    )
    return together(
        *([] if to.gate(gcs.ROCKSDB_GATE) else [gate]),
        each(
            "['redisAddress', 'redisUsername', 'redisPassword', 'externalStorageNamespace']",
            "f",
            "f in variables.gcs && variables.gcs[f] != ''",
            finding(f"{gcs.OPTIONS}.{{f}}", "{f} belongs to the back end redis.", "Remove it."),
        ),
        when(
            f"{storage}.?claimName.orValue('') != '' && size({extra}) > 0",
            finding(
                f"{gcs.OPTIONS}.storage.claimName",
                f"claimName names an existing claim, so {{{extra}.join(', ')}} cannot be chosen.",
                "Keep claimName or the others.",
            ),
        ),
        _set_by_operator(gcs.STORAGE_ENV, "variables.headEnv", _HEAD_RAY),
        each(
            mounts,
            "i",
            f"{_MOUNTS}[i].?mountPath.orValue('') == '{gcs.STORAGE_PATH}'"
            f" || {_MOUNTS}[i].?name.orValue('') == '{gcs.STORAGE_VOLUME}'",
            finding(
                f"{_HEAD_RAY}.volumeMounts[{{i}}]",
                f"The operator mounts {gcs.STORAGE_VOLUME} at {gcs.STORAGE_PATH} itself.",
                "Use another name and path.",
            ),
        ),
        each(
            f"variables.numbers.filter(i, i < size({volumes}))",
            "i",
            f"{volumes}[i].?name.orValue('') == '{gcs.STORAGE_VOLUME}'",
            finding(
                f"{HEAD_PATH}.template.spec.volumes[{{i}}]",
                f"The operator adds the volume {gcs.STORAGE_VOLUME} itself.",
                "Use another name.",
            ),
        ),
    )


@expression("C19")
def _history_server(to: Rendering) -> str:
    gate = when(
        "true",
        finding(
            history.OPTIONS,
            f"historyServerOptions needs the feature gate {history.GATE} of the operator.",
            "Turn it on, or remove historyServerOptions.",
        ),
    )
    named = f"variables.numbers.filter(i, i < size(g.containers) && g.containers[i].name == '{history.CONTAINER}')[0]"
    found = together(
        *([] if to.gate(history.GATE) else [gate]),
        when(
            "!has(variables.history.collectorOptions)",
            finding(f"{history.OPTIONS}.collectorOptions", "collectorOptions is missing.", "Add it with an image."),
        ),
        under("has(variables.history.collectorOptions)", _collector()),
        each(
            "variables.groups",
            "g",
            f"g.containers.exists(c, c.name == '{history.CONTAINER}')",
            finding(
                f"{{g.path}}.template.spec.containers[{{{named}}}].name",
                f"The operator adds a container {history.CONTAINER} itself.",
                "Use another name.",
            ),
        ),
    )
    return under("has(variables.cluster.historyServerOptions)", found)


def _collector() -> str:
    path = f"{history.OPTIONS}.collectorOptions"
    backend = _collector_value(history.BACKEND_ENV)
    azure = f"{_collector_value('AZURE_STORAGE_AUTH_MODE')}.trim().lowerAscii()"
    connection, url = "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT_URL"
    needs = [
        when(
            f"{backend}.upperAscii() == '{name}' && !({_collector_has(variable)})",
            finding(
                f"{path}.env",
                f"{history.BACKEND_ENV} is {{{backend}}}, which needs {variable}.",
                f"Set {variable}.",
            ),
        )
        for name, variables in history.REQUIRED_ENV.items()
        for variable in variables
    ]
    for modes, missing, there in (
        ("['connection_string']", connection, _collector_has(connection)),
        ("['workload_identity', 'default']", url, _collector_has(url)),
        ("", f"{connection} or {url}", f"{_collector_has(connection)} || {_collector_has(url)}"),
    ):
        mode = (
            f"{azure} in {modes}" if modes else f"!({azure} in ['connection_string', 'workload_identity', 'default'])"
        )
        needs.append(
            when(
                f"{backend}.upperAscii() == 'AZUREBLOB' && {mode} && !({there})",
                finding(
                    f"{path}.env",
                    f"{history.BACKEND_ENV} is {{{backend}}}, which needs {missing}.",
                    f"Set {missing}.",
                ),
            )
        )
    return together(
        when(
            "variables.collector.?image.orValue('') == ''",
            finding(f"{path}.image", "The collector has no image.", "Set one."),
        ),
        _set_by_operator(history.OPERATOR_ENV, "variables.collectorEnv", path),
        when(
            f"{backend} == ''",
            finding(
                f"{path}.env",
                f"{history.BACKEND_ENV} has no literal value.",
                "Set it to GCS, S3, AZUREBLOB or ALIYUNOSS.",
            ),
        ),
        *needs,
    )


def _collector_value(name: str) -> str:
    return f"variables.collectorEnv.filter(e, e.name == '{name}')[?0].?value.orValue('')"


def _collector_has(name: str) -> str:
    first = f"variables.collectorEnv.filter(e, e.name == '{name}')[?0]"
    return f"{first}.?value.orValue('') != '' || {first}.?valueFrom.hasValue()"


@expression("C22")
def _network_policy(to: Rendering) -> str:
    gate = when(
        "true",
        finding(
            isolation.POLICY,
            f"networkPolicy needs the feature gate {isolation.POLICY_GATE} of the operator.",
            "Turn it on, or remove networkPolicy.",
        ),
    )
    direction = {"DenyAllEgress": "ingress", "DenyAllIngress": "egress"}
    open_directions = [
        when(
            f"variables.networkPolicy.?mode.orValue('') == '{mode}'"
            f" && size(variables.networkPolicy.?{role}.?{way}Rules.orValue(dyn([]))) > 0",
            _open(mode, way, f"{isolation.POLICY}.{role}"),
        )
        for mode, way in direction.items()
        for role in ("head", "worker")
    ]
    open_groups = [
        each(
            "variables.numbers.filter(i, i < size(variables.networkGroups))",
            "i",
            f"variables.networkPolicy.?mode.orValue('') == '{mode}'"
            f" && size(variables.networkGroups[i].?{way}Rules.orValue(dyn([]))) > 0",
            _open(mode, way, f"{isolation.POLICY}.workerGroups[{{i}}]"),
        )
        for mode, way in direction.items()
    ]
    found = together(
        *([] if to.gate(isolation.POLICY_GATE) else [gate]),
        *open_directions,
        each(
            "variables.workers",
            "g",
            "size(g.fields.groupName) > 63 || !g.fields.groupName.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
            finding(
                "{g.path}.groupName",
                "The name of a NetworkPolicy contains '{g.fields.groupName}', which is no DNS-1123 label.",
                "Use lowercase letters, digits and '-' only.",
            ),
        ),
        *open_groups,
        each(
            "variables.numbers.filter(i, i < size(variables.networkGroups))",
            "i",
            "!variables.workers.exists(g, g.fields.groupName == variables.networkGroups[i].?groupName.orValue(''))",
            finding(
                f"{isolation.POLICY}.workerGroups[{{i}}].groupName",
                "There is no worker group '{variables.networkGroups[i].?groupName.orValue('')}'.",
                "Name one that exists.",
            ),
        ),
    )
    return under("has(variables.cluster.networkPolicy)", found)


def _open(mode: str, direction: str, path: str) -> str:
    return finding(
        f"{path}.{direction}Rules",
        f"The mode {mode} leaves {direction} open, so {direction} rules have no effect.",
        "Remove them, or use DenyAll.",
    )


@expression("C23")
def _tls(to: Rendering) -> str:
    gate = when(
        "true",
        finding(
            isolation.TLS,
            f"tlsOptions needs the feature gate {isolation.TLS_GATE} of the operator.",
            "Turn it on, or remove tlsOptions.",
        ),
    )
    names = strings(isolation.TLS_ENV)
    options = "spec.rayClusterSpec.autoscalerOptions"
    conflicts = []
    for items, ray, path in (
        ("variables.groups", "g.ray", "{g.path}.template.spec.containers[0]"),
        ("[variables.autoscaler]", "g", options),
    ):
        env = f"{ray}.?env.orValue(dyn([]))"
        mounts = f"{ray}.?volumeMounts.orValue(dyn([]))"
        first = f"variables.numbers.filter(i, i < size({mounts}) && ({_is_tls(f'{mounts}[i]')}))[0]"
        twice = f"{names}.filter(n, {env}.exists(e, e.name == n))"
        conflicts.append(
            each(
                items,
                "g",
                f"size({twice}) > 0",
                finding(f"{path}.env", f"{{{twice}.join(', ')}} is set by the operator.", "Remove it."),
            )
        )
        conflicts.append(
            each(
                items,
                "g",
                f"{mounts}.exists(m, {_is_tls('m')})",
                finding(
                    f"{path}.volumeMounts[{{{first}}}]",
                    f"The operator mounts {isolation.TLS_VOLUME} at {isolation.TLS_PATH} itself.",
                    "Use another name and path.",
                ),
            )
        )
    enabled = under("variables.cluster.tlsOptions.?enabled.orValue(false)", together(*conflicts))
    found = enabled if to.gate(isolation.TLS_GATE) else together(gate, enabled)
    return under("has(variables.cluster.tlsOptions)", found)


def _is_tls(mount: str) -> str:
    return (
        f"{mount}.?name.orValue('') == '{isolation.TLS_VOLUME}'"
        f" || {mount}.?mountPath.orValue('') == '{isolation.TLS_PATH}'"
    )
