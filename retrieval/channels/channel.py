"""What a channel is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from psycopg import AsyncConnection

from retrieval.question import Question
from retrieval.scope import Scope


@dataclass(frozen=True, slots=True)
class Hit:
    """A card one channel votes for; ``score`` is in the channel's own unit and only orders its own hits."""

    card_id: UUID
    score: float


class ChannelDownError(RuntimeError):
    """The channel cannot answer; the message says why and what would bring it back."""


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
