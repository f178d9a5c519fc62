"""The rule on the collector of the Ray history server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kuberay_model.rules.job import Job
from kuberay_model.rules.pods import env_by_name
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import Fields, mapping, text
from kuberay_model.versions import Version

OPTIONS = "spec.rayClusterSpec.historyServerOptions"
GATE = "RayClusterHistoryServer"
CONTAINER = "ray-history-collector"
BACKEND_ENV = "STORAGE_BACKEND"
OPERATOR_ENV = (
    "POD_IP",
    "FQ_RAY_IP",
    "RAY_CLUSTER_NAME",
    "RAY_CLUSTER_NAMESPACE",
    "RAY_ROLE",
    "OWNER_KIND",
    "OWNER_NAME",
    "EVENTS_PORT",
)
REQUIRED_ENV: Mapping[str, tuple[str, ...]] = {
    "GCS": ("GCS_BUCKET",),
    "S3": ("S3_REGION",),
    "ALIYUNOSS": ("ALIYUN_BUCKET", "ALIYUN_ENDPOINT", "ALIYUN_REGION"),
}
_AZURE_MODE = "AZURE_STORAGE_AUTH_MODE"
_AZURE_CONNECTION = "AZURE_STORAGE_CONNECTION_STRING"
_AZURE_URL = "AZURE_STORAGE_ACCOUNT_URL"


@rule(
    "C19",
    "historyServerOptions has a collector with an image and a complete storage back end",
    since=Version(1, 7),
)
def history_server(job: Job) -> Iterator[Problem]:
    """The operator adds the collector to every Ray Pod."""
    if "historyServerOptions" not in job.cluster:
        return
    options = mapping(job.cluster["historyServerOptions"])
    if not job.gate(GATE):
        yield Problem(
            OPTIONS,
            f"historyServerOptions needs the feature gate {GATE} of the operator.",
            "Turn it on, or remove historyServerOptions.",
        )
    if "collectorOptions" not in options:
        yield Problem(f"{OPTIONS}.collectorOptions", "collectorOptions is missing.", "Add it with an image.")
    else:
        yield from _collector(mapping(options["collectorOptions"]))
    for group in job.groups:
        for container in group.containers:
            if container.name == CONTAINER:
                yield Problem(
                    f"{container.path}.name",
                    f"The operator adds a container {CONTAINER} itself.",
                    "Use another name.",
                )


def _collector(collector: Fields) -> Iterator[Problem]:
    path = f"{OPTIONS}.collectorOptions"
    if not text(collector.get("image")):
        yield Problem(f"{path}.image", "The collector has no image.", "Set one.")
    env = env_by_name(collector.get("env"))
    for name in OPERATOR_ENV:
        if name in env:
            yield Problem(f"{path}.env", f"{name} is set by the operator.", "Remove it.")
    backend = text(mapping(env.get(BACKEND_ENV)).get("value"))
    if not backend:
        yield Problem(
            f"{path}.env",
            f"{BACKEND_ENV} has no literal value.",
            "Set it to GCS, S3, AZUREBLOB or ALIYUNOSS.",
        )
    for missing in _missing(backend.upper(), env):
        yield Problem(f"{path}.env", f"{BACKEND_ENV} is {backend}, which needs {missing}.", f"Set {missing}.")


def _missing(backend: str, env: Mapping[str, Fields]) -> list[str]:
    if backend != "AZUREBLOB":
        return [name for name in REQUIRED_ENV.get(backend, ()) if not _has_value(env, name)]
    mode = text(mapping(env.get(_AZURE_MODE)).get("value")).strip().lower()
    if mode == "connection_string":
        return [] if _has_value(env, _AZURE_CONNECTION) else [_AZURE_CONNECTION]
    if mode in ("workload_identity", "default"):
        return [] if _has_value(env, _AZURE_URL) else [_AZURE_URL]
    has_one = _has_value(env, _AZURE_CONNECTION) or _has_value(env, _AZURE_URL)
    return [] if has_one else [f"{_AZURE_CONNECTION} or {_AZURE_URL}"]


def _has_value(env: Mapping[str, Fields], name: str) -> bool:
    variable = mapping(env.get(name))
    return bool(text(variable.get("value"))) or "valueFrom" in variable
