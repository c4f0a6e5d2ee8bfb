"""Turns as a partition window takes them."""

from datetime import UTC, datetime, timedelta

from events.platform.settings import Settings
from events.types.envelope import Event
from ingest.extraction.workers.partition_window import ExtractionTask, PartitionWindow
from tests.support.events.turns import recorded, stored

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


LIMITS = Settings(
    session_batch_gap_s=60, session_batch_turns=3, session_batch_chars=100, session_batch_linger_ms=2_000
)


def turn(
    position: int, *, user: str = "ana", session: str = "s", at_s: float = 0, text: str = "hello"
) -> Event:
    payload = recorded(text, turn_id=str(position), said_at=NOW + timedelta(seconds=at_s), session_id=session)
    stream, said_at = f"session/default/{session}", payload.said_at
    return stored(payload, partition=7, position=position, user_id=user, stream=stream, occurred_at=said_at)


def window(*, checkpoint: int = 0, done: frozenset[int] = frozenset()) -> PartitionWindow:
    return PartitionWindow(7, checkpoint, LIMITS, checkpoint, done)


def see(one: PartitionWindow, *turns: Event) -> list[ExtractionTask]:
    closed = []
    for each in turns:
        closed += one.see(each, 0.0)
        one.seen = each.position
    return closed + one.due(10.0)
