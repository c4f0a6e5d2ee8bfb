"""The recorder: turns off the queue, checked, into the log. No understanding happens here."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import redis

from events.health.health_status import RECORDER
from events.health.heartbeat import Heartbeat
from events.platform.database import connect_with_retry
from events.platform.failures import is_away
from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.linger import Linger, pause
from events.platform.settings import Settings
from events.platform.streams import MOST_STREAMS, REDIS_AWAY, connect_redis, read_streams
from events.store import log
from events.types.envelope import Appended, NewEvent, uuid7
from events.types.turn_contract import (
    TurnInvalidError,
    is_date,
    parse_turn,
    pushed_at,
    session_of,
    text_of,
    turn_key,
)
from events.types.turns import TurnRecorded
from ingest.recording.intake import Intake, open_intake
from ingest.recording.turn_queue import Entry, TurnQueue

logger = logging.getLogger(__name__)

_BLOCK_MS = 500
_HOUSEKEEPING_S = 1.0
_LOOK_FOR_STREAMS_S = 1.0
_LOOK_AT_READERS_S = 0.05
_FORGET_AFTER_MS = 3_600_000
_PATIENCE_S = 0.1
_LONGEST_PAUSE_S = 2.0
_ASK_CLOCK_EVERY_S = 60.0


WHOLE_TURN = "(turn)"
"""Named in a dead letter where no single field is to blame."""


def event_of(entry: Entry, now: datetime) -> NewEvent:
    """The event a stream entry asks for, ``now`` being the time on the clock of its Redis.

    Raises :class:`TurnInvalidError`.
    """
    fields: dict[str, str] = {}
    for raw_name, raw_value in entry.fields.items():
        name = text_of("(field name)", raw_name)
        fields[name] = text_of(name, raw_value)
    user_id, turn = parse_turn(fields, entry_time=pushed_at(entry.id, now), entry_id=entry.name, now=now)
    return NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream=session_of(turn),
        payload=turn,
        occurred_at=turn.said_at,
        actor="recorder",
        dedupe_key=turn_key(turn.turn_id),
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
        self._heartbeat = Heartbeat(settings.database_url, RECORDER, name)
        self._appender = LogAppender(settings.database_url, self._heartbeat, self._stopping)
        self._stream_health = StreamHealth(self._heartbeat)

    def run(self) -> None:
        """Consume until ``stopping``; returns after the batches in hand are settled."""
        intake = open_intake(self._settings)
        try:
            with self._heartbeat, ThreadPoolExecutor(1 + MOST_STREAMS, "recorder") as threads:
                self._read_all(intake, threads)
        finally:
            intake.close()
            self._appender.close()
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
        return StreamReader(
            self._settings, stream, self._name, self._appender, self._stream_health, self._stopping
        )

    def _stopping(self) -> bool:
        return self._failed or self._told_to_stop()

    def _streams(self, intake: Intake) -> Sequence[str]:
        try:
            return intake.streams()
        except REDIS_AWAY as error:
            # Each reader tells of its own stream; those that are known are read as far as they can be.
            logger.debug("cannot look for streams: %s", error)
            return read_streams(self._settings)


@dataclass(frozen=True, slots=True)
class Refused:
    """The log cannot take an event, whatever else is appended with it; ``reason`` is for an operator."""

    reason: str


class _StoppedError(Exception):
    """Told to stop while Postgres was away."""


class LogAppender:
    """Appends to the log for all streams of a process, one batch at a time, over one connection."""

    def __init__(self, database_url: str, heartbeat: Heartbeat, stopping: Callable[[], bool]) -> None:
        self._url = database_url
        self.heartbeat = heartbeat
        self._stopping = stopping
        self._lock = threading.Lock()
        self._connection: log.Connection | None = None

    def append(self, events: Sequence[NewEvent]) -> list[Appended | Refused] | None:
        """Where each event is in the log, durably, or why it cannot be there; None when told to stop first.

        An event that cannot be appended is found by halving the batch: all others are appended. Waits while
        Postgres is away, or is not as it should be.
        """
        places: dict[int, Appended | Refused] = {}

        def attempt(which: Sequence[int]) -> None:
            appended = self._append([events[index] for index in which])
            places.update(zip(which, appended, strict=True))

        with self._lock:
            try:
                culprits = isolate(range(len(events)), attempt, blames=_is_its_fault)
            except _StoppedError:
                return None
        for culprit in culprits:
            places[culprit.item] = Refused(log.reason_of(culprit.error))
        return [places[index] for index in range(len(events))]

    def _append(self, events: Sequence[NewEvent]) -> list[Appended]:
        """All of them or none. Raises what is their fault, and :class:`_StoppedError`."""
        delay = _PATIENCE_S
        while True:
            if self._connection is None or self._connection.closed:
                self._connection = connect_with_retry(
                    self._url, application="recorder", stopping=self._stopping
                )
                if self._connection is None:
                    raise _StoppedError
            try:
                appended = log.append(self._connection, events)
                log.announce(self._connection, events)
            except Exception as error:
                if is_the_datas_fault(error):
                    raise
                why = "postgres went away" if is_away(error) else "postgres cannot take turns"
                logger.warning("%s while recording, trying again in %.1f s: %s", why, delay, error)
                self.heartbeat.waiting(f"{why}: {error}")
                self._connection.close()
                pause(delay, self._stopping)
                delay = min(delay * 2, _LONGEST_PAUSE_S)
                continue
            return appended

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()


def _is_its_fault(error: Exception) -> bool:
    return is_the_datas_fault(error) and not isinstance(error, _StoppedError)


class StreamHealth:
    """What keeps streams from being read: a recorder waits when all of them do, and says so when some do."""

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self._streams: dict[str, str | None] = {}

    def tell(self, stream: str, why: str | None = None) -> None:
        """``stream`` cannot be read now, or can be."""
        with self._lock:
            self._streams[stream] = why
            waiting = [f"{name}: {reason}" for name, reason in self._streams.items() if reason]
            if waiting and len(waiting) == len(self._streams):
                self._heartbeat.waiting(why or waiting[0])
            else:
                self._heartbeat.running(waiting[0] if waiting else None)


class StreamReader:
    """Consumes one stream."""

    def __init__(
        self,
        settings: Settings,
        stream: str,
        name: str,
        appender: LogAppender,
        stream_health: StreamHealth,
        stopping: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._stream = stream
        self._name = name
        self._appender = appender
        self._stream_health = stream_health
        self._stopping = stopping
        self._client: redis.Redis | None = None
        self._far = False
        self._clock: tuple[float, datetime | None] = (0.0, None)
        self._linger = Linger(settings.linger_ms / 1000, stopping)

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
                self._linger.begin_round()
                self._stream_health.tell(self._stream)
                if entries:
                    self._record(queue, entries)
                    if len(entries) < self._settings.batch_turns:
                        self._linger.wait()
                if self._far:
                    self._roll_over(queue)
                if time.monotonic() - housekeeping > _HOUSEKEEPING_S:
                    self._reclaim(queue)
                    queue.trim()
                    self._far = True
                    housekeeping = time.monotonic()
            except redis.ResponseError as error:
                # The stream or group vanished under us (FLUSHALL, a fresh Redis): make it again.
                logger.warning("redis refused: %s; opening the stream again in %.1f s", error, delay)
                self._stream_health.tell(self._stream, f"redis refused: {error}")
                queue, delay = None, self._pause(delay)
            except REDIS_AWAY as error:
                logger.warning("redis is away, waiting %.1f s: %s", delay, error)
                self._stream_health.tell(self._stream, f"redis is away: {error}")
                queue, delay = None, self._pause(delay)
            except Exception as error:
                # Nobody foresaw it. What is in hand stays pending and comes again; other streams go on.
                if isinstance(error, MemoryError | ImportError):
                    raise
                logger.exception("cannot record from %s, trying again in %.1f s", self._stream, delay)
                self._stream_health.tell(self._stream, log.reason_of(error))
                queue, delay = None, self._pause(delay)
        if self._client is not None:
            self._client.close()

    def _roll_over(self, queue: TurnQueue) -> None:
        """Look whether the last id is too far ahead: once a second, and behind every batch with such ids, for there
        may be few moments in which everybody has settled what they were given."""
        self._far = False
        if queue.roll_over():
            logger.warning(
                "the last id of %s was more than a day ahead of the clock: it begins anew", self._stream
            )

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
        good: list[tuple[Entry, NewEvent]] = []
        dead: list[tuple[Entry, str, str]] = []
        now = self._now(queue)
        for entry in self._named(queue, entries, now):
            try:
                good.append((entry, event_of(entry, now)))
            except TurnInvalidError as error:
                dead.append((entry, error.field, error.reason))
            except Exception as error:
                if not is_the_datas_fault(error):
                    raise
                dead.append((entry, WHOLE_TURN, f"cannot be read: {log.reason_of(error)}"))
        appended = self._appender.append([event for _, event in good])
        if appended is None:
            return  # told to stop while Postgres was away: the entries stay pending and come again
        recorded: list[Entry] = []
        duplicates: set[str] = set()
        for (entry, event), place in zip(good, appended, strict=True):
            if isinstance(place, Refused):
                dead.append((entry, WHOLE_TURN, f"the log cannot take it: {place.reason}"))
                continue
            recorded.append(entry)
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
        for entry, field, reason in dead:
            logger.warning(
                "turn %s is invalid: %s: %s",
                entry.name,
                field,
                reason,
                extra={"entry_id": entry.name, "field": field},
            )
            self._appender.heartbeat.failed(f"turn {entry.name} is invalid: {field}: {reason}")
        queue.settle(recorded, dead, duplicates)
        self._appender.heartbeat.passed(len(entries))

    def _named(self, queue: TurnQueue, entries: Sequence[Entry], now: datetime) -> Sequence[Entry]:
        """Entries with names no other ever had: an id that is no date can come again in a stream that rolled over."""
        if all(is_date(entry.id, now) for entry in entries):
            return entries
        self._far = True
        life = queue.life()
        return [
            entry if is_date(entry.id, now) else replace(entry, mark=f"{entry.mark}{life}")
            for entry in entries
        ]

    def _now(self, queue: TurnQueue) -> datetime:
        """The time on the clock of Redis, asked for once a minute: it tells days, not seconds."""
        asked, now = self._clock
        passed = time.monotonic() - asked
        if now is None or not 0 <= passed < _ASK_CLOCK_EVERY_S:
            now = queue.now()
            passed = 0.0
            self._clock = (time.monotonic(), now)
        return now + timedelta(seconds=passed)
