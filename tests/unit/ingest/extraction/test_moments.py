"""A range that a card is given ends with the day its speaker names, for every extractor."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from events.types.cards import SourceSpan
from events.types.turns import TurnRecorded
from ingest.extraction.claude.moments import moment
from ingest.extraction.rules.moments import moments
from ingest.extraction.rules.sentences import sentences

ROME = ZoneInfo("Europe/Rome")
SAID_AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=ROME)


@pytest.mark.parametrize(
    ("text", "words", "start", "end"),
    [
        ("We were in Oslo from May 1 to May 3.", "from May 1 to May 3", "2026-05-01", "2026-05-04"),
        ("I was ill last week.", "last week", "2026-04-27", "2026-05-04"),
        ("我們五月一日到五月三日在奧斯陸。", "五月一日到五月三日", "2026-05-01", "2026-05-04"),
    ],
)
def test_a_range_holds_the_day_it_is_said_to_end_with(text: str, words: str, start: str, end: str) -> None:
    [sentence] = sentences(text)
    [by_rules] = moments(sentence, SAID_AT)
    turn = TurnRecorded(
        turn_id="t",
        text=text,
        role="user",
        said_at=SAID_AT,
        timezone="Europe/Rome",
        session_id="s",
        project_id="p",
    )
    by_model = moment(words, turn, SourceSpan(turn_id="t", start=0, end=len(text), text=text))
    assert by_model is not None
    for found in (by_rules, by_model):
        assert found.start == datetime.fromisoformat(start).replace(tzinfo=ROME)
        assert found.end == datetime.fromisoformat(end).replace(tzinfo=ROME)
