"""The rules read every sentence of the chaos tests, whose verdict compares histories of states."""

import pytest

from tests.support.chaos.load import MANNERS, Manner
from tests.support.ingest.rules import SAID_AT, states


@pytest.mark.parametrize("manner", MANNERS)
def test_each_sentence_states_its_fact_and_nothing_else(manner: Manner) -> None:
    told = [("residence", manner.moved, city) for city in manner.cities]
    told += [("employer", manner.joined, employer) for employer in manner.employers]
    for concept, sentence, value in told:
        [state] = states(sentence.format(value))
        assert (state.concept_key, state.value) == (concept, value)
        assert state.effective_at.date() == SAID_AT.date()
    assert states(manner.bought.format(7)) == []
