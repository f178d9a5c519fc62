"""One `pulumi up` brings an empty cluster to finished RayJobs, and one `pulumi destroy` brings it back."""

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from kuberay_e2e import state
from kuberay_e2e.errors import HarnessError
from kuberay_e2e.pytest_plugin import Scripts
from kuberay_e2e.ray import Script
from kuberay_e2e.session import OPERATOR, Programs, Session, embedded
from kuberay_e2e.session.kueues import Kueue
from kuberay_toolchain.toolchain import Toolchain
from tests.e2e.jobs import Job

pytestmark = pytest.mark.e2e

NAMESPACE = "team"


@pytest.fixture
def scripts() -> Scripts:
    return Scripts()


@pytest.fixture
def said() -> list[str]:
    """What Pulumi printed, line by line."""
    return []


@pytest.fixture
def session(kuberay_programs: Programs, scripts: Scripts, said: list[str]) -> Iterator[Session]:
    """An empty cluster."""
    with (
        state.claim(state.free_name("everything")) as run,
        embedded(run, kuberay_programs, script=scripts, output=said.append) as session,
    ):
        yield session


@pytest.fixture
def kueue(session: Session) -> Kueue:
    """Runs Kueue as soon as it is applied."""
    return session.run_kueue(Toolchain().ensure("kueue")["kueue"])


def configuration(toolchain: Toolchain) -> dict[str, Any]:
    """CRDs, both charts, a queue, a RayJob in it and one beside it, as an environment of the program declares them."""
    operator, kueue = toolchain.files(OPERATOR), toolchain.files("kueue")
    pod = {"resources": {"cpu": "500m", "memory": "1Gi"}}
    cluster = {"head": {"pod": pod}}
    resources = [{"name": "cpu", "nominalQuota": "2"}, {"name": "memory", "nominalQuota": "8Gi"}]
    return {
        "namespaces": [NAMESPACE],
        "namespace": NAMESPACE,
        "crds": {"folder": str(operator / "config" / "crd" / "bases")},
        "operator": {
            "chart": {"path": str(operator / "chart")},
            "leaderElection": False,
            "useKubernetesProxy": True,
        },
        "kueue": {"chart": {"path": str(kueue / "chart")}},
        "flavors": {"default": {}},
        "clusterQueues": {
            "team": {
                "namespaces": [NAMESPACE],
                "resourceGroups": [{"flavors": [{"name": "default", "resources": resources}]}],
            }
        },
        "localQueues": {"team": {"clusterQueue": "team"}},
        "rayJobs": {
            "queued": {
                "entrypoint": "python queued.py",
                "scheduling": {"queue": {"name": "team"}},
                "cleanup": {"shutDownAfterSeconds": 1},
                "cluster": cluster,
            },
            "free": {"entrypoint": "python free.py", "cleanup": {"keep": True}, "cluster": cluster},
        },
    }


def kept_crds(session: Session) -> set[str]:
    with session.access.client() as client:
        found = client.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").json()["items"]
    names = {item["metadata"]["name"] for item in found}
    return {name for name in names if name.endswith((".ray.io", ".kueue.x-k8s.io"))}


def lines_of(said: list[str], *words: str) -> list[int]:
    """Numbers of the lines that hold all these words."""
    return [number for number, line in enumerate(said) if all(word in line for word in words)]


def test_from_an_empty_cluster_and_back(session: Session, kueue: Kueue, scripts: Scripts, said: list[str]) -> None:
    over = Event()
    scripts.set("python free.py", Script(duration=0.5, until=over))
    stack = session.stack("everything")
    config = configuration(Toolchain())
    assert set(stack.apply(config).resources) == {"created"}
    assert kueue.ready == 1
    session.start_operator()

    queued, free = (Job.find(session, NAMESPACE, name) for name in ("queued", "free"))
    assert queued.wait_end().succeeded
    free.wait_status("Running")
    stack.refresh()
    again = stack.apply(config).resources
    assert set(again) == {"unchanged"}, "\n".join(line for line in said if " updated (" in line)
    assert (queued.starts(), free.starts()) == (1, 1)

    crds = kept_crds(session)
    assert {"rayjobs.ray.io", "workloads.kueue.x-k8s.io"} <= crds
    said.clear()
    stack.destroy(exclude_protected=True)
    jobs_gone = lines_of(said, ":RayJob ", " deleted")
    assert len(jobs_gone) == 2
    for needed in (":LocalQueue ", ":Deployment "):
        assert max(jobs_gone) < min(lines_of(said, needed, " deleting")), "what a RayJob needs goes after it"
    for job in (queued, free):
        job.wait_gone()
    assert queued.judge() == []
    assert kept_crds(session) == crds
    assert session.reader.get("Deployment", "ray-system", OPERATOR) is None
    assert kueue.ready == 0
    over.set()

    with pytest.raises(HarnessError, match="protect"):
        stack.destroy()
    assert kept_crds(session) == crds
