"""The typed arguments of Kueue against its chart, and its configuration and gates against Kueue itself.

Chart and program are those of the toolchain; a test that needs one which is not in the cache is skipped.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart_arguments import argument_of, leaves, states, typed_arguments

from kuberay_toolchain import Toolchain
from pulumi_kuberay import (
    AdmissionFairSharing,
    ClientConnection,
    FairSharingPolicy,
    Integrations,
    InternalCertManagement,
    KueueArgs,
    KueueConfiguration,
    KueueFramework,
    KueueMetrics,
    LabelSelector,
    LeaderElection,
    MultiKueue,
    QuotaCheck,
    RequeuingStrategy,
    RequeuingTimestamp,
    ResourceHandling,
    ResourceTransformation,
    SharePreemption,
    TransformationStrategy,
    WaitForPodsReady,
    WorkloadRetention,
)
from pulumi_kuberay.kueue_configuration import DEFAULT_CONFIGURATION, configuration, configuration_text
from pulumi_kuberay.kueue_gates import LOCKED, OFF_BY_DEFAULT, ON_BY_DEFAULT, REQUIRED, gate_problems
from pulumi_kuberay.kueue_values import kueue_values

_TOOLCHAIN = Toolchain()
_ENTRY = _TOOLCHAIN.entry(_TOOLCHAIN.select("kueue"))
CHART = Path(os.environ.get("KUEUE_CHART") or _ENTRY / "files" / "chart")
PROGRAM = Path(os.environ.get("KUEUE_PROGRAM") or _ENTRY / "bin" / "kueue")

SAID_DIFFERENTLY = {
    "enableCertManager": "true when there is a cert_manager",
    "certManager.issuerRef": "issuer_name, issuer_kind and issuer_group of cert_manager",
    "enablePrometheus": "true when there is a prometheus",
    "metrics.prometheusNamespace": "namespace of prometheus",
    "metrics.serviceMonitor.tlsConfig.insecureSkipVerify": "tls_config of prometheus",
    "controllerManager.featureGates": "feature_gates",
    "controllerManager.replicas": "replicas",
    "controllerManager.imagePullSecrets": "image_pull_secrets",
    "controllerManager.manager.image.repository": "image",
    "controllerManager.manager.image.tag": "image",
    "controllerManager.manager.image.pullPolicy": "image",
    "controllerManager.podDisruptionBudget.enabled": "true when there is a min_available",
    "controllerManager.podDisruptionBudget.minAvailable": "min_available",
    "managerConfig.controllerManagerConfigYaml": "configuration",
    "webhookService.ipDualStack.enabled": "true when webhook_service has ip_families",
    "webhookService.ipDualStack.ipFamilies": "ip_families of webhook_service",
    "webhookService.ipDualStack.ipFamilyPolicy": "ip_family_policy of webhook_service",
}
"""Values without an argument at their own place, and the argument that they come from."""

STATED = (
    "enableVisibilityAPF",
    "enableVisibilityAuthReaderRoleBinding",
    "enableMutatingAdmissionPolicy",
    "enableKueueViz",
    "kubernetesClusterDomain",
    "controllerManager.hostNetwork",
    "controllerManager.manager.logLevel",
    "controllerManager.manager.podAnnotations",
    "controllerManager.manager.priorityClassName",
    "controllerManager.tolerations",
    "metricsService.type",
    "metricsService.labels",
    "metricsService.annotations",
    "webhookService.type",
    "mutatingWebhook.reinvocationPolicy",
)
"""Values whose defaults the docstrings state by their value; the others are said in words."""

TYPED = dict(typed_arguments(KueueArgs))


@pytest.fixture
def chart() -> dict[str, Any]:
    if not CHART.is_dir():
        pytest.skip("The chart of Kueue is not on this machine.")
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    return values


def test_every_value_of_the_chart_has_an_argument_or_a_reason(chart: dict[str, Any]) -> None:
    missing = [
        place for place, _ in leaves(chart) if argument_of(place, TYPED) is None and place not in SAID_DIFFERENTLY
    ]

    assert missing == []


def test_every_argument_is_a_value_of_the_chart(chart: dict[str, Any]) -> None:
    known = {place for place, _ in leaves(chart)}
    parents = {place.rsplit(".", depth)[0] for place in known for depth in range(1, 5)}

    assert set(TYPED) - known - parents == set()


def test_docstrings_state_the_defaults_of_the_chart(chart: dict[str, Any]) -> None:
    defaults = dict(leaves(chart))
    wrong = {place: TYPED[place] for place in STATED if not states(TYPED[place], defaults[place])}

    assert wrong == {}


def test_the_default_configuration_is_the_one_of_the_chart(chart: dict[str, Any]) -> None:
    own = yaml.safe_load(chart["managerConfig"]["controllerManagerConfigYaml"])

    assert own == DEFAULT_CONFIGURATION
    assert yaml.safe_load(kueue_values(KueueArgs(), own)["managerConfig"]["controllerManagerConfigYaml"]) == own


_ACCEPTED = "Initializing"
"""What Kueue says once configuration and gates are right, before it looks for a cluster."""


def run_kueue(*arguments: str) -> str:
    if not PROGRAM.is_file():
        pytest.skip("The program of Kueue is not on this machine.")
    environment = {"KUBECONFIG": "/nowhere", "HOME": "/nowhere"}
    ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, env=environment)
    return ended.stdout + ended.stderr


EVERYTHING = KueueConfiguration(
    manage_jobs_without_queue_name=True,
    managed_jobs_namespace_selector=LabelSelector(match_labels={"kueue": "yes"}),
    integrations=Integrations(
        frameworks=list(KueueFramework), external_frameworks=["Foo.v1.example.com"], label_keys_to_copy=["team"]
    ),
    wait_for_pods_ready=WaitForPodsReady(
        timeout_seconds=600,
        recovery_timeout_seconds=60,
        block_admission=True,
        requeuing_strategy=RequeuingStrategy(
            timestamp=RequeuingTimestamp.CREATION,
            backoff_limit_count=1,
            backoff_base_seconds=1,
            backoff_max_seconds=2,
        ),
    ),
    fair_sharing=FairSharingPolicy(preemption_strategies=list(SharePreemption)),
    admission_fair_sharing=AdmissionFairSharing(
        usage_half_life_seconds=60, usage_sampling_interval_seconds=5, resource_weights={"cpu": 0.5}
    ),
    resources=ResourceHandling(
        exclude_resource_prefixes=["example.com/"],
        quota_check_strategy=QuotaCheck.BLOCK_UNDECLARED,
        transformations=[
            ResourceTransformation(
                input="a.example/b", strategy=TransformationStrategy.REPLACE, multiply_by="c", outputs={"d": "5Gi"}
            )
        ],
    ),
    object_retention=WorkloadRetention(after_finished_seconds=0, after_deactivated_seconds=60),
    internal_cert_management=InternalCertManagement(enable=True, webhook_service_name="a", webhook_secret_name="b"),
    client_connection=ClientConnection(qps=1.5, burst=2),
    leader_election=LeaderElection(
        leader_elect=True,
        lease_duration_seconds=30,
        renew_deadline_seconds=20,
        retry_period_seconds=5,
        resource_name="a",
    ),
    group_kind_concurrency={"Pod": 1},
    metrics=KueueMetrics(bind_address=":1", enable_cluster_queue_resources=True, local_queue_metrics=True),
    multi_kueue=MultiKueue(gc_interval_seconds=1, origin="a", worker_lost_timeout_seconds=1),
    health_probe_bind_address=":2",
    webhook_port=3,
    pprof_bind_address=":4",
)


@pytest.mark.parametrize("args", [KueueConfiguration(), EVERYTHING], ids=["defaults", "everything"])
def test_kueue_itself_accepts_every_field_of_the_configuration(args: KueueConfiguration, tmp_path: Path) -> None:
    file = tmp_path / "configuration.yaml"
    file.write_text(configuration_text(configuration(DEFAULT_CONFIGURATION, args)))

    assert _ACCEPTED in run_kueue(f"--config={file}")


def test_kueue_itself_refuses_a_field_that_it_does_not_know(tmp_path: Path) -> None:
    file = tmp_path / "configuration.yaml"
    file.write_text(configuration_text({**DEFAULT_CONFIGURATION, "bogus": 1}))

    assert "Unable to load the configuration" in run_kueue(f"--config={file}")


def run_with_gates(tmp_path: Path, gates: dict[str, bool]) -> str:
    file = tmp_path / "configuration.yaml"
    file.write_text(configuration_text(configuration(DEFAULT_CONFIGURATION, KueueConfiguration())))
    return run_kueue(
        f"--config={file}", f"--feature-gates={','.join(f'{n}={str(v).lower()}' for n, v in gates.items())}"
    )


@pytest.mark.parametrize(
    "changed",
    [{**dict.fromkeys(OFF_BY_DEFAULT, True), **LOCKED}, dict.fromkeys(ON_BY_DEFAULT, False)],
    ids=["all on", "all off"],
)
def test_kueue_itself_knows_every_gate_and_lets_those_that_are_not_locked_be_changed(
    tmp_path: Path, changed: dict[str, bool]
) -> None:
    assert list(gate_problems("0.19.2", changed)) == []
    assert _ACCEPTED in run_with_gates(tmp_path, changed)


@pytest.mark.parametrize(
    ("name", "required"), [(name, other) for name, required in sorted(REQUIRED.items()) for other in required]
)
def test_kueue_itself_refuses_a_gate_without_another_that_it_requires(tmp_path: Path, name: str, required: str) -> None:
    needed = dict.fromkeys((other for other in REQUIRED if REQUIRED[other] == (required,)), False)
    changed = {**needed, name: True, required: False}

    assert any(name in problem for problem in gate_problems("0.19.2", changed))
    assert re.search(f"{name} requires {required}|TAS profile with TAS disabled", run_with_gates(tmp_path, changed))


@pytest.mark.parametrize("name", sorted(LOCKED))
def test_kueue_itself_refuses_another_value_for_a_locked_gate(tmp_path: Path, name: str) -> None:
    assert "locked" in run_with_gates(tmp_path, {name: not LOCKED[name]})


def test_kueue_itself_refuses_a_gate_that_it_does_not_know(tmp_path: Path) -> None:
    assert "unrecognized feature gate" in run_with_gates(tmp_path, {"Bogus": True})
