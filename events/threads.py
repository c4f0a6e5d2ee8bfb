"""The threads of a user: topics that go on over sessions, and the fold that makes them of events."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from events.platform.database import Connection
from events.store import asking
from events.types.envelope import Event
from events.types.threads import (
    STREAM,
    CardsThreaded,
    CardsUnthreaded,
    ThreadClosed,
    ThreadOpened,
    ThreadRenamed,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadedCard:
    """A card of a thread, with the reason and the time of the event that added it first."""

    card_id: UUID
    reason: str
    confidence: float
    actor: str
    added_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A topic of a user. ``version`` is that of its latest event; the times are those of the log."""

    thread_id: UUID
    project_id: str
    mode: str | None
    title: str
    status: Literal["open", "closed"]
    reason: str | None
    opened_at: datetime
    updated_at: datetime
    cards: dict[UUID, ThreadedCard]
    version: int
    position: int


def fold(events: Iterable[Event]) -> dict[UUID, Thread]:
    """Returns the threads of a user by id, of the events of one stream in order.

    An event about a thread that is not there changes nothing: the words of its opening were erased.
    """
    threads: dict[UUID, Thread] = {}
    for event in events:
        payload = event.payload
        own = event.event_id if isinstance(payload, ThreadOpened) else None
        thread_id = getattr(payload, "thread_id", None) or own
        known = threads.get(thread_id) if thread_id is not None else None
        if known is not None:
            known = replace(
                known, updated_at=event.recorded_at, version=event.version, position=event.position
            )
            threads[known.thread_id] = _changed(known, event)
        elif isinstance(payload, ThreadOpened) and payload.thread_id is None:
            threads[event.event_id] = Thread(
                thread_id=event.event_id,
                project_id=payload.project_id,
                mode=payload.mode,
                title=payload.title,
                status="open",
                reason=payload.reason,
                opened_at=event.recorded_at,
                updated_at=event.recorded_at,
                cards={},
                version=event.version,
                position=event.position,
            )
    return threads


def _changed(thread: Thread, event: Event) -> Thread:
    payload = event.payload
    match payload:
        case ThreadOpened():
            return replace(thread, status="open", reason=payload.reason)
        case ThreadClosed():
            return replace(thread, status="closed", reason=payload.reason)
        case ThreadRenamed():
            return replace(thread, title=payload.title)
        case CardsUnthreaded():
            kept = thread.cards.keys() - {*payload.card_ids}
            return replace(thread, cards={card: each for card, each in thread.cards.items() if card in kept})
        case CardsThreaded():
            added = {
                card: ThreadedCard(
                    card_id=card,
                    reason=payload.reason,
                    confidence=payload.confidence,
                    actor=event.actor,
                    added_at=event.recorded_at,
                )
                for card in payload.card_ids
            }
            return replace(thread, cards=added | thread.cards)
    return thread


def in_order(threads: Iterable[Thread]) -> list[Thread]:
    """Returns threads: open ones first, then the last changed first."""
    return sorted(threads, key=lambda each: (each.status != "open", -each.position))


def threads(owner: str) -> asking.Asking[dict[UUID, Thread]]:
    """Asks for the threads of a user at the end of the log, by id. An event that cannot be read counts as none."""
    return fold((yield from asking.stream_of(owner, STREAM)))


def threads_of(connection: Connection, owner: str) -> dict[UUID, Thread]:
    """Returns the threads of a user at the end of the log, by id."""
    return asking.answered(connection, threads(owner))
