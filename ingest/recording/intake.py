"""The intake: all turn queues as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import redis

from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, connect_redis, existing, read_streams, streams_named
from events.types.turn_contract import entry_time
from ingest.recording.queue_health import QueueHealth
from ingest.recording.turn_queue import TurnQueue


class Intake:
    """Answers for all streams together. When one stream does not answer, the whole answer is unknown.

    The intake connects at the first call. All methods raise one of ``REDIS_AWAY`` when a node of Redis is away.
    """

    def __init__(self, settings: Settings, connect: Callable[[], redis.Redis]) -> None:
        self._settings = settings
        self._connect = connect

    @cached_property
    def _redis(self) -> redis.Redis:
        return self._connect()

    def streams(self) -> list[str]:
        """Returns every stream that may hold turns: the configured ones, and existing ones of an earlier layout."""
        always = read_streams(self._settings)
        others = [stream for stream in streams_named(self._settings.turns_stream) if stream not in always]
        return [*always, *existing(self._redis, others)]

    def queues(self) -> list[TurnQueue]:
        """Returns the turn queue of each stream."""
        return [TurnQueue(self._redis, stream, self._settings.consumer_group) for stream in self.streams()]

    def close(self) -> None:
        """Closes the connection to Redis."""
        if "_redis" in self.__dict__:
            self._redis.close()
            del self._redis

    def statistics(self) -> QueueHealth:
        """Returns the present sums over all queues. Raises one of ``REDIS_AWAY``: an unknown number is never zero."""
        behind, dead, seconds = 0, 0, 0.0
        counts = {"recorded": 0, "duplicates": 0}
        for queue in self.queues():
            depth = queue.depth()
            behind += depth.waiting + depth.pending
            dead += queue.dead_count()
            if depth.oldest_id is not None:
                seconds = max(seconds, (queue.now() - entry_time(depth.oldest_id)).total_seconds())
            for name, count in queue.counts().items():
                counts[name] = counts.get(name, 0) + count
        return QueueHealth(behind, seconds, counts, dead)

    def health(self) -> QueueHealth:
        """Returns :meth:`statistics`. A Redis that is away is a result, not an error."""
        try:
            return self.statistics()
        except REDIS_AWAY as error:
            return QueueHealth.absent(f"redis is away: {' '.join(str(error).split())}")

    def last_ids(self) -> dict[str, str]:
        """Returns the id of the last entry ever pushed, by stream. Streams without an entry are absent.

        Turns on the list of the restricted pushers move to their stream first, so they count as pushed.
        """
        for queue in self.queues():
            queue.take_pushed()
        found = {queue.stream: queue.last_id() for queue in self.queues()}
        return {stream: last for stream, last in found.items() if last is not None}

    def settled_up_to(self, last_ids: Mapping[str, str]) -> bool:
        """Returns True when every entry up to these ids, by stream, is recorded or dead."""
        return all(
            TurnQueue(self._redis, stream, self._settings.consumer_group).settled_up_to(last)
            for stream, last in last_ids.items()
        )


def open_intake(settings: Settings, *, timeout_s: float = 5.0) -> Intake:
    """Returns the intake that the settings name. Each call fails after ``timeout_s``."""

    def connect() -> redis.Redis:
        return connect_redis(
            settings.redis_url, socket_timeout=timeout_s, socket_connect_timeout=min(2.0, timeout_s)
        )

    return Intake(settings, connect)
