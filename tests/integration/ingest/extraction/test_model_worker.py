"""Turns read by a model behind a server: each once, in order, whatever goes wrong; and the state is told truly."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event, partition_of, uuid7
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction.rules import RulesExtractor
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from tests.support import hostile
from tests.support.ingest.model_workers import (
    NOW,
    TOWNS,
    behind,
    caught_up,
    events_of,
    extracted,
    failed,
    moves,
    neighbours,
    reading,
    report,
    runs,
    towns,
    turn,
    waits,
)
from tests.support.messages_api import MessagesApi, Request, Trouble, calls, says, status
from tests.support.waiting import eventually


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as server:
        yield server


@pytest.fixture
def settings(database: str, api: MessagesApi) -> Settings:
    return Settings(
        database_url=database,
        anthropic_base_url=api.url,
        anthropic_api_key="key-of-the-test",
        session_batch_linger_ms=0,
        session_batch_turns=1,
        extract_timeout_s=1,
        extract_grace_s=5,
    )


def test_a_turn_becomes_cards_that_say_what_they_rest_on_and_what_it_cost(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    log.append(
        connection, [turn("ana", "I moved to Lisbon last week.", 0), turn("ana", "I moved to Porto.", 1)]
    )
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    first, second = (
        event.payload for event in events_of(connection, "ana") if isinstance(event.payload, TurnsExtracted)
    )
    assert (first.extractor, first.model) == ("claude", "claude-haiku-5-5")
    assert first.prompt_version.startswith("claude-")
    assert first.turn_ids == ("s-0",)
    assert first.usage.calls == second.usage.calls == 1
    assert min(first.usage.input_tokens, first.usage.output_tokens, first.usage.cost_usd or 0) > 0
    written = [each.usage.cache_write_tokens for each in (first, second)]
    read = [each.usage.cache_read_tokens for each in (first, second)]
    assert sorted(written) == sorted(read) == [0, max(written)]
    states = [e.payload for e in events_of(connection, "ana") if isinstance(e.payload, StateAsserted)]
    [lisbon] = [state for state in states if state.value == "Lisbon"]
    assert lisbon.origin.source_span is not None
    assert lisbon.origin.source_span.text == "I moved to Lisbon last week"
    assert (lisbon.time_resolved, lisbon.effective_at.date().isoformat()) == (True, "2026-04-30")
    assert {request.key for request in api.requests} == {"key-of-the-test"}
    leaders = {e.event_id for e in events_of(connection, "ana") if isinstance(e.payload, TurnsExtracted)}
    caused = [e for e in events_of(connection, "ana") if isinstance(e.payload, StateAsserted | EventNoted)]
    assert {e.causation_id for e in caused} == leaders


def test_what_turns_cost_is_counted_as_the_log_has_it(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, session_batch_turns=2, session_batch_linger_ms=200)
    api.trouble = lambda request: says("no") if any("Porto" in text for text in request.turns) else None
    log.append(connection, [*moves("ana", 5), turn("bea", "ok!", 0)])
    with reading(settings):
        eventually(caught_up(connection, "ana", "bea"))
    counts = getattr(report(connection), "counts", {})
    spent = [e.payload.usage for e in events_of(connection, "ana", "bea") if hasattr(e.payload, "usage")]
    assert (counts["turns"], counts["failed"], counts["refused"]) == (6, 1, 0)
    assert counts["calls"] == len(api.requests) == sum(usage.calls for usage in spent)
    for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        assert counts[name] == sum(getattr(usage, name) for usage in spent) > 0
    assert counts["cost_usd"] == pytest.approx(sum(usage.cost_usd or 0 for usage in spent))


def test_turns_of_a_session_said_together_are_one_call_and_small_talk_is_none(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, session_batch_turns=12, session_batch_linger_ms=300)
    log.append(connection, [turn("ana", "I", 0), turn("ana", "moved to", 1), turn("ana", "Lisbon!", 2)])
    log.append(connection, [turn("bea", "hi!", 0), turn("bea", "thanks 👍", 1)])
    with reading(settings):
        eventually(caught_up(connection, "ana", "bea"))
    [request] = api.requests
    assert request.turns == ["I", "moved to", "Lisbon!"]
    assert extracted(connection, "bea") == ["s-0", "s-1"]
    [idle] = [e.payload for e in events_of(connection, "bea") if isinstance(e.payload, TurnsExtracted)]
    assert (idle.usage.calls, idle.cards) == (0, 0)


def test_a_pause_and_a_limit_end_a_burst_and_what_came_before_is_shown_as_such(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(
        settings,
        session_batch_turns=2,
        session_batch_gap_s=60,
        session_batch_linger_ms=200,
        extract_concurrency=1,
    )
    texts = ["I live in Rome.", "I like tea.", "I work at Acme.", "I moved to Lisbon."]
    log.append(connection, [turn("ana", text, number) for number, text in enumerate(texts)])
    log.append(connection, [turn("ana", "I have a dog.", 4, gap_s=100)])
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    assert [request.turns for request in api.requests] == [texts[:2], texts[2:], ["I have a dog."]]
    earlier = api.requests[2].question.split("<current_time>")[0]
    assert all(text in earlier for text in texts)
    assert "residence" in earlier  # the concepts known of her by then


TROUBLES: dict[str, tuple[Trouble, str]] = {
    "rate limit": (status(429, retry_after="0.2"), "status 429"),
    "overloaded": (status(529, retry_after="0"), "status 529"),
    "overloaded without a word on when": (status(529), "status 529"),
    "internal error": (status(500), "status 500"),
    "bad gateway": (status(502), "status 502"),
    "refused key": (status(401), "refuses the key"),
    "unknown model": (status(404), "knows no such"),
    "dropped connection": (Trouble(dropped=True), "cannot be reached"),
    "cut answer": (Trouble(cut=True), "cannot be reached"),
    "no answer": (Trouble(hang=True), "did not answer within"),
    "no message": (Trouble(body=b"<html>hello</html>"), "no message"),
    "half a message": (Trouble(body=b'{"id": "msg_1", "content": ['), "no message"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_no_turn_is_lost_and_none_counts_twice_while_the_server_is_in_trouble(
    settings: Settings, api: MessagesApi, connection: Connection, name: str
) -> None:
    trouble, reason = TROUBLES[name]
    settings = replace(settings, breaker_failures=2)
    over = threading.Event()
    api.trouble = lambda _: None if over.is_set() else trouble
    users = ("ana", "bea", "cleo")
    for user in users:
        log.append(connection, moves(user, 4))
    with reading(settings):
        eventually(waits(connection, reason))
        assert extracted(connection, *users) == []
        assert behind(connection) == 12
        over.set()
        eventually(caught_up(connection, *users))
        eventually(lambda: runs(connection))
    for user in users:
        assert extracted(connection, user) == ["s-0", "s-1", "s-2", "s-3"]
        assert towns(connection, user) == list(TOWNS[:4])
    assert failed(connection, *users) == []


def test_a_server_that_asks_to_be_left_alone_is(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, extract_concurrency=1)
    api.next.extend([status(429, retry_after="1"), None])
    log.append(connection, moves("ana", 3))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    refused, again = api.requests[:2]
    assert again.at - refused.at >= 1.0
    assert len(api.requests) == 4


def test_a_server_that_is_down_is_asked_by_one_at_a_time(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, breaker_failures=3, extract_concurrency=8)
    api.trouble = lambda _: status(500)
    for number in range(30):
        log.append(connection, moves(f"user{number}", 5))
    with reading(settings):
        eventually(lambda: len(api.requests) >= 8)
        at_first = len(api.requests)
        api.most_at_once = 0
        eventually(lambda: len(api.requests) >= at_first + 2)
        assert api.most_at_once == 1
        # Tries that come ever later: nobody hammers a server that is down.
        gaps = [
            later.at - sooner.at for sooner, later in zip(api.requests[-2:], api.requests[-1:], strict=False)
        ]
        assert min(gaps) >= 0.5


UNUSABLE: dict[str, Trouble] = {
    "prose": says("Here is what I found: Ana moved to Lisbon."),
    "nothing": Trouble(content=(), stop_reason="end_turn"),
    "no object": calls("residence: Lisbon"),
    "no list": calls({"states": "Lisbon"}),
    "an empty object": calls({}),
    "a card without a quote": calls({"states": [{"turn": 1, "value": "Lisbon"}], "events": [], "knowledge": []}),
    "another statement": calls(
        {
            "states": [
                {
                    "turn": 1, "quote": "I moved to Lisbon.", "content": "Lives in Lisbon", "entity": "user",
                    "concept_key": "residence", "value": "Lisbon", "cardinality": "one", "statement": "said",
                }
            ]
        }
    ),
    "an answer cut off": replace(calls({"states": []}), stop_reason="max_tokens"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_an_answer_that_cannot_be_used_is_asked_for_once_more_with_what_was_wrong(
    settings: Settings, api: MessagesApi, connection: Connection, name: str
) -> None:
    api.next.append(UNUSABLE[name])
    log.append(connection, moves("ana", 1))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    assert towns(connection, "ana") == ["Lisbon"]
    first, second = api.requests
    if name == "an answer cut off":
        assert second.body["max_tokens"] == 2 * first.body["max_tokens"]
    else:
        assert "cannot be used" in str(second.body["messages"][1:])
    [said] = [e.payload for e in events_of(connection, "ana") if isinstance(e.payload, TurnsExtracted)]
    assert said.usage.calls == 2


def test_what_was_paid_before_the_server_failed_is_not_forgotten(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    api.next.extend([says("no"), status(500)])
    log.append(connection, moves("ana", 1))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    [said] = [e.payload for e in events_of(connection, "ana") if isinstance(e.payload, TurnsExtracted)]
    assert len(api.requests) == 3
    assert said.usage.calls == 2


@pytest.mark.parametrize("name", UNUSABLE)
def test_turns_whose_answers_stay_unusable_fail_alone_and_say_why(
    settings: Settings, api: MessagesApi, connection: Connection, name: str
) -> None:
    settings = replace(settings, session_batch_turns=4, session_batch_linger_ms=200)
    api.trouble = lambda request: UNUSABLE[name] if any("Porto" in text for text in request.turns) else None
    log.append(connection, moves("ana", 4))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
        said = report(connection)
    assert extracted(connection, "ana") == ["s-0", "s-2", "s-3"]
    [failure] = failed(connection, "ana")
    assert failure.turn_ids == ("s-1",)
    assert failure.reason
    assert failure.attempts == 2
    # Three halvings were paid for, two calls each, besides the three that went well: nothing is left out.
    spent = [e.payload.usage for e in events_of(connection, "ana") if hasattr(e.payload, "usage")]
    assert sum(usage.calls for usage in spent) == len(api.requests)
    assert said is not None


def test_a_refusal_is_not_argued_with(settings: Settings, api: MessagesApi, connection: Connection) -> None:
    refusal = Trouble(content=(), stop_reason="refusal")
    api.trouble = lambda request: refusal if "Porto" in request.question.split("<turns>")[1] else None
    log.append(connection, moves("ana", 3))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    [failure] = failed(connection, "ana")
    assert "refuses" in failure.reason
    assert (len(api.requests), failure.attempts) == (3, 1)


def test_turns_that_break_the_server_are_given_up_once_others_are_read_in_between(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, extract_retries=1)
    api.trouble = lambda request: status(500) if "Porto" in request.turns[0] else None
    log.append(connection, moves("ana", 3))
    counted = 0
    with reading(settings):

        def fed() -> bool:
            nonlocal counted
            counted += 1
            log.append(connection, [turn(f"other{counted}", "I moved to Riga.", 0)])
            return bool(failed(connection, "ana"))

        eventually(fed)
        eventually(caught_up(connection, "ana"))
    assert extracted(connection, "ana") == ["s-0", "s-2"]
    [failure] = failed(connection, "ana")
    assert "status 500" in failure.reason
    assert failure.attempts >= 3


def test_sessions_are_written_in_order_and_the_checkpoint_passes_no_turn_that_is_not_done(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    slow, quick = neighbours(2)
    hold = threading.Event()

    def delay(request: Request) -> None:
        if request.turns == ["I moved to Lisbon."]:
            hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, [*moves(slow, 3, session="a"), *moves(quick, 3, session="b")[1:]])
    partition = partition_of(slow)
    with reading(settings):
        eventually(lambda: extracted(connection, quick) == ["b-1", "b-2"])
        # The slow session's later turns are long answered; they wait for the first.
        eventually(lambda: len(api.requests) == 5)
        assert extracted(connection, slow) == []
        assert PROCESSOR.positions(connection)[partition] == 0
        hold.set()
        eventually(caught_up(connection, slow, quick))
    assert extracted(connection, slow) == ["a-0", "a-1", "a-2"]


def test_what_was_written_above_the_checkpoint_is_neither_paid_nor_written_again(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    slow, quick = neighbours(2)
    api.trouble = lambda request: Trouble(hang=True) if request.turns == ["I moved to Lisbon."] else None
    log.append(connection, [*moves(slow, 1, session="a"), *moves(quick, 3, session="b")[1:]])
    with reading(replace(settings, extract_grace_s=0, extract_timeout_s=60)):
        eventually(lambda: extracted(connection, quick) == ["b-1", "b-2"])
    assert extracted(connection, slow) == []
    asked = len(api.requests)
    api.trouble = lambda _: None
    with reading(settings):
        eventually(caught_up(connection, slow, quick))
    assert [request.turns for request in api.requests[asked:]] == [["I moved to Lisbon."]]
    assert extracted(connection, slow, quick) == ["b-1", "b-2", "a-0"]


def test_the_rules_too_recognise_what_a_model_read_above_the_checkpoint(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    slow, quick = neighbours(2)
    api.trouble = lambda request: Trouble(hang=True) if request.turns == ["I moved to Lisbon."] else None
    log.append(connection, [*moves(slow, 1, session="a"), *moves(quick, 3, session="b")[1:]])
    with reading(replace(settings, extract_grace_s=0, extract_timeout_s=60)):
        eventually(lambda: extracted(connection, quick) == ["b-1", "b-2"])
    rules = ExtractorWorker(settings, RulesExtractor(), lambda: False)
    while rules.step(connection):
        pass
    assert Counter(extracted(connection, slow, quick)) == {"a-0": 1, "b-1": 1, "b-2": 1}
    assert behind(connection) == 0


def test_the_rules_leave_a_partition_alone_that_a_model_is_reading(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    hold = threading.Event()

    def delay(_: Request) -> None:
        hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, moves("ana", 2))
    rules = ExtractorWorker(settings, RulesExtractor(), lambda: False)
    with reading(settings):
        eventually(lambda: len(api.requests) == 2)
        log.append(connection, moves("bea", 1))
        eventually(lambda: len(api.requests) == 3)
        assert rules.step(connection) == 0
        hold.set()
        eventually(caught_up(connection, "ana", "bea"))
    assert extracted(connection, "ana") == ["s-0", "s-1"]


def test_without_knowledge_nothing_explained_becomes_a_card(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    told = "A JWT is a signed token."
    found = {"turn": 1, "quote": told, "title": "JWT", "definition": "a signed token"}
    api.trouble = lambda _: calls({"states": [], "events": [], "knowledge": [found]})
    for user, wanted in (("ana", True), ("bea", False)):
        log.append(connection, [turn(user, told, 0)])
        with reading(replace(settings, knowledge_extraction=wanted)):
            eventually(caught_up(connection, user))
        learned = [e for e in events_of(connection, user) if isinstance(e.payload, KnowledgeLearned)]
        assert len(learned) == wanted
        [said] = [e.payload for e in events_of(connection, user) if isinstance(e.payload, TurnsExtracted)]
        assert said.cards == 1 + wanted


def test_answers_under_way_at_a_stop_are_waited_for_and_written(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    api.seconds = 0.5
    log.append(connection, moves("ana", 3))
    with reading(settings) as stop:
        eventually(lambda: len(api.requests) == 3)
        stop.set()
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2"]
    assert len(api.requests) == 3


def test_a_lost_connection_costs_no_answer_that_was_under_way(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    hold = threading.Event()

    def delay(_: Request) -> None:
        hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, moves("ana", 4))
    with reading(settings):
        eventually(lambda: len(api.requests) == 4)
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
        ).fetchall()
        assert ended == [(True,)]
        hold.set()
        eventually(caught_up(connection, "ana"))
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2", "s-3"]
    assert len(api.requests) == 4


def test_a_lost_connection_costs_no_answer_that_waited_for_another(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    hold = threading.Event()

    def delay(request: Request) -> None:
        if request.turns == ["I moved to Lisbon."]:
            hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, moves("ana", 4))
    with reading(settings):
        eventually(lambda: len(api.requests) == 4 and api.at_once == 1)
        # Once a later answer is written, the earlier ones have arrived, too.
        log.append(connection, moves("bea", 2)[1:])
        eventually(lambda: extracted(connection, "bea") == ["s-1"])
        assert extracted(connection, "ana") == []
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
        )
        hold.set()
        eventually(caught_up(connection, "ana", "bea"))
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2", "s-3"]
    assert len(api.requests) == 5


def test_two_workers_never_pay_for_a_turn_twice_and_one_goes_on_alone(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    api.seconds = 0.02
    users = [f"user{number}" for number in range(24)]
    with reading(settings, "one") as stop, reading(settings, "two"):
        for user in users:
            log.append(connection, moves(user, 6))
        eventually(lambda: len(extracted(connection, *users)) > 20)
        stop.set()
        eventually(caught_up(connection, *users))
    for user in users:
        assert extracted(connection, user) == [f"s-{number}" for number in range(6)]
    assert len(api.requests) == 24 * 6


def test_a_worker_whose_connection_is_taken_away_gives_its_partitions_to_another(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    """A process that is stopped falls silent, and the server ends its session: the same thing, sooner."""
    stuck = connect(settings.database_url, application="stopped worker")
    partition = partition_of("ana")
    PROCESSOR.open(connection)
    log.append(connection, moves("ana", 2))
    stuck.execute("SELECT pg_advisory_lock(hashtextextended('cardlog extractor ' || %s, 0))", (partition,))
    with reading(settings):
        eventually(lambda: runs(connection))
        log.append(connection, moves("bea", 2))
        eventually(lambda: extracted(connection, "bea") == ["s-0", "s-1"])
        assert extracted(connection, "ana") == []
        stuck.execute("SET idle_session_timeout = '50ms'")
        eventually(caught_up(connection, "ana", "bea"))
    assert extracted(connection, "ana") == ["s-0", "s-1"]
    stuck.close()


def test_the_rules_stand_in_when_they_may_and_say_so(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, rules_fallback=True, breaker_failures=2)
    api.trouble = lambda _: status(529)
    users = [f"user{number}" for number in range(6)]
    for user in users:
        log.append(connection, moves(user, 3))
    with reading(settings):
        eventually(lambda: len(extracted(connection, *users)) >= 17)
        said = eventually(lambda: (each := report(connection)) and each.detail and each)
        assert said.state == "running"
        assert "stand in" in (said.detail or "")
        api.trouble = lambda _: None
        eventually(caught_up(connection, *users))
        number = itertools.count()

        def by_the_model() -> bool:
            log.append(connection, [turn("late", "I moved to Riga.", next(number))])
            late = [e.payload for e in events_of(connection, "late") if isinstance(e.payload, TurnsExtracted)]
            return any((each.extractor, each.rules_fallback) == ("claude", False) for each in late)

        eventually(by_the_model)
        eventually(caught_up(connection, "late"))
    read = [e.payload for e in events_of(connection, *users) if isinstance(e.payload, TurnsExtracted)]
    fell_back = [each for each in read if each.rules_fallback]
    assert len(fell_back) >= 17
    assert {(each.extractor, each.model) for each in fell_back} == {("rules", None)}
    assert towns(connection, "user0") == list(TOWNS[:3])
    assert Counter(extracted(connection, *users)).most_common(1)[0][1] == 6  # each id once a user


def test_a_user_whose_budget_is_spent_is_read_by_the_rules_until_tomorrow(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    settings = replace(settings, budget_tokens_per_user_day=1, extract_concurrency=1)
    log.append(connection, moves("ana", 1))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
        log.append(connection, moves("ana", 3)[1:])
        eventually(caught_up(connection, "ana"))
        eventually(lambda: (each := report(connection)) and "budget" in (each.detail or ""))
    asked = len(api.requests)
    # Another process learns from the log what was spent today.
    log.append(connection, [*moves("ana", 4)[3:], *moves("bea", 1)])
    with reading(settings):
        eventually(caught_up(connection, "ana", "bea"))
    assert [request.turns for request in api.requests[asked:]] == [["I moved to Lisbon."]]
    read = [e.payload for e in events_of(connection, "ana") if isinstance(e.payload, TurnsExtracted)]
    assert [(each.extractor, each.rules_fallback) for each in read] == [
        ("claude", False),
        *[("rules", True)] * 3,
    ]
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2", "s-3"]


def test_a_turn_this_build_cannot_decode_fails_in_its_place(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    log.append(connection, moves("ana", 1))
    item = {
        "partition": partition_of("ana"), "event_id": str(uuid7()), "user_id": "ana",
        "stream": "session/default/s", "type": "TurnRecorded", "schema_version": 9,
        "occurred_at": NOW.isoformat(), "actor": "another build", "data": {"turn_id": "t9"},
    }  # fmt: skip
    connection.execute("SELECT log.append(%s::text::json)", (json.dumps([item]),))
    log.append(connection, moves("ana", 2)[1:])
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    kinds = [
        event.payload.turn_ids
        for event in events_of(connection, "ana")
        if isinstance(event.payload, TurnsExtracted | ExtractionFailed)
    ]
    assert kinds == [("s-0",), ("t9",), ("s-1",)]


def test_the_key_is_in_no_line_of_the_journal(
    settings: Settings, api: MessagesApi, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    api.next.extend([status(401), Trouble(dropped=True), says("no"), status(500)])
    log.append(connection, [turn("ana", "I moved to Lisbon, nobody shall know.", 0)])
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    assert len(api.requests) >= 4
    assert "claude-haiku-5-5" in caplog.text
    assert "key-of-the-test" not in caplog.text
    assert "nobody shall know" not in caplog.text


def episodes(events: Iterable[Event]) -> list[Any]:
    return [e.payload for e in events if isinstance(e.payload, EventNoted) and e.payload.episode]


@pytest.mark.parametrize("reader", ["model", "rules"])
def test_hostile_turns_come_out_of_the_log_as_they_went_in_stop_nothing_and_state_nothing(
    settings: Settings, connection: Connection, reader: str
) -> None:
    settings = replace(settings, session_batch_turns=12, session_batch_linger_ms=200)
    if reader == "rules":
        settings = replace(settings, anthropic_base_url="", anthropic_api_key="")
    texts = hostile.turns()
    assert len(texts) >= 200
    log.append(connection, [turn("eve", text, number) for number, text in enumerate(texts)])
    with reading(settings):
        eventually(caught_up(connection, "eve"), within=60)
    assert failed(connection, "eve") == []
    events = events_of(connection, "eve")
    kept = [e.payload.text for e in events if isinstance(e.payload, TurnRecorded)]
    assert [text.encode() for text in kept] == [text.encode() for text in texts]
    assert extracted(connection, "eve") == [f"s-{number}" for number in range(len(texts))]
    said = [e.payload for e in events if isinstance(e.payload, TurnsExtracted)]
    assert {each.extractor for each in said} == {"claude" if reader == "model" else "rules"}
    cards = [
        e.payload for e in events if isinstance(e.payload, StateAsserted | EventNoted | KnowledgeLearned)
    ]
    assert len(cards) == len(episodes(events)) > 0


@pytest.mark.parametrize("reader", ["model", "rules"])
def test_naughty_strings_break_nothing(settings: Settings, connection: Connection, reader: str) -> None:
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if folder is None:
        pytest.skip("CARDLOG_EVAL_DATA names no folder of evaluation data")
    settings = replace(settings, session_batch_turns=12, session_batch_linger_ms=200)
    if reader == "rules":
        settings = replace(settings, anthropic_base_url="", anthropic_api_key="")
    naughty = json.loads((Path(folder) / "naughty_strings" / "blns.json").read_text("utf-8"))
    texts = [text for text in naughty if text and "\0" not in text]
    log.append(connection, [turn("eve", text, number) for number, text in enumerate(texts)])
    with reading(settings):
        eventually(caught_up(connection, "eve"), within=60)
    kept = [e.payload.text for e in events_of(connection, "eve") if isinstance(e.payload, TurnRecorded)]
    assert [text.encode() for text in kept] == [text.encode() for text in texts]
    assert extracted(connection, "eve") == [f"s-{number}" for number in range(len(texts))]
    assert failed(connection, "eve") == []


def test_every_turn_of_substance_is_an_episode_in_its_own_words(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    api.trouble = lambda _: calls({"states": [], "events": [], "knowledge": []})
    log.append(connection, [turn("ana", "We watched the boats all evening.", 0), turn("ana", "ok!", 1)])
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    [episode] = episodes(events_of(connection, "ana"))
    assert episode.content == "We watched the boats all evening."
