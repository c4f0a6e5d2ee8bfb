"""Reads the exported chat of WhatsApp, ``_chat.txt``, in the forms of iOS and Android."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO

from ingest.migration.chats.message import ChatMessage, ChatTerms, DateOrder, LeftOut, digest_of
from ingest.migration.chats.source import ExportUnreadableError, Utf8, parts_of

_MEMBER = re.compile(r"\.txt$", re.IGNORECASE)
_MARKS = "\u200e\u200f\u202a\u202c"
"""Marks of the direction of writing. iOS puts one before words that WhatsApp and not a person wrote."""
_HEAD = re.compile(
    rf"^[{_MARKS}\ufeff]*(?P<ios>\[)?(?P<a>\d{{1,4}})(?P<mark>[./-])(?P<b>\d{{1,2}})(?P=mark)(?P<c>\d{{1,4}})"
    r"[.]?,?\s(?P<before>上午|下午|오전|오후|午前|午後)?\s?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?:\s?(?P<after>[ap]\.?\s?m\.?))?(?(ios)\]\s|\s[-–]\s)(?P<rest>.*)$",
    re.IGNORECASE,
)
_SAID = re.compile(r"^(?P<name>[^:]{1,100}?): (?P<text>.*)$|^(?P<silent>[^:]{1,100}?):$", re.DOTALL)
_NOT_WORDS = re.compile(rf"^<[^<>\n]{{3,80}}>$|^[{_MARKS}]|^[\w\-]+\.\w{{2,4}} \([^()]+\)(?:\n|$)")
_EDITED = re.compile(rf"\s*[{_MARKS}]*<[^<>\n]*(?:edited|bearbeitet|已编辑|已編輯)[^<>\n]*>$")
_AFTERNOON = ("下午", "오후", "午後")
_ORDERS: tuple[DateOrder, ...] = ("dmy", "mdy")
_SHOWN = 10
_LONGEST = 64 * 1024


@dataclass(slots=True)
class _Survey:
    """What the whole chat tells: who writes, how often, and which orders of day and month its dates allow."""

    names: Counter[str] = field(default_factory=Counter)
    possible: dict[DateOrder, bool] = field(default_factory=lambda: dict.fromkeys(_ORDERS, True))
    backwards: dict[DateOrder, int] = field(default_factory=lambda: dict.fromkeys(_ORDERS, 0))
    latest: dict[DateOrder, tuple[int, ...]] = field(default_factory=dict)
    heads: int = 0

    def see(self, head: re.Match[str]) -> None:
        """Takes the first line of a message."""
        self.heads += 1
        if (said := _SAID.match(head["rest"])) is not None:
            self.names[_name(said)] += 1
        if len(head["a"]) == 4:
            return
        first, second, year = int(head["a"]), int(head["b"]), int(head["c"])
        days: dict[DateOrder, tuple[int, int]] = {"dmy": (first, second), "mdy": (second, first)}
        fits = {order: month <= 12 and day <= 31 for order, (day, month) in days.items()}
        if not any(fits.values()):
            return  # A date that no order makes a date is broken, and tells nothing about the others.
        for order, (day, month) in days.items():
            self.possible[order] &= fits[order]
            date = (year, month, day)
            self.backwards[order] += date < self.latest.get(order, date)
            self.latest[order] = date

    def order(self) -> DateOrder:
        """Returns the one order that fits every date, or the one in which the chat never goes back in time.

        Raises :class:`ExportUnreadableError` when both fit, or none.
        """
        fitting = [order for order in _ORDERS if self.possible[order]]
        if len(fitting) == 2 and sorted(bool(self.backwards[order]) for order in fitting) == [False, True]:
            fitting = [order for order in fitting if not self.backwards[order]]
        if len(fitting) != 1:
            raise ExportUnreadableError(
                f"the dates of the chat {'fit' if fitting else 'contradict'} both orders of day and month; give "
                "--date-order dmy, mdy or ymd"
            )
        return fitting[0]


def read(
    file: IO[bytes], terms: ChatTerms, left_out: LeftOut, seen: Callable[[int], None]
) -> Iterator[ChatMessage]:
    """Yields the messages of a chat. The file is read twice: first for the order of its dates and the names.

    A message has no id in such a file. Its id is its time, its writer and its number among the messages of this writer
    at this time, so a later export of the same chat has the same ids. Raises :class:`ExportUnreadableError` when the
    file is no such chat, when nobody in it is the user, and when the order of its dates is unknown.
    """
    if not file.seekable():
        raise ExportUnreadableError("a chat of WhatsApp is read twice, so give a file and not a pipe")
    survey = _Survey()
    for _, line in _lines(file, LeftOut(), lambda _: None):
        if (head := _HEAD.match(line)) is not None:
            survey.see(head)
    if not survey.heads:
        raise ExportUnreadableError("the file holds no dated message of WhatsApp; give _chat.txt or the zip")
    mine = [name for name in survey.names if terms.is_me(name)]
    if not mine:
        known = ", ".join(repr(name) for name, _ in survey.names.most_common(_SHOWN))
        raise ExportUnreadableError(f"nobody in the chat is the user; give --me with one of {known}")
    others = [name for name in survey.names if name not in mine]
    year_first = survey.latest == {}
    order = terms.date_order or ("ymd" if year_first else survey.order())
    chat = terms.chat or (others[0] if len(others) == 1 else "")
    if not chat:
        raise ExportUnreadableError("the chat has several people; give its name with --chat")
    file.seek(0)
    yield from _messages(file, terms, left_out, seen, order, chat)


def _messages(
    file: IO[bytes],
    terms: ChatTerms,
    left_out: LeftOut,
    seen: Callable[[int], None],
    order: DateOrder,
    chat: str,
) -> Iterator[ChatMessage]:
    session = digest_of(chat)
    at: datetime | None = None
    numbers: Counter[str] = Counter()
    for place, head, lines in _blocks(_lines(file, left_out, seen), left_out):
        moment = _instant(head, order)
        said = _SAID.match("\n".join([head["rest"], *lines]))
        if moment is None:
            left_out.add("a message without a readable date", place, broken=True)
            continue
        if said is None:
            left_out.add("a notice of WhatsApp", place)
            continue
        name = _name(said)
        if moment != at:
            at = moment
            numbers.clear()
        numbers[name] += 1
        text = _EDITED.sub("", said["text"] or "").strip()
        if not text:
            left_out.add("a message without words", place)
        elif _NOT_WORDS.match(said["text"]):
            left_out.add("a picture, a file or a notice in the place of words", place)
        else:
            mine = terms.is_me(name)
            yield ChatMessage(
                source="whatsapp",
                session_id=session,
                message_id=f"{moment.isoformat()}:{digest_of(name)[:8]}:{numbers[name]}",
                text=text,
                said_at=moment.replace(tzinfo=terms.zone),
                place=place,
                contact=chat,
                speaker=None if mine else name,
                direction="outgoing" if mine else "incoming",
                metadata={"source": "whatsapp"},
            )


def _lines(file: IO[bytes], left_out: LeftOut, seen: Callable[[int], None]) -> Iterator[tuple[str, str]]:
    with parts_of(file, _MEMBER) as parts:
        for name, opened in parts:
            for number, line in enumerate(Utf8(opened, left_out, name, seen).lines(), 1):
                yield f"line {number}", line


def _blocks(
    lines: Iterator[tuple[str, str]], left_out: LeftOut
) -> Iterator[tuple[str, re.Match[str], list[str]]]:
    """Yields (place, first line, further lines) of every message. A line without a date belongs to the one before.

    No message grows beyond the turn contract, so a file without dates needs no memory.
    """
    begun: tuple[str, re.Match[str], list[str]] | None = None
    size = 0
    for place, line in lines:
        head = _HEAD.match(line)
        if head is not None:
            if begun is not None:
                yield begun
            begun, size = (place, head, []), 0
        elif begun is None:
            if line.strip():
                left_out.add("a line before the first message", place, broken=True)
        elif size > _LONGEST:
            left_out.add("a line of a message that is too long", place, broken=True)
        else:
            begun[2].append(line)
            size += len(line) + 1
    if begun is not None:
        yield begun


def _name(said: re.Match[str]) -> str:
    return (said["name"] or said["silent"]).strip(f"{_MARKS}~ \u202f\u00a0")


def _instant(head: re.Match[str], order: DateOrder) -> datetime | None:
    """Returns the time on the clock of the phone, or None when no calendar has it."""
    parts = [int(head[each]) for each in "abc"]
    first = "ymd" if len(head["a"]) == 4 else order
    year, month, day = (parts[first.index(each)] for each in "ymd")
    hour = int(head["hour"])
    half = (head["before"] or head["after"] or "").casefold()
    if half:
        hour = hour % 12 + (12 if half in _AFTERNOON or half.startswith("p") else 0)
    try:
        return datetime(  # noqa: DTZ001 - the clock of the phone; its zone is the caller's
            year + 2000 if year < 100 else year,
            month,
            day,
            hour,
            int(head["minute"]),
            int(head["second"] or 0),
        )
    except ValueError:
        return None
