"""What a wrong operator, or a wrong gateway, would do: calls that are repeated, changed, swallowed or made up.

A sweep that is run with one of these in the path of the operator's calls must say that a promise is broken. The
operator itself is the released binary: nothing is rebuilt.
"""

import copy
import dataclasses
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from multidict import CIMultiDict

from kuberay_e2e.gateway import protobuf
from kuberay_e2e.gateway.answers import Answer
from kuberay_e2e.gateway.calls import Call, Carry, Reply
from kuberay_e2e.gateway.identity import random_part, stem
from kuberay_e2e.gateway.incarnation import Incarnation
from kuberay_e2e.gateway.rayroute import RayRoute
from kuberay_e2e.gateway.requests import parse

Chosen = Callable[[Call], bool]
Act = Callable[[Call, Carry], Awaitable[Reply]]
Change = Callable[[dict[str, Any]], None]


class Mutation:
    """Acts on the calls that it chooses, and lets the others pass.

    Args:
        chosen: Whether a call is to be acted on.
        act: What is done in the place of carrying it.
        once: Only the first such call; false: every one.

    Attributes:
        acted: How often it has acted.
    """

    def __init__(self, chosen: Chosen, act: Act, *, once: bool = True) -> None:
        self._chosen = chosen
        self._act = act
        self._once = once
        self.acted = 0

    async def __call__(self, call: Call, carry: Carry) -> Reply:
        """Reply to a call.

        What the API server refuses because the operator's cache is behind is not done yet: the next try is acted on.
        """
        if (self._once and self.acted) or not self._chosen(call):
            return await carry(call)
        self.acted += 1
        reply = await self._act(call, carry)
        if reply.answer is not None and reply.answer.status == HTTPStatus.CONFLICT:
            self.acted -= 1
        return reply


def write(verb: str, resource: str, subresource: str = "", **status: str) -> Chosen:
    """Chooses a write to the API server, and of status writes those with all these values.

    Args:
        verb: create, update, patch or delete.
        resource: Plural resource name.
        subresource: `status`, or empty for the object itself.
        status: Fields of the status that is written.
    """

    def chosen(call: Call) -> bool:
        api = call.api
        if (api.verb, api.resource, api.subresource) != (verb, resource, subresource):
            return False
        written = (call.value or {}).get("status") or {}
        return all(str(written.get(name, "")) == value for name, value in status.items())

    return chosen


def releases(call: Call) -> bool:
    """Whether a call takes the last finalizer off a RayJob that is being deleted."""
    meta = (call.value or {}).get("metadata") or {}
    return write("update", "rayjobs")(call) and "deletionTimestamp" in meta and not meta.get("finalizers")


def to_ray(verb: str) -> Chosen:
    """Chooses a call to Ray's Jobs API: `submit`, `stop`, `delete` or `look`."""
    return lambda call: call.api.is_proxy and (RayRoute.call(call.api, call.method) or ("",))[0] == verb


async def twice(call: Call, carry: Carry) -> Reply:
    """Carry a call two times."""
    reply = await carry(call)
    await carry(call)
    return reply


async def twice_renamed(call: Call, carry: Carry) -> Reply:
    """Carry a creation, and then again under another name with five random characters."""
    reply = await carry(call)
    if call.head is None:
        raise ValueError(f"Expected an object in the body of {call.method} {call.path}, got none.")
    name = f"{stem(call.head.name)}-{random_part(secrets.choice)}"
    if call.value is None:
        again = protobuf.renamed(call.body, name)
    else:
        again = _changed(call.value, lambda value: value["metadata"].update(name=name))
    await carry(dataclasses.replace(call, body=again))
    return reply


def changed(change: Change) -> Act:
    """Carry a call with a changed JSON body."""

    async def act(call: Call, carry: Carry) -> Reply:
        return await carry(dataclasses.replace(call, body=_changed(_json(call.body), change)))

    return act


def repeated(change: Change) -> Act:
    """Carry a call, and then once more with a changed JSON body, as a call of its own."""

    async def act(call: Call, carry: Carry) -> Reply:
        reply = await carry(call)
        await changed(change)(call, carry)
        return reply

    return act


def followed(change: Change) -> Act:
    """Carry an update, and then another one that changes what the API server has stored by the first."""

    async def act(call: Call, carry: Carry) -> Reply:
        reply = await carry(call)
        if reply.answer is not None and reply.answer.status < 300:
            await carry(dataclasses.replace(call, body=_changed(_json(reply.answer.body), change)))
        return reply

    return act


async def acknowledged(call: Call, carry: Carry) -> Reply:
    """Have the API server answer an update without storing it, and let the answer look like a stored one."""
    joint = "&" if call.query else "?"
    reply = await carry(dataclasses.replace(call, path=f"{call.path}{joint}dryRun=All"))
    if reply.answer is None or reply.answer.status >= 300:
        return reply
    body = _changed(_json(reply.answer.body), _next_version)
    return dataclasses.replace(reply, answer=dataclasses.replace(reply.answer, body=body))


async def pretended(call: Call, carry: Carry) -> Reply:
    """Have the API server answer a deletion, whose options are JSON, without deleting."""
    options = _json(call.body) if call.body else {"kind": "DeleteOptions", "apiVersion": "v1"}
    body = _changed(options, lambda value: value.update(dryRun=["All"]))
    headers = call.headers.copy()
    headers["Content-Type"] = "application/json"
    return await carry(dataclasses.replace(call, body=body, headers=headers))


async def swallowed_stop(_: Call, __: Carry) -> Reply:
    """Answer as Ray does when it has stopped a job, and do not ask it to."""
    answer = Answer(200, b'{"stopped": true}')
    return Reply(answer, CIMultiDict({"Content-Type": answer.content_type}))


async def raised(call: Call, carry: Carry) -> Reply:
    """Carry a call, and if its sender is killed meanwhile carry it as if he lived."""
    reply = await carry(call)
    if call.incarnation.dead:
        await carry(dataclasses.replace(call, incarnation=dataclasses.replace(call.incarnation, dead=False)))
    return reply


async def crashed(call: Call, carry: Carry) -> Reply:
    """Carry a call, and end the process that sent it: the gateway takes no notice, as if it had ended by itself."""
    await carry(call)
    call.incarnation.kill()
    return Reply()


async def with_cluster_deleted(call: Call, carry: Carry) -> Reply:
    """Carry a status write of a RayJob, and delete its RayCluster at once."""
    reply = await carry(call)
    api = call.api
    name = _json(call.body)["status"]["rayClusterName"]
    path = f"/apis/{api.group}/{api.version}/namespaces/{api.namespace}/rayclusters/{name}"
    headers = CIMultiDict({"Accept": "application/json", "User-Agent": call.headers.get("User-Agent", "")})
    await carry(Call(call.incarnation, parse("DELETE", path, {}), "DELETE", path, headers))
    return reply


async def with_submission(call: Call, carry: Carry) -> Reply:
    """Carry a status write of a RayJob, and submit its job to Ray at once."""
    reply = await carry(call)
    value = _json(call.body)
    job = {"submission_id": value["status"]["jobId"], "entrypoint": value["spec"]["entrypoint"]}
    service = f"{value['status']['rayClusterName']}-head-svc:dashboard"
    path = f"/api/v1/namespaces/{call.api.namespace}/services/{service}/proxy/api/jobs/"
    headers = CIMultiDict({"Content-Type": "application/json"})
    body = json.dumps(job).encode()
    await carry(Call(call.incarnation, parse("POST", path, {}), "POST", path, headers, body))
    return reply


class ReleasedFirst(Mutation):
    """Keeps a call that stops a job until the RayJob has lost its finalizer."""

    def __init__(self) -> None:
        super().__init__(to_ray("stop"), self._keep)
        self._kept: list[Call] = []

    async def __call__(self, call: Call, carry: Carry) -> Reply:
        """Reply to a call."""
        reply = await super().__call__(call, carry)
        if releases(call):
            while self._kept:
                await carry(self._kept.pop())
        return reply

    async def _keep(self, call: Call, carry: Carry) -> Reply:
        self._kept.append(call)
        return await swallowed_stop(call, carry)


class Usurped(Mutation):
    """Carries a call, and then once more in the name of another operator that lives.

    Args:
        chosen: Whether a call is to be acted on.
    """

    def __init__(self, chosen: Chosen) -> None:
        super().__init__(self._chosen_beside_another, self._usurp)
        self._wanted = chosen
        self._seen: dict[int, Incarnation] = {}

    async def __call__(self, call: Call, carry: Carry) -> Reply:
        """Reply to a call."""
        self._seen[call.incarnation.number] = call.incarnation
        return await super().__call__(call, carry)

    def _others(self, call: Call) -> list[Incarnation]:
        return [one for one in self._seen.values() if one is not call.incarnation and not one.dead]

    def _chosen_beside_another(self, call: Call) -> bool:
        return self._wanted(call) and bool(self._others(call))

    async def _usurp(self, call: Call, carry: Carry) -> Reply:
        reply = await carry(call)
        await carry(dataclasses.replace(call, incarnation=self._others(call)[0]))
        return reply


def _json(body: bytes) -> dict[str, Any]:
    value = json.loads(body)
    if not isinstance(value, dict):
        raise ValueError(f"Expected an object as JSON, got {body[:80]!r}.")
    return value


def _changed(value: Mapping[str, Any], change: Change) -> bytes:
    mutable = copy.deepcopy(dict(value))
    change(mutable)
    return json.dumps(mutable).encode()


def _next_version(value: dict[str, Any]) -> None:
    meta = value["metadata"]
    meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
