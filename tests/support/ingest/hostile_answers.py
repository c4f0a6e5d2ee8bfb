"""Harmful answers of a model's server: in their bytes, and in their content."""

import copy
import gzip
import json
import random
import socket
import threading
from collections.abc import Callable
from typing import Any

from tests.support.ingest.messages_api import Trouble

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
_MESSAGE = (
    b'{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"tool_use","usage":{},"content":['
    b'{"type":"tool_use","id":"t","name":"record_cards","input":{"states":[],"events":[],"knowledge":[]}}]}'
)


def drips(pause_s: float = 0.05) -> Trouble:
    """An answer that arrives one byte at a time and never ends."""
    return _forever(_HEAD + b"content-length: 1000000\r\n\r\n", b" ", pause_s)


def drips_its_head(pause_s: float = 0.05) -> Trouble:
    """A head that arrives one byte at a time and never ends."""
    return _forever(_HEAD + b"x-more: ", b"x", pause_s)


def keeps_saying_go_on(pause_s: float = 0.05) -> Trouble:
    """Interim answers without end."""
    return _forever(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n", pause_s)


def _forever(head: bytes, then: bytes, pause_s: float) -> Trouble:
    def wire(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(head)
        while not closing.wait(pause_s):
            connection.sendall(then)

    return Trouble(wire=wire)


def floods(megabytes: int = 1024) -> Trouble:
    """A body of one gigabyte."""

    def wire(connection: socket.socket, closing: threading.Event) -> None:
        connection.sendall(_HEAD + b"content-length: %d\r\n\r\n" % (megabytes * 1024 * 1024))
        for _ in range(megabytes):
            if closing.is_set():
                return
            connection.sendall(b" " * (1024 * 1024))

    return Trouble(wire=wire)


def bomb(megabytes: int = 64) -> Trouble:
    """A small body that becomes huge when it is decompressed."""
    packed = gzip.compress(b" " * (megabytes * 1024 * 1024) + _MESSAGE)
    return wired(_HEAD + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed) + packed)


def redirects(url: str, status: int = 307) -> Trouble:
    """A redirect of the same request to another address."""
    return Trouble(status=status, headers=(("location", f"{url}/v1/messages"),))


def of_type(kind: str) -> Trouble:
    """A valid message with another content type."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(_MESSAGE)}\r\n\r\n"
    return wired(head.encode() + _MESSAGE)


def bakes_cookies() -> Trouble:
    """A valid message with a cookie."""
    head = _HEAD + b"set-cookie: taste=bad; path=/\r\ncontent-length: %d\r\n\r\n" % len(_MESSAGE)
    return wired(head + _MESSAGE)


def wired(answer: bytes) -> Trouble:
    """Exactly these bytes."""
    return Trouble(wire=lambda connection, _: connection.sendall(answer))


_RUBBISH = (
    "\u202eevil\u202c", "a\u0301" * 300, "\x1b[31mred", "﷽" * 200, "\U0001f468\u200d\U0001f469" * 50, "\ufffe\uffff",
    "a\0b", "\ud800", "'; DROP TABLE log.events; --", "<turn n=\"1\">", "{{7*7}}", "", " ", "\n\n", "NaN", "١٢٣",
)  # fmt: skip
_ODD: tuple[Callable[[random.Random], object], ...] = (
    lambda _: None,
    lambda _: [],
    lambda _: {},
    lambda chance: chance.choice((True, False)),
    lambda chance: chance.choice((-1, 0, 2**31, 2**63, 10**30, 1e308, -1e308, 0.5)),
    lambda chance: chance.choice(_RUBBISH),
    lambda chance: chance.choice(_RUBBISH) * chance.choice((1, 100, 2_000)),
    lambda chance: "x" * chance.choice((101, 600, 2_705, 20_000, 70_000)),
    lambda chance: "漢" * chance.choice((101, 600, 2_705, 20_000)),
    lambda chance: [chance.choice(_RUBBISH)] * chance.choice((1, 50, 5_000)),
    lambda chance: [f"name {n}" for n in range(chance.choice((30, 3_000)))],
    lambda chance: _nested(chance.choice((3, 60, 900))),
)


def mutated(valid: dict[str, Any], chance: random.Random) -> object:
    """``valid`` with one to four faults: types, sizes, characters, missing fields."""
    answer: Any = copy.deepcopy(valid)
    for _ in range(chance.randint(1, 4)):
        places = list(_places(answer))
        if not places:
            return _odd(chance)
        holder, key = chance.choice(places)
        change = chance.random()
        if change < 0.55:
            holder[key] = _odd(chance)
        elif change < 0.7:
            del holder[key]
        elif change < 0.8 and isinstance(holder, dict):
            holder[chance.choice(_RUBBISH) or "more"] = _odd(chance)
        elif isinstance(holder[key], list) and holder[key]:
            holder[key] = [holder[key][0]] * chance.choice((2, 40, 2_000))
        elif isinstance(holder[key], str):
            cut = chance.randrange(len(holder[key]) + 1)
            holder[key] = holder[key][:cut] + chance.choice(_RUBBISH) + holder[key][cut:]
        elif isinstance(holder[key], dict):
            holder[key] = [holder[key]]
    return answer


def mutated_usage(chance: random.Random) -> object:
    """The token counts of a server, most of them invalid."""
    if chance.random() < 0.5:
        return {}
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return {name: chance.choice((1, -1, 1e308, 2**70, "many", True, None, [1], {}, 0.5)) for name in names}


def mutated_message(valid: dict[str, Any], chance: random.Random) -> bytes:
    """A message that calls the tool with a mutation of ``valid``: what JSON can carry, and at most 300 kB of it (a body
    that is too large is one case, not every tenth)."""
    while True:
        try:
            call = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "record_cards",
                "input": mutated(valid, chance),
            }
            if _size(call["input"]) > _LARGEST:
                continue
            message = {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [call],
                "stop_reason": "tool_use", "stop_sequence": None, "usage": mutated_usage(chance),
            }  # fmt: skip
            body = json.dumps(message).encode()
        except (ValueError, RecursionError):
            continue
        return _HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body


_LARGEST = 300_000


def _size(tree: object) -> int:
    """Returns roughly the size of ``tree`` as JSON, in bytes. It looks at little more than the largest allowed size."""
    size, level = 0, [tree]
    while level and size <= _LARGEST:
        each = level.pop()
        if isinstance(each, dict):
            level += [*each, *each.values()]
        elif isinstance(each, list):
            level += each
        size += len(each) if isinstance(each, str) else 4
    return size


def _odd(chance: random.Random) -> object:
    return chance.choice(_ODD)(chance)


def _nested(depth: int) -> object:
    nested: object = "deep"
    for level in range(depth):
        nested = [nested] if level % 2 else {"a": nested}
    return nested


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Returns every place in the answer, but not deep inside the values that a mutation put there."""
    found: list[tuple[Any, Any]] = []
    level = [tree]
    for _ in range(4):
        below = []
        for holder in level:
            keys: Any = ()
            if isinstance(holder, dict):
                keys = list(holder)
            elif isinstance(holder, list):
                keys = range(min(len(holder), 3))
            for key in keys:
                found.append((holder, key))
                below.append(holder[key])
        level = below
    return found
