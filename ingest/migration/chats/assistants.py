"""Reads the exported conversations of ChatGPT and Claude: ``conversations.json``, alone or in the zip."""

import re
from collections.abc import Callable, Iterator
from typing import IO

from events.types.turns import Role
from ingest.migration.chats.message import ChatMessage, LeftOut, iso_time, unix_time
from ingest.migration.chats.source import ExportUnreadableError, Utf8, items_of, parts_of

_MEMBER = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_SPEAKERS: dict[str, Role] = {"user": "user", "human": "user", "assistant": "assistant"}
_WORDS = ("text", "multimodal_text")
_UNDATED = "a message without a readable date"
_EMPTY = "a message without words"
_ROOT = "client-created-root"


def read(file: IO[bytes], left_out: LeftOut, seen: Callable[[int], None]) -> Iterator[ChatMessage]:
    """Yields the messages of ``file``, one conversation after the other, each in its order.

    Of the versions of a message, those that were shown last are read. ``seen`` is told the number of bytes after every
    read. Raises :class:`ExportUnreadableError` when the file holds no conversation.
    """
    found = False
    with parts_of(file, _MEMBER) as parts:
        for name, opened in parts:
            for place, item in items_of(Utf8(opened, left_out, name, seen), "item", left_out, name):
                if not isinstance(item, dict):
                    left_out.add("an item that is no conversation", place, broken=True)
                elif isinstance(item.get("mapping"), dict):
                    found = True
                    yield from _of_chatgpt(item, place, left_out)
                elif isinstance(item.get("chat_messages"), list):
                    found = True
                    yield from _of_claude(item, place, left_out)
                else:
                    left_out.add("an item that is no conversation", place, broken=True)
    if not found:
        raise ExportUnreadableError(
            "the file holds no conversation of ChatGPT or Claude; give conversations.json, or the zip with it"
        )


def _of_chatgpt(conversation: dict[str, object], place: str, left_out: LeftOut) -> Iterator[ChatMessage]:
    session = _text(conversation, "conversation_id") or _text(conversation, "id")
    nodes = conversation["mapping"]
    assert isinstance(nodes, dict)
    if not session:
        left_out.add("a conversation without an id", place, broken=True)
        return
    path = _shown(nodes, conversation.get("current_node"))
    spare = {each for each, node in nodes.items() if _member(node, "message")}.difference(path)
    for each in spare:
        left_out.add("a message on a path that was not shown last", f"{place}/{each}")
    latest = unix_time(conversation.get("create_time"))
    for each in path:
        message = _member(nodes[each], "message")
        if not message or each == _ROOT:
            continue
        where = f"{place}/{each}"
        role = _SPEAKERS.get(_text(_member(message, "author"), "role"))
        content = _member(message, "content")
        kind = _text(content, "content_type")
        if role is None:
            left_out.add("a message of a tool or of the system", where)
        elif _member(message, "metadata").get("is_visually_hidden_from_conversation") is True:
            left_out.add("a hidden message", where)
        elif kind not in _WORDS or message.get("recipient", "all") not in ("all", None):
            left_out.add(
                f"a message of the type {kind[:40] or 'unknown'}, which is not said to anybody", where
            )
        else:
            text = _parts(content.get("parts"), where, left_out)
            # A message without a time of its own was said after the one before it.
            said_at = latest = unix_time(message.get("create_time")) or latest
            if not text:
                left_out.add(_EMPTY, where)
            elif said_at is None:
                left_out.add(_UNDATED, where, broken=True)
            else:
                yield ChatMessage(
                    source="chatgpt",
                    session_id=session,
                    message_id=_text(message, "id") or each,
                    text=text,
                    said_at=said_at,
                    place=where,
                    role=role,
                    metadata=_about("chatgpt", _text(conversation, "title")),
                )


def _shown(nodes: dict[str, object], current: object) -> list[str]:
    """Returns the ids from the root to ``current``. Without it, the path follows the last child of every node."""
    if not (isinstance(current, str) and current in nodes):
        roots = [each for each, node in nodes.items() if _member(nodes, _text(node, "parent")) == {}]
        current = roots[0] if roots else None
        passed: set[str] = set()
        while isinstance(current, str) and current not in passed:
            passed.add(current)
            children = _member(nodes, current).get("children")
            known = [each for each in children if each in nodes] if isinstance(children, list) else []
            if not known:
                break
            current = known[-1]
    path: dict[str, None] = {}
    while isinstance(current, str) and current in nodes and current not in path:
        path[current] = None
        current = _member(nodes, current).get("parent")
    return list(path)[::-1]


def _of_claude(conversation: dict[str, object], place: str, left_out: LeftOut) -> Iterator[ChatMessage]:
    session = _text(conversation, "uuid")
    messages = conversation["chat_messages"]
    assert isinstance(messages, list)
    if not session:
        left_out.add("a conversation without an id", place, broken=True)
        return
    for number, message in enumerate(messages, 1):
        where = f"{place}/{number}"
        role = _SPEAKERS.get(_text(message, "sender"))
        said_at = iso_time(_text(message, "created_at"))
        message_id = _text(message, "uuid")
        text = ""
        if role is not None:
            for name in ("attachments", "files"):
                for _ in _list(message, name):
                    left_out.add("an attached file", where)
            text = _parts(_list(message, "content"), where, left_out) or _text(message, "text").strip()
        if role is None:
            left_out.add("a message of a tool or of the system", where)
        elif not text:
            left_out.add(_EMPTY, where)
        elif not message_id:
            left_out.add("a message without an id", where, broken=True)
        elif said_at is None:
            left_out.add(_UNDATED, where, broken=True)
        else:
            yield ChatMessage(
                source="claude",
                session_id=session,
                message_id=message_id,
                text=text,
                said_at=said_at,
                place=where,
                role=role,
                metadata=_about("claude", _text(conversation, "name")),
            )


def _parts(parts: object, where: str, left_out: LeftOut) -> str:
    """Returns the words of the parts of a message. Other parts are counted by their type."""
    words = []
    for part in parts if isinstance(parts, list) else []:
        kind = _text(part, "type") or _text(part, "content_type")
        if isinstance(part, str):
            words.append(part)
        elif kind in ("text", "audio_transcription"):
            words.append(_text(part, "text"))
        else:
            left_out.add(f"a part of the type {kind[:40] or 'unknown'}", where)
    return "\n".join(word for each in words if (word := each.strip()))


def _about(source: str, title: str) -> dict[str, object]:
    return {"source": source, "title": title[:200]} if title else {"source": source}


def _member(value: object, name: str) -> dict[str, object]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: object, name: str) -> list[object]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _text(value: object, name: str) -> str:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""
