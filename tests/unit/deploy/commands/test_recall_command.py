"""``cardlog recall`` prints a card."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from deploy.commands.ask.recall import lines_of
from retrieval.query.question import understand
from retrieval.query.scope import scope_of
from tests.support.cards import card

TAIPEI = timezone(timedelta(hours=8))


def test_days_are_those_of_the_asker() -> None:
    home = {
        "kind": "state", "content": "住在高雄", "effective_at": "2026-03-15T16:00:00+00:00", "superseded_at": None,
        "occurred_at": None, "channels": {"fuzzy": {"rank": 3}, "tags": {"rank": 1}},
    }  # fmt: skip
    old = {**home, "content": "住在新竹", "superseded_at": "2026-03-31T16:30:00+00:00"}
    met = {**home, "kind": "event", "content": "開會", "occurred_at": "2026-04-29T16:00:00+00:00"}
    assert lines_of({"cards": [home, old, met]}, TAIPEI) == [
        "state     住在高雄   [since 2026-03-16; tags#1 fuzzy#3]",
        "state     住在新竹   [2026-03-16 to 2026-04-01; tags#1 fuzzy#3]",
        "event     開會   [2026-04-30; tags#1 fuzzy#3]",
    ]
    assert "[since 2026-03-15;" in lines_of({"cards": [home]}, UTC)[0]
    assert lines_of({"cards": []}, UTC) == ["nothing is known about that"]


def test_the_reason_a_card_is_kept_out_is_in_the_askers_time() -> None:
    scope = scope_of(understand("住哪裡", datetime(2026, 5, 8, tzinfo=TAIPEI)), user_id="u", projects=None)
    moved = datetime(2026, 3, 15, 16, tzinfo=UTC)
    lived = card(created_at=moved, effective_at=moved - timedelta(days=9), superseded_at=moved)
    assert scope.refuses(lived, TAIPEI) == "it is no longer true since 2026-03-16T00:00:00+08:00"
