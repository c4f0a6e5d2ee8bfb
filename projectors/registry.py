"""All projectors, in the order in which they start."""

from __future__ import annotations

from events.platform.settings import Settings
from projectors.cards.arbitration import Thresholds
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedders import embedders_of
from projectors.generations.generations import Projector
from projectors.vectors.projector import VectorsProjector


def projectors(settings: Settings) -> list[Projector]:
    """Returns all projectors, configured by ``settings``. Raises SettingsError for modes that cannot be read."""
    return [
        CardsProjector(
            supersede=settings.supersede_fork,
            thresholds=Thresholds(
                changes=settings.arbitration_changes,
                days=settings.arbitration_days,
                stale_days=settings.arbitration_stale_days,
            ),
        ),
        VectorsProjector(embedders_of(settings)),
    ]
