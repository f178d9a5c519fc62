"""How Argo CD and Flux read health, with a real Lua 5.1 and a real CEL.

What surrounds the two interpreters follows `GetResourceHealth` and `ExecuteHealthLua` of Argo CD v3 and
`StatusEvaluator` of github.com/fluxcd/pkg/runtime v0.110.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cel_expr_python import cel  # type: ignore[import-untyped]
from lupa import lua51  # type: ignore[import-untyped]

_LIBRARIES = """
_G _VERSION assert error getmetatable ipairs next os package pairs pcall rawequal rawget rawset require select
setmetatable table tonumber tostring type unpack xpcall
"""
_KEPT = frozenset(_LIBRARIES.split())
_STATUSES = {"Healthy", "Progressing", "Suspended", "Degraded", "Unknown", "Missing"}


@dataclass(frozen=True)
class Health:
    """What Argo CD shows."""

    status: str
    message: str


def argocd(script: str, item: Mapping[str, Any]) -> Health:
    """Health of an object by a script, in the libraries that Argo CD opens."""
    if item["metadata"].get("deletionTimestamp"):
        return Health("Progressing", "Pending deletion")
    lua = lua51.LuaRuntime(register_eval=False, register_builtins=False, unpack_returned_tuples=True)
    for name in set(lua.globals()) - _KEPT:
        lua.globals()[name] = None
    for name in set(lua.globals().os) - {"time", "date"}:
        lua.globals().os[name] = None
    lua.globals().obj = lua.table_from(_plain(item), recursive=True)
    answer = lua.execute(script)
    assert lua51.lua_type(answer) == "table", f"expected a table from the script, got {answer!r}"
    assert answer.status in _STATUSES, answer.status
    assert isinstance(answer.message, str) and answer.message.endswith("."), answer.message
    return Health(answer.status, answer.message)


def _plain(value: Any) -> Any:
    """Without nulls: Argo CD makes them nil, so that the field is missing."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


_ENVIRONMENT = cel.NewEnv()


@cache
def _compiled(expression: str) -> Any:
    """An expression, without declarations of its variables, as Flux has none."""
    return _ENVIRONMENT.compile(expression, disable_check=True)


def flux(entry: Mapping[str, str], item: Mapping[str, Any]) -> str:
    """Status of an object by expressions: Current, InProgress, Failed, or Unknown where they cannot be evaluated."""
    observed, generation = (item.get("status") or {}).get("observedGeneration"), item["metadata"].get("generation")
    if isinstance(observed, int) and isinstance(generation, int) and observed != generation:
        return "InProgress"
    for name, status in (("inProgress", "InProgress"), ("failed", "Failed"), ("current", "Current")):
        if name not in entry:
            continue
        value = _compiled(entry[name]).eval(data=dict(item))
        if value.type() in (cel.Type.UNKNOWN, cel.Type.ERROR):
            return "Unknown"
        assert value.type() == cel.Type.BOOL, f"expected {name} to be true or false, got {value.plain_value()!r}"
        if value.plain_value() is True:
            return status
    return "InProgress"
