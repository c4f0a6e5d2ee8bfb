"""The port between state cards and the document: which values the cards of a user say hold now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Protocol
from uuid import UUID

from events.core.pointers import Tokens
from events.types.envelope import Event


class Trust(IntEnum):
    """Whose word a value is, the least trusted first."""

    INFERENCE = 1
    AGENT = 2
    USER = 3
    CORRECTION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CardValue:
    """A value that holds by the cards. ``key`` tells two values of one place apart; ``text`` is as it was said.

    ``began`` is the time that the words name for its beginning, at their grain: 2018, 2018-03 or 2018-03-05.

    ``event_id`` is the statement that the text comes from. ``source`` is the other memory that a value comes from, and
    ``rationale`` says so in words. A value that is ``unsure`` waits for an approval. It holds from ``since`` until
    ``until``; None: until further notice.
    """

    place: Tokens
    key: str
    text: str
    since: datetime
    until: datetime | None
    event_id: UUID
    turn_ids: tuple[str, ...]
    trust: Trust
    confidence: float
    began: str | None = None
    source: str | None = None
    rationale: str | None = None
    unsure: bool = False


class Statement(Protocol):
    """What an event says about one identity."""

    @property
    def identity(self) -> str: ...


class CardFeed(Protocol):
    """Reads the events of state cards with the fold of the cards. All methods are pure."""

    types: frozenset[str]

    def statements(self, event: Event) -> Sequence[Statement]:
        """Returns what the statement ``event`` says. Another event says nothing."""

    def target(self, event: Event) -> UUID | None:
        """Returns the statement that ``event`` is a remark on, or None."""

    def withdrawn(self, event: Event) -> Sequence[int]:
        """Returns the positions of the events that ``event`` takes back, in its partition."""

    def held(self, statements: Iterable[Any], remarks: Mapping[UUID, Sequence[Event]]) -> Sequence[CardValue]:
        """Returns the values that hold or held by ``statements``, in the order in which they took effect."""
