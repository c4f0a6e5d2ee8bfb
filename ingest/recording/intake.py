"""All the streams turns come in on, looked at as one queue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import redis

from events.platform.settings import Settings
from events.platform.streams import connect_redis, existing, read_streams, streams_named
from events.types.turn_contract import entry_time
from ingest.recording.turn_queue import TurnQueue


@dataclass(frozen=True, slots=True)
class IntakeStatistics:
    """What all streams hold together: turns not settled, the age of the oldest of them, dead letters, counts."""

    behind: int = 0
    seconds: float = 0.0
    dead: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)


class Intake:
    """Answers for all streams, or not at all: what one of them does not tell is unknown for the whole.

    Connects when first asked. All methods raise one of ``REDIS_AWAY``.
    """

    def __init__(self, settings: Settings, connect: Callable[[], redis.Redis]) -> None:
        self._settings = settings
        self._connect = connect

    @cached_property
    def _redis(self) -> redis.Redis:
        return self._connect()

    def streams(self) -> list[str]:
        """Every stream turns may be on: those read always, and any other that is there, left by another layout."""
        always = read_streams(self._settings)
        others = [stream for stream in streams_named(self._settings.turns_stream) if stream not in always]
        return [*always, *existing(self._redis, others)]

    def queues(self) -> list[TurnQueue]:
        """The queue of each stream."""
        return [TurnQueue(self._redis, stream, self._settings.consumer_group) for stream in self.streams()]

    def close(self) -> None:
        """Let go of Redis."""
        if "_redis" in self.__dict__:
            self._redis.close()
            del self._redis

    def statistics(self) -> IntakeStatistics:
        """How everything stands now; never zero for unknown."""
        behind, dead, seconds = 0, 0, 0.0
        counts = {"recorded": 0, "duplicates": 0}
        for queue in self.queues():
            backlog = queue.backlog()
            behind += backlog.waiting + backlog.pending
            dead += queue.dead_count()
            if backlog.oldest_id is not None:
                seconds = max(seconds, (queue.now() - entry_time(backlog.oldest_id)).total_seconds())
            for name, count in queue.counts().items():
                counts[name] = counts.get(name, 0) + count
        return IntakeStatistics(behind, seconds, dead, counts)

    def last_ids(self) -> dict[str, str]:
        """The id of the last entry ever pushed, of every stream that had one."""
        found = {queue.stream: queue.last_id() for queue in self.queues()}
        return {stream: last for stream, last in found.items() if last is not None}

    def settled_up_to(self, last_ids: Mapping[str, str]) -> bool:
        """Whether everything pushed up to these entries, by stream, is recorded or dead."""
        return all(
            TurnQueue(self._redis, stream, self._settings.consumer_group).settled_up_to(last)
            for stream, last in last_ids.items()
        )


def open_intake(settings: Settings, *, timeout_s: float = 5.0) -> Intake:
    """The intake the settings name; calls give up after ``timeout_s``."""

    def connect() -> redis.Redis:
        return connect_redis(
            settings.redis_url, socket_timeout=timeout_s, socket_connect_timeout=min(2.0, timeout_s)
        )

    return Intake(settings, connect)
