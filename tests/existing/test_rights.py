"""An operator of the harness on a user's cluster does its work with rights in the namespaces of the run only."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kuberay_e2e import state
from kuberay_e2e.clusters.existing import Wish, decide, names_in
from kuberay_e2e.clusters.inventory import Inventory
from kuberay_e2e.operator_lives import PodDeletion
from kuberay_e2e.session import OPERATOR, OPERATOR_VERSION, Programs, Session, embedded
from kuberay_e2e.session.local_host import LocalHost
from kuberay_e2e.session.on_existing import installation_of
from kuberay_e2e.session.pod_host import PodHost
from kuberay_toolchain.toolchain import Toolchain
from tests.e2e.jobs import Job, rayjob

pytestmark = pytest.mark.e2e

ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture
def session(kuberay_programs: Programs) -> Iterator[Session]:
    with state.claim(state.free_name("rights")) as run, embedded(run, kuberay_programs) as opened:
        yield opened


def cluster_roles(session: Session) -> set[str]:
    with session.access.client() as client:
        return {item["metadata"]["name"] for item in client.get(ROLES).json()["items"]}


@pytest.mark.nightly
def test_rights_in_its_namespaces_are_enough(session: Session, kuberay_programs: Programs) -> None:
    crds: Path = Toolchain().files(OPERATOR) / "config" / "crd" / "bases"
    wish = Wish(("team-jobs",), "operator-here", names_in(crds, "CustomResourceDefinition"))
    decision = decide(Inventory.read(session.access), wish, session.run.name)
    with session.access.client() as client:
        decision.footprint.make_namespaces(client)
    before = cluster_roles(session)
    installation = installation_of(decision)
    killer = PodDeletion(session.access, installation.namespace)
    pods = PodHost(session.run, kuberay_programs, session.access, killer, session.trace, installation=installation)
    session.stacks.crds.apply({"throwaway": True, "crds": {"folder": str(crds)}})
    reaching_ray_from_here = {"useKubernetesProxy": True}
    arguments = {**pods.arguments(OPERATOR_VERSION), **reaching_ray_from_here}
    session.stacks.operator.apply({"operator": arguments})
    assert cluster_roles(session) == before

    session.observe()
    operator = LocalHost(
        session.run,
        kuberay_programs,
        session.access,
        session.gateway,
        session.engine,
        session.trace,
        installation=installation,
        pods=False,
    ).start()
    job = Job.create(session, rayjob("team-jobs"))
    assert job.wait_end().succeeded, operator.last_lines()
    job.delete()
    assert job.judge() == []
    refused = [event.data for event in session.trace.events("response") if event.data["status"] == 403]
    assert refused == []
    operator.stop()
    pods.close()
