"""Runs model workers, makes turns for them, and reads their results."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

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
from tests.support.ingest.messages_api import MessagesApi, Request
from tests.support.waiting import eventually, working

T = TypeVar("T")
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


@dataclass
class Reader:
    """A log, the server of a model, and workers that read the one with the other."""

    settings: Settings
    api: MessagesApi
    connection: Connection

    def set(self, **changed: Any) -> None:
        self.settings = replace(self.settings, **changed)

    def append(self, *turns: NewEvent) -> None:
        log.append(self.connection, turns)

    def working(self, name: str = "one", **changed: Any) -> AbstractContextManager[threading.Event]:
        """Runs a worker, with some settings changed. Setting the event stops it."""
        return reading(replace(self.settings, **changed), name)

    def read(self, *turns: NewEvent, **changed: Any) -> None:
        """Appends turns, and runs a worker until the whole log is read."""
        self.append(*turns)
        with self.working(**changed):
            self.until_read(*{each.user_id for each in turns})

    def until_read(self, *users: str, within: float = 240) -> None:
        """Waits until every turn of the users is read or given up, and no event of the log is left."""

        def look() -> bool:
            turns = len(self.payloads(TurnRecorded, *users))
            return len(self.extracted(*users)) + len(self.failed(*users)) >= turns and self.behind() == 0

        eventually(look, within=within)

    def holding(self, words: str = "") -> threading.Event:
        """Lets the model answer requests with ``words`` only when the event is set."""
        hold = threading.Event()

        def delay(request: Request) -> None:
            if words in request.turns[0]:
                hold.wait(250)

        self.api.trouble = delay
        return hold

    def events(self, *users: str) -> list[Event]:
        found = []
        for partition in sorted({partition_of(user) for user in users}):
            head = log.heads(self.connection)[partition]
            if head:
                claim = Claim(partition, 0, head)
                [page] = read_claimed(self.connection, [claim], limit=head)
                found += [event for event in page.events if event.user_id in users]
        return found

    def payloads(self, kind: type[T], *users: str) -> list[T]:
        return [event.payload for event in self.events(*users) if isinstance(event.payload, kind)]

    def extracted(self, *users: str) -> list[str]:
        """Returns the ids of the extracted turns, in the order of the log."""
        return [turn_id for each in self.payloads(TurnsExtracted, *users) for turn_id in each.turn_ids]

    def failed(self, *users: str) -> list[ExtractionFailed]:
        return self.payloads(ExtractionFailed, *users)

    def towns(self, *users: str) -> list[str]:
        return [each.value for each in self.payloads(StateAsserted, *users)]

    def behind(self) -> int:
        positions = PROCESSOR.positions(self.connection)
        return sum(
            head - positions.get(partition, 0) for partition, head in log.heads(self.connection).items()
        )

    def report(self) -> HeartbeatReport | None:
        return next((each for each in reports(self.connection) if each.stage == "extractor"), None)

    def waits(self, because: str) -> bool:
        said = self.report()
        return said is not None and said.state == "waiting" and because in (said.detail or "")

    def runs(self) -> bool:
        said = self.report()
        return said is not None and said.state == "running"
