"""What a program of a Pod finds on this machine: environment, PATH, HOME."""

import os
import shutil
import sys
from pathlib import Path

_INHERITED = ("LANG", "LC_ALL", "TZ", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_INHERITED_PREFIXES = ("PIP_", "UV_")


def clean_environment(home: Path, *path: Path) -> dict[str, str]:
    """An environment that knows nothing of the user's: PATH, HOME, locale and the package index settings.

    Args:
        home: The HOME folder.
        path: Folders that come first on the PATH.
    """
    kept = {
        name: value for name, value in os.environ.items() if name in _INHERITED or name.startswith(_INHERITED_PREFIXES)
    }
    folders = [*map(str, path), *os.environ.get("PATH", os.defpath).split(os.pathsep)]
    local = "127.0.0.1,localhost"
    return {**kept, "PATH": os.pathsep.join(folders), "HOME": str(home), "NO_PROXY": local, "no_proxy": local}


def interpreter_folder() -> Path:
    """The folder of this Python, where the programs of its packages are, `ray` among them."""
    return Path(sys.executable).parent


def find(name: str, path: str) -> str | None:
    """A program on this machine: where the name says, or by its last part where an image keeps it elsewhere.

    Args:
        name: A program's name or path.
        path: The PATH to search.
    """
    return shutil.which(name, path=path) or shutil.which(Path(name).name, path=path)
