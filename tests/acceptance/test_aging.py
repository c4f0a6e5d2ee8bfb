"""A few short chains of the longitudinal suite run end to end. No fact is lost within a week."""

from tests.aging.chains import MECHANISMS, Depth, chains
from tests.aging.growth import grow
from tests.support.stack import Running

LEAST = 0.875


def test_short_chains_keep_their_facts(stack: Running) -> None:
    told = chains(2, seed=5, depths=(Depth(0, 0), Depth(8, 7)))
    notes: list[str] = []
    scores = grow(stack, told, note=notes.append)
    assert len(notes) == 2
    for mechanism in MECHANISMS:
        # One question in eight may be missed: the model of the tests knows no meanings, and the reader reads few facts.
        assert min(scores.recall(mechanism, depth) or 0 for depth in (0, 1)) >= LEAST, scores.misses
