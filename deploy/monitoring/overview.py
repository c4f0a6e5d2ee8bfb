"""The health of every stage at one moment. An unknown number is never shown as zero."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, StageHealth
from events.platform.settings import Settings
from ingest.recording.intake import open_intake
from ingest.recording.queue_health import QueueHealth, QueueMonitor

__all__ = ["Overview", "Overviews", "StageHealth", "overview"]

_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Overview:
    """The health of every stage at one moment, with totals. None means unknown."""

    stages: tuple[StageHealth, ...]
    events: int | None
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
    at: float = field(default_factory=time.monotonic)

    @property
    def well(self) -> bool:
        """True when nothing needs an operator: every stage is well, and no turn is dead or parked."""
        return all(stage.well for stage in self.stages) and not self.dead and not self.parked

    def document(self) -> dict[str, Any]:
        """Returns the overview as a JSON document."""
        return {
            "well": self.well,
            "stages": {stage.name: stage.document() for stage in self.stages},
            "events": self.events,
            "parked": self.parked,
            "dead": self.dead,
            "recorded": self.recorded,
            "duplicates": self.duplicates,
        }

    def rated(self, earlier: Overview | None) -> Overview:
        """Returns this overview with missing rates computed from the positions in ``earlier``."""
        if earlier is None or self.at - earlier.at <= 0:
            return self
        before = {stage.name: stage.position for stage in earlier.stages}
        stages = []
        for stage in self.stages:
            position = before.get(stage.name)
            if stage.rate is None and stage.position is not None and position is not None:
                # The position can go back when another generation became live.
                rate = max(0, stage.position - position) / (self.at - earlier.at)
                stages.append(replace(stage, rate=rate))
            else:
                stages.append(stage)
        return replace(self, stages=tuple(stages))


class Overviews:
    """Makes an overview on each call. A server that does not answer in time is unknown, with the reason."""

    def __init__(self, settings: Settings, *, patience_s: float = _PATIENCE_S) -> None:
        self._why = f"did not answer within {patience_s:g} s"
        self._queue = CachedProbe(QueueMonitor(open_intake(settings)), fresh_s=0.0, patience_s=patience_s)
        self._watch = LogMonitor(settings.database_url, "status")
        self._log = CachedProbe(self._watch, fresh_s=0.0, patience_s=patience_s)
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
        )
        self._last = seen.rated(self._last)
        return self._last

    def close(self) -> None:
        """Closes the connection."""
        self._watch.close()


def overview(settings: Settings) -> Overview:
    """Returns the overview of this moment."""
    overviews = Overviews(settings)
    try:
        return overviews()
    finally:
        overviews.close()
