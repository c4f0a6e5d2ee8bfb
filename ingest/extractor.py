"""The extractor: reads recorded turns from the log in order and appends what it understood."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby

import orjson
from psycopg.rows import dict_row

from events import log
from events.checkpoints import CheckpointMovedError, Connection, Processor, read_claimed
from events.codec import encode
from events.database import AWAY, connect_patiently
from events.envelope import Event, NewEvent, partition_of, uuid7
from events.log import Unreadable
from events.settings import Settings
from events.sql import statement
from events.stages import Pulse
from events.types.cards import EventNoted, KnowledgeLearned, Utterance
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction import Burst, CardEvent, Extraction, Extractor, ExtractorUnavailableError, RecordedTurn
from ingest.grounding import without_memory_blocks

logger = logging.getLogger(__name__)

PROCESSOR = Processor("extractor")
_TURN = TurnRecorded.__name__
_PATIENCE_S = 0.1
_LONGEST_PAUSE_S = 10.0
_TURNS_BEFORE = 2  # a third adds nothing (see projectors.text.passages)
_LONGEST_BEFORE = 300  # characters of each that an episode keeps
_CONTEXT_TURNS = 6  # earlier turns of the session an extractor may look at


class ExtractorWorker:
    """Follows the log until told to stop.

    The appended events and the moved checkpoint commit together, so every turn is read exactly once,
    whatever is killed when. Several workers share the partitions. A turn that cannot be read, or that the
    extractor fails on, becomes an ``ExtractionFailed`` with the reason, and the others go on.
    """

    def __init__(
        self, settings: Settings, extractor: Extractor, stopping: Callable[[], bool], worker: str = "1"
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._stopping = stopping
        self._pulse = Pulse(settings.database_url, PROCESSOR.name, worker)

    def run(self) -> None:
        """Extract until ``stopping``. Waits out a Postgres that is away, and an extractor that is."""
        with self._pulse:
            self._follow()

    def _follow(self) -> None:
        delay = _PATIENCE_S
        while not self._stopping():
            connection = connect_patiently(
                self._settings.database_url,
                application="extractor",
                stopping=self._stopping,
                lease_ms=self._settings.lease_ms,
            )
            listener = connect_patiently(
                self._settings.database_url, application="extractor listener", stopping=self._stopping
            )
            if connection is None or listener is None:
                break
            try:
                follower = log.Follower(listener)
                PROCESSOR.open(connection)
                logger.info("extracting with %s (%s)", self._extractor.name, self._extractor.prompt_version)
                while not self._stopping():
                    passed = self.step(connection)
                    self._pulse.running()
                    self._pulse.passed(passed)
                    if not passed:
                        follower.wait()
                    elif delay > _PATIENCE_S:
                        logger.info("extracting goes on")
                        delay = _PATIENCE_S
            except AWAY as error:
                logger.warning("postgres went away while extracting, trying again: %s", error)
                self._pulse.waiting(f"postgres went away: {error}")
                time.sleep(_PATIENCE_S)
            except CheckpointMovedError as error:
                logger.warning("standing by: %s", error)
            except Exception as error:
                # Nothing of the batch counts; say what stands in the way and try again, ever more slowly.
                known = isinstance(error, ExtractorUnavailableError)
                logger.log(
                    logging.WARNING if known else logging.ERROR,
                    "extracting stands still, trying again in %.1f s: %s", delay, error, exc_info=not known,
                )  # fmt: skip
                why = str(error) if known else log.reason_of(error)
                delay = self._stand_still(why, delay)
            finally:
                connection.close()
                listener.close()
        logger.info("extractor stopped")

    def _stand_still(self, why: str, delay: float) -> float:
        """Say why nothing moves, wait, and return the next, longer wait."""
        self._pulse.waiting(why)
        until = time.monotonic() + delay
        while time.monotonic() < until and not self._stopping():
            time.sleep(0.05)
        return min(delay * 2, _LONGEST_PAUSE_S)

    def step(self, connection: Connection) -> int:
        """One batch, in one transaction; returns how many events of the log were passed."""
        with connection.transaction():
            claims = PROCESSOR.claim(connection)
            if not claims:
                return 0
            batches = read_claimed(
                connection, claims, limit=self._settings.batch_events, keep_unreadable=True
            )
            events = [event for _, page in batches for event in page]
            turns = [event for event in events if isinstance(event.payload, TurnRecorded)]
            appended: list[NewEvent] = [
                unreadable_turn(event, event.payload, self._extractor)
                for event in events
                if event.type == _TURN and isinstance(event.payload, Unreadable)
            ]
            for burst in self._bursts(connection, turns):
                appended.extend(self._read(burst))
            log.append(connection, appended)
            PROCESSOR.advance(connection, [(claim, events[-1].position) for claim, events in batches])
        if appended:
            log.announce(connection)
        return sum(len(events) for _, events in batches)

    def _read(self, burst: Burst) -> list[NewEvent]:
        """The events of a burst; where reading it together fails, turn by turn, so that only the culprit does."""
        try:
            return self._written(events_of(burst, self._understand(burst), self._extractor))
        except ExtractorUnavailableError:
            raise
        except Exception as error:
            if len(burst.turns) > 1:
                before = (*burst.preceding, *burst.turns)
                return [
                    event
                    for index, turn in enumerate(burst.turns, len(burst.preceding))
                    for event in self._read(
                        Burst((turn,), before[max(0, index - _CONTEXT_TURNS) : index], burst.known_concepts)
                    )
                ]
            [turn] = burst.turns
            reason = log.reason_of(error)
            logger.warning(
                "turn %s (%d/%d) cannot be extracted: %s",
                turn.turn.turn_id, partition_of(turn.user_id), turn.position, reason,
                exc_info=True,
                extra={
                    "stage": PROCESSOR.name, "turn_id": turn.turn.turn_id,
                    "partition": partition_of(turn.user_id), "position": turn.position,
                },
            )  # fmt: skip
            self._pulse.failed(f"turn {turn.turn.turn_id} cannot be extracted: {reason}")
            return [
                failure_of(
                    turn.user_id,
                    turn.position,
                    turn.turn.turn_id,
                    _stream_of(turn.turn),
                    turn.turn.said_at,
                    reason,
                    self._extractor,
                )
            ]

    @staticmethod
    def _written(events: list[NewEvent]) -> list[NewEvent]:
        """``events``, sure to have bytes: what an extractor made up must not fail the append of all others."""
        for event in events:
            encode(event.payload)
        return events

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
        events = [log.event_if_readable(row) for row in rows]
        return {
            key: tuple(_recorded(event) for event in group if isinstance(event.payload, TurnRecorded))
            for key, group in groupby(events, key=lambda event: (event.user_id, event.stream))
        }


def _recorded(event: Event) -> RecordedTurn:
    assert isinstance(event.payload, TurnRecorded)
    return RecordedTurn(event.user_id, event.position, event.payload)


def _stream_of(turn: TurnRecorded) -> str:
    return f"extraction/{turn.project_id}/{turn.session_id}"


def unreadable_turn(event: Event, payload: Unreadable, extractor: Extractor) -> NewEvent:
    """The failure of a turn this build cannot decode; its id is taken from the stored bytes where they tell it."""
    try:
        turn_id = str(orjson.loads(payload.data)["turn_id"])
    except (ValueError, TypeError, KeyError):
        turn_id = str(event.event_id)
    logger.warning(
        "turn %s (%d/%d) cannot be read: %s", turn_id, event.partition, event.position, payload.reason,
        extra={
            "stage": PROCESSOR.name, "turn_id": turn_id, "event_id": event.event_id,
            "partition": event.partition, "position": event.position,
        },
    )  # fmt: skip
    stream = "extraction/" + event.stream.removeprefix("session/")
    return failure_of(
        event.user_id, event.position, turn_id, stream, event.occurred_at, payload.reason, extractor
    )


def failure_of(
    user_id: str,
    position: int,
    turn_id: str,
    stream: str,
    occurred_at: datetime,
    reason: str,
    extractor: Extractor,
) -> NewEvent:
    """The event that says one turn was not understood, and why."""
    return NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream=stream,
        payload=ExtractionFailed(
            extractor=extractor.name,
            model=extractor.model,
            prompt_version=extractor.prompt_version,
            turn_ids=(turn_id,),
            turn_positions=(position,),
            reason=reason,
            attempts=1,
        ),
        occurred_at=occurred_at,
        actor=f"extractor/{extractor.name}",
    )


def _in_its_place(card: CardEvent, burst: Burst) -> CardEvent:
    """An episode with what was said before it; other cards as they are."""
    if not isinstance(card, EventNoted) or not card.episode:
        return card
    session = [*burst.preceding, *burst.turns]
    places = [place for place, said in enumerate(session) if said.turn.turn_id in card.origin.turn_ids]
    if not places:
        return card
    nearest_first = reversed(session[max(0, places[0] - _TURNS_BEFORE) : places[0]])
    before = tuple(
        Utterance(without_memory_blocks(said.turn.text).strip()[:_LONGEST_BEFORE], said.turn.speaker)
        for said in nearest_first
    )
    return replace(card, before=before)


def events_of(burst: Burst, extraction: Extraction, extractor: Extractor) -> list[NewEvent]:
    """The events of one burst: the extraction, then a card event each, caused by it."""
    first = burst.turns[0]
    stream = _stream_of(first.turn)
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
            payload=_in_its_place(card, burst),
            occurred_at=card.occurred_at if isinstance(card, EventNoted) else card.origin.said_at,
            actor=leader.actor,
            causation_id=leader.event_id,
            correlation_id=leader.event_id,
        )
        for card in extraction.cards
    ]
    return [leader, *caused]
