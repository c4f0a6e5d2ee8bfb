"""A loopback server that speaks the Messages API, well or badly as told.

Its model reads the turns of the prompt by rules, so what it answers is what a good model would have to: quotes,
keys and hints of the turns themselves. Tokens are a quarter of the characters; what was marked for the cache
is written to it once and read from it afterwards.
"""

import contextlib
import html
import json
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from events.platform.settings import Settings
from events.types.cards import EventNoted, StateAsserted
from ingest.extraction.extractor_port import CardEvent, RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from tests.support.events.turns import recorded
from tests.support.web import Handler

_TURN = re.compile(r"<turn ([^<>]*)>([^<>]*)</turn>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True)
class Trouble:
    """One bad answer. ``status`` with ``headers``; or a connection ``dropped`` before or ``cut`` within the answer;
    or never answered (``hang``); or a ``body`` that is no message; or a message with this ``content`` that
    ended for this ``stop_reason`` and counts this ``usage``; or whatever ``wire`` writes to the connection until the
    server closes."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    message: str = "trouble"
    dropped: bool = False
    cut: bool = False
    hang: bool = False
    body: bytes | None = None
    content: tuple[dict[str, Any], ...] | None = None
    stop_reason: str = "tool_use"
    usage: object = None
    wire: Callable[[socket.socket, threading.Event], None] | None = None


def calls(tool_input: object, usage: object = None) -> Trouble:
    """A message that calls the tool with ``tool_input``, whatever that is."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "record_cards", "input": tool_input}
    return Trouble(content=(block,), usage=usage)


def says(prose: str) -> Trouble:
    """A message of prose."""
    return Trouble(content=({"type": "text", "text": prose},), stop_reason="end_turn")


def status(code: int, **headers: str) -> Trouble:
    """An error status."""
    return Trouble(
        status=code, headers=tuple((name.replace("_", "-"), text) for name, text in headers.items())
    )


@dataclass(frozen=True)
class Request:
    """One request to the server."""

    body: dict[str, Any]
    key: str | None
    at: float

    @property
    def question(self) -> str:
        """The changing part of the prompt."""
        return _question(self.body)

    @property
    def turns(self) -> list[str]:
        """The words of the turns asked about."""
        return [words for _, words in turns_in(self.question)]


class MessagesApi:
    """The server, in threads of this process. ``trouble`` is asked before each answer; None is no trouble."""

    path = "/v1/messages"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.seconds = 0.0
        self.trouble: Callable[[Request], Trouble | None] = lambda _: None
        self.next: deque[Trouble | None] = deque()
        self.at_once = self.most_at_once = 0
        self.closing = threading.Event()
        self._cached: set[str] = set()
        self._lock = threading.Lock()
        api = self

        class Own(_Handler):
            owner = api

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def settings(self) -> Settings:
        """The settings that name this server, with a key."""
        return Settings(anthropic_base_url=self.url, anthropic_api_key="key-of-the-test")

    def message(
        self, body: dict[str, Any], content: list[dict[str, Any]], stop_reason: str, usage: object
    ) -> dict[str, Any]:
        """The answer with ``content``. ``usage`` in the place of the true one, unless None."""
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": stop_reason, "stop_sequence": None,
            "usage": self.usage(body, content) if usage is None else usage,
        }  # fmt: skip

    def answer(self, request: Request) -> Trouble | None:
        """Records the request and returns the planned trouble, if any. It waits as long as the answer takes."""
        with self._lock:
            self.requests.append(request)
            planned = [self.next.popleft()] if self.next else []
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        if self.seconds:
            self.closing.wait(self.seconds)
        trouble = planned[0] if planned else self.trouble(request)
        with self._lock:
            self.at_once -= 1
        return trouble

    def usage(self, body: dict[str, Any], content: object) -> dict[str, int]:
        """Tokens, those of the cached part once written and then read."""
        system = body.get("system") or []
        prefix = json.dumps([body.get("tools"), system]) if any("cache_control" in b for b in system) else ""
        size = len(prefix) // 4
        with self._lock:
            known = prefix in self._cached
            self._cached.add(prefix)
        rest = len(json.dumps(body["messages"], ensure_ascii=False)) // 4
        return {
            "input_tokens": rest if prefix else rest + len(json.dumps(system)) // 4,
            "output_tokens": max(1, len(json.dumps(content, ensure_ascii=False)) // 4),
            "cache_creation_input_tokens": 0 if known else size,
            "cache_read_input_tokens": size if known else 0,
        }


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    owner: MessagesApi

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)))
        request = Request(body, self._key(), time.monotonic())
        if self.path.partition("?")[0] != self.owner.path:
            self._send(404, _error("not_found_error", self.path))
            return
        trouble = self.owner.answer(request)
        if trouble is not None and trouble.hang:
            self.owner.closing.wait()
            trouble = Trouble(dropped=True)
        if trouble is not None and trouble.dropped:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if trouble is not None and trouble.wire is not None:
            with contextlib.suppress(OSError):  # the client closed the connection
                trouble.wire(self.connection, self.owner.closing)
            self.close_connection = True
            return
        if trouble is not None and trouble.status != 200:
            kind = {429: "rate_limit_error", 529: "overloaded_error"}.get(trouble.status, "api_error")
            self._send(trouble.status, _error(kind, trouble.message), *trouble.headers)
            return
        if trouble is not None and trouble.body is not None:
            self._send(200, trouble.body)
            return
        content: list[dict[str, Any]]
        if trouble is not None and (trouble.content is not None or not trouble.cut):
            content, stop_reason = list(trouble.content or ()), trouble.stop_reason
        else:
            block = {"type": "tool_use", "id": "toolu_1", "name": "record_cards", "input": understood(body)}
            content, stop_reason = [block], "tool_use"
        message = self.owner.message(body, content, stop_reason, None if trouble is None else trouble.usage)
        if body.get("stream"):
            self._stream(message)
            return
        self._send(200, json.dumps(message).encode(), cut=trouble is not None and trouble.cut)

    def _key(self) -> str | None:
        bearer = self.headers.get("authorization") or ""
        return self.headers.get("x-api-key") or bearer.removeprefix("Bearer ") or None

    def _send(self, code: int, body: bytes, *headers: tuple[str, str], cut: bool = False) -> None:
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        if cut:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.wfile.write(body)

    def _stream(self, message: dict[str, Any]) -> None:
        usage = message["usage"]
        opening = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
        for index, block in enumerate(message["content"]):
            if block["type"] == "tool_use":
                empty: dict[str, Any] = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            else:
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            events += [
                {"type": "content_block_start", "index": index, "content_block": empty},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        used = {"output_tokens": usage["output_tokens"]}
        events += [{"type": "message_delta", "delta": ending, "usage": used}, {"type": "message_stop"}]
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _error(kind: str, message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


def _question(body: dict[str, Any]) -> str:
    text: str = next(one["content"] for one in body["messages"] if one.get("role") != "system")
    return text


def turns_in(question: str) -> list[tuple[dict[str, str], str]]:
    """Returns the turns that a prompt asks about: attributes and words. No words of a user can look like a turn.

    A turn without a role is of the user, and one without an instant is of the current time.
    """
    clock = re.search(r"<current_time>([^ <]+)", question)
    unsaid = {"role": "user", "said_at": clock[1] if clock else "2026-05-08T16:44:10+08:00"}
    [asked] = re.findall(r"<turns>\n(.*)\n</turns>", question, re.DOTALL)
    found = [
        (
            unsaid | {name: html.unescape(text) for name, text in _ATTRIBUTE.findall(head)},
            html.unescape(words),
        )
        for head, words in _TURN.findall(asked)
    ]
    assert _TURN.sub("", asked).strip() == "", "something is between the turns"
    return found


def understood(body: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Returns what the rules extract from the turns of the question, as the tool's input."""
    turns = tuple(
        RecordedTurn(
            "u",
            number,
            recorded(
                words or " ",
                turn_id=attributes["n"],
                role=attributes["role"],
                said_at=datetime.fromisoformat(attributes["said_at"]),
            ),
        )
        for number, (attributes, words) in enumerate(turns_in(_question(body)), 1)
    )
    found: dict[str, list[dict[str, Any]]] = {"states": [], "events": [], "knowledge": []}
    for card in RulesExtractor().extract(SessionBatch(turns)).cards:
        kind, item = _as_answer(card)
        if kind is not None:
            found[kind].append({name: value for name, value in item.items() if value is not None})
    return found


def _as_answer(card: CardEvent) -> tuple[str | None, dict[str, Any]]:
    span = card.origin.source_span
    assert span is not None
    said: dict[str, Any] = {"turn": int(span.turn_id), "quote": span.text, "content": card.content}
    if isinstance(card, StateAsserted):
        return "states", {
            **said, "entity": card.entity, "concept_key": card.concept_key, "value": card.value,
            "cardinality": card.cardinality, "statement": card.statement, "replaces": card.replaces,
            "announced": card.announced, "occurred_at_hint": card.occurred_at_hint,
        }  # fmt: skip
    if isinstance(card, EventNoted):
        return (None if card.episode else "events"), {
            **said, "entity": card.entity, "importance": card.importance, "sentiment": card.sentiment,
            "occurred_at_hint": card.occurred_at_hint,
        }  # fmt: skip
    return "knowledge", {
        **said, "title": card.title, "definition": card.definition, "aliases": list(card.aliases)
    }  # fmt: skip
