"""One user whose answers do harm, in every way we know, takes nothing from the others: their cards go on arriving.

The model is a loopback server that misbehaves for one user's turns only; extractor and projector are real.
``CARDLOG_TEST_MUTATIONS`` sets how many answers are mutated (`make test-model` takes 2,000).
"""

import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from projectors.runner import Runner
from tests.support.events.turns import neighbours
from tests.support.ingest import hostile_answers
from tests.support.ingest.messages_api import MessagesApi, Trouble, status
from tests.support.ingest.model_workers import Reader, moves, reading, turn
from tests.support.waiting import eventually, working

ARRIVES_WITHIN_S = 20.0
"""A busy machine needs a few seconds. The pause of the breaker and the time of a call are longer."""
MUTATIONS = int(os.environ.get("CARDLOG_TEST_MUTATIONS", "300"))
MARK = "quoll"  # every turn of the user with the harmful answers holds this word


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
    """A running projector of cards."""
    stop = threading.Event()
    with connect(settings.database_url, application="test") as opened:
        ensure_live(opened, CardsProjector())
    with working(Runner(settings, CardsProjector(), stop.is_set).run, stop):
        yield


def harmful(api: MessagesApi, trouble: Trouble) -> None:
    api.trouble = lambda request: trouble if MARK in request.question.split("<turns>")[1] else None


def arrivals_of(connection: Connection, users: list[str], town: str) -> list[float]:
    """Returns the seconds from a turn of each of ``users`` to its card."""
    found: dict[str, float] = {}
    began = time.monotonic()
    log.append(connection, [turn(user, f"I moved to {town}.", 0) for user in users])
    log.announce(connection)

    def all_there() -> bool:
        rows = connection.execute(
            "SELECT user_id FROM cards.cards WHERE kind = 'state' AND user_id = ANY (%s) AND value = %s "
            "AND superseded_at IS NULL AND NOT retracted",
            (users, town),
        )
        for (user,) in rows:
            found.setdefault(user, time.monotonic() - began)
        return len(found) == len(users)

    eventually(all_there)
    return list(found.values())


def arrival(connection: Connection, user: str, town: str) -> float:
    """Returns the seconds from a turn of ``user`` to its card."""
    return max(arrivals_of(connection, [user], town))


def muttering(user: str, count: int, first: int = 0) -> list[Any]:
    return [turn(user, f"My {MARK} said number {number}.", number) for number in range(first, first + count)]


def test_forty_answers_that_trickle_for_one_user_leave_the_others_theirs(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    harmful(api, hostile_answers.drips())
    log.append(connection, muttering("mallory", 40))
    with folding(settings), reading(settings):
        eventually(lambda: len(api.requests) >= 4)
        for user in ("ana", "bea", "cleo"):
            arrival(connection, user, "Lisbon")
        assert sum(MARK in request.question for request in api.requests) <= settings.extract_concurrency // 4


def test_users_in_trouble_who_opened_the_breaker_do_not_keep_others_waiting_for_its_end(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    harmful(api, status(500))
    for number in range(8):
        log.append(connection, muttering(f"mallory{number}", 3))
    with folding(settings), reading(replace(settings, extract_retries=100)):
        # The pause is now so long that no test would wait for its end.
        eventually(lambda: len(api.requests) >= 17)
        assert arrival(connection, "ana", "Lisbon") < ARRIVES_WITHIN_S


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
    reader = Reader(settings, api, connection)
    reader.read(*muttering("mallory", 20), *moves("ana", 5))
    assert [len(reader.extracted(user)) for user in ("ana", "mallory")] == [5, 19]
    [failure] = reader.failed("mallory")
    assert failure.turn_ids == ("s-7",)
    assert "index row requires" in failure.reason


@pytest.mark.timeout(300 + MUTATIONS)
def test_mutated_answers_keep_nobody_elses_cards_waiting(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    shared = neighbours(2_000)
    hostile_users = [*shared[:2], *(f"mallory{number}" for number in range(6))]
    honest_users = (user for number, near in enumerate(shared[2:]) for user in (near, f"ana{number}"))
    chance = random.Random(12)
    lock = threading.Lock()
    sent = 0

    def answers(wire: socket.socket, _: threading.Event) -> None:
        nonlocal sent
        with lock:
            answer = hostile_answers.mutated_message(valid(f"My {MARK} said number"), chance)
        wire.sendall(answer)
        with lock:
            sent += 1

    harmful(api, Trouble(wire=answers))
    turns = [
        turn(hostile_users[number % 8], f"My {MARK} said number {number}.", number)
        for number in range(MUTATIONS)
    ]
    log.append(connection, turns)
    arrivals: list[float] = []
    with folding(settings), reading(replace(settings, extract_timeout_s=60)):
        while sent < MUTATIONS or not arrivals:
            arrivals += arrivals_of(connection, list(islice(honest_users, 4)), "Lisbon")
        eventually(lambda: read_or_given_up(connection) >= MUTATIONS + len(arrivals))
    print(f"{sent} mutated answers; {len(arrivals)} honest turns, slowest card after {max(arrivals):.2f} s")
    assert connection.execute("SELECT count(*) FROM log.parked").fetchone() == (0,)
    assert max(arrivals) < ARRIVES_WITHIN_S


def read_or_given_up(connection: Connection) -> int:
    """Returns how many turns were extracted or given up, and how often. No turn counts twice."""
    row = connection.execute(
        "SELECT coalesce(sum(json_array_length(data->'turn_positions')), 0) FROM log.events "
        "WHERE type IN ('TurnsExtracted', 'ExtractionFailed')"
    ).fetchone()
    assert row is not None
    return int(row[0])


def valid(text: str) -> dict[str, Any]:
    """A valid answer for a turn, with one card of every kind."""
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
