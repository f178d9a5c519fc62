"""A server that keeps the comments of one pull request as GitHub's REST API does: listed in pages, made, edited."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from tests.loopback import served


class Comments:
    """The comments, by their id, and whoever asked without the token."""

    def __init__(self, *bodies: str) -> None:
        self.bodies = dict(enumerate(bodies, start=1))
        self.refused = 0

    @contextmanager
    def served(self, token: str) -> Iterator[str]:
        """Serve them on loopback and yield the address."""
        comments = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self, status: int, content: object) -> None:
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def _allowed(self) -> bool:
                if self.headers["Authorization"] == f"Bearer {token}":
                    return True
                comments.refused += 1
                self._answer(403, {"message": "Resource not accessible by integration"})
                return False

            def _said(self) -> str:
                return str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])

            def do_GET(self) -> None:
                address = urlsplit(self.path)
                if address.path != "/repos/team/clusters/issues/7/comments":
                    self._answer(404, {"message": "Not Found"})
                elif self._allowed():
                    asked = {name: int(values[0]) for name, values in parse_qs(address.query).items()}
                    first = (asked["page"] - 1) * asked["per_page"]
                    found = list(comments.bodies.items())[first : first + asked["per_page"]]
                    self._answer(200, [{"id": number, "body": body} for number, body in found])

            def do_POST(self) -> None:
                body = self._said()
                if self.path != "/repos/team/clusters/issues/7/comments":
                    self._answer(404, {"message": "Not Found"})
                elif self._allowed():
                    number = len(comments.bodies) + 1
                    comments.bodies[number] = body
                    self._answer(201, {"id": number, "html_url": f"comment {number}"})

            def do_PATCH(self) -> None:
                body = self._said()
                number = int(self.path.removeprefix("/repos/team/clusters/issues/comments/"))
                if self._allowed():
                    comments.bodies[number] = body
                    self._answer(200, {"id": number, "html_url": f"comment {number}"})

            def log_message(self, format: str, *args: object) -> None:
                pass

        with served(Handler) as address:
            yield address
