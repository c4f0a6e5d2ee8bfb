"""The check of what an embedder answers. A remote embedder and a broken model can answer anything."""

from __future__ import annotations

import numpy as np

from projectors.embedding.embedder import EmbedderUnavailableError, Vectors


def checked(found: object, count: int, dimension: int, name: str) -> Vectors:
    """Returns ``found`` as vectors of the shape ``(count, dimension)``, float32.

    Raises :class:`EmbedderUnavailableError` for another shape, and for a number that is not finite. The texts are not
    at fault then, so their cards wait until the embedder is well again.
    """
    try:
        with np.errstate(over="ignore"):
            vectors: Vectors = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderUnavailableError(
            f"the embedder {name} answered no table of numbers; check its model, then run: cardlog doctor"
        ) from error
    if vectors.shape != (count, dimension):
        raise EmbedderUnavailableError(
            f"the embedder {name} answered {'x'.join(map(str, vectors.shape)) or 'one number'} numbers instead of "
            f"{count}x{dimension}; check its model, then run: cardlog doctor"
        )
    if not np.isfinite(vectors).all():
        raise EmbedderUnavailableError(
            f"the embedder {name} answered numbers that are not finite; check its model, then run: cardlog doctor"
        )
    return vectors
