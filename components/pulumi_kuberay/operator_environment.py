"""The environment variables that KubeRay's operator reads, typed.

Source: `ray-operator/controllers/ray/utils/constant.go` and the places that read it, and the chart's values, of
each version.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pulumi

from kuberay_model.versions import Version
from pulumi_kuberay.rendering import rendered

VARIABLE = "variable"
SINCE = "since"
DELETE_RAYJOB = "DELETE_RAYJOB_CR_AFTER_JOB_FINISHES"


def _variable(name: str, since: Version | None = None) -> Any:
    return field(default=None, metadata={VARIABLE: name, SINCE: since})


@dataclass(kw_only=True)
class OperatorEnvironment:
    """Environment variables of the operator. What is unset is left to the operator."""

    cluster_domain: str | None = _variable("CLUSTER_DOMAIN")
    """DNS domain of the cluster. Default: cluster.local."""

    enable_init_container_injection: bool | None = _variable("ENABLE_INIT_CONTAINER_INJECTION")
    """Give workers an init container that waits for the head. Default: true."""

    enable_probes_injection: bool | None = _variable("ENABLE_PROBES_INJECTION")
    """Give Ray containers probes. Default: true."""

    enable_ray_head_cluster_ip_service: bool | None = _variable("ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE")
    """Give the head a Service with an IP instead of a headless one. Default: false."""

    enable_deterministic_head_pod_name: bool | None = _variable("ENABLE_DETERMINISTIC_HEAD_POD_NAME")
    """Name the head pod after its RayCluster, without random characters. Default: false."""

    enable_login_shell: bool | None = _variable("ENABLE_LOGIN_SHELL")
    """Start Ray in a login shell (``bash -l``). Default: false."""

    enable_random_pod_delete: bool | None = _variable("ENABLE_RANDOM_POD_DELETE")
    """Delete pods that the autoscaler did not name when replicas shrink. Default: false."""

    enable_gcs_ft_redis_cleanup: bool | None = _variable("ENABLE_GCS_FT_REDIS_CLEANUP")
    """Clean Redis up when a RayCluster that keeps its state there is deleted. Default: true."""

    enable_zero_downtime: bool | None = _variable("ENABLE_ZERO_DOWNTIME")
    """Update a RayService through a second RayCluster. Default: true."""

    use_ingress_on_openshift: bool | None = _variable("USE_INGRESS_ON_OPENSHIFT")
    """Make an Ingress instead of a Route on OpenShift. Default: false."""

    delete_rayjob_cr_after_job_finishes: bool | None = _variable(DELETE_RAYJOB)
    """Delete the RayJob object itself after its end, if it asks for a shutdown. Pulumi finds it gone at the next
    refresh, and runs the job again at the next ``up``. Default: false."""

    raycluster_default_requeue_seconds: int | None = _variable("RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV")
    """Seconds after which a RayCluster is looked at again, 1 or more. Default: 300."""

    rayjob_deployment_status_transition_grace_period_seconds: int | None = _variable(
        "RAYJOB_DEPLOYMENT_STATUS_TRANSITION_GRACE_PERIOD_SECONDS"
    )
    """Seconds that a job which ended may wait for its submitter, 1 or more. Default: 300."""

    rayjob_status_check_timeout_seconds: int | None = _variable(
        "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS", since=Version(1, 7, 0)
    )
    """Seconds of failing status checks after which a job counts as failed, 1 or more. Since 1.7.0. Default:
    300."""


def environment_variables(
    typed: OperatorEnvironment | None, others: Mapping[str, pulumi.Input[str]]
) -> dict[str, pulumi.Input[str]]:
    """Return the operator's environment: the typed variables in their order, then all others."""
    variables: dict[str, pulumi.Input[str]] = {
        item.metadata[VARIABLE]: _text(getattr(typed, item.name))
        for item in (fields(typed) if typed is not None else ())
        if getattr(typed, item.name) is not None
    }
    return {**variables, **others}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(rendered(value))
