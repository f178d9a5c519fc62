"""The Python language host: its command lines, and real `pulumi up` runs where pulumi is built."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from pulumi.runtime.proto import language_pb2 as language

from kuberay_toolchain import Silent, Toolchain, language_host


def test_a_program_runs_under_the_host_s_interpreter_unless_pulumi_yaml_names_a_virtualenv(
    tmp_path: Path,
) -> None:
    assert language_host.interpreter(str(tmp_path), {}) == sys.executable
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert language_host.interpreter(str(tmp_path), {"virtualenv": "venv"}) == str(python)


def test_a_virtualenv_that_is_not_there_is_an_error_that_names_the_cure(tmp_path: Path) -> None:
    with pytest.raises(language_host.HostError, match=r"names the virtual environment 'venv'.*pulumi install"):
        language_host.interpreter(str(tmp_path), {"virtualenv": "venv"})


def test_the_bootstrap_gets_every_setting_that_the_engine_sent() -> None:
    request = language.RunRequest(
        project="demo",
        stack="dev",
        pwd="/project",
        program=".",
        dryRun=True,
        parallel=4,
        monitor_address="127.0.0.1:1",
        organization="acme",
        args=["extra"],
        info=language.ProgramInfo(root_directory="/project", program_directory="/project/src", entry_point="."),
    )
    command = language_host.program_command("python", "127.0.0.1:2", request)
    assert command[:3] == ["python", "-u", str(language_host.BOOTSTRAP)]
    options = dict(zip(command[3:-2:2], command[4:-2:2], strict=True))
    assert options == {
        "--monitor": "127.0.0.1:1",
        "--engine": "127.0.0.1:2",
        "--project": "demo",
        "--root_directory": "/project",
        "--stack": "dev",
        "--pwd": "/project",
        "--dry_run": "true",
        "--parallel": "4",
        "--organization": "acme",
    }
    assert command[-2:] == ["/project/src", "extra"]


def test_a_policy_pack_runs_unbuffered_through_the_sdk_s_policy_module() -> None:
    request = language.RunPluginRequest(
        kind="analyzer", args=["127.0.0.1:2"], info=language.ProgramInfo(program_directory="/pack")
    )
    assert language_host.plugin_command("python", request) == [
        *("python", "-u", "-m", "pulumi.policy"),
        *("127.0.0.1:2", "/pack"),
    ]


def provider(folder: Path) -> language.RunPluginRequest:
    return language.RunPluginRequest(
        kind="resource", args=["127.0.0.1:2"], info=language.ProgramInfo(program_directory=str(folder))
    )


def test_a_component_provider_runs_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").touch()
    assert language_host.plugin_command("python", provider(tmp_path)) == ["python", "-u", str(tmp_path), "127.0.0.1:2"]


def test_a_component_package_without_a_main_is_served_by_the_sdk(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "my-components"\n')
    assert language_host.plugin_command("python", provider(tmp_path)) == [
        *("python", "-u", "-m", "pulumi.run.plugin"),
        *("my-components", "127.0.0.1:2"),
    ]


@pytest.mark.parametrize("pyproject", [None, "", "[project]\nversion = '1'", "]"])
def test_a_plugin_that_cannot_be_run_is_an_error_that_says_what_is_missing(
    tmp_path: Path, pyproject: str | None
) -> None:
    if pyproject is not None:
        (tmp_path / "pyproject.toml").write_text(pyproject)
    with pytest.raises(language_host.HostError, match=r"neither a __main__.py nor a pyproject.toml"):
        language_host.plugin_command("python", provider(tmp_path))


def test_a_plugin_runs_in_the_venv_beside_it_where_there_is_one(tmp_path: Path) -> None:
    assert language_host.plugin_options(str(tmp_path), {}) == {}
    (tmp_path / "venv").mkdir()
    assert language_host.plugin_options(str(tmp_path), {}) == {"virtualenv": "venv"}
    assert language_host.plugin_options(str(tmp_path), {"virtualenv": "other"}) == {"virtualenv": "other"}


def test_nothing_is_installed_for_a_plugin_under_the_host_s_interpreter(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pulumi\n")
    assert language_host.install_commands(str(tmp_path), str(tmp_path), {}, is_plugin=True) == []


def test_dependencies_are_installed_into_the_virtualenv_which_is_made_first(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pulumi\n")
    folder = tmp_path / "venv"
    assert language_host.install_commands(str(tmp_path), str(tmp_path), {"virtualenv": "venv"}) == [
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "-r", str(tmp_path / "requirements.txt")],
    ]


def test_a_python_without_pulumi_is_told_which_one_ran_and_what_to_do(tmp_path: Path) -> None:
    launcher = [sys.executable, "-S", language_host.__file__, "127.0.0.1:1"]
    done = subprocess.run(launcher, capture_output=True, text=True, cwd=tmp_path, env={"PATH": "/usr/bin"})
    assert done.returncode == 1
    assert f"runs under {sys.executable}, the first python3 on the PATH" in done.stderr
    assert "put its bin folder first on the PATH" in done.stderr


def test_output_is_handed_over_as_it_comes() -> None:
    script = "import time; print('one', flush=True); time.sleep(1.5); print('two')"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = time.monotonic()
    with language_host.Children().start([sys.executable, "-c", script], **pipes) as child:
        chunks = language_host.stream(child)
        assert next(chunks)[1].startswith(b"one")
        first = time.monotonic() - started
        assert b"".join(data for _, data in chunks).endswith(b"two\n")
        assert time.monotonic() - started - first > 1


@dataclass(frozen=True)
class Project:
    """A Pulumi project in a temporary folder, with a file backend there."""

    folder: Path
    pulumi: Path

    def env(self) -> dict[str, str]:
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return {
            "PATH": path,
            "HOME": str(self.folder),
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "1",
        }

    def write(self, program: str) -> None:
        (self.folder / "program" / "__main__.py").write_text(textwrap.dedent(program))

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.pulumi, *args],
            cwd=self.folder / "program",
            env=self.env(),
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, *args: str) -> SimpleNamespace:
        process = self.start(*args)
        output, _ = process.communicate(timeout=120)
        return SimpleNamespace(code=process.returncode, output=output)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    toolchain = Toolchain(progress=Silent())
    found = toolchain.find("pulumi")
    if found is None or found.source != "cache":
        pytest.skip("the pulumi with this language host is not built: python -m kuberay_toolchain pulumi")
    project = Project(tmp_path, toolchain.ensure("pulumi")["pulumi"])
    for name in ("program", "state", "home"):
        (tmp_path / name).mkdir()
    (tmp_path / "program" / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    made = project.run("stack", "init", "dev", "--non-interactive")
    assert made.code == 0, made.output
    return project


def test_pulumi_up_runs_a_program_with_its_configuration_and_shows_its_output(project: Project) -> None:
    project.write("""
        import pulumi

        class Greeting(pulumi.ComponentResource):
            def __init__(self, name, text):
                super().__init__("demo:index:Greeting", name)
                self.text = pulumi.Output.from_input(text)
                self.register_outputs({"text": self.text})

        config = pulumi.Config()
        print("the program says hello")
        greeting = Greeting("first", f"{config.require('word')} from {pulumi.get_stack()}")
        pulumi.export("text", greeting.text)
        pulumi.export("secret", config.require_secret("password"))
    """)
    assert project.run("config", "set", "word", "hello").code == 0
    assert project.run("config", "set", "--secret", "password", "hidden").code == 0
    up = project.run("up", "--yes", "--non-interactive")
    assert up.code == 0, up.output
    assert "the program says hello" in up.output
    assert "fork" not in up.output, "gRPC wrote into the user's output"
    assert "demo:index:Greeting" in up.output
    assert "hidden" not in up.output
    assert project.run("stack", "output", "text").output == "hello from dev\n"
    assert project.run("stack", "output", "secret", "--show-secrets").output == "hidden\n"


def test_an_exception_in_the_program_fails_pulumi_up_with_the_traceback(project: Project) -> None:
    project.write("""
        def explode():
            raise ValueError("no such queue")

        explode()
    """)
    up = project.run("up", "--yes", "--non-interactive")
    assert up.code != 0
    assert "ValueError: no such queue" in up.output
    assert "__main__.py" in up.output and "line 5" in up.output


def test_a_program_that_ends_by_itself_fails_pulumi_up_with_its_exit_code(project: Project) -> None:
    project.write("import os; os._exit(7)")
    up = project.run("up", "--yes", "--non-interactive")
    assert up.code != 0
    assert "The Python program ended with exit code 7." in up.output


def test_ctrl_c_ends_the_program_without_a_traceback_of_the_host(project: Project) -> None:
    started = project.folder / "started"
    project.write(f"""
        import os, time
        from pathlib import Path

        Path({str(started)!r}).write_text(str(os.getpid()))
        time.sleep(120)
    """)
    up = project.start("preview", "--non-interactive")
    pid = _program_pid(started)
    up.send_signal(signal.SIGINT)
    time.sleep(1)
    up.send_signal(signal.SIGINT)
    output, _ = up.communicate(timeout=60)
    assert up.returncode != 0
    assert "KeyboardInterrupt" not in output and "Traceback" not in output
    assert _ends(pid)


def test_the_program_ends_with_a_pulumi_that_was_killed(project: Project) -> None:
    started = project.folder / "started"
    project.write(f"""
        import os, time
        from pathlib import Path

        Path({str(started)!r}).write_text(str(os.getpid()))
        time.sleep(120)
    """)
    up = project.start("preview", "--non-interactive")
    pid = _program_pid(started)
    up.kill()
    up.wait()
    assert _ends(pid)


def test_a_policy_pack_folder_is_served_and_its_violations_stop_the_preview(project: Project) -> None:
    pytest.importorskip("pulumi_policy", reason="the policy SDK is not installed")
    pack = project.folder / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\nversion: 0.0.1\ndescription: test\n")
    (pack / "__main__.py").write_text(
        textwrap.dedent("""
            from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

            def refuse(args, report_violation):
                report_violation("never on a Friday")

            policy = StackValidationPolicy("no-fridays", "Rests on Fridays.", refuse)
            PolicyPack("calendar", [policy], enforcement_level=EnforcementLevel.MANDATORY)
        """)
    )
    project.write("import pulumi\npulumi.export('a', 1)")
    preview = project.run("preview", "--non-interactive", "--policy-pack", str(pack))
    assert preview.code != 0
    assert "never on a Friday" in preview.output


def test_pulumi_about_names_the_interpreter_and_the_packages(project: Project) -> None:
    project.write("import pulumi")
    about = project.run("about", "--transitive")
    assert sys.executable in about.output
    assert "pulumi-kubernetes" in about.output
    assert "pulumi-kubernetes" not in project.run("about").output, "a package that another one needs"


def _program_pid(started: Path) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if started.exists() and (text := started.read_text()):
            return int(text)
        time.sleep(0.05)
    raise AssertionError("the program was not started within 60 s")


def _ends(pid: int) -> bool:
    try:
        psutil.Process(pid).wait(timeout=15)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True
