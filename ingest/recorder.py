"""The recorder: turns off the queue, checked, into the log. No understanding happens here."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import redis

from events import log
from events.database import connect_patiently
from events.envelope import Appended, NewEvent, uuid7
from events.settings import Settings
from events.stages import Pulse
from events.standing import RECORDER
from events.turn import TurnInvalidError, entry_time, parse_turn, text_of
from events.types.turns import TurnRecorded
from ingest.queue import Entry, TurnQueue

logger = logging.getLogger(__name__)

_BLOCK_MS = 500
_HOUSEKEEPING_S = 1.0


def session_stream(project_id: str, session_id: str) -> str:
    """The log stream of a session's turns."""
    return f"session/{project_id}/{session_id}"


def event_of(entry: Entry) -> NewEvent:
    """The event a stream entry asks for. Raises :class:`TurnInvalidError`."""
    fields: dict[str, str] = {}
    for raw_name, raw_value in entry.fields.items():
        name = text_of("(field name)", raw_name)
        fields[name] = text_of(name, raw_value)
    user_id, turn = parse_turn(fields, entry_time=entry_time(entry.id), entry_id=entry.id)
    return NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream=session_stream(turn.project_id, turn.session_id),
        payload=turn,
        occurred_at=turn.said_at,
        actor="recorder",
        dedupe_key=f"turn/{turn.turn_id}",
    )


class Recorder:
    """Consumes the queue until told to stop. Run as many as you like, each with its own ``name``.

    An entry is acknowledged only after its turn is durable in the log, so a crash anywhere repeats work
    and never loses it; the turn's dedupe key makes the repeat harmless. While Postgres or Redis is away
    the recorder waits, says so, and goes on.
    """

    def __init__(self, settings: Settings, name: str, stopping: Callable[[], bool]) -> None:
        self._settings = settings
        self._name = name
        self._stopping = stopping
        self._pulse = Pulse(settings.database_url, RECORDER, name)
        client = redis.Redis.from_url(
            settings.redis_url, socket_timeout=10, socket_connect_timeout=5, health_check_interval=15
        )
        self._queue = TurnQueue(client, settings.turns_stream, settings.consumer_group)
        self._connection: log.Connection | None = None

    def run(self) -> None:
        """Consume until ``stopping``; returns after the batch in hand is settled."""
        with self._pulse:
            self._consume()

    def _consume(self) -> None:
        delay, ready, housekeeping = 0.05, False, 0.0
        while not self._stopping():
            try:
                if not ready:
                    self._queue.open()
                    self._drain_own()
                    logger.info("recording turns from %s as %s", self._queue.stream, self._name)
                    ready, delay = True, 0.05
                entries = self._queue.read(self._name, self._settings.batch_turns, _BLOCK_MS)
                self._pulse.running()
                if entries:
                    self._record(entries)
                if time.monotonic() - housekeeping > _HOUSEKEEPING_S:
                    self._reclaim()
                    self._queue.trim()
                    housekeeping = time.monotonic()
            except redis.ResponseError as error:
                # The stream or group vanished under us (FLUSHALL, a fresh Redis): make it again.
                logger.warning("redis refused: %s; opening the stream again in %.1f s", error, delay)
                self._pulse.waiting(f"redis refused: {error}")
                ready, delay = False, self._pause(delay)
            except redis.RedisError as error:
                logger.warning("redis is away, waiting %.1f s: %s", delay, error)
                self._pulse.waiting(f"redis is away: {error}")
                ready, delay = False, self._pause(delay)
        if self._connection is not None:
            self._connection.close()
        logger.info("recorder %s stopped", self._name)

    def _pause(self, delay: float) -> float:
        time.sleep(delay)
        return min(delay * 2, 2.0)

    def _drain_own(self) -> None:
        while not self._stopping() and (
            entries := self._queue.read_own(self._name, self._settings.batch_turns)
        ):
            logger.info("recording %d turns left over from before the restart", len(entries))
            self._record(entries)

    def _reclaim(self) -> None:
        entries = self._queue.reclaim(self._name, self._settings.reclaim_after_ms, self._settings.batch_turns)
        if entries:
            logger.info("took over %d turns from a recorder that went away", len(entries))
            self._record(entries)

    def _record(self, entries: Sequence[Entry]) -> None:
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
                    entry.id,
                    error,
                    extra={"entry_id": entry.id, "field": error.field},
                )
                self._pulse.failed(f"turn {entry.id} is invalid: {error}")
                dead.append((entry, error.field, error.reason))
        appended = self._append(events)
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
        self._queue.settle(good, dead, duplicates)
        self._pulse.passed(len(entries))

    def _append(self, events: Sequence[NewEvent]) -> list[Appended] | None:
        while True:
            if self._connection is None or self._connection.closed:
                self._connection = connect_patiently(
                    self._settings.database_url, application="recorder", stopping=self._stopping
                )
                if self._connection is None:
                    return None
            try:
                appended = log.append(self._connection, events)
                if events:
                    log.announce(self._connection)
            except psycopg.OperationalError as error:
                logger.warning("postgres went away while recording, trying again: %s", error)
                self._pulse.waiting(f"postgres went away: {error}")
                self._connection.close()
                time.sleep(0.1)
                continue
            return appended
