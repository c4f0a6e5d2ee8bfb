"""Cards that arrive faster than the embedder works: the newest are embedded first, and each once."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from events.health.health_status import read_health
from events.platform.database import Connection
from events.platform.settings import variable_of
from events.store import log
from events.store.checkpoints import Processor
from events.types.cards import EventNoted, Utterance
from events.types.extraction import CardsWithdrawn
from projectors.embedding.embedder import HASH_MODEL, EmbedderUnavailableError, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.digest import digest_of
from projectors.generations.generations import ensure_live
from projectors.runner import Runner
from projectors.vectors import pending
from projectors.vectors.projector import VectorsProjector
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, count, event, noted, rebuild, settings_of
from tests.support.waiting import eventually

MANY = VectorsProjector.defer_above + 344
"""600 events, more than one step embeds."""


class Listening:
    """An embedder that records its texts in order, and refuses the texts that a test names."""

    name = fingerprint = "listening"
    revision, quantisation, pooling = "1", "fp32", "sum"
    dimension = 384
    heard: list[str] = []  # noqa: RUF012 - shared on purpose: the projector makes its own instances
    refused: str | None = None
    at_most = 1_000_000

    def embed(self, texts: Sequence[str]) -> Any:
        if len(Listening.heard) + len(texts) > Listening.at_most:
            raise EmbedderUnavailableError("the model is away")
        if Listening.refused in texts:
            raise ValueError("this text breaks it")
        Listening.heard += texts
        return np.array([[float(len(text))] * 384 for text in texts], dtype=np.float32)

    def embed_question(self, text: str) -> Any:
        return self.embed([text])[0]


@pytest.fixture
def heard() -> list[str]:
    Listening.heard, Listening.refused, Listening.at_most = [], None, 1_000_000
    return Listening.heard


def runner_of(database: Place, connection: Connection) -> Runner:
    projector = VectorsProjector(Embedders(Listening))
    ensure_live(connection, projector)
    return Runner(settings_of(database), projector, lambda: False)


def drain(runner: Runner, connection: Connection) -> None:
    while runner.step(connection):
        pass


def behind(connection: Connection) -> int:
    return sum(head - position for position, head in _progress(connection).values())


def _progress(connection: Connection) -> dict[int, tuple[int, int]]:
    return Processor("vectors", 1).progress(connection)


def test_the_checkpoint_keeps_up_and_the_newest_cards_are_embedded_first(
    connection: Connection, heard: list[str]
) -> None:
    runner = runner_of(connection, connection)
    for first in range(0, MANY, 100):
        log.append(connection, [noted(f"text {n}", f"user {n % 30}") for n in range(first, first + 100)])
    while behind(connection):
        runner.step(connection)
    # All events were folded, and some of the newest hundred were embedded.
    assert 0 < len(heard) < 100
    assert set(heard) < {f"text {n}" for n in range(MANY - 100, MANY)}
    assert count(connection, "vectors.pending_vectors") == MANY - len(heard)
    # A new statement gets its vector before the waiting cards.
    log.append(connection, [noted("a moment ago", "alex")])
    before = len(heard)
    runner.step(connection)
    assert "a moment ago" in heard[before:]
    assert count(connection, "vectors.pending_vectors") > 0
    drain(runner, connection)
    assert sorted(heard) == sorted([*(f"text {n}" for n in range(MANY)), "a moment ago"])
    order = [int(text.split()[1]) // 100 for text in heard if text != "a moment ago"]
    assert order == sorted(order, reverse=True)
    assert count(connection, "vectors.pending_vectors") == 0
    assert rebuild(connection, VectorsProjector(Embedders(Listening)), verify=True).equal


def test_a_few_events_are_embedded_with_their_fold(
    connection: Connection, heard: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = runner_of(connection, connection)
    log.append(connection, [noted(f"text {n}") for n in range(20)])
    monkeypatch.delattr(pending, "add")  # no card may wait
    assert runner.step(connection) == 20
    assert count(connection, "vectors.card_vectors_384") == len(heard) == 20


def test_a_card_that_cannot_be_embedded_stops_no_other(connection: Connection, heard: list[str]) -> None:
    runner = runner_of(connection, connection)
    log.append(connection, [noted(f"text {n}", f"user {n % 7}") for n in range(MANY)])
    Listening.refused = "text 300"
    drain(runner, connection)
    assert sorted(heard) == sorted(f"text {n}" for n in range(MANY) if n != 300)
    rows = connection.execute("SELECT user_id, failure FROM vectors.pending_vectors").fetchall()
    assert rows == [(f"user {300 % 7}", "ValueError: this text breaks it")]
    stage = read_health(connection).reader("vectors")
    assert "1 card cannot be embedded: ValueError: this text breaks it" in (stage.detail or "")


@pytest.mark.parametrize("put_off", [True, False])
def test_a_withdrawn_card_has_no_vector_and_waits_for_none(
    connection: Connection, heard: list[str], put_off: bool
) -> None:
    runner = runner_of(connection, connection)
    said = [noted(f"text {n}") for n in range(MANY if put_off else 20)]
    log.append(connection, said)
    if not put_off:
        drain(runner, connection)
    else:
        while behind(connection):
            runner.step(connection)
    gone = [said[0], said[-1]]
    withdrawn = CardsWithdrawn(
        event_ids=tuple(each.event_id for each in gone), positions=(1, len(said)), reason="read again"
    )
    log.append(connection, [event(withdrawn)])
    drain(runner, connection)
    left = connection.execute("SELECT card_id FROM vectors.card_vectors_384").fetchall()
    assert {card for (card,) in left} == {each.event_id for each in said} - {each.event_id for each in gone}
    assert count(connection, "vectors.pending_vectors") == 0
    assert rebuild(connection, VectorsProjector(Embedders(Listening)), verify=True).equal


def test_a_card_is_embedded_by_its_own_words_and_its_speaker(
    connection: Connection, heard: list[str]
) -> None:
    bob, before = replace(ORIGIN, speaker="Bob"), (Utterance("What did you adopt?", "Ann"),)
    words = ("Two kittens, two!", "两只小猫！")
    log.append(
        connection,
        [
            event(
                EventNoted(content=each, entity="user", tags=(), origin=bob, occurred_at=NOW, before=before)
            )
            for each in words
        ],
    )
    drain(runner_of(connection, connection), connection)
    assert sorted(heard) == ["Bob said: Two kittens, two!", "Bob: 两只小猫！"]


def test_status_wait_and_a_rebuild_know_of_cards_that_wait_for_their_vector(
    connection: Connection, heard: list[str]
) -> None:
    runner = runner_of(connection, connection)
    log.append(connection, [noted(f"text {n}", f"user {n % 7}") for n in range(MANY)])
    while behind(connection):
        runner.step(connection)
    waiting = count(connection, "vectors.pending_vectors")
    stage = read_health(connection).reader("vectors")
    assert (stage.behind, stage.pending) == (waiting, waiting)
    assert stage.pending_s is not None
    assert stage.seconds == stage.pending_s > 0
    assert f"{waiting} card{'s' * (waiting != 1)} without a vector, the oldest for" in (stage.detail or "")
    [(partition, position)] = connection.execute(
        "SELECT partition, position FROM vectors.pending_vectors ORDER BY position DESC LIMIT 1"
    ).fetchall()
    assert 0 < pending.waiting_up_to(connection, {partition: position}) < waiting
    assert pending.waiting_up_to(connection, log.heads(connection)) == waiting
    assert pending.waiting_up_to(connection, dict.fromkeys(range(64), 0)) == 0
    assert waiting > 0
    assert rebuild(connection, VectorsProjector(Embedders(Listening)), verify=True).equal
    assert count(connection, "vectors.card_vectors_384") == MANY
    assert count(connection, "vectors.pending_vectors") == 0
    assert sorted(heard) == sorted(f"text {n}" for n in range(MANY)), "each was embedded once"
    stage = read_health(connection).reader("vectors")
    assert (stage.behind, stage.pending, stage.pending_s) == (0, 0, 0.0)
    assert "without a vector" not in (stage.detail or "")


def test_no_card_waits_before_the_first_generation(connection: Connection) -> None:
    assert pending.waiting_up_to(connection, log.heads(connection)) == 0


def test_a_worker_killed_again_and_again_loses_and_doubles_nothing(
    database: str, connection: Connection
) -> None:
    cards = 1_000
    log.append(connection, [noted(f"text {n} {n % 997}", f"user {n % 50}") for n in range(cards)])
    ensure_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    done = 0
    for share in (0.0, 0.4):
        worker = start(database)
        try:
            reached = min(cards, max(done, int(share * cards)) + 1)
            eventually(partial(at_least, connection, reached))
        finally:
            worker.kill()
            worker.wait()
        # The server first ends the running statement of the killed worker.
        eventually(lambda: not _others(connection))
        done = count(connection, "vectors.card_vectors_384")
        # Every passed card is either embedded or waiting.
        passed = sum(position for position, _ in _progress(connection).values())
        assert done + count(connection, "vectors.pending_vectors") == passed
    projector = VectorsProjector(Embedders(HashEmbedder))
    drain(Runner(settings_of(database), projector, lambda: False), connection)
    assert count(connection, "vectors.card_vectors_384") == cards
    assert count(connection, "vectors.pending_vectors") == 0
    live = digest_of(connection, projector, "vectors")
    assert rebuild(database, projector, verify=True).tables == live


def at_least(connection: Connection, embedded: int) -> bool:
    return count(connection, "vectors.card_vectors_384") >= embedded


def _others(connection: Connection) -> int:
    """Sessions of the killed worker that the server has not noticed yet."""
    return count(
        connection,
        "pg_stat_activity WHERE datname = current_database() AND application_name = 'cardlog vectors' "
        "AND state <> 'idle'",
    )


def start(database: str) -> subprocess.Popen[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDLOG_")}
    return subprocess.Popen(
        [sys.executable, "-m", "deploy.command", "work", "vectors"],
        env={
            **kept,
            variable_of("database_url"): database,
            variable_of("embed_model"): HASH_MODEL,
            variable_of("batch_events"): "16",
        },
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
