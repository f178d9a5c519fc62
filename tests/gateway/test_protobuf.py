"""Heads of objects are read from protobuf as they are from JSON."""

import struct
from dataclasses import replace

import pytest

from kuberay_e2e.gateway.objects import WatchReader, decode
from kuberay_e2e.gateway.protobuf import renamed


def field(number: int, value: bytes) -> bytes:
    assert len(value) < 1 << 14
    length = len(value)
    size = bytes([length]) if length < 128 else bytes([length & 0x7F | 0x80, length >> 7])
    return bytes([number << 3 | 2]) + size + value


def unknown(api_version: str, kind: str, raw: bytes) -> bytes:
    return b"k8s\0" + field(1, field(1, api_version.encode()) + field(2, kind.encode())) + field(2, raw)


def pod(name: str) -> bytes:
    labels = field(11, field(1, b"ray.io/node-type") + field(2, b"head"))
    meta = field(1, name.encode()) + field(2, b"head-") + field(3, b"n") + field(5, b"uid") + field(6, b"7") + labels
    return unknown("v1", "Pod", field(1, meta) + field(3, b""))


def test_object() -> None:
    head, value = decode(pod("head-abcde"))
    assert value is None
    assert head is not None
    assert (head.kind, head.name, head.generate_name, head.namespace) == ("Pod", "head-abcde", "head-", "n")
    assert (head.uid, head.resource_version, head.labels) == ("uid", "7", {"ray.io/node-type": "head"})


def test_truncated_message_is_no_object() -> None:
    assert decode(pod("head-abcde")[:-9]) == (None, None)


def test_neither_json_nor_protobuf() -> None:
    assert decode(b"plain text") == (None, None)


def test_protobuf_watch_arrives_in_pieces() -> None:
    event = unknown("v1", "WatchEvent", field(1, b"ADDED") + field(2, field(1, pod("head-abcde"))))
    stream = struct.pack(">I", len(event)) + event
    reader = WatchReader("application/vnd.kubernetes.protobuf;stream=watch")
    assert list(reader.feed(stream[:10])) == []
    [(kind, head)] = reader.feed(stream[10:])
    assert (kind, head.name) == ("ADDED", "head-abcde")


def test_json_watch_arrives_in_pieces() -> None:
    line = b'{"type":"MODIFIED","object":{"kind":"RayJob","metadata":{"name":"counter"}}}\n'
    reader = WatchReader("application/json")
    assert list(reader.feed(line[:20])) == []
    events = list(reader.feed(line[20:] + line))
    assert [(kind, head.name) for kind, head in events] == [("MODIFIED", "counter")] * 2


def test_an_object_gets_another_name_and_nothing_else() -> None:
    before, after = (decode(body)[0] for body in (pod("head-abcde"), renamed(pod("head-abcde"), "x" * 200)))
    assert before is not None
    assert after == replace(before, name="x" * 200, generate_name="")
    again = renamed(renamed(pod("head-abcde"), "other"), "head-abcde")
    assert len(again) == len(pod("head-abcde")) - len(field(2, b"head-"))


@pytest.mark.parametrize("body", [b"", b'{"kind": "Pod"}', pod("head-abcde")[:-9]])
def test_what_is_no_object_cannot_be_renamed(body: bytes) -> None:
    with pytest.raises(ValueError, match="protobuf"):
        renamed(body, "other")
