"""The rules read every sentence of the chaos tests, whose verdict compares histories of states."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from events.types.cards import StateAsserted
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.chaos.load import MANNERS, Manner
from tests.support.events.turns import recorded
from tests.support.ingest.rules import EXTRACTOR, SAID_AT, states


@pytest.mark.parametrize("manner", MANNERS)
def test_each_sentence_states_its_fact_and_nothing_else(manner: Manner) -> None:
    told = [("residence", manner.moved, city) for city in manner.cities]
    told += [("employer", manner.joined, employer) for employer in manner.employers]
    for concept, sentence, value in told:
        [state] = states(sentence.format(value))
        assert (state.concept_key, state.value) == (concept, value)
        assert state.effective_at.date() == SAID_AT.date()
    assert states(manner.bought.format(7)) == []


@pytest.mark.parametrize("zone", ["Asia/Taipei", "America/Sao_Paulo", "Asia/Beirut", "America/New_York"])
def test_today_begins_its_day_although_the_clocks_change(zone: str) -> None:
    year = 1961 if zone == "Asia/Taipei" else 2017
    noons = [datetime(year, 1, 1, 12, tzinfo=ZoneInfo(zone)) + timedelta(days=day) for day in range(365)]
    changing = [
        noon
        for noon, before, after in zip(noons[1:-1], noons, noons[2:], strict=False)
        if len({noon.utcoffset(), before.utcoffset(), after.utcoffset()}) > 1
    ]
    assert len(changing) == 4  # the days before and after the two changes
    for noon in changing:
        turn = recorded("我今天搬到高雄了。", said_at=noon, timezone=zone)
        answer = EXTRACTOR.extract(SessionBatch((RecordedTurn("u1", 1, turn),)))
        [state] = [card for card in answer.cards if isinstance(card, StateAsserted)]
        first = noon.replace(hour=0)
        # A clock that skips midnight begins the day at one o'clock.
        assert state.effective_at.timestamp() == first.timestamp()
