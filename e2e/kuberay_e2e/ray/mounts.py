"""Container paths and what stands for them on this machine."""

import re
from collections.abc import Mapping
from pathlib import Path

_PATH_CHARACTER = r"[A-Za-z0-9._~+-]"


class Mounts:
    """Rewrites the mount paths of a container to the files on this machine.

    Args:
        files: Folders and files on this machine by the path at which the container mounts them.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = {mount.rstrip("/"): str(path) for mount, path in files.items() if mount.rstrip("/")}
        longest_first = sorted(self._files, key=len, reverse=True)
        alternatives = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<!{_PATH_CHARACTER})(?<!/)(?:{alternatives})(?!{_PATH_CHARACTER})")

    def rewrite(self, text: str) -> str:
        """A text with every mount path in it replaced; paths that merely begin alike stay as they are."""
        return self._pattern.sub(lambda found: self._files[found.group()], text) if self._files else text
