"""The rules read a turn on the clock that its cards name."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from events.language.told_times import told_time, zone_of
from events.types.cards import EventNoted, KnowledgeLearned
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.rules import RulesExtractor
from tests.support.ingest.rules import turn


@pytest.mark.parametrize(
    ("said_at", "timezone", "told"),
    [
        ("2026-04-02T00:05:00+08:00", "Asia/Taipei", "2026-04-02"),
        ("2026-04-01T16:05:00+00:00", "Asia/Taipei", "2026-04-02"),
        # A turn without a zone is on the clock of its offset.
        ("2026-04-02T00:05:00+08:00", "UTC", "2026-04-02"),
        ("2026-04-01T21:30:00-09:30", "UTC", "2026-04-01"),
        ("2026-04-02T00:05:00+05:45", "Asia/Kathmandu", "2026-04-02"),
        ("2026-04-01T23:59:00+00:00", "UTC", "2026-04-01"),
    ],
)
@pytest.mark.parametrize("text", ["I planted a lemon tree with Odile today.", "我今天搬到台南了。"])
def test_today_is_the_day_on_the_speakers_clock(text: str, said_at: str, timezone: str, told: str) -> None:
    asked = turn(text)
    asked = replace(
        asked, turn=replace(asked.turn, said_at=datetime.fromisoformat(said_at), timezone=timezone)
    )
    days = {
        told_time(card.occurred_at, card.occurred_until, card.time_grain, zone_of(card.origin.time_zone)).text
        if isinstance(card, EventNoted)
        else card.effective_at.astimezone(zone_of(card.origin.time_zone)).date().isoformat()
        for card in RulesExtractor().extract(SessionBatch((asked,))).cards
        if not isinstance(card, KnowledgeLearned) and card.time_resolved
    }
    assert days == {told}
