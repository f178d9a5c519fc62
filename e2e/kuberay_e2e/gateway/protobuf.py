r"""The few fields of Kubernetes protobuf messages that identify an object.

Clients built with controller-runtime send built-in kinds as protobuf. Every such body is the four bytes
`k8s\0` followed by a runtime.Unknown (kind and raw object), and field 1 of every object is its ObjectMeta:
https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\0"


@dataclass(frozen=True)
class ObjectHead:
    """Type and metadata of an object, whatever its encoding was."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = field(default_factory=dict)


def fields(message: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Yield number and value of each field of a protobuf message.

    Raises:
        ValueError: The bytes are no protobuf message.
    """
    for number, value, _ in _parts(message):
        yield number, value


def renamed(body: bytes, name: str) -> bytes:
    """Give an encoded object another name; a name that the API server would have made up goes.

    Raises:
        ValueError: The body is not Kubernetes protobuf.
    """
    if not body.startswith(_MAGIC):
        raise ValueError("the body is not Kubernetes protobuf")
    unknown = body[len(_MAGIC) :]
    raw = _bytes(_values(unknown), 2)
    meta = _with(_bytes(_values(raw), 1), {1: name.encode(), 2: None})
    return _MAGIC + _with(unknown, {2: _with(raw, {1: meta})})


def head(body: bytes) -> ObjectHead | None:
    """Read type and metadata of an encoded object; None when the body is not Kubernetes protobuf."""
    if not body.startswith(_MAGIC):
        return None
    try:
        unknown = _values(body[len(_MAGIC) :])
        type_meta = _values(_bytes(unknown, 1))
        meta = list(fields(_bytes(_values(_bytes(unknown, 2)), 1)))
    except ValueError:
        return None
    single = dict(meta)
    return ObjectHead(
        api_version=_text(type_meta, 1),
        kind=_text(type_meta, 2),
        name=_text(single, 1),
        generate_name=_text(single, 2),
        namespace=_text(single, 3),
        uid=_text(single, 5),
        resource_version=_text(single, 6),
        labels={
            _text(entry, 1): _text(entry, 2)
            for number, value in meta
            if number == 11 and isinstance(value, bytes)
            for entry in [_values(value)]
        },
    )


def watch_event(frame: bytes) -> tuple[str, ObjectHead] | None:
    """Read one frame of a protobuf watch: the event's type and the head of its object."""
    if not frame.startswith(_MAGIC):
        return None
    try:
        event = _values(_bytes(_values(frame[len(_MAGIC) :]), 2))
        found = head(_bytes(_values(_bytes(event, 2)), 1))
    except ValueError:
        return None
    return (_text(event, 1), found) if found else None


def _parts(message: bytes) -> Iterator[tuple[int, bytes | int, bytes]]:
    """Number, value and the whole encoding of each field."""
    position = 0
    while position < len(message):
        start = position
        tag, position = _varint(message, position)
        number, wire = tag >> 3, tag & 7
        value: bytes | int
        if wire == 0:
            value, position = _varint(message, position)
        elif wire == 2:
            length, position = _varint(message, position)
            if position + length > len(message):
                raise ValueError("a protobuf field is longer than its message")
            value = message[position : position + length]
            position += length
        elif wire in {1, 5}:
            size = 8 if wire == 1 else 4
            value = message[position : position + size]
            position += size
        else:
            raise ValueError(f"protobuf wire type {wire} is not used by Kubernetes")
        yield number, value, message[start:position]


def _with(message: bytes, values: Mapping[int, bytes | None]) -> bytes:
    """A message with other values of length-delimited fields; None leaves a field out."""
    kept = b"".join(encoded for number, _, encoded in _parts(message) if number not in values)
    changed = (
        _number(number << 3 | 2) + _number(len(value)) + value for number, value in values.items() if value is not None
    )
    return b"".join(changed) + kept


def _number(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(message):
            raise ValueError("a protobuf message ends within a number")
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def _values(message: bytes) -> dict[int, bytes | int]:
    return dict(fields(message))


def _bytes(message: dict[int, bytes | int], number: int) -> bytes:
    value = message.get(number, b"")
    return value if isinstance(value, bytes) else b""


def _text(message: dict[int, bytes | int], number: int) -> str:
    return _bytes(message, number).decode(errors="replace")
