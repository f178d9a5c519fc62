"""pytest fixtures: an embedded cluster with the operator on it, shared by the tests of a session.

Loaded by pytest wherever the package is installed. `kuberay_session` brings everything up once; each test takes
`kuberay_operator`, which is running when the test begins, and `kuberay_namespace`, which is its own.
"""

import secrets
from collections.abc import Iterator

import pytest

from kuberay_e2e.clusters import Cluster
from kuberay_e2e.gateway import Gateway
from kuberay_e2e.ray import JobSpec, RayBackend, Script
from kuberay_e2e.session import Operator, Programs, RayKind, Session
from kuberay_e2e.session.kueues import Kueue


class Scripts:
    """What simulated jobs do, by their entrypoint; a job whose entrypoint has no script takes a second."""

    def __init__(self) -> None:
        self._scripts: dict[str, Script] = {}

    def set(self, entrypoint: str, script: Script) -> None:
        """Choose the script of an entrypoint."""
        self._scripts[entrypoint] = script

    def __call__(self, job: JobSpec) -> Script:
        """The script of a job."""
        return self._scripts.get(job.entrypoint, Script(duration=1.0, output=("ran",)))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command line choose the Ray back end."""
    parser.getgroup("kuberay").addoption(
        "--kuberay-ray",
        choices=[kind.value for kind in RayKind],
        default=RayKind.SIMULATED.value,
        help="Ray behind the head pods of the shared cluster (default: simulated)",
    )


@pytest.fixture(scope="session")
def kuberay_programs() -> Programs:
    """The programs of the toolchain, built where they are missing."""
    from kuberay_e2e.runs import programs_of
    from kuberay_toolchain.toolchain import Toolchain

    return programs_of(Toolchain())


@pytest.fixture(scope="session")
def kuberay_scripts() -> Scripts:
    """Chooses what simulated jobs do."""
    return Scripts()


@pytest.fixture(scope="session")
def kuberay_session(
    pytestconfig: pytest.Config, kuberay_programs: Programs, kuberay_scripts: Scripts
) -> Iterator[Session]:
    """An embedded cluster with CRDs and operator applied by Pulumi, and the operator started."""
    from kuberay_e2e import state
    from kuberay_e2e.session import embedded

    state.sweep()
    ray = RayKind(pytestconfig.getoption("--kuberay-ray"))
    with (
        state.claim(state.free_name("pytest")) as run,
        embedded(run, kuberay_programs, ray=ray, script=kuberay_scripts) as session,
    ):
        session.install()
        session.start_operator()
        yield session


@pytest.fixture(scope="session")
def kuberay_kueue(kuberay_session: Session) -> Kueue:
    """Kueue, applied to the shared cluster by Pulumi and running: from now on its webhooks see every pod there."""
    from kuberay_toolchain.toolchain import Toolchain

    toolchain = Toolchain()
    return kuberay_session.install_kueue(toolchain.ensure("kueue")["kueue"], toolchain.files("kueue") / "chart")


@pytest.fixture(scope="session")
def kuberay_cluster(kuberay_session: Session) -> Cluster:
    """The shared cluster."""
    return kuberay_session.cluster


@pytest.fixture(scope="session")
def kuberay_gateway(kuberay_session: Session) -> Gateway:
    """The gateway before the shared cluster's API server."""
    return kuberay_session.gateway


@pytest.fixture(scope="session")
def kuberay_ray(kuberay_session: Session) -> RayBackend:
    """The Ray behind the head pods of the shared cluster."""
    return kuberay_session.backend


@pytest.fixture
def kuberay_operator(kuberay_session: Session) -> Operator:
    """The operator, running."""
    if not kuberay_session.operator.running:
        kuberay_session.operator.wait_killed()
        kuberay_session.start_operator()
    return kuberay_session.operator


@pytest.fixture
def kuberay_namespace(kuberay_session: Session) -> Iterator[str]:
    """A namespace of the test's own, deleted after it with everything in it."""
    name = f"test-{secrets.token_hex(4)}"
    with kuberay_session.access.client() as client:
        client.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
        yield name
        for plural in ("rayjobs", "rayclusters"):
            client.delete(f"/apis/ray.io/v1/namespaces/{name}/{plural}")
        client.delete(f"/api/v1/namespaces/{name}")
