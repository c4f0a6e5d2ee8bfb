"""The extractor: reads recorded turns from the log in order and appends what it understood."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import psycopg
from psycopg.rows import dict_row

from events import log
from events.checkpoints import Connection, Processor, read_claimed
from events.database import connect_patiently
from events.envelope import Event, NewEvent, uuid7
from events.settings import Settings
from events.sql import statement
from events.stages import report
from events.types.cards import EventNoted, KnowledgeLearned
from events.types.extraction import TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction import Burst, Extraction, Extractor, RecordedTurn

logger = logging.getLogger(__name__)

PROCESSOR = Processor("extractor")
_CONTEXT_TURNS = 6  # earlier turns of the session an extractor may look at


class ExtractorWorker:
    """Follows the log until told to stop.

    The appended events and the moved checkpoint commit together, so every turn is read exactly once,
    whatever is killed when. Several workers share the partitions.
    """

    def __init__(
        self, settings: Settings, extractor: Extractor, stopping: Callable[[], bool], worker: str = "1"
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._stopping = stopping
        self._worker = worker

    def run(self) -> None:
        """Extract until ``stopping``. Waits out a Postgres that is away."""
        while not self._stopping():
            connection = connect_patiently(
                self._settings.database_url, application="extractor", stopping=self._stopping
            )
            listener = connect_patiently(
                self._settings.database_url, application="extractor listener", stopping=self._stopping
            )
            if connection is None or listener is None:
                break
            try:
                follower = log.Follower(listener)
                PROCESSOR.open(connection)
                report(connection, PROCESSOR.name, self._worker, "running")
                logger.info("extracting with %s (%s)", self._extractor.name, self._extractor.prompt_version)
                while not self._stopping():
                    if not self.step(connection):
                        follower.wait()
            except psycopg.OperationalError as error:
                logger.warning("postgres went away while extracting, trying again: %s", error)
                time.sleep(0.1)
            finally:
                connection.close()
                listener.close()
        logger.info("extractor stopped")

    def step(self, connection: Connection) -> int:
        """One batch, in one transaction; returns how many events of the log were passed."""
        with connection.transaction():
            claims = PROCESSOR.claim(connection)
            if not claims:
                return 0
            batches = read_claimed(connection, claims, limit=self._settings.batch_events)
            turns = [
                event for _, events in batches for event in events if isinstance(event.payload, TurnRecorded)
            ]
            appended: list[NewEvent] = []
            for burst in self._bursts(connection, turns):
                appended.extend(events_of(burst, self._understand(burst), self._extractor))
            log.append(connection, appended)
            PROCESSOR.advance(connection, [(claim, events[-1].position) for claim, events in batches])
        if appended:
            log.announce(connection)
        return sum(len(events) for _, events in batches)

    def _understand(self, burst: Burst) -> Extraction:
        extraction = self._extractor.extract(burst)
        if self._settings.knowledge_extraction:
            return extraction
        cards = tuple(card for card in extraction.cards if not isinstance(card, KnowledgeLearned))
        return Extraction(cards, extraction.usage, extraction.refused)

    def _bursts(self, connection: Connection, turns: Sequence[Event]) -> Iterable[Burst]:
        grouped: dict[tuple[str, str], list[Event]] = {}
        for event in turns:
            grouped.setdefault((event.user_id, event.stream), []).append(event)
        earlier = self._preceding(connection, grouped)
        for key, events in grouped.items():
            yield Burst(tuple(_recorded(event) for event in events), earlier.get(key, ()))

    def _preceding(
        self, connection: Connection, grouped: dict[tuple[str, str], list[Event]]
    ) -> dict[tuple[str, str], tuple[RecordedTurn, ...]]:
        firsts = [events[0] for events in grouped.values() if events[0].version > 1]
        if not firsts:
            return {}
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(
                statement("ingest", "preceding_turns"),
                {
                    "partitions": [event.partition for event in firsts],
                    "users": [event.user_id for event in firsts],
                    "streams": [event.stream for event in firsts],
                    "versions": [event.version for event in firsts],
                    "limit": _CONTEXT_TURNS,
                },
            ).fetchall()
        events = [log.event_of(row) for row in rows]
        return {
            key: tuple(_recorded(event) for event in group)
            for key, group in groupby(events, key=lambda event: (event.user_id, event.stream))
        }


def _recorded(event: Event) -> RecordedTurn:
    assert isinstance(event.payload, TurnRecorded)
    return RecordedTurn(event.user_id, event.position, event.payload)


def events_of(burst: Burst, extraction: Extraction, extractor: Extractor) -> list[NewEvent]:
    """The events of one burst: the extraction, then a card event each, caused by it."""
    first = burst.turns[0]
    stream = f"extraction/{first.turn.project_id}/{first.turn.session_id}"
    occurred_at = max(turn.turn.said_at for turn in burst.turns)
    leader = NewEvent(
        event_id=uuid7(),
        user_id=first.user_id,
        stream=stream,
        payload=TurnsExtracted(
            extractor=extractor.name,
            model=extractor.model,
            prompt_version=extractor.prompt_version,
            turn_ids=tuple(turn.turn.turn_id for turn in burst.turns),
            turn_positions=tuple(turn.position for turn in burst.turns),
            usage=extraction.usage,
            cards=len(extraction.cards),
            refused=extraction.refused,
        ),
        occurred_at=occurred_at,
        actor=f"extractor/{extractor.name}",
        dedupe_key=f"extraction/{extractor.prompt_version}/{first.turn.turn_id}",
    )
    caused = [
        NewEvent(
            event_id=uuid7(),
            user_id=first.user_id,
            stream=stream,
            payload=card,
            occurred_at=card.occurred_at if isinstance(card, EventNoted) else card.origin.said_at,
            actor=leader.actor,
            causation_id=leader.event_id,
            correlation_id=leader.event_id,
        )
        for card in extraction.cards
    ]
    return [leader, *caused]
