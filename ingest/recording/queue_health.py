"""How the recorder stands: the queue's part of the overview. Unknown is never zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

from events.health.health_status import RECORDER, LogHealth, StageHealth, assess
from events.platform.streams import REDIS_AWAY
from ingest.recording.intake import Intake


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """What Redis knows: the backlog and the counts since the stream began; ``why`` they are unknown, if they are."""

    behind: int | None
    seconds: float | None
    counts: dict[str, int]
    dead: int | None
    why: str | None = None

    def recorder(self, log: LogHealth) -> StageHealth:
        """The recorder, from its queue and from what its workers told Postgres."""
        said = [report for report in log.reports if report.stage == RECORDER]
        moved = [report.moved_s for report in said if report.moved_s is not None]
        stage = assess(
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
            stage = replace(stage, state="unknown", detail=why, workers=None, stalled_s=None)
        if self.behind is None:
            stage = replace(stage, state="unknown", detail=self.why, behind=None, stalled_s=None)
        return stage

    def _count(self, name: str) -> int:
        return self.counts.get(name, 0)

    @classmethod
    def absent(cls, why: str) -> QueueHealth:
        """All of it unknown."""
        return cls(None, None, {}, None, why)


class QueueMonitor:
    """Looks at the queue again and again; a Redis that is away is an answer, not an error."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    def __call__(self) -> QueueHealth:
        try:
            found = self._intake.statistics()
        except REDIS_AWAY as error:
            return QueueHealth.absent(f"redis is away: {' '.join(str(error).split())}")
        return QueueHealth(found.behind, found.seconds, dict(found.counts), found.dead)
