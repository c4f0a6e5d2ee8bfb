"""A model worker extracts each turn once and in order under every failure, and reports its state truly."""

import itertools
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event, partition_of, uuid7
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from tests.support import hostile
from tests.support.events.turns import NOW
from tests.support.ingest.messages_api import calls, says, status
from tests.support.ingest.model_workers import TOWNS, Reader, moves, turn
from tests.support.waiting import eventually


def test_a_turn_becomes_cards_that_say_what_they_rest_on_and_what_it_cost(reader: Reader) -> None:
    reader.set(extract_timeout_s=30)
    reader.read(turn("ana", "I moved to Lisbon last week.", 0), turn("ana", "I moved to Porto.", 1))
    first, second = (
        event.payload for event in reader.events("ana") if isinstance(event.payload, TurnsExtracted)
    )
    assert (first.extractor, first.model) == ("claude", "claude-haiku-5-5")
    assert first.prompt_version.startswith("claude-")
    assert first.turn_ids == ("s-0",)
    assert first.usage.calls == second.usage.calls == 1
    assert min(first.usage.input_tokens, first.usage.output_tokens, first.usage.cost_usd or 0) > 0
    written = [each.usage.cache_write_tokens for each in (first, second)]
    read = [each.usage.cache_read_tokens for each in (first, second)]
    assert sorted(written) == sorted(read) == [0, max(written)]
    states = reader.payloads(StateAsserted, "ana")
    [lisbon] = [state for state in states if state.value == "Lisbon"]
    assert lisbon.origin.source_span is not None
    assert lisbon.origin.source_span.text == "I moved to Lisbon last week"
    assert (lisbon.time_resolved, lisbon.effective_at.date().isoformat()) == (True, "2026-04-30")
    assert {request.key for request in reader.api.requests} == {"key-of-the-test"}
    leaders = {e.event_id for e in reader.events("ana") if isinstance(e.payload, TurnsExtracted)}
    caused = [e for e in reader.events("ana") if isinstance(e.payload, StateAsserted | EventNoted)]
    assert {e.causation_id for e in caused} == leaders


def test_what_turns_cost_is_counted_as_the_log_has_it(reader: Reader) -> None:
    reader.set(session_batch_turns=2, session_batch_linger_ms=200)
    reader.api.trouble = lambda request: (
        says("no") if any("Porto" in text for text in request.turns) else None
    )
    reader.read(*moves("ana", 5), turn("bea", "ok!", 0))
    counts = getattr(reader.report(), "counts", {})
    spent = [e.payload.usage for e in reader.events("ana", "bea") if hasattr(e.payload, "usage")]
    assert (counts["turns"], counts["failed"], counts["refused"]) == (6, 1, 0)
    assert counts["calls"] == len(reader.api.requests) == sum(usage.calls for usage in spent)
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        assert counts[name] == sum(getattr(usage, name) for usage in spent) > 0
    assert counts["cost_usd"] == pytest.approx(sum(usage.cost_usd or 0 for usage in spent))


def test_turns_of_a_session_said_together_are_one_call_and_small_talk_is_none(reader: Reader) -> None:
    reader.set(session_batch_turns=12, session_batch_linger_ms=300)
    reader.append(turn("ana", "I", 0), turn("ana", "moved to", 1), turn("ana", "Lisbon!", 2))
    reader.read(turn("bea", "hi!", 0), turn("bea", "thanks 👍", 1))
    [request] = reader.api.requests
    assert request.turns == ["I", "moved to", "Lisbon!"]
    assert reader.extracted("bea") == ["s-0", "s-1"]
    [idle] = reader.payloads(TurnsExtracted, "bea")
    assert (idle.usage.calls, idle.cards) == (0, 0)


def test_a_pause_and_a_limit_end_a_burst_and_what_came_before_is_shown_as_such(reader: Reader) -> None:
    reader.set(
        session_batch_turns=2,
        session_batch_gap_s=60,
        session_batch_linger_ms=200,
        extract_concurrency=1,
    )
    texts = ["I live in Rome.", "I like tea.", "I work at Acme.", "I moved to Lisbon."]
    reader.append(*[turn("ana", text, number) for number, text in enumerate(texts)])
    reader.read(turn("ana", "She lives there too.", 4, gap_s=100))
    assert [request.turns for request in reader.api.requests] == [
        texts[:2],
        texts[2:],
        ["She lives there too."],
    ]
    earlier = reader.api.requests[2].question.split("<current_time>")[0]
    assert texts[0] not in earlier
    assert all(text in earlier for text in texts[1:])
    assert "residence" in earlier  # the concepts known of her at that point


def test_the_rules_fallback_runs_where_allowed_and_is_recorded(reader: Reader) -> None:
    reader.set(rules_fallback=True, breaker_failures=2)
    reader.api.trouble = lambda _: status(529)
    users = [f"user{number}" for number in range(6)]
    for user in users:
        reader.append(*moves(user, 3))
    with reader.working():
        eventually(lambda: len(reader.extracted(*users)) >= 17)
        said = eventually(lambda: (each := reader.report()) and each.detail and each)
        assert said.state == "running"
        assert "stand in" in (said.detail or "")
        reader.api.trouble = lambda _: None
        reader.until_read(*users)
        number = itertools.count()

        def by_the_model() -> bool:
            reader.append(turn("late", "I moved to Riga.", next(number)))
            late = reader.payloads(TurnsExtracted, "late")
            return any((each.extractor, each.rules_fallback) == ("claude", False) for each in late)

        eventually(by_the_model)
        reader.until_read("late")
    read = reader.payloads(TurnsExtracted, *users)
    fell_back = [each for each in read if each.rules_fallback]
    assert len(fell_back) >= 17
    assert {(each.extractor, each.model) for each in fell_back} == {("rules", None)}
    assert reader.towns("user0") == list(TOWNS[:3])
    assert Counter(reader.extracted(*users)).most_common(1)[0][1] == 6  # each id once a user


def test_a_user_whose_budget_is_spent_is_read_by_the_rules_until_tomorrow(reader: Reader) -> None:
    reader.set(budget_tokens_per_user_day=1, extract_concurrency=1)
    reader.append(*moves("ana", 1))
    with reader.working():
        reader.until_read("ana")
        reader.append(*moves("ana", 3)[1:])
        reader.until_read("ana")
        eventually(lambda: (each := reader.report()) and "budget" in (each.detail or ""))
    asked = len(reader.api.requests)
    # Another process reads today's spending from the log.
    reader.read(*moves("ana", 4)[3:], *moves("bea", 1))
    assert [request.turns for request in reader.api.requests[asked:]] == [["I moved to Lisbon."]]
    read = reader.payloads(TurnsExtracted, "ana")
    assert [(each.extractor, each.rules_fallback) for each in read] == [
        ("claude", False),
        *[("rules", True)] * 3,
    ]
    assert reader.extracted("ana") == ["s-0", "s-1", "s-2", "s-3"]


def test_a_burst_of_calls_exceeds_the_budget_of_a_user_by_one_call_at_most(reader: Reader) -> None:
    cost, budget, sessions = 5_000, 11_000, 12
    reader.api.next.extend(
        calls(
            {"states": [], "events": [], "knowledge": [], "problems": []},
            {"input_tokens": cost - 100, "output_tokens": 100},
        )
        for _ in range(sessions)
    )
    reader.append(*[one for number in range(sessions) for one in moves("ana", 1, session=f"s{number}")])
    reader.set(budget_tokens_per_user_day=budget, extract_concurrency=sessions)
    with reader.working("one"), reader.working("two"), reader.working("three"):
        reader.until_read("ana")
    read = reader.payloads(TurnsExtracted, "ana")
    assert len(read) == sessions
    assert budget <= sum(each.usage.tokens for each in read) < budget + cost
    assert len(reader.api.requests) == 3


def test_what_is_no_count_of_tokens_in_the_log_keeps_nobody_from_being_read(reader: Reader) -> None:
    spent = (
        {"input_tokens": 1e308},
        {"input_tokens": "many"},
        [1],
        {"output_tokens": 70, "input_tokens": -1},
    )
    for usage in spent:
        item = {
            "partition": partition_of("ana"), "event_id": str(uuid7()), "user_id": "ana",
            "stream": "extraction/default/s", "type": "TurnsExtracted", "schema_version": 9,
            "occurred_at": NOW.isoformat(), "actor": "another build", "data": {"usage": usage},
        }  # fmt: skip
        reader.connection.execute("SELECT log.append(%s::json)", (json.dumps([item]),))
    reader.append(*moves("ana", 1), *moves("bea", 1))
    with reader.working(budget_tokens_per_user_day=70):
        eventually(lambda: reader.extracted("bea") == ["s-0"])
        eventually(lambda: reader.towns("ana") == ["Lisbon"])
    # What can be counted is: ana has spent her 70 tokens.
    assert len(reader.api.requests) == 1


def test_a_turn_this_build_cannot_decode_fails_in_its_place(reader: Reader) -> None:
    reader.append(*moves("ana", 1))
    item = {
        "partition": partition_of("ana"), "event_id": str(uuid7()), "user_id": "ana",
        "stream": "session/default/s", "type": "TurnRecorded", "schema_version": 9,
        "occurred_at": NOW.isoformat(), "actor": "another build", "data": {"turn_id": "t9"},
    }  # fmt: skip
    reader.connection.execute("SELECT log.append(%s::text::json)", (json.dumps([item]),))
    reader.read(*moves("ana", 2)[1:])
    kinds = [
        event.payload.turn_ids
        for event in reader.events("ana")
        if isinstance(event.payload, TurnsExtracted | ExtractionFailed)
    ]
    assert kinds == [("s-0",), ("t9",), ("s-1",)]


def episodes(events: Iterable[Event]) -> list[Any]:
    return [e.payload for e in events if isinstance(e.payload, EventNoted) and e.payload.episode]


@pytest.mark.parametrize("by", ["model", "rules"])
def test_hostile_turns_come_out_of_the_log_as_they_went_in_stop_nothing_and_state_nothing(
    reader: Reader, by: str
) -> None:
    reader.set(session_batch_turns=12, session_batch_linger_ms=200)
    if by == "rules":
        reader.set(anthropic_base_url="", anthropic_api_key="")
    texts = hostile.turns()
    assert len(texts) >= 200
    reader.append(*[turn("eve", text, number) for number, text in enumerate(texts)])
    with reader.working():
        reader.until_read("eve")
    assert reader.failed("eve") == []
    events = reader.events("eve")
    kept = [e.payload.text for e in events if isinstance(e.payload, TurnRecorded)]
    assert [text.encode() for text in kept] == [text.encode() for text in texts]
    assert reader.extracted("eve") == [f"s-{number}" for number in range(len(texts))]
    said = [e.payload for e in events if isinstance(e.payload, TurnsExtracted)]
    assert {each.extractor for each in said} == {"claude" if by == "model" else "rules"}
    cards = [
        e.payload for e in events if isinstance(e.payload, StateAsserted | EventNoted | KnowledgeLearned)
    ]
    assert len(cards) == len(episodes(events)) > 0
