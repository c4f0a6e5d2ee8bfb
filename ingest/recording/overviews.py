"""Looks at the health of every stage, in Postgres and in the turn queues."""

from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor
from events.health.stage_health import Overview
from events.platform.settings import Settings
from ingest.recording.intake import QueueHealth, open_intake

_PATIENCE_S = 3.0


class Overviews:
    """Makes an overview on each call. A server that gives none within three seconds is unknown."""

    def __init__(self, settings: Settings) -> None:
        self._why = f"did not answer within {_PATIENCE_S:g} s"
        self._intake = open_intake(settings)
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
        """Closes the connections."""
        self._watch.close()
        self._intake.close()


def overview(settings: Settings) -> Overview:
    """Returns the overview of this moment."""
    overviews = Overviews(settings)
    try:
        return overviews()
    finally:
        overviews.close()
