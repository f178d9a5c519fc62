"""pytest-kind runs our kind, with the environment of one cluster, and leaves nothing outside the run's folder."""

from pathlib import Path

import pytest

from kuberay_e2e.clusters.kind_creation import Creation, write_command
from kuberay_e2e.errors import HarnessError

KIND = """
echo "$*" >> {folder}/calls
echo "kind says something" >&2
[ "$1" = get ] && exit 0
env > {folder}/environment
cat > {folder}/cluster/kubeconfig <<END
{{apiVersion: v1, kind: Config, current-context: c, contexts: [{{name: c, context: {{cluster: c, user: c}}}}],
 clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:1"}}}}], users: [{{name: c, user: {{}}}}]}}
END
exit {code}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def creation(folder: Path, *, code: int = 0) -> Creation:
    """A cluster to be made by a kind that only writes down what it was told."""
    program = folder / "it's kind"
    program.write_text("#!/bin/sh" + KIND.format(folder=folder, code=code))
    program.chmod(0o755)
    command = folder / "cluster" / "kind"
    write_command(command, program, environment={"GIVEN": "it's"}, without=["TAKEN"], log=folder / "log")
    return Creation("c", folder / "cluster", image="kindest/node:v1", kind=command, kubectl=folder / "kubectl")


def test_kind_is_run_as_it_was_asked_to(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAKEN", "away")
    creation(folder).run(folder / "kind.yaml", folder / "log")
    listing, making = (folder / "calls").read_text().splitlines()
    assert listing == "get clusters"
    assert making == (
        f"create cluster --name=c --kubeconfig={folder}/cluster/kubeconfig --image=kindest/node:v1 "
        f"--config {folder}/kind.yaml"
    )
    environment = (folder / "environment").read_text().splitlines()
    assert "GIVEN=it's" in environment
    assert not any(line.startswith("TAKEN=") for line in environment)


def test_nothing_is_left_in_the_working_folder(folder: Path) -> None:
    creation(folder).run(folder / "kind.yaml", folder / "log")
    assert list((folder / "work").iterdir()) == []


def test_a_kind_that_fails_is_quoted(folder: Path) -> None:
    with pytest.raises(HarnessError, match=r"(?s)kind did not create the cluster c .*kind says something"):
        creation(folder, code=1).run(folder / "kind.yaml", folder / "log")


def test_a_kind_that_cannot_be_run_is_no_crash(folder: Path) -> None:
    made = creation(folder)
    (folder / "cluster" / "kind").chmod(0o644)
    with pytest.raises(HarnessError, match="kind did not create the cluster c"):
        made.run(folder / "kind.yaml", folder / "log")
