"""The extractor of pure rules: reads recorded turns from the log in order and appends what it understood.

Extractors that wait for somebody else's answers have a worker of their own (:mod:`ingest.model_worker`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence

from events import log
from events.checkpoints import CheckpointMovedError, Claim, Connection, Processor, reached_heads
from events.database import AWAY, connect_patiently
from events.envelope import Event, NewEvent, partition_of
from events.feed import Feed, LogFeed
from events.log import Unreadable
from events.pace import Pace, pause
from events.settings import Settings
from events.sql import statement
from events.stages import Pulse
from events.types.turns import TurnRecorded
from ingest.conversation import CONTEXT_TURNS, preceding, recorded
from ingest.extraction import Burst, Extractor, ExtractorUnavailableError
from ingest.extraction_events import STAGE, counted, events_of, failure_of, stream_of, unreadable_turn

logger = logging.getLogger(__name__)

PROCESSOR = Processor(STAGE)
TURN = TurnRecorded.__name__
_PATIENCE_S = 0.1
_LONGEST_PAUSE_S = 10.0


class ExtractorWorker:
    """Follows the log until told to stop.

    The appended events and the moved checkpoint commit together, so every turn is read exactly once,
    whatever is killed when. Several workers share the partitions. A turn that cannot be read, or that the
    extractor fails on, becomes an ``ExtractionFailed`` with the reason, and the others go on.
    Events come from ``feed``, from the log itself where none is given.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: Extractor,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._stopping = stopping
        self._feed = feed or LogFeed(settings.database_url, PROCESSOR.name, stopping, {TURN})
        self._pulse = Pulse(settings.database_url, PROCESSOR.name, worker)
        # Where this worker left each partition, and the turns above that which were read out of their order.
        self._left: dict[int, int] = {}
        self._pace = Pace(settings.gather_ms / 1000, stopping)
        self._more = False
        self._read_before: dict[int, frozenset[int]] = {}

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
            if connection is None or not self._feed.open():
                break
            try:
                PROCESSOR.open(connection)
                logger.info("extracting with %s (%s)", self._extractor.name, self._extractor.prompt_version)
                while not self._stopping():
                    self._pace.begin()
                    passed = self.step(connection)
                    self._pulse.running(self._feed.note)
                    self._pulse.passed(passed)
                    if passed and delay > _PATIENCE_S:
                        logger.info("extracting goes on")
                        delay = _PATIENCE_S
                    if not self._more:
                        if passed:
                            self._pace.rest()
                        self._feed.wait()
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
                self._feed.close()
        logger.info("extractor stopped")

    def _stand_still(self, why: str, delay: float) -> float:
        """Say why nothing moves, wait, and return the next, longer wait."""
        self._pulse.waiting(why)
        pause(delay, self._stopping)
        return min(delay * 2, _LONGEST_PAUSE_S)

    def step(self, connection: Connection) -> int:
        """One batch, in one transaction; returns how many events of the log were passed."""
        self._more = False
        with connection.transaction():
            claims = self._claim(connection)
            if not claims:
                return 0
            batches = self._feed.read(connection, claims, limit=self._settings.batch_events)
            events = [
                event
                for claim, page in batches
                for event in page
                if event.type == TURN and event.position not in self._read_before.get(claim.partition, ())
            ]
            turns = [event for event in events if isinstance(event.payload, TurnRecorded)]
            appended: list[NewEvent] = [
                unreadable_turn(event, event.payload, self._extractor)
                for event in events
                if isinstance(event.payload, Unreadable)
            ]
            for burst in self._bursts(connection, turns):
                appended.extend(self._read(burst))
            log.append(connection, appended)
            PROCESSOR.advance(connection, [(claim, page[-1].position) for claim, page in batches])
        self._left.update((claim.partition, page[-1].position) for claim, page in batches)
        if appended:
            log.announce(connection, appended)
            self._pulse.count(counted(appended))
        # Right behind a batch that reached all there was, another look would find nothing but what it appended itself.
        self._more = not reached_heads(batches)
        return sum(len(page) for _, page in batches)

    def _claim(self, connection: Connection) -> list[Claim]:
        """Partitions nobody else has; where another extractor was in between, what it read ahead is looked up."""
        claims = PROCESSOR.claim(connection, partitions=self._feed.sought(connection, PROCESSOR))
        if not claims:
            return []
        own = {
            row[0]
            for row in connection.execute(
                statement("ingest", "own_partitions"), {"partitions": [claim.partition for claim in claims]}
            )
        }
        claims = [claim for claim in claims if claim.partition in own]
        strange = [claim for claim in claims if self._left.get(claim.partition) != claim.position]
        if strange:
            self._read_before.update(read_ahead(connection, {c.partition: c.position for c in strange}))
        return claims

    def _read(self, burst: Burst) -> list[NewEvent]:
        """The events of a burst; where reading it together fails, turn by turn, so that only the culprit does."""
        try:
            extraction = self._extractor.extract(burst)
            return events_of(
                burst, extraction, self._extractor, knowledge=self._settings.knowledge_extraction
            )
        except ExtractorUnavailableError:
            raise
        except Exception as error:
            if len(burst.turns) > 1:
                before = (*burst.preceding, *burst.turns)
                return [
                    event
                    for index, turn in enumerate(burst.turns, len(burst.preceding))
                    for event in self._read(
                        Burst((turn,), before[max(0, index - CONTEXT_TURNS) : index], burst.known_concepts)
                    )
                ]
            [turn] = burst.turns
            reason = log.reason_of(error)
            logger.warning(
                "turn %s (%d/%d) cannot be extracted: %s",
                turn.turn.turn_id, partition_of(turn.user_id), turn.position, reason,
                exc_info=True,
                extra={
                    "stage": STAGE, "turn_id": turn.turn.turn_id,
                    "partition": partition_of(turn.user_id), "position": turn.position,
                },
            )  # fmt: skip
            self._pulse.failed(f"turn {turn.turn.turn_id} cannot be extracted: {reason}")
            return [
                failure_of(
                    turn.user_id,
                    turn.position,
                    turn.turn.turn_id,
                    stream_of(turn.turn),
                    turn.turn.said_at,
                    reason,
                    self._extractor,
                )
            ]

    def _bursts(self, connection: Connection, turns: Sequence[Event]) -> Iterable[Burst]:
        grouped: dict[tuple[str, str], list[Event]] = {}
        for event in turns:
            grouped.setdefault((event.user_id, event.stream), []).append(event)
        earlier = preceding(connection, [events[0] for events in grouped.values()])
        for events, before in zip(grouped.values(), earlier, strict=True):
            yield Burst(tuple(recorded(event) for event in events), before)


def read_ahead(connection: Connection, checkpoints: dict[int, int]) -> dict[int, frozenset[int]]:
    """The turns above each checkpoint that an extractor dealt with before it stopped, by partition.

    Only whoever owns these partitions may rely on the answer.
    """
    rows = connection.execute(
        statement("ingest", "extracted_above"),
        {"partitions": list(checkpoints), "positions": list(checkpoints.values())},
    ).fetchall()
    found: dict[int, set[int]] = {partition: set() for partition in checkpoints}
    for partition, position in rows:
        found[partition].add(position)
    return {partition: frozenset(positions) for partition, positions in found.items()}
