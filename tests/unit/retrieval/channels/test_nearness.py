"""The share of a vote that the semantic channel gives a card: near cards count more than far ones."""

from __future__ import annotations

from math import exp
from uuid import UUID

import pytest

from retrieval.channels.semantic import shared_by_nearness


def shares(scores: list[float]) -> list[float]:
    return [hit.share for hit in shared_by_nearness([(UUID(int=n), score) for n, score in enumerate(scores)])]


def test_the_first_of_twenty_has_a_whole_vote_and_the_last_has_a_share_of_it() -> None:
    found = shares([0.9] + [0.86] * 18 + [0.8])
    assert found[0] == 1
    assert found[1] == pytest.approx(exp(-0.4))
    assert found[-1] == pytest.approx(exp(-1))


def test_the_scale_of_a_model_does_not_count() -> None:
    narrow = [0.9 - 0.001 * n * n for n in range(20)]
    assert shares([score * 5 - 4 for score in narrow]) == pytest.approx(shares(narrow))


def test_a_short_list_says_little_about_the_scale() -> None:
    assert shares([0.9, 0.89]) == pytest.approx([1, exp(-1 / 19)])


@pytest.mark.parametrize("scores", [[], [0.5], [0.5, 0.5], [0.5] * 20])
def test_equally_near_cards_have_whole_votes(scores: list[float]) -> None:
    assert shares(scores) == [1] * len(scores)
