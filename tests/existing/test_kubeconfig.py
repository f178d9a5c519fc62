"""One context of the user's kubeconfig is used, and nothing is written to the file."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kuberay_e2e.access import Access
from kuberay_e2e.clusters import kubeconfig
from kuberay_e2e.errors import HarnessError, InputError

CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "near",
    "contexts": [
        {"name": "near", "context": {"cluster": "one", "user": "me"}},
        {"name": "far", "context": {"cluster": "two", "user": "me", "namespace": "team"}},
        {"name": "broken", "context": {"cluster": "absent", "user": "me"}},
    ],
    "clusters": [
        {"name": "one", "cluster": {"server": "https://one.example:6443"}},
        {"name": "two", "cluster": {"server": "https://two.example:6443", "certificate-authority": "pki/ca.crt"}},
    ],
    "users": [{"name": "me", "user": {"token": "secret"}}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(CONFIG))
    return path


def test_the_current_context(file: Path) -> None:
    before = file.read_bytes()
    name, config = kubeconfig.one_context(file, None)
    assert (name, config["current-context"]) == ("near", "near")
    assert [entry["name"] for section in ("contexts", "clusters", "users") for entry in config[section]] == [
        "near",
        "one",
        "me",
    ]
    assert file.read_bytes() == before


def test_files_keep_their_meaning_in_another_folder(file: Path) -> None:
    _, config = kubeconfig.one_context(file, "far")
    assert config["clusters"][0]["cluster"]["certificate-authority"] == str(file.parent / "pki" / "ca.crt")


def test_an_unknown_context_names_the_known_ones(file: Path) -> None:
    with pytest.raises(InputError, match=r"no context 'moon' in .*: broken, far, near"):
        kubeconfig.one_context(file, "moon")


def test_no_current_context(file: Path) -> None:
    file.write_text(yaml.safe_dump({**CONFIG, "current-context": ""}))
    with pytest.raises(InputError, match="no current context"):
        kubeconfig.one_context(file, None)


def test_a_context_of_an_absent_cluster(file: Path) -> None:
    with pytest.raises(InputError, match="refers to a cluster that the file does not have"):
        kubeconfig.one_context(file, "broken")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent cannot be read \(No such file"):
        kubeconfig.one_context(tmp_path / "absent", None)


@pytest.mark.parametrize("text", ["a: [", "text", "kind: Config", "[]", "\x00\x01"])
def test_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(InputError, match="is no kubeconfig"):
        kubeconfig.one_context(tmp_path / "config", None)


def test_the_file_that_kubectl_would_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", f":{tmp_path / 'first'}:{tmp_path / 'second'}")
    assert kubeconfig.default_path() == tmp_path / "first"
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kubeconfig.default_path() == tmp_path / ".kube" / "config"


def test_a_copy_is_the_owners_only(tmp_path: Path) -> None:
    path = kubeconfig.write(CONFIG, tmp_path / "copy")
    assert path.stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(path.read_text()) == CONFIG


def plugin(script: str) -> dict[str, Any]:
    user = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", script],
            "env": [{"name": "WORD", "value": "from-a-plugin"}],
        }
    }
    return {**CONFIG, "users": [{"name": "me", "user": user}]}


def test_a_credential_plugin_is_asked() -> None:
    said = 'case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) echo "{\\"status\\": {\\"token\\": \\"$WORD\\"}}";; esac'
    assert Access.of(plugin(said), "config").token == "from-a-plugin"


def test_a_credential_plugin_that_fails() -> None:
    with pytest.raises(HarnessError, match="credential plugin sh of the kubeconfig ended with 7: not logged in"):
        Access.of(plugin("echo not logged in >&2; exit 7"), "config")


def test_a_credential_plugin_that_is_not_there() -> None:
    config = plugin("")
    config["users"][0]["user"]["exec"]["command"] = "absent-plugin"
    with pytest.raises(HarnessError, match="absent-plugin"):
        Access.of(config, "config")
