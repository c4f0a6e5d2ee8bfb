"""The plane that shows most of the differences between vectors: their first two principal components."""

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 40
_SCALE = 1000


def in_plane(vectors: NDArray[np.float32]) -> tuple[list[tuple[int, int]], float]:
    """Returns a point for each vector, with coordinates from -1000 to 1000, and the share of the variance it shows.

    ``vectors`` has one row a vector. Subspace iteration finds the components in 40 products of the matrix with two
    columns, so the time grows with the number of values alone. The same vectors give the same points.
    """
    centred = vectors - vectors.mean(axis=0) if len(vectors) else vectors
    whole = float((centred**2).sum())
    if whole == 0:
        return [(0, 0)] * len(vectors), 0.0
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((centred.shape[1], 2)).astype(np.float32))[
        0
    ]
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(centred.T @ (centred @ basis))[0]
    points = centred @ basis
    # Each component points where its largest value is, because the sign of a component means nothing.
    points *= np.sign(points[np.abs(points).argmax(axis=0), range(2)] + 1e-12)
    points = points[:, np.argsort(-(points**2).sum(axis=0))]
    scaled = np.rint(points * (_SCALE / np.abs(points).max())).astype(int)
    return [(int(x), int(y)) for x, y in scaled], round(float((points**2).sum()) / whole, 3)
