"""The models that a declaration may name."""

from __future__ import annotations

import logging

from events.platform.settings import Settings
from projectors.embedding.embedder import BUILT_MODELS, EmbedderUnavailableError
from projectors.embedding.embedders import embedders_of

logger = logging.getLogger(__name__)


def dimension_of(settings: Settings, model: str) -> int:
    """Returns the length of the vectors of ``model``; "" is the default model. Loads no weights.

    Raises ValueError with the remedy when the model is not on this machine. The words are for the caller of a service,
    and name no folder of the machine.
    """
    embedders = embedders_of(settings)
    try:
        return embedders.of_slot(embedders.slot_of_model(model)).dimension
    except EmbedderUnavailableError as error:
        logger.warning("a declared mode cannot have its model: %s", error)
        name = model or settings.embed_model
        if settings.embed_url:
            raise ValueError(f"the embedding server gives no vectors of {name}; try again later") from error
        remedy = (
            f"build it there with `cardlog model fetch --model {name}`"
            if name in BUILT_MODELS
            else "put its files there, and try it with `cardlog doctor`"
        )
        raise ValueError(f"{name} is not on the server; {remedy}, or name another model") from error
