"""Rules on fault tolerance of the Global Control Service."""

from __future__ import annotations

from collections.abc import Iterator

from kuberay_model.rules.job import HEAD_PATH, Job
from kuberay_model.rules.registry import Problem, rule
from kuberay_model.rules.values import Fields, items, mapping, text
from kuberay_model.versions import Version

OPTIONS = "spec.rayClusterSpec.gcsFaultToleranceOptions"
FT_ANNOTATION = "ray.io/ft-enabled"
NAMESPACE_ANNOTATION = "ray.io/external-storage-namespace"
ROCKSDB_GATE = "GCSFaultToleranceEmbeddedStorage"
STORAGE_ENV = ("RAY_gcs_storage", "RAY_gcs_storage_path")
STORAGE_VOLUME = "gcs-storage"
STORAGE_PATH = "/data/gcs"

_REDIS_FIELDS = ("redisAddress", "redisUsername", "redisPassword", "externalStorageNamespace")
_CLAIM_FIELDS = ("size", "storageClassName", "accessModes")


def _options(job: Job) -> Fields | None:
    return mapping(job.cluster["gcsFaultToleranceOptions"]) if "gcsFaultToleranceOptions" in job.cluster else None


@rule("C8", f"The annotation {FT_ANNOTATION} and gcsFaultToleranceOptions are not both set")
def annotation_and_options(job: Job) -> Iterator[Problem]:
    """The options replace the annotation, even one that says false."""
    if text(job.annotations.get(FT_ANNOTATION)) and _options(job) is not None:
        yield Problem(
            f"metadata.annotations[{FT_ANNOTATION}]",
            f"The annotation {FT_ANNOTATION} and gcsFaultToleranceOptions are both set.",
            "Remove the annotation.",
        )


@rule("C9", "RAY_REDIS_ADDRESS is set only with GCS fault tolerance on")
def address_without_fault_tolerance(job: Job) -> Iterator[Problem]:
    """Ray would turn fault tolerance on, and the operator would not know."""
    annotated = text(job.annotations.get(FT_ANNOTATION)).lower() == "true"
    if not annotated and _options(job) is None and "RAY_REDIS_ADDRESS" in job.head.ray_container.env:
        yield Problem(
            f"{job.head.ray_container.path}.env",
            "RAY_REDIS_ADDRESS turns GCS fault tolerance on, but gcsFaultToleranceOptions is not set.",
            "Replace the variable by gcsFaultToleranceOptions.redisAddress.",
        )


@rule("C10", "With gcsFaultToleranceOptions, nothing else configures Redis")
def redis_elsewhere(job: Job) -> Iterator[Problem]:
    """Each other place has a field that replaces it."""
    if _options(job) is None:
        return
    container = job.head.ray_container
    if text(job.head.ray_start_params.get("redis-password")):
        yield _replaced(f"{HEAD_PATH}.rayStartParams.redis-password", "redis-password", "redisPassword")
    if "REDIS_PASSWORD" in container.env:
        yield _replaced(f"{container.path}.env", "REDIS_PASSWORD", "redisPassword")
    if "RAY_REDIS_ADDRESS" in container.env:
        yield _replaced(f"{container.path}.env", "RAY_REDIS_ADDRESS", "redisAddress")
    if text(job.annotations.get(NAMESPACE_ANNOTATION)):
        yield _replaced(
            f"metadata.annotations[{NAMESPACE_ANNOTATION}]", NAMESPACE_ANNOTATION, "externalStorageNamespace"
        )


@rule("C11", "The Redis user is in gcsFaultToleranceOptions only")
def redis_username(job: Job) -> Iterator[Problem]:
    """This holds with fault tolerance on or off."""
    container = job.head.ray_container
    if text(job.head.ray_start_params.get("redis-username")):
        yield _replaced(f"{HEAD_PATH}.rayStartParams.redis-username", "redis-username", "redisUsername")
    if "REDIS_USERNAME" in container.env:
        yield _replaced(f"{container.path}.env", "REDIS_USERNAME", "redisUsername")


def _replaced(path: str, what: str, field: str) -> Problem:
    return Problem(
        path,
        f"{what} is set outside of gcsFaultToleranceOptions.",
        f"Use gcsFaultToleranceOptions.{field} instead.",
    )


@rule("C12", "The storage back end of the GCS gets only settings of its own", since=Version(1, 7))
def backend(job: Job) -> Iterator[Problem]:
    """The back end is redis unless it is rocksdb."""
    options = _options(job)
    if options is None:
        return
    if text(options.get("backend")) == "rocksdb":
        yield from _rocksdb(job, options)
    elif "storage" in options:
        yield Problem(
            f"{OPTIONS}.storage",
            "storage belongs to the back end rocksdb, not to redis.",
            "Remove it or the other.",
        )


def _rocksdb(job: Job, options: Fields) -> Iterator[Problem]:
    if not job.gate(ROCKSDB_GATE):
        yield Problem(
            f"{OPTIONS}.backend",
            f"The back end rocksdb needs the feature gate {ROCKSDB_GATE} of the operator.",
            "Turn it on, or use redis.",
        )
    for field in _REDIS_FIELDS:
        if options.get(field) not in (None, ""):
            yield Problem(f"{OPTIONS}.{field}", f"{field} belongs to the back end redis.", "Remove it.")
    storage = mapping(options.get("storage"))
    extra = [field for field in _CLAIM_FIELDS if storage.get(field) not in (None, [])]
    if text(storage.get("claimName")) and extra:
        yield Problem(
            f"{OPTIONS}.storage.claimName",
            f"claimName names an existing claim, so {', '.join(extra)} cannot be chosen.",
            "Keep claimName or the others.",
        )
    container = job.head.ray_container
    for name in STORAGE_ENV:
        if name in container.env:
            yield Problem(f"{container.path}.env", f"{name} is set by the operator.", "Remove it.")
    for i, mount in enumerate(container.volume_mounts):
        if mount.get("mountPath") == STORAGE_PATH or mount.get("name") == STORAGE_VOLUME:
            yield Problem(
                f"{container.path}.volumeMounts[{i}]",
                f"The operator mounts {STORAGE_VOLUME} at {STORAGE_PATH} itself.",
                "Use another name and path.",
            )
    for i, volume in enumerate(items(job.head.pod.get("volumes"))):
        if mapping(volume).get("name") == STORAGE_VOLUME:
            yield Problem(
                f"{HEAD_PATH}.template.spec.volumes[{i}]",
                f"The operator adds the volume {STORAGE_VOLUME} itself.",
                "Use another name.",
            )
