"""Reads a mailbox in the form mbox: the plain words of each mail, without those that it quotes."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime
from typing import IO

from ingest.migration.chats.message import ChatMessage, ChatTerms, LeftOut, digest_of
from ingest.migration.chats.source import ExportUnreadableError

_LARGEST = 32 * 1024 * 1024
_BEGIN = re.compile(rb"^From \S.*\d\d:\d\d")
_QUOTED = re.compile(
    r"^(?:On .{5,200} wrote:|Am .{5,200} schrieb.{0,100}:|Le .{5,200} a écrit\s?:|.{5,200} [寫写]道[:：]|"
    r"-{2,}\s?(?:Original Message|Forwarded message|Ursprüngliche Nachricht)\s?-{2,}.*|-- ?)$",
    re.IGNORECASE,
)
_ID = re.compile(r"<([^<>\s]+)>")


def read(
    file: IO[bytes], terms: ChatTerms, left_out: LeftOut, seen: Callable[[int], None]
) -> Iterator[ChatMessage]:
    """Yields the mails of ``file`` as messages of their threads.

    Raises :class:`ExportUnreadableError` without the user's address, and for a file that is no mailbox.
    """
    if not terms.me:
        raise ExportUnreadableError(
            "a mailbox does not say who the user is; give --me with the user's address"
        )
    number = 0
    for number, (line, data) in enumerate(_mails(file, left_out, seen), 1):
        where = f"mail {number} (line {line})"
        try:
            mail = message_from_bytes(data, policy=policy.default)
            yield from _message(mail, where, terms, left_out)
        except (ValueError, LookupError, TypeError, AttributeError, IndexError) as error:
            # The parser of the standard library answers broken headers with many kinds of errors.
            left_out.add("a mail that cannot be parsed", f"{where} ({type(error).__name__})", broken=True)
    if not number:
        raise ExportUnreadableError("the file holds no mail; give a mailbox in the form mbox")


def _mails(file: IO[bytes], left_out: LeftOut, seen: Callable[[int], None]) -> Iterator[tuple[int, bytes]]:
    """Yields (number of the first line, bytes) of each mail. A mail above 32 MiB is left out."""
    begun, size, blank = 0, 0, True
    lines: list[bytes] = []

    for number, line in enumerate(file, 1):
        seen(len(line))
        if blank and _BEGIN.match(line):
            if begun and size <= _LARGEST:
                yield begun, b"".join(lines)
            begun, size = number, 0
            lines.clear()
        elif begun:
            size += len(line)
            if size <= _LARGEST:
                lines.append(line)
            elif lines:
                left_out.add("a mail above 32 MiB", f"line {begun}")
                lines.clear()
        blank = not line.strip()
    if begun and size <= _LARGEST:
        yield begun, b"".join(lines)


def _message(mail: EmailMessage, where: str, terms: ChatTerms, left_out: LeftOut) -> Iterator[ChatMessage]:
    mail_id = _ID.search(str(mail.get("message-id", "")))
    senders = getaddresses([str(mail.get("from", ""))])
    name, address = senders[0] if senders else ("", "")
    mine = terms.is_me(address, name)
    receivers = getaddresses([str(each) for kind in ("to", "cc") for each in mail.get_all(kind, [])])
    contact = (name or address) if not mine else next((one or two for one, two in receivers), "")
    said_at = _date(mail)
    body = mail.get_body(("plain",))
    text = "" if body is None else _own_words(str(body.get_content(errors="replace")))
    if "\ufffd" in text:
        left_out.add(
            "bytes that are not in the character set of their mail were replaced", where, broken=True
        )
    if not text:
        left_out.add("a mail without plain words of its own", where)
    elif said_at is None:
        left_out.add("a message without a readable date", where, broken=True)
    elif mail_id is None:
        left_out.add("a message without an id", where, broken=True)
    elif not mine and not contact:
        left_out.add("a message without a sender", where)
    else:
        parents = _ID.findall(f"{mail.get('references', '')} {mail.get('in-reply-to', '')}")
        subject = str(mail.get("subject", ""))[:200]
        yield ChatMessage(
            source="mail",
            session_id=digest_of(parents[0] if parents else mail_id[1]),
            message_id=digest_of(mail_id[1]),
            text=text,
            said_at=said_at,
            place=where,
            contact=contact or None,
            direction="outgoing" if mine else "incoming",
            metadata={"source": "mail", "subject": subject} if subject else {"source": "mail"},
        )


def _date(mail: EmailMessage) -> datetime | None:
    try:
        found = parsedate_to_datetime(str(mail.get("date", "")))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _own_words(text: str) -> str:
    """Returns the words before the first quote of an earlier mail, without quoted lines and the signature."""
    own: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if _QUOTED.match(line):
            break
        if line.startswith(">From "):
            own.append(line[1:])  # the form escapes this word at the beginning of a line
        elif not line.startswith(">"):
            own.append(line.rstrip())
    return "\n".join(own).strip()
