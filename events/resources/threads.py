"""The threads of a user: topics that go on over sessions, and the cards of each."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field

from events.resources.resource import Resource
from events.types.turns import GENERAL_MODE


class Thread(Resource):
    """A topic. ``opened_at`` and ``updated_at`` are times of the log."""

    thread_id: UUID
    project_id: str
    mode: Annotated[str, BeforeValidator(lambda mode: mode or GENERAL_MODE)]
    title: str
    status: Literal["open", "closed"]
    reason: str | None = Field(description="why it was opened, closed or opened again")
    opened_at: AwareDatetime
    updated_at: AwareDatetime
    cards: Annotated[int, BeforeValidator(lambda cards: cards if isinstance(cards, int) else len(cards))] = (
        Field(description="the number of its cards", ge=0)
    )
    version: int


class WrittenThread(Thread):
    """A thread after a command."""

    token: str = Field(description="give the token to wait_for of a recall")


class ThreadsPage(Resource):
    """Threads: open ones first, then the last changed."""

    threads: list[Thread]


class ThreadCard(Resource):
    """A card of a thread, and why it belongs there. ``content`` is null for a card that is not there any more."""

    card_id: UUID
    kind: str | None
    content: str | None
    said_at: AwareDatetime | None
    reason: str
    confidence: float
    actor: str
    added_at: AwareDatetime


class ThreadCards(Resource):
    """A thread with its cards, the one that was said first at the beginning."""

    thread: Thread
    cards: list[ThreadCard]
