"""One user whose answers do harm, in every way we know, takes nothing from the others: their cards go on arriving.

The model is a loopback server that misbehaves for one user's turns only; extractor and projector are real.
``CARDLOG_TEST_MUTATIONS`` sets how many answers are mutated (`make test-model` takes 2,000).
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import partition_of
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from projectors.runner.runner import Runner
from tests.support.ingest import hostile_answers
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls
from tests.support.ingest.model_workers import extracted, failed, moves, neighbours, reading, turn
from tests.support.waiting import eventually

ARRIVES_WITHIN_S = 5.0
MUTATIONS = int(os.environ.get("CARDLOG_TEST_MUTATIONS", "300"))
MARK = "quoll"  # stands in every turn of the one whose answers do harm


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    with connect(database, application="test") as opened:
        yield opened


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as server:
        yield server


@pytest.fixture
def settings(database: str, api: MessagesApi) -> Settings:
    return Settings(
        database_url=database, anthropic_base_url=api.url, anthropic_api_key="key-of-the-test",
        session_batch_linger_ms=0,
        session_batch_turns=1, extract_timeout_s=600, extract_grace_s=0, extract_concurrency=16, extract_retries=1,
    )  # fmt: skip


@contextmanager
def folding(settings: Settings) -> Iterator[None]:
    """A projector of cards at work."""
    stop = threading.Event()
    with connect(settings.database_url, application="test") as opened:
        ensure_live(opened, CardsProjector())
    thread = threading.Thread(target=Runner(settings, CardsProjector(), stop.is_set).run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


def harmful(api: MessagesApi, trouble: Trouble) -> None:
    api.trouble = lambda request: trouble if MARK in request.question.split("<turns>")[1] else None


def homes(connection: Connection, user: str) -> list[str]:
    rows = connection.execute(
        "SELECT value FROM cards.state_cards WHERE user_id = %s AND superseded_at IS NULL AND NOT retracted",
        (user,),
    )
    return [row[0] for row in rows]


def arrival(connection: Connection, user: str, town: str) -> float:
    """Seconds from a turn of ``user`` to its card."""
    began = time.monotonic()
    log.append(connection, [turn(user, f"I moved to {town}.", 0)])
    log.announce(connection)
    eventually(lambda: town in homes(connection, user), within=60)
    return time.monotonic() - began


def muttering(user: str, count: int, first: int = 0) -> list[Any]:
    return [turn(user, f"My {MARK} said number {number}.", number) for number in range(first, first + count)]


@pytest.mark.parametrize("name", ["drips", "drips_its_head", "keeps_saying_go_on"])
def test_forty_answers_that_trickle_for_one_user_leave_the_others_theirs(
    settings: Settings, api: MessagesApi, connection: Connection, name: str
) -> None:
    harmful(api, getattr(hostile_answers, name)())
    log.append(connection, muttering("mallory", 40))
    with folding(settings), reading(settings):
        eventually(lambda: len(api.requests) >= 4)
        for user in ("ana", "bea", "cleo"):
            arrival(connection, user, "Lisbon")
        assert sum(MARK in request.question for request in api.requests) <= settings.extract_concurrency // 4


def test_a_long_backlog_of_one_user_does_not_keep_others_of_the_partition_waiting(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    mallory, ana, bea = neighbours(3)
    assert partition_of(mallory) == partition_of(ana)
    harmful(api, Trouble(hang=True))
    log.append(connection, muttering(mallory, 3_000))
    with folding(settings), reading(settings):
        arrival(connection, ana, "Lisbon")
        arrival(connection, bea, "Porto")
        harmful(api, calls({"states": [], "events": [], "knowledge": []}))
    assert extracted(connection, mallory) == []


def test_a_long_backlog_is_read_to_its_end_and_in_order(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    mallory, ana = neighbours(2)
    harmful(api, calls({"states": [], "events": [], "knowledge": []}))
    log.append(connection, muttering(mallory, 400))
    log.append(connection, moves(ana, 1))
    with reading(replace(settings, session_batch_turns=7)):
        eventually(lambda: len(extracted(connection, mallory)) == 400, within=120)
    assert extracted(connection, mallory) == [f"s-{number}" for number in range(400)]


def test_events_the_database_refuses_fail_their_own_turns_only(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    connection.execute(
        "CREATE FUNCTION log.no_quolls() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.type = 'EventNoted' AND NEW.data->>'content' LIKE '%number 7.%' THEN "
        "RAISE EXCEPTION 'index row requires 20048 bytes' USING ERRCODE = '54000'; END IF; RETURN NEW; END $$"
    )
    connection.execute(
        "CREATE TRIGGER no_quolls BEFORE INSERT ON log.events FOR EACH ROW EXECUTE FUNCTION log.no_quolls()"
    )
    log.append(connection, muttering("mallory", 20))
    log.append(connection, moves("ana", 5))
    with reading(settings):
        eventually(lambda: len(extracted(connection, "ana")) == 5)
        eventually(lambda: len(extracted(connection, "mallory")) == 19)
        eventually(lambda: len(failed(connection, "mallory")) == 1)
    [failure] = failed(connection, "mallory")
    assert failure.turn_ids == ("s-7",)
    assert "index row requires" in failure.reason


def test_mutated_answers_keep_nobody_elses_cards_waiting(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    chance = random.Random(12)
    given = threading.Lock()
    answered = 0

    def trouble(request: Request) -> Trouble | None:
        nonlocal answered
        if MARK not in request.question.split("<turns>")[1]:
            return None
        with given:
            answered += 1
            for _ in range(20):
                answer = hostile_answers.mutated(valid(request.turns[0]), chance)
                if hostile_answers.sent(answer) is not None:
                    return calls(answer, hostile_answers.mutated_usage(chance))
        return calls({})

    api.trouble = trouble
    hostile_users = [f"mallory{number}" for number in range(8)]
    arrivals: list[float] = []
    honest = 0
    with folding(settings), reading(replace(settings, extract_timeout_s=20)):
        sent = 0
        while answered < MUTATIONS:
            while sent < answered + 64:
                user = hostile_users[sent % len(hostile_users)]
                log.append(connection, muttering(user, 1, sent))
                sent += 1
            log.announce(connection)
            arrivals.append(arrival(connection, f"honest{honest}", "Lisbon"))
            honest += 1
        eventually(
            lambda: (
                len(extracted(connection, *hostile_users)) + len(failed(connection, *hostile_users)) >= sent
            ),
            within=300,
        )
        arrivals.append(arrival(connection, "last", "Porto"))
    assert connection.execute("SELECT count(*) FROM log.parked").fetchone() == (0,)
    assert len(arrivals) >= 3
    assert max(arrivals) < ARRIVES_WITHIN_S


def valid(text: str) -> dict[str, Any]:
    """A proper answer for a turn, with one card of every kind."""
    quote = {"turn": 1, "quote": text}
    return {
        "states": [
            {
                **quote, "content": f"Has a {MARK}", "entity": "user", "concept_key": "pet", "value": MARK,
                "cardinality": "multi_value", "statement": "asserted", "announced": False,
                "occurred_at_hint": "yesterday", "replaces": MARK,
            }
        ],
        "events": [{**quote, "content": f"The {MARK} said a number", "entity": MARK, "importance": 3}],
        "knowledge": [
            {**quote, "title": MARK, "definition": f"My {MARK} said number", "aliases": [MARK.upper(), "number"]}
        ],
    }  # fmt: skip
