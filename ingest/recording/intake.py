"""The intake, which is all turn queues as one, and the overview of every stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import redis

from events.health.cached_probe import CachedProbe
from events.health.health_status import RECORDER, LogHealth, LogMonitor, assess
from events.health.stage_health import Overview, StageHealth
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, connect_redis, existing, fault_of, read_streams, streams_named
from events.types.turn_contract import entry_time
from ingest.recording.turn_queue import TurnQueue


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """The numbers of the intake that Redis knows. ``why`` is the reason when they are unknown.

    ``behind`` is the queue depth, ``seconds`` the age of the oldest turn, ``dead`` the number of dead letters.
    ``counts`` are those of :meth:`ingest.recording.turn_queue.TurnQueue.counts`; they began with the stream.
    """

    behind: int | None
    seconds: float | None
    counts: dict[str, int]
    dead: int | None
    why: str | None = None

    def recorder(self, log: LogHealth) -> StageHealth:
        """Returns the health of the recorder, judged from the queues and from the heartbeats in Postgres."""
        heartbeats = [report for report in log.reports if report.stage == RECORDER]
        moved = [report.moved_s for report in heartbeats if report.moved_s is not None]
        stage = assess(
            RECORDER,
            heartbeats,
            behind=self.behind or 0,
            seconds=self.seconds,
            moved_s=min(moved, default=None),
            parked=0,
            dead=self.dead,
            position=None
            if self.behind is None
            else sum(self.counts.get(name, 0) for name in ("recorded", "duplicates", "dead")),
        )
        if log.events is None:
            # The heartbeats are in Postgres. Without Postgres only the queue depth is known.
            why = log.reader("extractor").detail
            stage = replace(stage, state="unknown", detail=why, workers=None, stalled_s=None)
        if self.behind is None:
            stage = replace(stage, state="unknown", detail=self.why, behind=None, stalled_s=None)
        return stage

    @classmethod
    def absent(cls, why: str) -> QueueHealth:
        """Returns a health in which every number is unknown because of ``why``."""
        return cls(None, None, {}, None, why)


class Intake:
    """Answers for all streams together. When one stream does not answer, the whole answer is unknown.

    The intake connects at the first call. Each call fails after ``timeout_s``. All methods raise one of ``REDIS_AWAY``
    when a node of Redis is away.
    """

    def __init__(self, settings: Settings, *, timeout_s: float = 5.0) -> None:
        self._settings = settings
        self._timeout_s = timeout_s

    @cached_property
    def _redis(self) -> redis.Redis:
        return connect_redis(
            self._settings.redis_url,
            socket_timeout=self._timeout_s,
            socket_connect_timeout=min(2.0, self._timeout_s),
        )

    def streams(self) -> list[str]:
        """Returns every stream that may hold turns: the configured ones, and existing ones of an earlier layout."""
        always = read_streams(self._settings)
        others = [stream for stream in streams_named(self._settings.turns_stream) if stream not in always]
        return [*always, *existing(self._redis, others)]

    def queues(self) -> list[TurnQueue]:
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
            return QueueHealth.absent(fault_of(error))

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


_PATIENCE_S = 3.0


class Overviews:
    """Makes an overview on each call. A server that gives none within three seconds is unknown."""

    def __init__(self, settings: Settings) -> None:
        self._why = f"did not answer within {_PATIENCE_S:g} s"
        self._intake = Intake(settings)
        self._queue = CachedProbe(self._intake.health, fresh_s=0.0, patience_s=_PATIENCE_S)
        self._watch = LogMonitor(settings.database_url, "status")
        self._log = CachedProbe(self._watch, fresh_s=0.0, patience_s=_PATIENCE_S)
        self._last: Overview | None = None

    def __call__(self) -> Overview:
        queue = self._queue() or QueueHealth.absent(f"redis {self._why}")
        log = self._log() or LogHealth.absent(f"postgres {self._why}")
        known = queue.dead is not None
        seen = Overview(
            stages=(queue.recorder(log), *log.readers),
            events=log.events,
            parked=log.parked,
            dead=queue.dead,
            recorded=queue.counts.get("recorded", 0) if known else None,
            duplicates=queue.counts.get("duplicates", 0) if known else None,
            lost=queue.counts.get("lost", 0) if known else None,
            whole=log.whole,
        )
        self._last = seen.rated(self._last)
        return self._last

    def close(self) -> None:
        self._watch.close()
        self._intake.close()
