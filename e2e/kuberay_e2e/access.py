"""Access to an API server, read from a kubeconfig file."""

import base64
import functools
import json
import os
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from kuberay_e2e.errors import HarnessError

_PLUGIN_SECONDS = 60


@dataclass(frozen=True)
class Access:
    """An API server and the administrator's credentials.

    Attributes:
        server: Base URL, such as https://127.0.0.1:6443.
        ca: Certificate authority in PEM, or None for a plain HTTP server.
        certificate: Client certificate in PEM.
        key: Client key in PEM.
        token: Bearer token.
    """

    server: str
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    token: str | None = None
    verify: bool = True

    @classmethod
    def read(cls, kubeconfig: Path, context: str | None = None) -> "Access":
        """Read a context of a kubeconfig file; default: its current one.

        Raises:
            HarnessError: The file cannot be read or names no such context.
        """
        try:
            config = yaml.safe_load(kubeconfig.read_text())
        except (OSError, yaml.YAMLError) as error:
            raise HarnessError(f"Expected {kubeconfig} to be a kubeconfig: {error!r}.") from error
        return cls.of(config, str(kubeconfig), context)

    @classmethod
    def of(cls, config: dict[str, Any], source: str, context: str | None = None) -> "Access":
        """Take a context of a kubeconfig; default: its current one.

        Args:
            config: What the kubeconfig holds.
            source: Where it was read, for messages.
            context: Name of the context.

        Raises:
            HarnessError: It has no such context, or a credential plugin of it failed.
        """
        try:
            context = context or config["current-context"]
            names = _named(config, "contexts", context)["context"]
            cluster = _named(config, "clusters", names["cluster"])["cluster"]
            user = _named(config, "users", names["user"]).get("user") or {}
            if "exec" in user:
                user = {**user, **_asked(user["exec"])}
            return cls(
                server=cluster["server"].rstrip("/"),
                ca=_pem(cluster, "certificate-authority"),
                certificate=_pem(user, "client-certificate"),
                key=_pem(user, "client-key"),
                token=user.get("token") or _text(user.get("tokenFile")),
                verify=not cluster.get("insecure-skip-tls-verify", False),
            )
        except (OSError, KeyError, TypeError, ValueError, StopIteration) as error:
            raise HarnessError(
                f"Expected {source} to be a kubeconfig with a context {context or '(current)'}: {error!r}."
            ) from error

    def ssl_context(self, *, authenticate: bool = True) -> ssl.SSLContext | None:
        """TLS settings; None for a plain HTTP server.

        Args:
            authenticate: Present the client certificate; without it a caller brings its own bearer token.
        """
        return _context(self, authenticate=authenticate) if self.server.startswith("https:") else None

    def client(self, *, timeout: float = 10.0) -> httpx.Client:
        """A client for requests by path, such as `get("/readyz")`."""
        context = self.ssl_context()
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return httpx.Client(
            base_url=self.server,
            verify=context if context is not None else False,
            headers=headers,
            timeout=timeout,
            trust_env=False,
        )


@functools.lru_cache(maxsize=16)
def _context(access: Access, *, authenticate: bool) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=access.ca)
    if not access.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if authenticate and access.certificate and access.key:
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
            pair.write(access.certificate + "\n" + access.key)
            pair.flush()
            context.load_cert_chain(pair.name)
    return context


def _named(config: dict[str, Any], section: str, name: str) -> dict[str, Any]:
    return next(entry for entry in config[section] if entry["name"] == name)


def _asked(plugin: Mapping[str, Any]) -> dict[str, Any]:
    """Credentials from a plugin, as a kubeconfig's user has them.

    https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
    """
    given = {entry["name"]: entry["value"] for entry in plugin.get("env") or ()}
    request = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "spec": {"interactive": False}}
    environment = {**os.environ, **given, "KUBERNETES_EXEC_INFO": json.dumps(request)}
    command = [plugin["command"], *(plugin.get("args") or ())]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PLUGIN_SECONDS
        )
    except OSError as error:
        raise HarnessError(
            f"The credential plugin {command[0]} of the kubeconfig cannot be run: {error.strerror}. Install it."
        ) from error
    except subprocess.TimeoutExpired:
        raise HarnessError(
            f"The credential plugin {command[0]} of the kubeconfig did not answer within {_PLUGIN_SECONDS} s."
        ) from None
    if done.returncode != 0:
        raise HarnessError(
            f"The credential plugin {command[0]} of the kubeconfig ended with {done.returncode}: {done.stderr[-500:]}"
        )
    status = json.loads(done.stdout)["status"]
    encoded = {
        f"{field}-data": base64.b64encode(status[name].encode()).decode()
        for field, name in (("client-certificate", "clientCertificateData"), ("client-key", "clientKeyData"))
        if status.get(name)
    }
    return {**encoded, "token": status.get("token")}


def _text(path: str | None) -> str | None:
    return Path(path).read_text().strip() if path else None


def _pem(section: dict[str, Any], field: str) -> str | None:
    if data := section.get(f"{field}-data"):
        return base64.b64decode(data).decode()
    if path := section.get(field):
        return Path(path).read_text()
    return None
