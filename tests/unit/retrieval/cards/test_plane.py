"""The plane of some vectors is the one of their first two principal components."""

import numpy as np

from retrieval.cards.plane import in_plane


def test_the_plane_shows_as_much_as_the_singular_values_say() -> None:
    vectors = np.random.default_rng(7).standard_normal((60, 9)).astype(np.float32) * np.arange(1, 10)
    points, shown = in_plane(vectors)
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False) ** 2
    assert abs(shown - values[:2].sum() / values.sum()) < 0.002
    assert max(abs(each) for point in points for each in point) == 1000
    spread = np.array(points, dtype=float).var(axis=0)
    assert spread[0] > spread[1]


def test_vectors_of_a_plane_keep_their_distances() -> None:
    flat = np.random.default_rng(3).standard_normal((30, 2))
    turned = np.linalg.qr(np.random.default_rng(4).standard_normal((8, 2)))[0].T
    points = np.array(in_plane((flat @ turned).astype(np.float32))[0], dtype=float)

    def distances(those: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.linalg.norm(those[:, None] - those[None], axis=2)
        return found

    before, after = distances(flat), distances(points)
    assert np.allclose(after / after.max(), before / before.max(), atol=0.005)


def test_equal_vectors_and_a_single_one_stand_in_the_middle() -> None:
    for number in (1, 3):
        points, shown = in_plane(np.ones((number, 5), dtype=np.float32))
        assert (points, shown) == ([(0, 0)] * number, 0.0)
