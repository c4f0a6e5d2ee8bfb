"""A model worker loses no turn and counts none twice, under every failure of the model's server."""

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from events.platform.database import connect
from events.types.extraction import TurnsExtracted
from ingest.erasure import subjects
from ingest.erasure.erasure import Eraser, Terms
from tests.support.ingest.chat_completions import SERVERS
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls, says, status
from tests.support.ingest.model_workers import TOWNS, Reader, moves, turn
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
    reader: Reader, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    trouble, reason = TROUBLES[name]
    reader.set(breaker_failures=2)
    if name == "no answer":
        reader.set(extract_timeout_s=1)
    over = threading.Event()
    reader.api.trouble = lambda _: None if over.is_set() else trouble
    users = ("ana", "bea", "cleo")
    for user in users:
        reader.append(*moves(user, 4))
    with reader.working():
        eventually(lambda: reader.waits(reason))
        assert reader.extracted(*users) == []
        assert reader.behind() == 12
        over.set()
        reader.until_read(*users)
        eventually(reader.runs)
    for user in users:
        assert reader.extracted(user) == ["s-0", "s-1", "s-2", "s-3"]
        assert reader.towns(user) == list(TOWNS[:4])
    assert reader.failed(*users) == []
    told = [each.getMessage() for each in caplog.records if each.name.endswith("model_worker")]
    away = sum("the model does not answer, turns wait: " in each for each in told)
    assert away == sum("the model answers again after" in each for each in told) > 0


def test_a_server_that_asks_for_a_pause_gets_it(reader: Reader) -> None:
    reader.set(extract_concurrency=1)
    reader.api.next.extend([status(429, retry_after="1"), None])
    reader.read(*moves("ana", 3))
    refused, again = reader.api.requests[:2]
    assert again.at - refused.at >= 1.0
    assert len(reader.api.requests) == 4


def test_a_server_that_is_down_is_asked_by_one_at_a_time(reader: Reader) -> None:
    reader.set(breaker_failures=3, extract_concurrency=8)
    reader.api.trouble = lambda _: status(500)
    for number in range(30):
        reader.append(*moves(f"user{number}", 5))
    with reader.working():
        # The calls of the first moment run side by side: eight, and those that begin before three have failed.
        eventually(lambda: len(reader.api.requests) >= 10 and not reader.api.at_once)
        at_first = len(reader.api.requests)
        reader.api.most_at_once = 0
        eventually(lambda: len(reader.api.requests) >= at_first + 2)
        assert reader.api.most_at_once == 1


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


def test_an_answer_that_cannot_be_used_is_asked_for_once_more_with_what_was_wrong(reader: Reader) -> None:
    with reader.working():
        for name, answer in UNUSABLE.items():
            reader.api.requests.clear()
            reader.api.next.append(answer)
            reader.append(*moves(name, 1))
            reader.until_read(name)
            assert reader.towns(name) == ["Lisbon"], name
            first, second = reader.api.requests
            if name == "an answer cut off":
                assert second.body["max_tokens"] == 2 * first.body["max_tokens"]
            else:
                assert "cannot be used" in second.question, name
            [said] = reader.payloads(TurnsExtracted, name)
            assert said.usage.calls == 2, name


def test_what_was_paid_before_the_server_failed_is_not_forgotten(reader: Reader) -> None:
    reader.api.next.extend([says("no"), status(500)])
    reader.read(*moves("ana", 1))
    [said] = reader.payloads(TurnsExtracted, "ana")
    assert len(reader.api.requests) == 3
    assert said.usage.calls == 2


def answered(trouble: Trouble, word: str, request: Request) -> Trouble | None:
    """The answer to a request with the word. Other requests are answered well."""
    return trouble if any(word in text for text in request.turns) else None


def test_turns_whose_answers_stay_unusable_fail_alone_and_say_why(reader: Reader) -> None:
    with reader.working(session_batch_turns=4, session_batch_linger_ms=200):
        for name, unusable in UNUSABLE.items():
            reader.api.requests.clear()
            reader.api.trouble = partial(answered, unusable, "Porto")
            reader.append(*moves(name, 4))
            reader.until_read(name)
            said = reader.report()
            assert reader.extracted(name) == ["s-0", "s-2", "s-3"], name
            [failure] = reader.failed(name)
            assert failure.turn_ids == ("s-1",)
            assert failure.reason
            assert failure.attempts == 2
            # Three halvings were paid, two calls each, beside the three good calls. The count holds all of them.
            spent = [e.payload.usage for e in reader.events(name) if hasattr(e.payload, "usage")]
            assert sum(usage.calls for usage in spent) == len(reader.api.requests), name
            assert said is not None


def test_a_refusal_is_not_argued_with(reader: Reader) -> None:
    refusal = Trouble(content=(), stop_reason="refusal")
    reader.api.trouble = lambda request: refusal if "Porto" in request.question.split("<turns>")[1] else None
    reader.read(*moves("ana", 3))
    [failure] = reader.failed("ana")
    assert "refuses" in failure.reason
    assert (len(reader.api.requests), failure.attempts) == (3, 1)


def test_turns_that_break_the_server_are_given_up_once_others_are_read_in_between(reader: Reader) -> None:
    reader.set(extract_retries=1)
    reader.api.trouble = lambda request: status(500) if "Porto" in request.turns[0] else None
    reader.append(*moves("ana", 3))
    counted = 0
    with reader.working():

        def fed() -> bool:
            nonlocal counted
            counted += 1
            reader.append(turn(f"other{counted}", "I moved to Riga.", 0))
            return bool(reader.failed("ana"))

        eventually(fed)
        reader.until_read("ana")
    assert reader.extracted("ana") == ["s-0", "s-2"]
    [failure] = reader.failed("ana")
    assert "status 500" in failure.reason
    assert failure.attempts >= 3


@pytest.mark.parametrize("gone", [["s-1"], ["s-0", "s-1", "s-2"]])
def test_turns_that_are_erased_during_a_call_are_no_failures(
    reader: Reader, sealed: None, gone: list[str]
) -> None:
    """The turns of the same call that were not erased are asked for again, without the erased ones."""
    reader.set(session_batch_turns=3, session_batch_linger_ms=300)
    reader.append(*moves("ana", 3), turn("bea", "I live in Rome.", 0))
    to_erase = list(gone)

    def erase(request: Request) -> None:
        if len(request.turns) == 3:
            with connect(reader.settings.database_url, application="test") as other:
                while to_erase:
                    subjects.erase_turn(
                        Eraser(reader.settings, []), other, "ana", to_erase.pop(), Terms(by="test")
                    )

    reader.api.trouble = erase
    with reader.working():
        reader.until_read("ana", "bea")
    left = [each for each in ("s-0", "s-1", "s-2") if each not in gone]
    assert (reader.extracted("ana"), reader.failed("ana")) == (left, [])
    asked = [len(request.turns) for request in reader.api.requests if "Rome" not in str(request.turns)]
    assert asked == [3, *([len(left)] if left else [])]
