"""The port every extractor stands behind, rules and models alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.extraction import Usage
from events.types.turns import TurnRecorded

CardEvent = StateAsserted | EventNoted | KnowledgeLearned


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A turn with its place in the log."""

    user_id: str
    position: int
    turn: TurnRecorded


@dataclass(frozen=True, slots=True)
class SessionBatch:
    """Consecutive turns of one session, read together; never empty, in log order.

    ``preceding`` are earlier turns of the session, for context only: no card may rest on them.
    ``known_concepts`` are the concept keys this user already has, so that writing does not drift.
    """

    turns: tuple[RecordedTurn, ...]
    preceding: tuple[RecordedTurn, ...] = ()
    known_concepts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The cards understood from a burst, in reading order, and what it cost."""

    cards: tuple[CardEvent, ...] = ()
    usage: Usage = field(default_factory=Usage)
    refused: int = 0


class ExtractorUnavailableError(RuntimeError):
    """No turn can be read now, whatever is in it; the message says what must change. Nothing is lost.

    ``retry_after``: seconds the other side asked to be left alone. ``suspect``: it may be these very turns
    that cannot be read, which shows when others can. ``usage`` is what was spent all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        suspect: bool = False,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.suspect = suspect
        self.usage = usage or Usage()


class TurnsUnreadableError(RuntimeError):
    """The extractor answered, and what it said of these turns cannot be used; ``usage`` is what that cost."""

    def __init__(self, message: str, *, usage: Usage | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        self.attempts = attempts


class Extractor(Protocol):
    """Turns to cards. Guarantees no card whose source span is not in a turn of the burst.

    Raises :class:`ExtractorUnavailableError` when it could read no turn at all now: the burst comes again
    later. Anything else it raises is held against the burst, and ends as an ``ExtractionFailed`` in the log.
    """

    name: str
    model: str | None
    prompt_version: str

    def extract(self, burst: SessionBatch) -> Extraction: ...


class RemoteExtractor(Extractor, Protocol):
    """An extractor that asks somebody else: slow, used by many threads at once, and closed in the end."""

    def close(self) -> None: ...
