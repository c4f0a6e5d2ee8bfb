"""The recorder: turns off the queue, checked, into the log. No understanding happens here."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import psycopg
import redis

from events import log
from events.database import connect_patiently
from events.envelope import Appended, NewEvent, uuid7
from events.pace import Pace
from events.settings import Settings
from events.stages import Pulse
from events.standing import RECORDER
from events.streams import MOST_STREAMS, REDIS_AWAY, connect_redis, read_streams
from events.turn import TurnInvalidError, entry_time, parse_turn, session_of, text_of
from events.types.turns import TurnRecorded
from ingest.intake import Intake, open_intake
from ingest.queue import Entry, TurnQueue

logger = logging.getLogger(__name__)

_BLOCK_MS = 500
_HOUSEKEEPING_S = 1.0
_LOOK_FOR_STREAMS_S = 1.0
_LOOK_AT_READERS_S = 0.05
_FORGET_AFTER_MS = 3_600_000


def event_of(entry: Entry) -> NewEvent:
    """The event a stream entry asks for. Raises :class:`TurnInvalidError`."""
    fields: dict[str, str] = {}
    for raw_name, raw_value in entry.fields.items():
        name = text_of("(field name)", raw_name)
        fields[name] = text_of(name, raw_value)
    user_id, turn = parse_turn(fields, entry_time=entry_time(entry.id), entry_id=entry.name)
    return NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream=session_of(turn),
        payload=turn,
        occurred_at=turn.said_at,
        actor="recorder",
        dedupe_key=f"turn/{turn.turn_id}",
    )


class Recorder:
    """Consumes every stream turns come in on until told to stop. Run as many as you like, each with its own ``name``.

    An entry is acknowledged only after its turn is durable in the log, so a crash anywhere repeats work
    and never loses it; the turn's dedupe key makes the repeat harmless. While Postgres or Redis is away
    the recorder waits, says so, and goes on; a stream whose node is away does not hold up the others.
    Streams are found by looking, so it does not matter with how many the turns were pushed.
    """

    def __init__(self, settings: Settings, name: str, stopping: Callable[[], bool]) -> None:
        self._settings = settings
        self._name = name
        self._told_to_stop = stopping
        self._failed = False
        self._pulse = Pulse(settings.database_url, RECORDER, name)
        self._scribe = Scribe(settings.database_url, self._pulse, self._stopping)
        self._trouble = Trouble(self._pulse)

    def run(self) -> None:
        """Consume until ``stopping``; returns after the batches in hand are settled."""
        intake = open_intake(self._settings)
        try:
            with self._pulse, ThreadPoolExecutor(1 + MOST_STREAMS, "recorder") as threads:
                self._read_all(intake, threads)
        finally:
            intake.close()
            self._scribe.close()
        logger.info("recorder %s stopped", self._name)

    def _read_all(self, intake: Intake, threads: ThreadPoolExecutor) -> None:
        """A thread for each stream, also for those that turn up later."""
        readers: dict[str, Future[None]] = {}
        streams: Sequence[str] = read_streams(self._settings)
        looked = 0.0
        try:
            while not self._stopping():
                for stream in streams:
                    if stream not in readers:
                        readers[stream] = threads.submit(self._reader_of(stream).run)
                for reader in readers.values():
                    if reader.done():
                        reader.result()  # what ends a reader ends the process, to be started again
                if time.monotonic() - looked > _LOOK_FOR_STREAMS_S:
                    streams, looked = self._streams(intake), time.monotonic()
                else:
                    time.sleep(_LOOK_AT_READERS_S)
        except BaseException:
            self._failed = True
            raise

    def _reader_of(self, stream: str) -> StreamReader:
        return StreamReader(self._settings, stream, self._name, self._scribe, self._trouble, self._stopping)

    def _stopping(self) -> bool:
        return self._failed or self._told_to_stop()

    def _streams(self, intake: Intake) -> Sequence[str]:
        try:
            return intake.streams()
        except REDIS_AWAY as error:
            # Each reader tells of its own stream; those that are known are read as far as they can be.
            logger.debug("cannot look for streams: %s", error)
            return read_streams(self._settings)


class Scribe:
    """Appends to the log for all streams of a process, one batch at a time, over one connection."""

    def __init__(self, database_url: str, pulse: Pulse, stopping: Callable[[], bool]) -> None:
        self._url = database_url
        self.pulse = pulse
        self._stopping = stopping
        self._lock = threading.Lock()
        self._connection: log.Connection | None = None

    def append(self, events: Sequence[NewEvent]) -> list[Appended] | None:
        """Where the events are in the log, durably; None when told to stop while Postgres was away."""
        with self._lock:
            while True:
                if self._connection is None or self._connection.closed:
                    self._connection = connect_patiently(
                        self._url, application="recorder", stopping=self._stopping
                    )
                    if self._connection is None:
                        return None
                try:
                    appended = log.append(self._connection, events)
                    if events:
                        log.announce(self._connection, events)
                except psycopg.OperationalError as error:
                    logger.warning("postgres went away while recording, trying again: %s", error)
                    self.pulse.waiting(f"postgres went away: {error}")
                    self._connection.close()
                    time.sleep(0.1)
                    continue
                return appended

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()


class Trouble:
    """What keeps streams from being read: a recorder waits when all of them do, and says so when some do."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse
        self._lock = threading.Lock()
        self._streams: dict[str, str | None] = {}

    def tell(self, stream: str, why: str | None = None) -> None:
        """``stream`` cannot be read now, or can be."""
        with self._lock:
            self._streams[stream] = why
            waiting = [f"{name}: {reason}" for name, reason in self._streams.items() if reason]
            if waiting and len(waiting) == len(self._streams):
                self._pulse.waiting(why or waiting[0])
            else:
                self._pulse.running(waiting[0] if waiting else None)


class StreamReader:
    """Consumes one stream."""

    def __init__(
        self,
        settings: Settings,
        stream: str,
        name: str,
        scribe: Scribe,
        trouble: Trouble,
        stopping: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._stream = stream
        self._name = name
        self._scribe = scribe
        self._trouble = trouble
        self._stopping = stopping
        self._client: redis.Redis | None = None
        self._pace = Pace(settings.gather_ms / 1000, stopping)

    def run(self) -> None:
        """Consume until ``stopping``; returns after the batch in hand is settled."""
        delay, housekeeping = 0.05, 0.0
        queue: TurnQueue | None = None
        while not self._stopping():
            try:
                if queue is None:
                    queue = self._open()
                    self._drain_own(queue)
                    delay = 0.05
                entries = queue.read(self._name, self._settings.batch_turns, _BLOCK_MS)
                self._pace.begin()
                self._trouble.tell(self._stream)
                if entries:
                    self._record(queue, entries)
                    if len(entries) < self._settings.batch_turns:
                        self._pace.rest()
                if time.monotonic() - housekeeping > _HOUSEKEEPING_S:
                    self._reclaim(queue)
                    queue.trim()
                    housekeeping = time.monotonic()
            except redis.ResponseError as error:
                # The stream or group vanished under us (FLUSHALL, a fresh Redis): make it again.
                logger.warning("redis refused: %s; opening the stream again in %.1f s", error, delay)
                self._trouble.tell(self._stream, f"redis refused: {error}")
                queue, delay = None, self._pause(delay)
            except REDIS_AWAY as error:
                logger.warning("redis is away, waiting %.1f s: %s", delay, error)
                self._trouble.tell(self._stream, f"redis is away: {error}")
                queue, delay = None, self._pause(delay)
        if self._client is not None:
            self._client.close()

    def _open(self) -> TurnQueue:
        if self._client is None:
            self._client = connect_redis(
                self._settings.redis_url,
                socket_timeout=10,
                socket_connect_timeout=5,
                health_check_interval=15,
            )
        queue = TurnQueue(self._client, self._stream, self._settings.consumer_group)
        queue.open()
        if gone := queue.forget(_FORGET_AFTER_MS):
            logger.info("forgot %d recorders that read %s before and are gone", gone, self._stream)
        logger.info("recording turns from %s as %s", self._stream, self._name)
        return queue

    def _pause(self, delay: float) -> float:
        time.sleep(delay)
        return min(delay * 2, 2.0)

    def _drain_own(self, queue: TurnQueue) -> None:
        while not self._stopping() and (entries := queue.read_own(self._name, self._settings.batch_turns)):
            logger.info("recording %d turns left over from before the restart", len(entries))
            self._record(queue, entries)

    def _reclaim(self, queue: TurnQueue) -> None:
        entries = queue.reclaim(self._name, self._settings.reclaim_after_ms, self._settings.batch_turns)
        if entries:
            logger.info("took over %d turns from a recorder that went away", len(entries))
            self._record(queue, entries)

    def _record(self, queue: TurnQueue, entries: Sequence[Entry]) -> None:
        good: list[Entry] = []
        events: list[NewEvent] = []
        dead: list[tuple[Entry, str, str]] = []
        for entry in entries:
            try:
                events.append(event_of(entry))
                good.append(entry)
            except TurnInvalidError as error:
                logger.warning(
                    "turn %s is invalid: %s",
                    entry.name,
                    error,
                    extra={"entry_id": entry.name, "field": error.field},
                )
                self._scribe.pulse.failed(f"turn {entry.name} is invalid: {error}")
                dead.append((entry, error.field, error.reason))
        appended = self._scribe.append(events)
        if appended is None:
            return  # told to stop while Postgres was away: the entries stay pending and come again
        duplicates: set[str] = set()
        for entry, event, place in zip(good, events, appended, strict=True):
            if place.duplicate:
                duplicates.add(entry.id)
                turn: Any = event.payload
                assert isinstance(turn, TurnRecorded)
                logger.info(
                    "turn %s was recorded before, at %d/%d: duplicate",
                    turn.turn_id, place.partition, place.position,
                    extra={
                        "turn_id": turn.turn_id, "partition": place.partition, "position": place.position,
                    },
                )  # fmt: skip
        queue.settle(good, dead, duplicates)
        self._scribe.pulse.passed(len(entries))
