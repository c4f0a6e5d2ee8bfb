"""The events of threads: topics that go on over sessions.

``thread_id`` is the event id of the ``ThreadOpened`` that began the thread. All threads of a user are in one stream.
Nothing is removed: a closed thread is opened again by a further event.
"""

from uuid import UUID

from events.types.codec import event_type

STREAM = "threads"


@event_type(version=1)
class ThreadOpened:
    """A topic goes on. With ``thread_id``, a closed thread of before is open again."""

    title: str
    project_id: str
    mode: str | None = None
    thread_id: UUID | None = None
    reason: str | None = None


@event_type(version=1)
class CardsThreaded:
    """Cards belong to a thread. ``reason`` and ``confidence`` tell why somebody thinks so."""

    thread_id: UUID
    card_ids: tuple[UUID, ...]
    reason: str
    confidence: float = 1.0


@event_type(version=1)
class CardsUnthreaded:
    """Cards do not belong to a thread after all. They can be added again."""

    thread_id: UUID
    card_ids: tuple[UUID, ...]
    reason: str


@event_type(version=1)
class ThreadRenamed:
    """A thread has another title."""

    thread_id: UUID
    title: str


@event_type(version=1)
class ThreadClosed:
    """A topic is over, for now."""

    thread_id: UUID
    reason: str | None = None
