"""Kueue's applied configuration is used as it stands, but for its addresses."""

from pathlib import Path

import yaml

from kuberay_e2e.pods.kueue import KueuePorts

APPLIED = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: ":8081"}
metrics: {bindAddress: ":8443", enableClusterQueueResources: true}
webhook: {port: 9443}
leaderElection: {leaderElect: true}
integrations: {frameworks: [ray.io/rayjob]}
"""


def test_only_addresses_change() -> None:
    configured = KueuePorts(webhook=1, visibility=2, metrics=3, probe=4).configure(
        APPLIED, Path("/run/certificates"), "kueue-system"
    )
    applied = yaml.safe_load(APPLIED)
    changed = {key for key in configured if configured[key] != applied.get(key)}
    assert changed == {"health", "metrics", "webhook", "visibilityServer", "leaderElection"}
    assert configured["health"] == {"healthProbeBindAddress": "127.0.0.1:4"}
    assert configured["metrics"] == {"bindAddress": "127.0.0.1:3", "enableClusterQueueResources": True}
    assert configured["webhook"] == {"host": "127.0.0.1", "port": 1, "certDir": "/run/certificates"}
    assert configured["leaderElection"] == {"leaderElect": True, "resourceNamespace": "kueue-system"}
    assert configured["visibilityServer"] == {"bindAddress": "127.0.0.1", "bindPort": 2}


def test_an_empty_configuration_gets_addresses_alone() -> None:
    configured = KueuePorts(webhook=1, visibility=2, metrics=3, probe=4).configure(
        "", Path("/run/certificates"), "kueue-system"
    )
    assert set(configured) == {"health", "metrics", "webhook", "visibilityServer", "leaderElection"}
