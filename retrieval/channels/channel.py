"""What a channel is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.sql import Composed, Identifier

from events.sql import statement
from retrieval.question import Question
from retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class Hit:
    """A card one channel votes for; ``score`` is in the channel's own unit and only orders its own hits.

    ``share`` is how much of the channel's vote it gets.
    """

    card_id: UUID
    score: float
    share: float = 1.0


class ChannelDownError(RuntimeError):
    """The channel cannot answer; the message says why and what would bring it back."""


@cache
def search_statement(name: str, **tables: str) -> Composed:
    """The channel's statement with its ``{tables}``, schema and name each, and ``sql/visible.sql`` for ``{visible}``.

    The walls of a recall stand in that one file: what a channel may find is the same for all of them.
    """
    package = "retrieval.channels"
    return statement(package, name).format(
        visible=statement(package, "visible"),
        **{part: Identifier(*table.split(".")) for part, table in tables.items()},
    )


class Channel(Protocol):
    """One way to find cards. Returns its hits best first; empty when the question gives it nothing to go by.

    Raises :class:`ChannelDownError`, or whatever the database raises; recall goes on without it.
    """

    @property
    def name(self) -> str: ...

    def weight(self, question: Question) -> float:
        """How much this channel's vote on ``question`` is worth; 1 is ordinary."""
        ...

    def warm(self) -> None:
        """Load what the first search would wait for; never raises."""
        ...

    async def search(
        self, connection: AsyncConnection[Any], question: Question, scope: Scope
    ) -> list[Hit]: ...
