"""An operator is found however it was installed."""

from typing import Any

from kuberay_e2e.clusters.inventory import operators


def deployment(image: str, labels: dict[str, str] | None = None, **container: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "kuberay", "namespace": "ray", "labels": labels or {}},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"image": image, **container}]}}},
        "status": {"readyReplicas": 1},
    }


def test_by_its_image_in_a_registry_of_ones_own() -> None:
    [found] = operators([deployment("registry.example:5000/mirror/kuberay/operator:v1.6.2")])
    assert (found.namespace, found.name, found.version) == ("ray", "kuberay", "1.6.2")


def test_by_its_label() -> None:
    [found] = operators([deployment("registry.example:5000/ours", {"app.kubernetes.io/name": "kuberay-operator"})])
    assert found.version == ""


def test_a_digest_after_the_tag() -> None:
    [found] = operators([deployment(f"quay.io/kuberay/operator:v1.5.1@sha256:{'0' * 64}")])
    assert found.version == "1.5.1"


def test_others_are_left_out() -> None:
    assert operators([deployment("nginx:1.27"), deployment("rayproject/ray:2.52.0")]) == []


def test_the_namespaces_that_it_looks_after() -> None:
    image = "quay.io/kuberay/operator:v1.6.2"
    [some] = operators([deployment(image, args=["--watch-namespace=a,b", "--enable-leader-election=true"])])
    [everywhere] = operators([deployment(image, args=["--enable-leader-election=true"])])
    assert (some.watched, everywhere.watched) == (("a", "b"), ())
