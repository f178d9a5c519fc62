"""`pulumi` as a user runs it, with a home, a state and a copy of the project of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from kuberay_e2e.session import Session
from kuberay_e2e.stack import PROGRAMS
from kuberay_toolchain import Toolchain

_IGNORED = shutil.ignore_patterns("__pycache__", ".*_cache")


class PulumiCommand:
    """Runs `pulumi` in a copy of a project, against the cluster of a session."""

    def __init__(self, session: Session, folder: Path) -> None:
        programs = Toolchain().ensure(*PROGRAMS)
        paths = [Path(sys.executable).parent, *(path.parent for path in programs.values())]
        self.project = folder / "project"
        self.project.mkdir()
        for name in ("backend", "home"):
            (folder / name).mkdir()
        self._environment = {
            **os.environ,
            "PATH": os.pathsep.join([*map(str, paths), os.environ.get("PATH", "")]),
            "KUBECONFIG": str(session.cluster.kubeconfig),
            "KUBECACHEDIR": str(folder / "kube-cache"),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": (folder / "backend").as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "GOGC": "200",
        }

    def copy(self, *sources: Path) -> None:
        """Copy files and folders into the project."""
        for source in sources:
            target = self.project / source.name
            if source.is_dir():
                shutil.copytree(source, target, ignore=_IGNORED)
            else:
                shutil.copy(source, target)

    def run(self, *arguments: str) -> str:
        """Run a command in the project's folder and return what it printed; an exit code other than 0 fails."""
        done = subprocess.run(
            ["pulumi", *arguments, "--color", "never", "--non-interactive"],
            cwd=self.project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout
