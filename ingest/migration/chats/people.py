"""Reads a chat between people. The first bytes tell the program that exported it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import Any

from ingest.migration.chats import mail, telegram, whatsapp
from ingest.migration.chats.message import ChatMessage, ChatTerms, LeftOut


def read(
    file: BufferedReader[Any], terms: ChatTerms, left_out: LeftOut, seen: Callable[[int], None]
) -> Iterator[ChatMessage]:
    """Yields the messages of a mailbox, of Telegram's ``result.json``, or of WhatsApp's ``_chat.txt``.

    Raises :class:`ingest.migration.chats.source.ExportUnreadableError`.
    """
    begin = file.peek(64).removeprefix(codecs.BOM_UTF8).lstrip()
    if begin.startswith(b"{"):
        return telegram.read(file, terms, left_out, seen)
    if begin.startswith(b"From "):
        return mail.read(file, terms, left_out, seen)
    return whatsapp.read(file, terms, left_out, seen)
