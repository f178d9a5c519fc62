"""References of container images."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TAG_VERSION = re.compile(r"(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])")


@dataclass(frozen=True)
class Image:
    """An image reference, as container runtimes read it.

    Attributes:
        registry: Host of the registry; `docker.io` if the reference has none.
        repository: Path in the registry, `library/` added for official images of Docker Hub.
        tag: Tag; empty if there is none.
        digest: Digest such as `sha256:…`; empty if there is none.
    """

    registry: str
    repository: str
    tag: str
    digest: str

    @classmethod
    def parse(cls, reference: str) -> Image:
        """Take a reference apart."""
        name, _, digest = reference.partition("@")
        before, colon, tag = name.rpartition(":")
        if not colon or "/" in tag:
            before, tag = name, ""
        host, slash, path = before.partition("/")
        if not slash or not ("." in host or ":" in host or host == "localhost"):
            host, path = "docker.io", before if slash else f"library/{before}"
        return cls(host, path, tag, digest)

    @property
    def ray_version(self) -> str:
        """The version in the tag, such as `2.52.0` of `2.52.0-py311-gpu`; empty if there is none or several."""
        found = _TAG_VERSION.findall(self.tag)
        return found[0] if len(found) == 1 else ""

    def is_from(self, prefix: str) -> bool:
        """Tell whether the image is below `registry` or `registry/path`."""
        place = f"{self.registry}/{self.repository}"
        return place == prefix.rstrip("/") or place.startswith(f"{prefix.rstrip('/')}/")
