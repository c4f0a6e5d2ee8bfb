"""A model worker loses no turn and counts none twice, under every failure of the model's server."""

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.extraction import TurnsExtracted
from ingest.erasure import subjects
from ingest.erasure.erasure import Eraser, Terms
from tests.support.ingest.chat_completions import SERVERS
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls, says, status
from tests.support.ingest.model_workers import (
    TOWNS,
    behind,
    caught_up,
    events_of,
    extracted,
    failed,
    moves,
    reading,
    report,
    runs,
    towns,
    turn,
    waits,
)
from tests.support.waiting import eventually


@pytest.fixture(params=SERVERS)
def api(request: pytest.FixtureRequest) -> Iterator[MessagesApi]:
    """The server of either API. Both ways to a model fail in the same classes."""
    with request.param() as server:
        yield server


TROUBLES: dict[str, tuple[Trouble, str]] = {
    "rate limit": (status(429, retry_after="0.2"), "status 429"),
    "overloaded": (status(529, retry_after="0"), "status 529"),
    "internal error": (status(500), "status 500"),
    "refused key": (status(401), "refuses the key"),
    "unknown model": (status(404), "knows no such"),
    "dropped connection": (Trouble(dropped=True), "cannot be reached"),
    "cut answer": (Trouble(cut=True), "cannot be reached"),
    "no answer": (Trouble(hang=True), "did not answer within"),
    "no message": (Trouble(body=b"<html>hello</html>"), "a body that is no "),
}


@pytest.mark.parametrize(
    ("api", "name"),
    [(SERVERS[number % 2], name) for number, name in enumerate(TROUBLES, 1)],
    indirect=["api"],
    ids=TROUBLES,
)
def test_no_turn_is_lost_and_none_counts_twice_while_the_server_is_in_trouble(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
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
    told = [each.getMessage() for each in caplog.records if each.name.endswith("model_worker")]
    away = sum("the model does not answer, turns wait: " in each for each in told)
    assert away == sum("the model answers again after" in each for each in told) > 0


def test_a_server_that_asks_for_a_pause_gets_it(
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
        # The calls of the first moment run side by side: eight, and those that begin before three have failed.
        eventually(lambda: len(api.requests) >= 10)
        at_first = len(api.requests)
        api.most_at_once = 0
        eventually(lambda: len(api.requests) >= at_first + 2)
        assert api.most_at_once == 1
        # The pauses between tries grow, so a server that is down gets few calls.
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
    "a call of another tool": Trouble(
        content=({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Lisbon"}},)
    ),
    "an unknown end": replace(says("Lisbon"), stop_reason="eos"),
    "an answer cut off": replace(calls({"states": []}), stop_reason="max_tokens"),
}  # fmt: skip


def test_an_answer_that_cannot_be_used_is_asked_for_once_more_with_what_was_wrong(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    with reading(settings):
        for name, answer in UNUSABLE.items():
            api.requests.clear()
            api.next.append(answer)
            log.append(connection, moves(name, 1))
            eventually(caught_up(connection, name))
            assert towns(connection, name) == ["Lisbon"], name
            first, second = api.requests
            if name == "an answer cut off":
                assert second.body["max_tokens"] == 2 * first.body["max_tokens"]
            else:
                assert "cannot be used" in second.question, name
            [said] = [e.payload for e in events_of(connection, name) if isinstance(e.payload, TurnsExtracted)]
            assert said.usage.calls == 2, name


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


def answered(trouble: Trouble, word: str, request: Request) -> Trouble | None:
    """The answer to a request with the word. Other requests are answered well."""
    return trouble if any(word in text for text in request.turns) else None


def test_turns_whose_answers_stay_unusable_fail_alone_and_say_why(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    with reading(replace(settings, session_batch_turns=4, session_batch_linger_ms=200)):
        for name, unusable in UNUSABLE.items():
            api.requests.clear()
            api.trouble = partial(answered, unusable, "Porto")
            log.append(connection, moves(name, 4))
            eventually(caught_up(connection, name))
            said = report(connection)
            assert extracted(connection, name) == ["s-0", "s-2", "s-3"], name
            [failure] = failed(connection, name)
            assert failure.turn_ids == ("s-1",)
            assert failure.reason
            assert failure.attempts == 2
            # Three halvings were paid, two calls each, beside the three good calls. The count holds all of them.
            spent = [e.payload.usage for e in events_of(connection, name) if hasattr(e.payload, "usage")]
            assert sum(usage.calls for usage in spent) == len(api.requests), name
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


@pytest.mark.parametrize("gone", [["s-1"], ["s-0", "s-1", "s-2"]])
def test_turns_that_are_erased_during_a_call_are_no_failures(
    sealed: None, settings: Settings, api: MessagesApi, connection: Connection, gone: list[str]
) -> None:
    """The turns of the same call that were not erased are asked for again, without the erased ones."""
    settings = replace(settings, session_batch_turns=3, session_batch_linger_ms=300)
    log.append(connection, [*moves("ana", 3), turn("bea", "I live in Rome.", 0)])
    to_erase = list(gone)

    def erase(request: Request) -> None:
        if len(request.turns) == 3:
            with connect(settings.database_url, application="test") as other:
                while to_erase:
                    subjects.erase_turn(Eraser(settings, []), other, "ana", to_erase.pop(), Terms(by="test"))

    api.trouble = erase
    with reading(settings):
        eventually(caught_up(connection, "ana", "bea"))
    left = [each for each in ("s-0", "s-1", "s-2") if each not in gone]
    assert (extracted(connection, "ana"), failed(connection, "ana")) == (left, [])
    asked = [len(request.turns) for request in api.requests if "Rome" not in str(request.turns)]
    assert asked == [3, *([len(left)] if left else [])]
