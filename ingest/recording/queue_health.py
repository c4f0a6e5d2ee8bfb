"""The health of the recorder, judged from the turn queues. An unknown number is None, never zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

from events.health.health_status import RECORDER, LogHealth, assess
from events.health.stage_health import StageHealth


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
            else sum(map(self._count, ("recorded", "duplicates", "dead"))),
        )
        if log.events is None:
            # The heartbeats are in Postgres. Without Postgres only the queue depth is known.
            why = log.reader("extractor").detail
            stage = replace(stage, state="unknown", detail=why, workers=None, stalled_s=None)
        if self.behind is None:
            stage = replace(stage, state="unknown", detail=self.why, behind=None, stalled_s=None)
        return stage

    def _count(self, name: str) -> int:
        return self.counts.get(name, 0)

    @classmethod
    def absent(cls, why: str) -> QueueHealth:
        """Returns a health in which every number is unknown because of ``why``."""
        return cls(None, None, {}, None, why)
