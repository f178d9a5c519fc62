"""Taints of nodes and the tolerations of pods for them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pulumi_kuberay.names import label_key_problems, label_value_problems


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class TolerationOperator(StrEnum):
    """How a toleration compares the value of a taint."""

    EQUAL = "Equal"
    EXISTS = "Exists"


@dataclass(kw_only=True)
class Taint:
    """A taint of nodes."""

    key: str
    """Key of the taint."""

    effect: TaintEffect
    """``NoSchedule``, ``PreferNoSchedule`` or ``NoExecute``."""

    value: str | None = None
    """Value of the taint. Default: empty."""


@dataclass(kw_only=True)
class Toleration:
    """A toleration of pods for taints of nodes."""

    key: str | None = None
    """Key of the taint. Default: every key, which needs the operator ``Exists``."""

    operator: TolerationOperator | None = None
    """``Equal`` or ``Exists``. Default: Equal."""

    value: str | None = None
    """Value of the taint, only with ``Equal``. Default: empty."""

    effect: TaintEffect | None = None
    """Effect of the taint. Default: every effect."""

    toleration_seconds: int | None = None
    """Seconds that a ``NoExecute`` taint is tolerated for. Default: for ever."""


def taint_problems(what: str, taints: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what the API server would refuse in rendered taints.

    Args:
        what: How the sentences call the object that has the taints.
        taints: The taints as Kubernetes reads them.
    """
    for taint in taints:
        yield from label_key_problems(f"The key of a taint of {what}", taint.get("key"))
        yield from label_value_problems(f"The value of the taint {taint.get('key')} of {what}", taint.get("value"))
        yield from _effect_problems(f"the taint {taint.get('key')} of {what}", taint.get("effect"))
    pairs = Counter((taint.get("key"), taint.get("effect")) for taint in taints)
    for (key, effect), count in pairs.items():
        if count > 1:
            yield f"{what} has the taint {key} with the effect {effect} {count} times; keep one of them."


def toleration_problems(what: str, tolerations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Say what the API server would refuse in rendered tolerations. See `taint_problems`."""
    for toleration in tolerations:
        key, operator = toleration.get("key"), toleration.get("operator")
        named = f"the toleration {key or 'of every key'} of {what}"
        yield from label_key_problems(f"The key of {named}", key)
        if operator not in (None, *TolerationOperator):
            yield f"The operator of {named} must be Equal or Exists, but it is {operator!r}."
        if not key and operator != TolerationOperator.EXISTS:
            yield f"The operator of {named} must be Exists, but it is {operator or 'Equal'}."
        if operator == TolerationOperator.EXISTS and toleration.get("value"):
            yield f"{named} has the operator Exists and a value; drop the value, or use Equal."
        if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != TaintEffect.NO_EXECUTE:
            yield f"{named} has tolerationSeconds, which need the effect NoExecute."
        if toleration.get("effect") is not None:
            yield from _effect_problems(named, toleration["effect"])


def _effect_problems(named: str, effect: Any) -> Iterator[str]:
    if effect not in list(TaintEffect):
        yield f"The effect of {named} must be one of {', '.join(TaintEffect)}, but it is {effect!r}."
