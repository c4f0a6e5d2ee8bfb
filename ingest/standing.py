"""How the recorder stands: the queue's part of the overview. Unknown is never zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import redis

from events.settings import Settings
from events.standing import RECORDER, LogStanding, Stage, judge
from events.turn import entry_time
from ingest.queue import TurnQueue


@dataclass(frozen=True, slots=True)
class QueueStanding:
    """What Redis knows: the backlog and the counts since the stream began; ``why`` they are unknown, if they are."""

    behind: int | None
    seconds: float | None
    counts: dict[str, int]
    dead: int | None
    why: str | None = None

    def recorder(self, log: LogStanding) -> Stage:
        """The recorder, from its queue and from what its workers told Postgres."""
        said = [report for report in log.reports if report.stage == RECORDER]
        moved = [report.moved_s for report in said if report.moved_s is not None]
        stage = judge(
            RECORDER,
            said,
            behind=self.behind or 0,
            seconds=self.seconds,
            moved_s=min(moved, default=None),
            parked=0,
            dead=self.dead,
            position=None
            if self.behind is None
            else sum(map(self._count, ("recorded", "duplicates", "dead"))),
        )
        if log.events is None:
            # Its workers tell Postgres how they are: nobody can say more than what lies in the queue.
            why = log.reader("extractor").detail
            stage = replace(stage, state="unknown", detail=why, workers=None, standing_s=None)
        if self.behind is None:
            stage = replace(stage, state="unknown", detail=self.why, behind=None, standing_s=None)
        return stage

    def _count(self, name: str) -> int:
        return self.counts.get(name, 0)

    @classmethod
    def absent(cls, why: str) -> QueueStanding:
        """All of it unknown."""
        return cls(None, None, {}, None, why)


def open_queue(settings: Settings, *, timeout_s: float = 5.0) -> TurnQueue:
    """The queue the settings name; calls give up after ``timeout_s``."""
    client = redis.Redis.from_url(
        settings.redis_url, socket_timeout=timeout_s, socket_connect_timeout=min(2.0, timeout_s)
    )
    return TurnQueue(client, settings.turns_stream, settings.consumer_group)


class QueueWatch:
    """Looks at the queue again and again; a Redis that is away is an answer, not an error."""

    def __init__(self, queue: TurnQueue) -> None:
        self._queue = queue

    def __call__(self) -> QueueStanding:
        queue = self._queue
        try:
            backlog = queue.backlog()
            age = 0.0
            if backlog.oldest_id is not None:
                age = (queue.now() - entry_time(backlog.oldest_id)).total_seconds()
            return QueueStanding(
                backlog.waiting + backlog.pending, max(0.0, age), queue.counts(), queue.dead_count()
            )
        except redis.RedisError as error:
            return QueueStanding.absent(f"redis is away: {' '.join(str(error).split())}")
