"""What every reader of another memory returns, and its bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from events.types.instants import InstantInvalidError, noon_of
from events.types.turn_contract import MAX_TEXT_BYTES, TurnInvalidError, text_of
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
        try:
            text_of("text", text)
        except TurnInvalidError as error:
            raise TextInvalidError(where, f"{error.reason}; remove it") from None
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
