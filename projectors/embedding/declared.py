"""The models that a declaration may name."""

from __future__ import annotations

from events.platform.settings import Settings
from projectors.embedding.embedder import EmbedderUnavailableError
from projectors.embedding.embedders import embedders_of


def dimension_of(settings: Settings, model: str) -> int:
    """Returns the length of the vectors of ``model``; "" is the default model. Loads no weights.

    Raises ValueError with the remedy when the model is not on this machine.
    """
    embedders = embedders_of(settings)
    try:
        return embedders.of_slot(embedders.slot_of_model(model)).dimension
    except EmbedderUnavailableError as error:
        raise ValueError(str(error)) from error
