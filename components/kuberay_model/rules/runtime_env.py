"""Whether `spec.runtimeEnvYAML` is YAML that the operator can read.

Source: `UnmarshalRuntimeEnvYAML` in `controllers/ray/utils/dashboardclient`, which is `sigs.k8s.io/yaml` into a map.
"""

from __future__ import annotations

import base64

import yaml

from kuberay_model.yaml_loader import Loader

_TAG = "tag:yaml.org,2002:"
_RESOLVED = frozenset({"int", "float", "bool", "null"})
_NOT_IN_JSON = frozenset({".inf", "+.inf", "-.inf", ".nan"})
_RESOLVER = yaml.resolver.Resolver()


def runtime_env_error(source: str) -> str | None:
    """Say why the operator could not read `spec.runtimeEnvYAML`; None if it can.

    It reads the first document, which must be a mapping or nothing, and writes it as JSON.
    """
    try:
        loader = Loader(source)
        try:
            if not loader.check_node():
                return None
            root = loader.get_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return f"{error.problem}{where}"
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return " ".join(str(error).split())
    if root is None:
        return None
    if isinstance(root, yaml.ScalarNode) and root.tag == f"{_TAG}null":
        return _unconvertible_scalar(root)
    if not isinstance(root, yaml.MappingNode):
        kind = "list" if isinstance(root, yaml.SequenceNode) else "single value"
        return f"it is a {kind}, and a mapping is expected"
    try:
        return _unconvertible(root, frozenset(), set())
    except RecursionError:
        return "it is nested too deeply"


def _unconvertible(node: yaml.Node, parents: frozenset[int], seen: set[int]) -> str | None:
    """Say what keeps a YAML node from being written as JSON; nodes reached by several aliases are judged once."""
    if id(node) in parents:
        return f"the anchor at line {node.start_mark.line + 1} contains itself"
    if id(node) in seen:
        return None
    seen.add(id(node))
    inner = parents | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return next(filter(None, (_unconvertible(child, inner, seen) for child in node.value)), None)
    if isinstance(node, yaml.MappingNode):
        entries = (_unconvertible_entry(key, value, inner, seen) for key, value in node.value)
        return next(filter(None, entries), None)
    return _unconvertible_scalar(node)


def _unconvertible_entry(key: yaml.Node, value: yaml.Node, parents: frozenset[int], seen: set[int]) -> str | None:
    where = f"line {key.start_mark.line + 1}"
    if key.tag == f"{_TAG}merge":
        merged = value.value if isinstance(value, yaml.SequenceNode) else [value]
        if not all(isinstance(part, yaml.MappingNode) for part in merged):
            return f"the value merged at {where} is no mapping"
    elif not isinstance(key, yaml.ScalarNode) or key.tag == f"{_TAG}null":
        return f"the key at {where} is no string"
    return _mistagged(key) or _unconvertible(value, parents, seen)


def _unconvertible_scalar(node: yaml.Node) -> str | None:
    if node.tag == f"{_TAG}float" and node.value.lower() in _NOT_IN_JSON:
        return f"the number {node.value} at line {node.start_mark.line + 1} cannot be written as JSON"
    return _mistagged(node)


def _mistagged(node: yaml.Node) -> str | None:
    where = f"line {node.start_mark.line + 1}"
    kind = node.tag.removeprefix(_TAG)
    if kind in _RESOLVED:
        plain = _implicit_kind(node.value)
        if plain != kind and (kind, plain) != ("float", "int"):
            return f"{node.value!r} at {where} is no {kind}"
    if kind == "binary" and not _is_base64(node.value):
        return f"the binary value at {where} is no base64"
    return None


def _implicit_kind(source: str) -> str:
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, source, (True, False))  # type: ignore[no-untyped-call]
    return tag.removeprefix(_TAG)


def _is_base64(source: str) -> bool:
    joined = source.replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(joined, validate=True)
    except ValueError:
        return False
    return len(joined) % 4 == 0
