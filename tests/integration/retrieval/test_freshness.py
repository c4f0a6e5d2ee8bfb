"""A recall with a token waits for the cards, and for vectors that come soon. It reports the vectors it lacks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.health.heartbeat import Heartbeat
from events.http.tokens import Sealer
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import Processor
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.runner import Runner
from projectors.vectors.projector import VectorsProjector
from retrieval import freshness
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import fold_live, noted, settings_of
from tests.support.waiting import PATIENT, eventually

LONG_S = 600
BEHIND, MANY = 20, 64  # with so many events left, cards wait for their vector
SEALER = Sealer(b"of the test")
LATE = "wait_for: the vectors of the cards are not stored yet: the semantic channel may not find the cards"

# Longer than a busy machine delays, and shorter than a wait in vain takes here.
pytestmark = pytest.mark.timeout(LONG_S / 2)


@pytest.fixture(autouse=True)
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the limit so long that a wait in vain exceeds the test's time limit, and few events a backlog."""
    monkeypatch.setattr(freshness, "VECTORS_WITHIN_S", LONG_S)
    monkeypatch.setattr(VectorsProjector, "defer_above", BEHIND)


@pytest.fixture
def runner(connection: Connection) -> Runner:
    """A runner that has folded so many cards of alex that most of them wait for their vector."""
    log.append(connection, [noted(f"alex has seen {n} kittens") for n in range(MANY)])
    fold_live(connection)
    projector = VectorsProjector(Embedders(HashEmbedder))
    ensure_live(connection, projector)
    runner = Runner(settings_of(connection), projector, lambda: False)
    while any(position < head for position, head in Processor("vectors", 1).progress(connection).values()):
        runner.step(connection)
    assert pending(connection)
    return runner


def pending(connection: Connection) -> list[int]:
    """Returns the positions of the cards that wait for their vector."""
    rows = connection.execute("SELECT position FROM vectors.pending_vectors ORDER BY position")
    return [position for (position,) in rows]


@contextmanager
def recalling(database: str) -> Iterator[Any]:
    settings = Settings(
        database_url=database, token_key="of the test", wait_for_ms=LONG_S * 1000, **PATIENT
    )  # fmt: skip
    with TestClient(create_app(settings)) as client:

        def recall(position: int) -> list[str]:
            body = {
                "user_id": "alex", "query": "how many kittens?", "wait_for": SEALER.seal({"alex": position}),
            }  # fmt: skip
            answer = client.post("/v1/recall", json=body)
            assert answer.status_code == 200, answer.text
            assert answer.json()["cards"]
            return [text for text in answer.json()["warnings"] if text.startswith("wait_for")]

        yield recall


def test_a_card_that_was_passed_and_has_no_vector_is_waited_for(
    database: str, connection: Connection, runner: Runner
) -> None:
    first = pending(connection)[0]
    with Heartbeat(database, "vectors", "w"), recalling(database) as recall, ThreadPoolExecutor(1) as thread:
        eventually(lambda: beats(connection))
        told = thread.submit(recall, first)
        eventually(lambda: asks_for_pending(connection) or told.done())
        assert not told.done()
        while runner.step(connection):
            pass
        assert told.result() == []
    assert pending(connection) == []


def beats(connection: Connection) -> bool:
    return connection.execute("SELECT FROM log.heartbeats WHERE stage = 'vectors'").fetchone() is not None


def asks_for_pending(connection: Connection) -> bool:
    asked = connection.execute(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cardlog read' "
        "AND query LIKE '%FROM vectors.pending_vectors%'"
    )
    return asked.fetchone() is not None


@pytest.mark.parametrize("stage", ["gone", "silent", "stopped", "waiting", "falling behind"])
@pytest.mark.parametrize("passed", [True, False])
def test_vectors_that_do_not_come_soon_cost_nobody_a_wait(
    database: str, connection: Connection, runner: Runner, stage: str, passed: bool
) -> None:
    position = pending(connection)[0]
    if not passed:
        position = MANY + 1
        log.append(connection, [noted("alex has seen a dog")])
        fold_live(database)
    with (
        Heartbeat(database, "vectors", "w")
        if stage in ("waiting", "falling behind")
        else nullcontext() as heartbeat
    ):
        if stage == "waiting":
            assert heartbeat is not None
            heartbeat.waiting("no model")
        elif stage == "falling behind":
            assert heartbeat is not None
            heartbeat.running("falling behind: 7 cards without a vector, at this rate never embedded")
        elif stage != "gone":
            connection.execute(
                "INSERT INTO log.heartbeats (stage, worker, pid, state, done, seen_at) "
                "VALUES ('vectors', 'w', 1, %s, 0, clock_timestamp() - %s::interval)",
                ("running", "1 minute") if stage == "silent" else ("stopped", "0"),
            )
        if heartbeat is not None:
            eventually(lambda: told_by_stage(connection))
        with recalling(database) as recall:
            assert recall(position) == [LATE]


def told_by_stage(connection: Connection) -> bool:
    row = connection.execute("SELECT detail FROM log.heartbeats WHERE stage = 'vectors'").fetchone()
    return row is not None and row[0] is not None


def test_cards_put_off_before_are_named_and_not_waited_for(
    database: str, connection: Connection, runner: Runner
) -> None:
    newest = MANY  # embedded first, while those before it wait
    assert newest not in pending(connection)
    with Heartbeat(database, "vectors", "w"), recalling(database) as recall:
        eventually(lambda: beats(connection))
        assert recall(newest) == [LATE]


@pytest.mark.parametrize("change", ["UPDATE vectors.pending_vectors SET failure = 'it breaks the model'",
                                    "DROP TABLE vectors.pending_vectors"])  # fmt: skip
def test_what_never_gets_a_vector_is_not_waited_for(
    database: str, connection: Connection, runner: Runner, change: str
) -> None:
    first = pending(connection)[0]
    connection.execute(change)
    with Heartbeat(database, "vectors", "w"), recalling(database) as recall:
        eventually(lambda: beats(connection))
        assert recall(first) == []
