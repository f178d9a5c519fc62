"""RayJobs at random: parts made from the schema, and changes that touch every rule."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from kuberay_model import schemas
from kuberay_model.rules.job import AUTOSCALER_V2_ENV
from kuberay_model.versions import DEFAULT
from tests.model.rayjobs import (
    CLUSTER,
    CONTAINER,
    HEAD,
    WORKER,
    Change,
    Manifest,
    annotated,
    good,
    head_env,
    put,
    without,
)
from tests.model.test_rayjob_rules import CASES, Case
from tests.parity.texts import LABEL_KEYS, LABEL_VALUES, NAMES, RAY_VERSIONS, RUNTIME_ENVIRONMENTS

POLICIES = ("DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone")
MODES = ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode", "", "HttpMode")
RESTARTS = ("", "Never", "Always", "OnFailure")
SWITCHES = ("1", "true", "True", "0", "", "false", " 1")
VARIABLES = ("RAY_REDIS_ADDRESS", "REDIS_PASSWORD", "REDIS_USERNAME", AUTOSCALER_V2_ENV, "redis_username", "OTHER")
PARAMETERS = ("num-cpus", "num-gpus", "memory", "resources", "labels", "redis-password", "redis-username", "other")

_LARGEST = 5
"""The most optional fields of an object made from the schema."""
_INTEGERS = st.sampled_from((-1, 0, 1, 2, 60, 2**31 - 1))
_AMOUNTS = st.sampled_from((0, 1, "1", "500m", "2Gi", "1e3"))

Strategy = st.SearchStrategy[Any]


_made: dict[int, Strategy] = {}


def value(node: Mapping[str, Any]) -> Strategy:
    """Make values that a schema allows; objects get a few of their optional fields."""
    if id(node) not in _made:
        _made[id(node)] = _value(node)
    return _made[id(node)]


def _value(node: Mapping[str, Any]) -> Strategy:
    if "enum" in node:
        return st.sampled_from(node["enum"])
    match node.get("type"):
        case "object" if "properties" in node:
            return _object(node)
        case "object":
            return st.dictionaries(st.sampled_from(("a", "b")), value(node.get("additionalProperties", {})), max_size=2)
        case "array":
            return st.lists(value(node["items"]), max_size=2)
        case "string" if node.get("format") == "date-time":
            return st.sampled_from(("2026-01-31T12:00:00Z", "a"))
        case "string":
            return st.just("a" * node.get("minLength", 1)) if "pattern" not in node else st.just("A")
        case "integer":
            return _INTEGERS.filter(lambda number: number >= node.get("minimum", -1))
        case "number":
            return st.sampled_from((0, 0.5, 1))
        case "boolean":
            return st.booleans()
        case list():
            return _AMOUNTS
        case _:
            return st.just({})


def _object(node: Mapping[str, Any]) -> Strategy:
    properties: Mapping[str, Any] = node["properties"]
    required: Sequence[str] = node.get("required", ())
    optional = sorted(set(properties) - set(required))

    @st.composite
    def made(draw: st.DrawFn) -> dict[str, Any]:
        chosen = draw(st.lists(st.sampled_from(optional), max_size=_LARGEST, unique=True)) if optional else []
        return {name: draw(value(properties[name])) for name in (*required, *chosen)}

    return made()


def _one(path: str, values: Sequence[Any]) -> st.SearchStrategy[Change]:
    return st.sampled_from(values).map(lambda chosen: put(path, chosen))


def _from_schema(path: str) -> st.SearchStrategy[Change]:
    """Replace a part of the RayJob by one that the schema allows."""
    node = schemas.load(DEFAULT).node("RayJob", [int(key) if key.isdigit() else key for key in path.split(".")])
    assert node is not None, path
    return value(node).map(lambda made: put(path, made))


@st.composite
def _deletion_strategy(draw: st.DrawFn) -> Change:
    strategy: dict[str, Any] = {}
    if draw(st.booleans()):
        strategy["deletionRules"] = draw(st.lists(_deletion_rule(), max_size=4))
    for name in draw(st.sampled_from(((), (), ("onSuccess",), ("onSuccess", "onFailure")))):
        strategy[name] = draw(st.sampled_from(({"policy": ""}, {}, *({"policy": policy} for policy in POLICIES))))
    shutdown = draw(st.booleans())
    return lambda manifest: manifest["spec"].update(deletionStrategy=strategy, shutdownAfterJobFinishes=shutdown)


@st.composite
def _deletion_rule(draw: st.DrawFn) -> dict[str, Any]:
    on = draw(
        st.sampled_from(
            (
                {"jobStatus": "SUCCEEDED"},
                {"jobStatus": "FAILED"},
                {"jobStatus": "FAILED"},
                {"jobDeploymentStatus": "Failed"},
                {"jobDeploymentStatus": "Failed"},
                {"jobStatus": "FAILED", "jobDeploymentStatus": "Failed"},
                {},
            )
        )
    )
    ttl = draw(st.sampled_from(({}, {"ttlSeconds": 0}, {"ttlSeconds": 5}, {"ttlSeconds": 10}, {"ttlSeconds": -1})))
    return {"policy": draw(st.sampled_from(POLICIES)), "condition": {**on, **ttl}}


def _environment() -> st.SearchStrategy[Change]:
    pairs = st.dictionaries(st.sampled_from(VARIABLES), st.sampled_from(SWITCHES), min_size=1, max_size=2)
    return pairs.map(lambda chosen: head_env(**chosen))


def _labels(group: str) -> st.SearchStrategy[Change]:
    labels = st.dictionaries(st.sampled_from(LABEL_KEYS), st.sampled_from(LABEL_VALUES), min_size=1, max_size=2)
    return labels.map(lambda chosen: put(f"{group}.labels", chosen))


def _parameters(group: str) -> st.SearchStrategy[Change]:
    chosen = st.dictionaries(st.sampled_from(PARAMETERS), st.sampled_from(("", "1")), min_size=1, max_size=2)
    return chosen.map(lambda made: put(f"{group}.rayStartParams", made))


_CASES: Sequence[Case] = [case for case in CASES if case.version == str(DEFAULT)]
_CASE_CHANGES: Sequence[Change] = [change for case in _CASES for change in (*case.bad, *case.fine)]
_SELECTORS: Sequence[Mapping[str, str]] = (
    {},
    {"ray.io/cluster": "x"},
    {"ray.io/cluster": ""},
    {"a": "b"},
    {"ray.io/cluster": "x", "a": "b"},
)

CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.sampled_from(_CASE_CHANGES),
    st.sampled_from(_CASE_CHANGES),
    _deletion_strategy(),
    _deletion_strategy(),
    _environment(),
    _one("metadata.name", NAMES),
    _one("spec.suspend", (True, False)),
    _one("spec.shutdownAfterJobFinishes", (True, False)),
    _one("spec.ttlSecondsAfterFinished", (-1, 0, 1)),
    _one("spec.clusterSelector", _SELECTORS),
    _one("spec.submissionMode", MODES),
    _one("spec.submissionMode", ("SidecarMode", "InteractiveMode")),
    _one("spec.backoffLimit", (-1, 0, 1)),
    _one("spec.activeDeadlineSeconds", (-1, 0, 1)),
    _one("spec.preRunningDeadlineSeconds", (-1, 0, 1)),
    _one("spec.submitterPodTemplate", ({}, {"spec": {"containers": []}})),
    _one("spec.submitterConfig", ({}, {"backoffLimit": 1})),
    _one("spec.metadata", ({}, {"team": "a"})),
    _one("spec.runtimeEnvYAML", RUNTIME_ENVIRONMENTS),
    _one("status", ({"jobDeploymentStatus": "Waiting"}, {"jobDeploymentStatus": "Running"})),
    _one(f"{CLUSTER}.rayVersion", RAY_VERSIONS),
    _one(f"{CLUSTER}.authOptions", ({"mode": "token"}, {"mode": "disabled"}, {"enableK8sTokenAuth": True})),
    _one(f"{CLUSTER}.enableInTreeAutoscaling", (True, True, False)),
    _one(f"{CLUSTER}.autoscalerOptions", ({"version": "v1"}, {"version": "v2"}, {"idleTimeoutSeconds": -1}, {})),
    _one(f"{CLUSTER}.gcsFaultToleranceOptions", ({}, {"redisAddress": "x"})),
    _one(f"{CLUSTER}.upgradeStrategy", ({}, {"type": "None"}, {"type": "Recreate"})),
    _one(f"{CLUSTER}.workerGroupSpecs", ([],)),
    _one(f"{WORKER}.minReplicas", (-1, 0, 1, 5)),
    _one(f"{WORKER}.maxReplicas", (-1, 0, 1, 5)),
    _one(f"{WORKER}.idleTimeoutSeconds", (-1, 0, 60)),
    _one(f"{WORKER}.suspend", (True, False)),
    *(_one(f"{group}.template.spec.restartPolicy", RESTARTS) for group in (HEAD, WORKER)),
    *(_one(f"{group}.resources", ({}, {"CPU": "1"})) for group in (HEAD, WORKER)),
    *(_one(f"{group}.template", ({}, {"spec": {}}, {"spec": {"containers": []}})) for group in (HEAD, WORKER)),
    *(change for group in (HEAD, WORKER) for change in (_labels(group), _parameters(group))),
    st.sampled_from(("true", "TRUE", "false", "", " true")).map(lambda text: annotated("ray.io/ft-enabled", text)),
    st.sampled_from(("x", "")).map(lambda text: annotated("ray.io/external-storage-namespace", text)),
    st.sampled_from(("spec.rayClusterSpec", f"{CLUSTER}.workerGroupSpecs", f"{CLUSTER}.rayVersion")).map(without),
    _from_schema(f"{CLUSTER}.autoscalerOptions"),
    _from_schema(f"{CLUSTER}.authOptions"),
    _from_schema(f"{HEAD}.template"),
    _from_schema(f"{WORKER}.template"),
    _from_schema(CONTAINER),
    _from_schema(WORKER),
    _from_schema("spec.submitterPodTemplate"),
    _from_schema("spec.deletionStrategy"),
)

Gates = Mapping[str, bool]

GATES: st.SearchStrategy[Gates] = st.sampled_from(
    ({}, {}, {"RayJobDeletionPolicy": True}, {"RayJobDeletionPolicy": False})
)


@st.composite
def _near_a_case(draw: st.DrawFn) -> tuple[Manifest, Gates]:
    """Break one rule as its example does, and change something else besides."""
    case = draw(st.sampled_from(_CASES))
    others = draw(st.lists(CHANGES, max_size=2))
    return _changed([*others, *case.bad]), {**draw(GATES), **case.gates}


RAY_JOBS: st.SearchStrategy[tuple[Manifest, Gates]] = st.one_of(
    _near_a_case(),
    _near_a_case(),
    st.tuples(st.lists(CHANGES, min_size=1, max_size=4).map(lambda changes: _changed(changes)), GATES),
    st.tuples(_from_schema("spec").map(lambda made: _changed([made])), GATES),
)


def _changed(changes: Sequence[Callable[[Manifest], None]]) -> Manifest:
    """Change a good RayJob; what an earlier change has removed, a later one leaves alone."""
    manifest = good()
    for change in changes:
        attempt = copy.deepcopy(manifest)
        try:
            change(attempt)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            continue
        manifest = attempt
    return manifest
