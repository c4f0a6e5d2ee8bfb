"""All projectors, in the order in which they start."""

from events.platform.settings import Settings
from projectors.cards.arbitration import Thresholds
from projectors.cards.projector import CardsProjector
from projectors.core.projector import CoreProjector
from projectors.embedding.embedders import embedders_of
from projectors.forgetting import ForgettingProjection
from projectors.generations.projector import Projector
from projectors.people import PeopleProjector
from projectors.problems import ProblemsProjector
from projectors.references import ReferencesProjector
from projectors.vectors.projector import VectorsProjector


def projectors(settings: Settings) -> list[Projector]:
    """Returns all projectors, configured by ``settings``. Raises SettingsError for modes that cannot be read."""
    thresholds = Thresholds.of(settings)
    return [
        CardsProjector(supersede=settings.supersede_fork, thresholds=thresholds),
        VectorsProjector(embedders_of(settings)),
        ReferencesProjector(),
        ProblemsProjector(),
        PeopleProjector(),
        CoreProjector(supersede=settings.supersede_fork, thresholds=thresholds),
    ]


def derived(settings: Settings) -> list[ForgettingProjection]:
    """Returns the tables of all projectors, as an erasure sees them."""
    return [ForgettingProjection(projector) for projector in projectors(settings)]
