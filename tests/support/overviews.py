"""The overview of one moment."""

from contextlib import closing

from events.health.stage_health import Overview
from events.platform.settings import Settings
from ingest.recording.intake import Overviews


def overview(settings: Settings) -> Overview:
    """Returns the health of every stage now."""
    with closing(Overviews(settings)) as look:
        return look()
