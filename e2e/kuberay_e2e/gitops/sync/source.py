"""A source of manifests: a folder as an archive on loopback, and the object that tells Flux of it.

Flux's source-controller is not needed for that: kustomize-controller reads the address and the digest of the archive
from the status of a GitRepository, and the harness writes that status.
"""

import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from kuberay_e2e.network import LOOPBACK

GROUP = "source.toolkit.fluxcd.io"
VERSION = "v1"
_KINDS = {"Bucket": "buckets", "GitRepository": "gitrepositories", "OCIRepository": "ocirepositories"}


def crds() -> list[dict[str, Any]]:
    """CRDs of the kinds that kustomize-controller watches, with no more in them than it needs."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}},
    }
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
                "scope": "Namespaced",
                "versions": [version],
            },
        }
        for kind, plural in _KINDS.items()
    ]


def archive(files: Mapping[str, str]) -> bytes:
    """A gzipped tar archive of some files by their paths: the same bytes for the same files."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path, text in sorted(files.items()):
            data = text.encode()
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return content.getvalue()


class Source:
    """Serves archives on loopback. Use it as a context manager."""

    def __init__(self) -> None:
        archives: dict[str, bytes] = {}
        self._archives = archives

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = archives.get(self.path)
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def publish(self, files: Mapping[str, str]) -> dict[str, Any]:
        """Serve some files, and return `status.artifact` of the object that tells of them."""
        data = archive(files)
        digest = hashlib.sha256(data).hexdigest()
        path = f"/{digest}.tar.gz"
        self._archives[path] = data
        return {
            "digest": f"sha256:{digest}",
            "lastUpdateTime": "2026-01-01T00:00:00Z",
            "path": path.removeprefix("/"),
            "revision": f"main@sha1:{digest[:40]}",
            "size": len(data),
            "url": f"http://{LOOPBACK}:{self._server.server_port}{path}",
        }
