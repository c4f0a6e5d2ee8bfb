"""Reads the exported chats of Telegram Desktop: ``result.json`` of one chat, or of all."""

from collections.abc import Callable, Iterator
from typing import IO

import ijson

from ingest.migration.chats.message import ChatMessage, ChatTerms, LeftOut, iso_time, unix_time
from ingest.migration.chats.source import ExportUnreadableError, Utf8, cut_off, parsed

_OWN = "personal_information.user_id"
_ROOTS = ("", "chats.list.item.", "left_chats.list.item.")
_ABOUT = {f"{root}{name}": name for root in _ROOTS for name in ("id", "name", "type")}
_MESSAGES = frozenset(f"{root}messages.item" for root in _ROOTS)
_ENDS = frozenset(f"{root}messages" for root in _ROOTS)


def read(
    file: IO[bytes], terms: ChatTerms, left_out: LeftOut, seen: Callable[[int], None]
) -> Iterator[ChatMessage]:
    """Yields the messages of every chat in ``file``.

    The user is the owner of a whole export, or whom ``terms`` name. Raises :class:`ExportUnreadableError` for a chat in
    which the user is not known.
    """
    chat: dict[str, object] = {}
    own: str | None = None
    builder: ijson.ObjectBuilder | None = None
    number = 0
    try:
        for prefix, event, value in parsed(Utf8(file, left_out, seen=seen)):
            if builder is not None:
                builder.event(event, value)
                if event == "end_map" and prefix in _MESSAGES:
                    number += 1
                    yield from _message(builder.value, chat, own, terms, left_out, number)
                    builder = None
            elif event == "start_map" and prefix in _MESSAGES:
                if own is None and not terms.me:
                    raise ExportUnreadableError(
                        "one chat of Telegram does not say who the user is; give --me with the name or the from_id"
                    )
                builder = ijson.ObjectBuilder()
                builder.event(event, value)
            elif prefix in _ABOUT:
                chat[_ABOUT[prefix]] = value
            elif prefix == _OWN:
                own = f"user{value}"
            elif event == "end_array" and prefix in _ENDS:
                chat = {}
    except ijson.JSONError as error:
        cut_off(left_out, f"#{number}", error)
    if not number:
        raise ExportUnreadableError("the file holds no message of Telegram; give result.json")


def _message(
    message: dict[str, object],
    chat: dict[str, object],
    own: str | None,
    terms: ChatTerms,
    left_out: LeftOut,
    number: int,
) -> Iterator[ChatMessage]:
    where = f"#{number} (chat {chat.get('id')}, message {message.get('id')})"
    sender, sender_id = str(message.get("from") or ""), str(message.get("from_id") or "")
    text = _words(message.get("text"))
    said_at = unix_time(message.get("date_unixtime")) or iso_time(message.get("date"), terms.zone)
    contact = terms.chat or str(chat.get("name") or "") or sender
    mine = sender_id == own if own is not None else terms.is_me(sender, sender_id)
    if message.get("type") != "message":
        left_out.add("a notice of Telegram", where)
    elif message.get("forwarded_from") is not None:
        left_out.add("a forwarded message, whose words are another's", where)
    elif not text:
        left_out.add("a message without words", where)
    elif said_at is None:
        left_out.add("a message without a readable date", where, broken=True)
    elif message.get("id") is None:
        left_out.add("a message without an id", where, broken=True)
    elif not mine and not contact:
        left_out.add("a message without a sender", where)
    else:
        yield ChatMessage(
            source="telegram",
            session_id=str(chat.get("id") or "chat"),
            message_id=str(message["id"]),
            text=text,
            said_at=said_at,
            place=where,
            contact=contact or None,
            speaker=None if mine else sender or None,
            direction="outgoing" if mine else "incoming",
            metadata={"source": "telegram"},
        )


def _words(text: object) -> str:
    """Returns the words of a message: a text, or a list of texts and of marked texts."""
    parts = text if isinstance(text, list) else [text]
    words = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(word for word in words if isinstance(word, str)).strip()
