"""``cardlog recall`` prints a card with its times."""

from datetime import UTC, datetime, timedelta, timezone

from deploy.commands.ask.recall import lines_of
from retrieval.query.question import understand
from retrieval.query.scope import scope_of
from tests.support.cards import card

TAIPEI = timezone(timedelta(hours=8))


def test_a_card_is_printed_with_its_times_and_channels() -> None:
    home = {
        "kind": "state", "content": "住在高雄", "when": "since 2026-03",
        "channels": {"fuzzy": {"rank": 3}, "tags": {"rank": 1}},
    }  # fmt: skip
    met = {**home, "kind": "event", "content": "開會", "event_status": "happened", "when": "2026-04-30"}
    trip = {**met, "content": "去花蓮", "event_status": "planned", "channels": {}}
    beside = [
        {"content": "搬到高雄了，養了一隻貓", "episode": True},
        {"content": "有一隻貓", "episode": False},
    ]
    left = {**home, "perhaps_no_longer": {"content": "我要搬家了"}, "beside": beside}
    assert lines_of({"cards": [home, met, trip, left]}) == [
        "state     住在高雄   [since 2026-03; tags#1 fuzzy#3]",
        "event     開會   [2026-04-30; tags#1 fuzzy#3]",
        "event     去花蓮   [planned 2026-04-30; the words of this session]",
        "state     住在高雄   [since 2026-03; perhaps no longer; tags#1 fuzzy#3]",
        "          “搬到高雄了，養了一隻貓”",
    ]
    assert lines_of({"cards": [{**trip, "card_id": "7e0a"}]}, ids=True)[1:] == ["          7e0a"]
    assert lines_of({"cards": []}) == ["nothing is known about that"]
    often = {"content": "每逢星期二：「爬山」", "sources": ["1", "2", "3"]}
    assert lines_of({"cards": [], "insights": [often]}) == [
        "insight   每逢星期二：「爬山」   [inferred from 3 cards]"
    ]


def test_the_reason_a_card_is_kept_out_is_in_the_askers_time() -> None:
    scope = scope_of(understand("住哪裡", datetime(2026, 5, 8, tzinfo=TAIPEI)), user_id="u", projects=None)
    moved = datetime(2026, 3, 15, 16, tzinfo=UTC)
    lived = card(created_at=moved, effective_at=moved - timedelta(days=9), superseded_at=moved)
    assert scope.refuses(lived, TAIPEI) == "it is no longer true since 2026-03-16T00:00:00+08:00"
