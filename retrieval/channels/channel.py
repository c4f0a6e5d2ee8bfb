"""What a channel is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.sql import Composed, Identifier, Literal

from events.platform.sql import statement
from retrieval.query.question import Question
from retrieval.query.scope import Scope

COMMON = 500
"""So many of a user's cards make a word common. Below, nothing changes; above, time would grow with all ever said."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A card one channel votes for; ``score`` is in the channel's own unit and only orders its own hits.

    ``share`` is how much of the channel's vote it gets.
    """

    card_id: UUID
    score: float
    share: float = 1.0


class ChannelDownError(RuntimeError):
    """The channel cannot answer, or only with ``hits``; the message says why and what would bring it back."""

    def __init__(self, message: str, hits: Sequence[Hit] = ()) -> None:
        super().__init__(message)
        self.hits = hits


@cache
def search_statement(name: str, **parts: str | int) -> Composed:
    """The channel's statement with its parts, names of tables and numbers, and with what several channels share.

    ``sql/visible.sql`` is the walls of a recall, the same for all of them, whether a card is looked up by its user
    or by keys that hold the user; ``sql/selective_terms.sql`` tells words that find something from those that are
    everywhere,
    at more than ``COMMON`` of a user's cards.
    """
    package = "retrieval.channels"
    walls = statement(package, "visible")
    return statement(package, name).format(
        visible=walls.format(owner_filter=statement(package, "owner_filter")),
        visible_by_key=walls.format(owner_filter=statement(package, "owner_filter_by_key")),
        selective_terms=statement(package, "selective_terms"),
        **{
            name: Identifier(*part.split(".")) if isinstance(part, str) else Literal(part)
            for name, part in parts.items()
        },
    )


class Channel(Protocol):
    """One way to find cards. Returns its hits best first; empty when the question gives it nothing to go by.

    Raises :class:`ChannelDownError`, or whatever the database raises; recall goes on without it.
    """

    @property
    def name(self) -> str: ...

    def weight(self, question: Question, scope: Scope) -> float:
        """How much this channel's vote on ``question``, asked in ``scope``, is worth; 1 is ordinary."""
        ...

    def warm(self) -> None:
        """Load what the first search would wait for; never raises."""
        ...

    def silent(self, question: Question) -> bool:
        """Whether the question gives it nothing to go by, which can be told without a search."""
        ...

    async def search(
        self, connection: AsyncConnection[Any], question: Question, scope: Scope
    ) -> list[Hit]: ...
