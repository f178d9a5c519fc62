"""The `ray start` of a local head."""

from dataclasses import astuple
from pathlib import Path

from kuberay_e2e.ray import raystart
from kuberay_e2e.ray.raystart import LONGEST_TEMP_DIR, HeadPorts


def test_ports_are_distinct_between_heads_too() -> None:
    chosen = [port for _ in range(5) for port in astuple(HeadPorts.choose())]
    assert len(set(chosen)) == len(chosen)


def test_ports_are_below_those_the_kernel_hands_out() -> None:
    assert all(20_000 <= port < 32_000 for port in astuple(HeadPorts.choose()))


def test_cpus_are_enough_for_a_sample() -> None:
    ports = HeadPorts.choose()
    for asked, given in ((None, 2), (0.0, 2), (1.0, 2), (8.0, 8)):
        assert f"--num-cpus={given}" in raystart.command(Path("ray"), ports, Path("/t"), asked)


def test_environment_of_the_pod_reaches_ray_but_not_its_cluster() -> None:
    pod = {
        "TEAM": "ml",
        "RAY_JOB_STOP_SIGNAL": "SIGINT",
        "RAY_ADDRESS": "127.0.0.1:6379",
        "FQ_RAY_IP": "head.default.svc",
        "RAY_USAGE_STATS_ENABLED": "1",
        "PATH": "/image/bin",
    }
    made = raystart.environment({"PATH": "/usr/bin"}, pod, HeadPorts.choose())

    assert made["TEAM"] == "ml"
    assert made["RAY_JOB_STOP_SIGNAL"] == "SIGINT"
    assert made["PATH"] == "/usr/bin"
    assert made["RAY_USAGE_STATS_ENABLED"] == "0"
    assert not made["RAY_USAGE_STATS_REPORT_URL"].startswith("http")
    assert "RAY_ADDRESS" not in made
    assert "FQ_RAY_IP" not in made


def test_longest_temp_dir_leaves_room_for_the_sockets() -> None:
    socket = "x" * LONGEST_TEMP_DIR + "/session_2026-01-01_00-00-00_000000_4194304/sockets/plasma_store"
    assert len(socket) <= 107
