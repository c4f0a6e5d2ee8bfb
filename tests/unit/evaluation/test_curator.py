"""The relations that the curator finds in labelled pairs are right."""

import pytest

from evaluation.curator.command import SETS, labelled, scores


@pytest.mark.parametrize("name", SETS)
def test_relations_between_labelled_pairs(name: str) -> None:
    by_predicate, mistakes = scores(name)
    for predicate, score in by_predicate.items():
        least = 0.98 if predicate == "same_as" else 0.9
        assert (score.precision or 0) >= least, (predicate, mistakes)


def test_the_pairs_are_distinct() -> None:
    pairs = [(each.earlier, each.later) for name in SETS for each in labelled(name)]
    assert len(pairs) == len(set(pairs)) >= 250
