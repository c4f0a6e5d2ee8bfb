"""What every reader of another memory returns, its bounds, and the name of the user that it tells."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from events.types.instants import InstantInvalidError, noon_of
from events.types.turn_contract import MAX_TEXT_BYTES, text_of
from events.types.turns import Role

MAX_MEMORIES = 100_000
"""The most memories of one text."""


class TextInvalidError(ValueError):
    """A text of another memory cannot be read. ``where`` is a line or a JSON Pointer; the reason gives the remedy."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.where = where
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Memory:
    """One sentence of another memory, or a message of an old conversation. ``at`` is the instant that it gives."""

    text: str
    at: datetime | None = None
    role: Role = "user"


@dataclass(slots=True)
class Memories:
    """The sentences of a text in their order. ``remarks`` tell what was left out."""

    format: str
    memories: list[Memory] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, text: str, where: str, at: datetime | None = None) -> None:
        """Adds a sentence. Raises :class:`TextInvalidError` for one that no turn can hold."""
        text = text.strip()
        if not text:
            return
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MAX_TEXT_BYTES:
            raise TextInvalidError(
                where, f"is {size} bytes long; at most {MAX_TEXT_BYTES} are allowed, so split it"
            )
        text_of("text", text, lambda _, reason: TextInvalidError(where, f"{reason}; remove it"))
        if len(self.memories) >= MAX_MEMORIES:
            raise TextInvalidError(
                where, f"is one memory too many; at most {MAX_MEMORIES} are allowed, so split it"
            )
        self.memories.append(Memory(text, at))


def on_day(text: str, where: str) -> datetime:
    """Returns the noon (UTC) of a day such as 2024-05-03. Raises :class:`TextInvalidError`."""
    try:
        return noon_of(text)
    except InstantInvalidError as error:
        raise TextInvalidError(where, str(error)) from None


MAX_CHARS = 100
_LATIN = r"[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*){0,3}"
_TOLD = re.compile(
    r"^(?:(?:the )?user(?:['’]s)? |my |their )?(?:full |first )?name(?:: | is )"
    rf"(?P<name>{_LATIN})\s*[.!]?$|"
    rf"^(?:(?:the )?user |they )?(?:is|are|am|i am|i'm) (?:called|named) (?P<called>{_LATIN})\s*[.!]?$",
)
_CASELESS = re.compile(r"^(?:The|User|My|Their|Full|First|Name|They|Is|Are|I)\b")
_TOLD_ZH = re.compile(
    r"^(?:[该該]?(?:用户|用戶|使用者)|我)?(?:的?(?:名字|姓名|全名)(?:叫|是|为|為|：|:)\s*|名叫|叫做|叫)"
    r"(?P<name>[\u3400-\u9fff]{2,4}|[A-Za-z][\w'’-]*)\s*[。.]?$"
)


def told_name(memories: Iterable[Memory]) -> str | None:
    """Returns the name that the memories tell of their user. None: they tell no name, or different ones."""
    found = {name for each in memories if (name := _name_in(each.text)) is not None}
    return found.pop() if len(found) == 1 else None


def _name_in(text: str) -> str | None:
    if len(text) > 2 * MAX_CHARS:
        return None
    text = _CASELESS.sub(lambda word: word[0].lower(), text.strip())
    told = _TOLD.match(text)
    if told is not None:
        return told["name"] or told["called"]
    told = _TOLD_ZH.match(text)
    return None if told is None else told["name"]
