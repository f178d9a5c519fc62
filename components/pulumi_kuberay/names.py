"""Names as Kubernetes accepts them, and the sentences for those that it does not."""

import re
from collections.abc import Iterator
from typing import Any

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL_LENGTH = 63
_SUBDOMAIN_LENGTH = 253


def object_name_problems(what: str, name: Any) -> Iterator[str]:
    """Say why a name is no DNS subdomain of RFC 1123, as most objects need one.

    Args:
        what: How the sentence calls the name.
        name: The name; an output, which has no value yet, is not looked at.
    """
    if isinstance(name, str) and not (len(name) <= _SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(name)):
        yield (
            f"{what} must be at most {_SUBDOMAIN_LENGTH} lower-case letters, digits, '-' and '.', starting and "
            f"ending with a letter or digit, but it is {name!r}."
        )


def namespace_problems(what: str, name: Any) -> Iterator[str]:
    """Say why a name is no DNS label of RFC 1123, as a namespace needs one. See `object_name_problems`."""
    if isinstance(name, str) and not (len(name) <= _LABEL_LENGTH and _DNS_LABEL.fullmatch(name)):
        yield (
            f"{what} must be at most {_LABEL_LENGTH} lower-case letters, digits and '-', starting and ending with a "
            f"letter or digit, but it is {name!r}."
        )


def label_key_problems(what: str, key: Any) -> Iterator[str]:
    """Say why a text is no key of a label; names of resources such as ``nvidia.com/gpu`` follow the same rule."""
    if not isinstance(key, str):
        return
    prefix, slash, name = key.rpartition("/")
    prefix_fits = not slash or (len(prefix) <= _SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(prefix))
    if not (prefix_fits and len(name) <= _LABEL_LENGTH and _LABEL_NAME.fullmatch(name)):
        yield (
            f"{what} must be a name of at most {_LABEL_LENGTH} letters, digits, '-', '_' and '.', with an optional "
            f"DNS prefix such as in example.com/name, but it is {key!r}."
        )


def label_value_problems(what: str, value: Any) -> Iterator[str]:
    """Say why a text is no value of a label; the empty text is one."""
    if isinstance(value, str) and value and not (len(value) <= _LABEL_LENGTH and _LABEL_NAME.fullmatch(value)):
        yield (
            f"{what} must be at most {_LABEL_LENGTH} letters, digits, '-', '_' and '.', starting and ending with a "
            f"letter or digit, but it is {value!r}."
        )
