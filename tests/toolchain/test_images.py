"""Image archives: what engines and containerd expect, byte by byte the same; what cannot be made is refused first."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from kuberay_toolchain import Silent, Toolchain
from kuberay_toolchain.errors import DiskFull, ImageFailed, UnknownProgram
from kuberay_toolchain.images import Images, SystemImage, catalogue, debian, node, ray, store
from kuberay_toolchain.images.archive import Settings, qualified, read_reference, write_archive, write_layer

SYSTEM = SystemImage("small", "example.com/small:1", "bookworm", (), Settings(), disk_mib=1)


@pytest.fixture
def manager(tmp_path: Path) -> Path:
    program = tmp_path / "manager"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_layer_holds_files_of_root_with_the_folders_above_them(tmp_path: Path, manager: Path) -> None:
    layer = write_layer(tmp_path / "layer.tar", {"/usr/bin/manager": manager}, {"/tmp": 0o1777})
    with tarfile.open(layer) as tar:
        entries = {entry.name: entry for entry in tar}
    assert list(entries) == ["tmp", "usr", "usr/bin", "usr/bin/manager"]
    assert entries["tmp"].mode == 0o1777
    assert (entries["usr/bin/manager"].mode, entries["usr/bin/manager"].uid) == (0o755, 0)
    assert entries["usr/bin/manager"].mtime == 0


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "iptables").symlink_to("xtables-nft-multi")
    layer = write_layer(tmp_path / "layer.tar", {"/usr/sbin/iptables": tmp_path / "iptables"})
    with tarfile.open(layer) as tar:
        assert tar.getmember("usr/sbin/iptables").linkname == "xtables-nft-multi"


def test_an_archive_names_its_image_configuration_and_layers_by_their_digests(tmp_path: Path, manager: Path) -> None:
    layer = write_layer(tmp_path / "layer.tar", {"/manager": manager})
    settings = Settings(entrypoint=("/manager",), env={"A": "b"}, user="65532", stop_signal="SIGRTMIN+3")
    write_archive(tmp_path / "image.tar", "quay.io/kuberay/operator:v1.6.2", [layer], settings)
    digest = hashlib.sha256(layer.read_bytes()).hexdigest()
    with tarfile.open(tmp_path / "image.tar") as tar:
        manifest = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        content = tar.extractfile(manifest[0]["Config"])
        assert content is not None
        raw = content.read()
        stored = tar.extractfile(manifest[0]["Layers"][0])
        assert stored is not None and stored.read() == layer.read_bytes()
    config = json.loads(raw)
    assert manifest[0]["RepoTags"] == ["quay.io/kuberay/operator:v1.6.2"]
    assert manifest[0]["Config"] == f"{hashlib.sha256(raw).hexdigest()}.json"
    assert config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    assert config["config"]["Entrypoint"] == ["/manager"]
    assert config["config"]["Env"] == ["A=b"]
    assert (config["config"]["User"], config["config"]["StopSignal"]) == ("65532", "SIGRTMIN+3")


def test_archives_of_the_same_content_are_the_same_bytes(tmp_path: Path, manager: Path) -> None:
    written: list[bytes] = []
    for name in ("one", "two"):
        os.utime(manager, (len(written) + 1, len(written) + 1))
        layer = write_layer(tmp_path / f"{name}.layer", {"/manager": manager})
        write_archive(tmp_path / f"{name}.tar", "example.com/a:1", [layer], Settings())
        written.append((tmp_path / f"{name}.tar").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("reference", "whole"),
    [
        ("rayproject/ray:2.52.0", "docker.io/rayproject/ray:2.52.0"),
        ("quay.io/kuberay/operator:v1.6.2", "quay.io/kuberay/operator:v1.6.2"),
        ("localhost/node:1", "localhost/node:1"),
        ("registry:5000/node:1", "registry:5000/node:1"),
        ("busybox:1", "docker.io/busybox:1"),
    ],
)
def test_a_reference_without_a_registry_means_dockers(tmp_path: Path, reference: str, whole: str) -> None:
    assert qualified(reference) == whole
    write_archive(tmp_path / "image.tar", reference, [write_layer(tmp_path / "layer", {})], Settings())
    assert read_reference(tmp_path / "image.tar") == whole


def test_units_and_configuration_lose_what_needs_the_capability_to_raise_limits() -> None:
    unit = "[Service]\nLimitNOFILE=infinity\nTasksMax=infinity\nOOMScoreAdjust=-999\nRestart=always\n"
    assert node.adapted(unit) == "[Service]\nRestart=always\n"
    config = 'sandbox_image = "registry.k8s.io/pause:3.10"\nrestrict_oom_score_adj = false\n'
    assert node.adapted(config) == f'sandbox_image = "{catalogue.PAUSE.reference}"\nrestrict_oom_score_adj = true\n'


def test_the_control_plane_is_of_one_version_and_its_programs_are_in_the_toolchain(tmp_path: Path) -> None:
    toolchain = Toolchain(cache=tmp_path, progress=Silent())
    programs = {name for part in catalogue.CONTROL_PLANE for name in part.programs} | set(catalogue.NODE.programs)
    versions = {toolchain.select(name).version for name in programs if name.startswith("kube")}
    assert versions == {catalogue.KUBERNETES}
    assert toolchain.select("etcd").version == catalogue.ETCD_TAG.rpartition("-")[0]
    tags = {part.name: part.reference.rpartition(":v")[2] for part in catalogue.CONTROL_PLANE}
    assert tags["coredns"] == toolchain.select("coredns").version


def test_ray_is_pinned_with_the_hash_of_every_wheel() -> None:
    text = ray.REQUIREMENTS.read_text()
    assert f"ray=={catalogue.RAY} " in text
    pinned = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
    assert pinned and text.count("--hash=sha256:") >= len(pinned)
    assert "://" not in text


def test_an_image_that_is_not_made_yet_is_not_found(tmp_path: Path) -> None:
    images = Images(Toolchain(cache=tmp_path, progress=Silent()))
    assert images.find("ray") is None
    with pytest.raises(UnknownProgram, match="no image called 'busybox'"):
        images.find("busybox")


def test_an_official_image_is_taken_where_it_can_be_had(tmp_path: Path) -> None:
    asked = []

    def pull(reference: str, archive: Path) -> bool:
        asked.append(reference)
        archive.write_bytes(b"official")
        return True

    images = Images(Toolchain(cache=tmp_path, progress=Silent()), pull)
    image = images.ensure("ray")["ray"]
    assert asked == ["rayproject/ray:2.52.0"]
    assert image.archive.read_bytes() == b"official"
    assert images.ensure("ray") == {"ray": image}
    assert len(asked) == 1


def test_making_a_system_needs_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ImageFailed, match=r"needs root .* of user 1000"):
        store.check_machine(SYSTEM, tmp_path)


def test_making_a_system_needs_debootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "debootstrap" else f"/usr/bin/{name}")
    with pytest.raises(ImageFailed, match="needs debootstrap, which this machine does not have"):
        store.check_machine(SYSTEM, tmp_path)


def test_too_little_disk_is_said_before_anything_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(store, "free_mib", lambda _: 0)
    with pytest.raises(DiskFull, match=r"needs 1 MiB below .*, but 0 MiB are free"):
        store.check_machine(SYSTEM, tmp_path)


def test_a_failed_step_ends_with_the_last_lines_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolchain = Toolchain(cache=tmp_path, progress=Silent())
    monkeypatch.setattr(store, "check_machine", lambda *_: None)
    monkeypatch.setattr(ray, "download", lambda *_: None)
    monkeypatch.setattr(debian, "_ISOLATED", ("sh", "-c", "echo E: no such suite; exit 3", "sh"))
    with pytest.raises(ImageFailed, match=r"exit code 3.*\n +E: no such suite"):
        Images(toolchain).ensure("ray")
    assert not list((tmp_path / "unfinished").iterdir())
    assert Images(toolchain).find("ray") is None


def test_the_debian_mirror_is_that_of_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text(
        "#!/bin/sh\n"
        "echo bookworm-security main http://mirror.example/debian-security/\n"
        "echo bookworm contrib http://mirror.example/debian/\n"
        "echo bookworm main http://mirror.example/debian/\n"
    )
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert debian.debian_mirror("bookworm") == ["http://mirror.example/debian"]
    assert debian.debian_mirror("trixie") == []
