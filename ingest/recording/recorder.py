"""The recorder takes turns off the queues, checks them and appends them to the log. It extracts nothing."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta

import redis

from events.health.health_status import RECORDER
from events.health.heartbeat import Heartbeat
from events.platform.counting import counted
from events.platform.isolation import is_the_datas_fault
from events.platform.linger import Linger
from events.platform.settings import Settings
from events.platform.streams import MOST_STREAMS, REDIS_AWAY, connect_redis, fault_of, read_streams
from events.sealing.entries import opened_entry
from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.queue_entry import QueueKey, names_tenant, unproven
from events.types.tenancy import DEFAULT_TENANT, storage_id
from events.types.turn_contract import (
    FIELDS,
    TurnInvalidError,
    is_date,
    parse_turn,
    pushed_at,
    session_of,
    text_of,
    turn_key,
)
from events.types.turns import TurnRecorded
from ingest.recording.intake import Intake
from ingest.recording.log_appender import LogAppender, Refused
from ingest.recording.turn_queue import LARGEST_ENTRY, Entry, TurnQueue

logger = logging.getLogger(__name__)

_BLOCK_MS = 500
_HOUSEKEEPING_S = 1.0
_LOOK_FOR_STREAMS_S = 1.0
_LOOK_AT_READERS_S = 0.05
_DELETE_CONSUMER_AFTER_MS = 3_600_000
_ASK_CLOCK_EVERY_S = 60.0


WHOLE_TURN = "(turn)"
"""The field of a dead letter when no single field is at fault."""
KNOWN = frozenset((*FIELDS, WHOLE_TURN))
"""The fields that a log line may name."""


def event_of(entry: Entry, now: datetime, key: QueueKey | None = None) -> NewEvent:
    """Returns the ``TurnRecorded`` event of a stream entry.

    ``now`` is the time on the clock of the entry's Redis server. ``key`` checks the tenant of an entry that names one.
    Raises :class:`TurnInvalidError` when the entry breaks the turn contract, and for a tenant without its proof.
    """
    if entry.size > LARGEST_ENTRY:
        raise TurnInvalidError(
            WHOLE_TURN,
            f"is {entry.size} bytes long; at most {LARGEST_ENTRY} are read, and its first bytes are kept",
        )
    fields: dict[str, str] = {}
    for raw_name, raw_value in opened_entry(entry.fields).items():
        name = text_of("(field name)", raw_name)
        fields[name] = text_of(name, raw_value)
    tenant = DEFAULT_TENANT
    if names_tenant(fields):
        if key is None:
            raise unproven()
        tenant, fields = key.opened(fields)
    user_id, turn = parse_turn(fields, entry_time=pushed_at(entry.id, now), entry_id=entry.name, now=now)
    return recorded_event(storage_id(tenant, user_id), turn)


def recorded_event(user_id: str, turn: TurnRecorded) -> NewEvent:
    """Returns the event that records ``turn``. The id of the turn is its idempotency key."""
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
    """Records the turns of every Redis stream until ``stopping()`` is true. Loses no turn and records none twice.

    The recorder acknowledges an entry only after the turn is durable in the log. A crash therefore repeats work and
    loses none. The idempotency key of the turn makes the repetition harmless. While Postgres or Redis is away, the
    recorder waits, reports the reason in its heartbeat and tries again. A stream whose Redis node is away does not
    delay the other streams. The recorder looks for streams every second, so the publishers may use another number of
    streams. Several recorders may run at once. Each recorder needs its own ``name``.
    """

    def __init__(self, settings: Settings, name: str, stopping: Callable[[], bool]) -> None:
        self._settings = settings
        self._name = name
        self._stop_requested = stopping
        self._failed = False
        self._heartbeat = Heartbeat(settings.database_url, RECORDER, name)
        self._appender = LogAppender(settings.database_url, self._heartbeat, self._stopping)
        self._stream_health = StreamHealth(self._heartbeat)

    def run(self) -> None:
        """Records until ``stopping()`` is true. Returns after every running batch is settled.

        Raises the error of a stream reader that failed for a reason outside the data.
        """
        intake = Intake(self._settings)
        try:
            with self._heartbeat, ThreadPoolExecutor(1 + MOST_STREAMS, "recorder") as threads:
                self._read_all(intake, threads)
        finally:
            intake.close()
            self._appender.close()
        logger.info("recorder %s stopped", self._name)

    def _read_all(self, intake: Intake, threads: ThreadPoolExecutor) -> None:
        """Reads each stream in its own thread. Streams that appear later get a thread too."""
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
                        reader.result()  # An error that ends a reader ends the process. A supervisor restarts it.
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
        return self._failed or self._stop_requested()

    def _streams(self, intake: Intake) -> Sequence[str]:
        try:
            return intake.streams()
        except REDIS_AWAY as error:
            # Each reader reports the health of its own stream. The configured streams are read meanwhile.
            logger.debug("the recorder cannot list the streams: %s", error)
            return read_streams(self._settings)


class StreamHealth:
    """Reports to the heartbeat why Redis streams cannot be read.

    The recorder is ``waiting`` when no stream can be read. The recorder is ``running`` when at least one stream can
    be read. The heartbeat then carries the reason of a stream that cannot be read.
    """

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._lock = threading.Lock()
        self._streams: dict[str, str | None] = {}

    def report(self, stream: str, why: str | None = None) -> None:
        """Records that ``stream`` cannot be read because of ``why``, or can be read when ``why`` is None."""
        with self._lock:
            self._streams[stream] = why
            waiting = [f"{name}: {reason}" for name, reason in self._streams.items() if reason]
            if waiting and len(waiting) == len(self._streams):
                self._heartbeat.waiting(why or waiting[0])
            else:
                self._heartbeat.running(waiting[0] if waiting else None)


class StreamReader:
    """Records the turns of one Redis stream."""

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
        self._key: QueueKey | None = None
        self._far_ahead = False
        self._clock: tuple[float, datetime | None] = (0.0, None)
        self._linger = Linger(settings.linger_ms / 1000, stopping)

    def run(self) -> None:
        """Records until ``stopping()`` is true. Returns after the running batch is settled.

        Raises ``MemoryError`` and ``ImportError``. Every other error leads to a new attempt.
        """
        delay, housekeeping = 0.05, 0.0
        queue: TurnQueue | None = None
        while not self._stopping():
            try:
                if queue is None:
                    queue = self._open()
                    self._drain_own(queue)
                    delay = 0.05
                queue.take_pushed(self._settings.batch_turns)
                entries = queue.read(self._name, self._settings.batch_turns, _BLOCK_MS)
                self._linger.begin_round()
                self._stream_health.report(self._stream)
                if entries:
                    self._record(queue, entries)
                    if len(entries) < self._settings.batch_turns:
                        self._linger.wait()
                if self._far_ahead:
                    self._roll_over(queue)
                if time.monotonic() - housekeeping > _HOUSEKEEPING_S:
                    self._reclaim(queue)
                    self._trim(queue)
                    self._far_ahead = True
                    housekeeping = time.monotonic()
            except (MemoryError, ImportError):
                raise
            except Exception as error:
                why = self._failed(error, delay)
                self._stream_health.report(self._stream, why)
                time.sleep(delay)
                queue, delay = None, min(delay * 2, 2.0)
        if self._client is not None:
            self._client.close()

    def _roll_over(self, queue: TurnQueue) -> None:
        """Rolls the stream over when its last id is too far ahead.

        The caller checks once a second and after every batch with such ids. Moments in which every group has settled
        all delivered entries may be rare.
        """
        self._far_ahead = False
        if queue.roll_over():
            logger.warning(
                "the last id of %s was more than a day ahead of the clock: the stream restarts at the present",
                self._stream,
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
        self._trim(queue)
        if deleted := queue.delete_idle_consumers(_DELETE_CONSUMER_AFTER_MS):
            logger.info("deleted %d consumers of %s that were idle for an hour", deleted, self._stream)
        logger.info("recording turns from %s as %s", self._stream, self._name)
        return queue

    def _trim(self, queue: TurnQueue) -> None:
        _, lost = queue.trim()
        if lost:
            fault = (
                f"{counted(lost, 'turn')} left {self._stream} before they were recorded: somebody trimmed the stream; "
                "see who may use XADD, XTRIM and XDEL"
            )
            logger.error("%s", fault)
            self._appender.heartbeat.failed(fault)

    def _failed(self, error: Exception, delay: float) -> str:
        """Logs why a round failed, and returns it. The entries of the batch stay pending and are read again."""
        if isinstance(error, redis.ResponseError):
            # The stream or the group is gone (FLUSHALL, an empty Redis). The next round creates both.
            logger.warning("redis refused: %s; the recorder opens the stream again in %.1f s", error, delay)
            return f"redis refused: {error}"
        if isinstance(error, REDIS_AWAY):
            logger.warning("%s; the recorder waits %.1f s", fault_of(error), delay)
            return fault_of(error)
        logger.exception("cannot record from %s; the recorder tries again in %.1f s", self._stream, delay)
        return log.reason_of(error)

    def _drain_own(self, queue: TurnQueue) -> None:
        while not self._stopping() and (entries := queue.read_own(self._name, self._settings.batch_turns)):
            logger.info("recording %d turns that were pending before the restart", len(entries))
            self._record(queue, entries)

    def _reclaim(self, queue: TurnQueue) -> None:
        entries = queue.reclaim(self._name, self._settings.reclaim_after_ms, self._settings.batch_turns)
        if entries:
            logger.info("took over %d turns from a recorder that is gone", len(entries))
            self._record(queue, entries)

    def _record(self, queue: TurnQueue, entries: Sequence[Entry]) -> None:
        good: list[tuple[Entry, NewEvent]] = []
        dead: list[tuple[Entry, str, str]] = []
        now = self._now(queue)
        if self._key is None and any(names_tenant(entry.fields) for entry in entries):
            secret = self._settings.token_key.encode() or self._appender.token_key()
            if secret is None:
                return  # as below
            self._key = QueueKey(secret)
        for entry in self._named(queue, entries, now):
            try:
                good.append((entry, event_of(entry, now, self._key)))
            except TurnInvalidError as error:
                dead.append((entry, error.field, error.reason))
            except Exception as error:
                if not is_the_datas_fault(error):
                    raise
                dead.append((entry, WHOLE_TURN, f"cannot be read: {log.reason_of(error)}"))
        self._refuse(queue, dead)
        appended = self._appender.append([event for _, event in good])
        if appended is None:
            return  # The recorder stops while Postgres is away. The entries stay pending and are read again.
        recorded: list[Entry] = []
        refused: list[tuple[Entry, str, str]] = []
        duplicates: set[str] = set()
        for (entry, event), result in zip(good, appended, strict=True):
            if isinstance(result, Refused):
                refused.append((entry, WHOLE_TURN, f"the log cannot store the turn: {result.reason}"))
                continue
            recorded.append(entry)
            if result.duplicate:
                duplicates.add(entry.id)
                turn: object = event.payload
                assert isinstance(turn, TurnRecorded)
                logger.info(
                    "turn %s was recorded before, at %d/%d: duplicate",
                    turn.turn_id, result.partition, result.position,
                    extra={
                        "turn_id": turn.turn_id, "partition": result.partition, "position": result.position,
                    },
                )  # fmt: skip
        queue.settle(recorded, [], duplicates)
        self._refuse(queue, refused)
        self._appender.heartbeat.passed(len(entries))

    def _refuse(self, queue: TurnQueue, dead: Sequence[tuple[Entry, str, str]]) -> None:
        """Makes entries dead letters. This needs no Postgres, so a refused entry does not wait for it."""
        for entry, field, _reason in dead:
            # The reason quotes the value, and a confused app may give a user's words anywhere, also as a field's name.
            named = field if field in KNOWN else "(unknown field)"
            fault = f"turn {entry.name} is invalid: {named}; `cardlog dead list` gives the reason"
            logger.warning("%s", fault, extra={"entry_id": entry.name, "field": named})
            self._appender.heartbeat.failed(fault)
        queue.settle([], dead, frozenset())

    def _named(self, queue: TurnQueue, entries: Sequence[Entry], now: datetime) -> Sequence[Entry]:
        """Returns the entries with unique names. An id that is no date can return after the stream rolled over."""
        if all(is_date(entry.id, now) for entry in entries):
            return entries
        self._far_ahead = True
        incarnation = queue.incarnation()
        return [
            entry if is_date(entry.id, now) else replace(entry, mark=f"{entry.mark}{incarnation}")
            for entry in entries
        ]

    def _now(self, queue: TurnQueue) -> datetime:
        """Returns the time on the clock of Redis, read once a minute. The checks need days, not seconds."""
        asked, now = self._clock
        passed = time.monotonic() - asked
        if now is None or not 0 <= passed < _ASK_CLOCK_EVERY_S:
            now = queue.now()
            passed = 0.0
            self._clock = (time.monotonic(), now)
        return now + timedelta(seconds=passed)
