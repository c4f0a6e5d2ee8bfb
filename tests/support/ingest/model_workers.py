"""Runs model workers, makes turns for them, and reads their results."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from events.health.heartbeat import HeartbeatReport, reports
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import Claim, read_claimed
from events.types.cards import StateAsserted
from events.types.envelope import Event, NewEvent, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction.choosing import create_extractor_worker
from ingest.extraction.workers.rules_worker import PROCESSOR
from tests.support.events import turns
from tests.support.events.turns import NOW, recorded
from tests.support.waiting import working

TOWNS = ("Lisbon", "Porto", "Turin", "Ghent", "Basel", "Oslo", "Riga", "Bonn", "Lyon", "Nice")


@contextmanager
def reading(settings: Settings, name: str = "one") -> Iterator[threading.Event]:
    """Runs a worker. Setting the event stops it."""
    stop = threading.Event()
    with working(create_extractor_worker(settings, stop.is_set, name).run, stop):
        yield stop


def turn(user: str, text: str, number: int, *, session: str = "s", gap_s: float = 1.0) -> NewEvent:
    said_at = NOW + timedelta(seconds=gap_s * number)
    payload = recorded(text, turn_id=f"{session}-{number}", said_at=said_at, session_id=session)
    return turns.turn(user, payload, dedupe_key=f"turn/{payload.turn_id}")


def moves(user: str, count: int, *, session: str = "s", then: str = "") -> list[NewEvent]:
    """Returns turns that all hold a fact, with ``then`` as their last words."""
    return [
        turn(user, f"I moved to {TOWNS[number % len(TOWNS)]}. {then}".strip(), number, session=session)
        for number in range(count)
    ]


def events_of(connection: Connection, *users: str) -> list[Event]:
    found = []
    for partition in sorted({partition_of(user) for user in users}):
        head = log.heads(connection)[partition]
        if head:
            claim = Claim(partition, 0, head)
            [(_, page)] = read_claimed(connection, [claim], limit=head)
            found += [event for event in page if event.user_id in users]
    return found


def extracted(connection: Connection, *users: str) -> list[str]:
    """Returns the ids of the extracted turns, in the order of the log."""
    return [
        turn_id
        for event in events_of(connection, *users)
        if isinstance(event.payload, TurnsExtracted)
        for turn_id in event.payload.turn_ids
    ]


def failed(connection: Connection, *users: str) -> list[ExtractionFailed]:
    payloads = [event.payload for event in events_of(connection, *users)]
    return [payload for payload in payloads if isinstance(payload, ExtractionFailed)]


def towns(connection: Connection, *users: str) -> list[str]:
    payloads = [event.payload for event in events_of(connection, *users)]
    return [payload.value for payload in payloads if isinstance(payload, StateAsserted)]


def behind(connection: Connection) -> int:
    positions = PROCESSOR.positions(connection)
    return sum(head - positions.get(partition, 0) for partition, head in log.heads(connection).items())


def caught_up(connection: Connection, *users: str) -> Callable[[], bool]:
    def look() -> bool:
        turns = sum(isinstance(event.payload, TurnRecorded) for event in events_of(connection, *users))
        done = len(extracted(connection, *users)) + len(failed(connection, *users))
        return done >= turns and behind(connection) == 0

    return look


def report(connection: Connection) -> HeartbeatReport | None:
    return next((each for each in reports(connection) if each.stage == "extractor"), None)


def waits(connection: Connection, because: str) -> Callable[[], bool]:
    def look() -> bool:
        said = report(connection)
        return said is not None and said.state == "waiting" and because in (said.detail or "")

    return look


def runs(connection: Connection) -> bool:
    said = report(connection)
    return said is not None and said.state == "running"
