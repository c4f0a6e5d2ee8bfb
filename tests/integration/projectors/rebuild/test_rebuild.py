"""A rebuild equals live folding, disturbs nobody, and leaves the live generation alone whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from deploy.command import main
from events.platform.database import Connection, connect
from events.platform.settings import variable_of
from events.platform.sql import statement
from events.store import archive, log
from events.types.relations import CardsConnected, ConnectionWithdrawn
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import EmbedderUnavailableError, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.digest import digest_of
from projectors.generations.generations import (
    GenerationError,
    ProjectorBlockedError,
    changing,
    drop,
    ensure_live,
    hold_live,
    list_generations,
    with_fold_paused,
)
from projectors.rebuild import swap
from projectors.rebuild.fail_fast_fold import FoldFailedError
from projectors.runner.runner import Runner
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.bench.support.history import fill
from tests.support.projectors.folding import (
    count,
    event,
    fold_live,
    moved,
    noted,
    rebuild,
    settings_of,
    some_events,
    statuses,
    tamper,
)
from tests.support.waiting import PATIENT, eventually

TABLES = {"cards", "statements", "relations", "arbitrations", "card_counts", "words"}


# --- equality


def test_a_rebuild_gives_the_rows_live_folding_gave(database: str, connection: Connection) -> None:
    events = fill(connection, 2500, users=9, texts=300)
    fold_live(database)
    before = digest_of(connection, CardsProjector(), "cards")
    outcome = rebuild(database, verify=True, workers=2)
    assert (outcome.equal, outcome.events, outcome.generation, outcome.replaced) == (True, events, 2, 1)
    assert outcome.tables == before == digest_of(connection, CardsProjector(), "cards")
    assert before.keys() == TABLES
    assert statuses(connection) == {1: "retired", 2: "live"}
    # What happened is one card an event, whoever folded it.
    assert count(connection, "cards.event_cards") == count(connection, "log.events WHERE type = 'EventNoted'")


def test_the_size_of_batches_changes_nothing(database: str, connection: Connection) -> None:
    first, second = moved("Taipei", 1), moved("Tainan", 3)
    cards = (second.event_id, first.event_id)
    said = CardsConnected(from_card=cards[0], to_card=cards[1], predicate="update", reason="said so")
    taken_back = ConnectionWithdrawn(
        from_card=cards[0], to_card=cards[1], predicate="update", reason="not so"
    )
    late = moved(
        "Taoyuan", 2
    )  # lands between the two, so that what they implied of each other no longer holds
    for batch in ([first], [second], [event(said)], [event(taken_back)], [event(said)], [late]):
        log.append(connection, batch)
    fold_live(database, batch=1)
    assert rebuild(database, verify=True).unequal == ()
    rows = connection.execute(
        "SELECT from_card, to_card, implied, reason = 'said so' FROM cards.relations ORDER BY implied, from_card"
    ).fetchall()
    assert rows == [
        (second.event_id, first.event_id, False, True),
        *sorted(
            [(second.event_id, late.event_id, True, False), (late.event_id, first.event_id, True, False)]
        ),
    ]


def test_words_of_what_was_said_earlier_are_found_after_a_rebuild_as_before(
    database: str, connection: Connection
) -> None:
    for value, day in (("Kaohsiung", 3), ("Kaohsiung", 1)):
        log.append(connection, [moved(value, day)])
        fold_live(database)
    assert rebuild(database, verify=True).equal


TAMPERING = {
    "cards": "UPDATE cards.cards SET confidence = 0.25 WHERE card_id IN (SELECT card_id FROM cards.cards LIMIT 1)",
    "statements": "UPDATE cards.statements SET position = position + 1 WHERE event_id IN ("
    "SELECT event_id FROM cards.statements LIMIT 1)",
    "relations": "DELETE FROM cards.relations WHERE event_id IN (SELECT event_id FROM cards.relations LIMIT 1)",
    "card_counts": "UPDATE cards.card_counts SET terms = terms + 1",
    "words": "INSERT INTO cards.words SELECT user_id, word || 'x', term_key, gram_keys FROM cards.words LIMIT 1",
}


@pytest.mark.parametrize("table", TAMPERING)
def test_one_changed_row_is_found_and_nothing_is_swapped(
    database: str, connection: Connection, table: str
) -> None:
    log.append(connection, [moved("Taipei", 1), moved("Tainan", 3), noted("We went to the night market")])
    fold_live(database)
    connection.execute(TAMPERING[table].encode())
    outcome = rebuild(database, verify=True)
    assert (outcome.equal, outcome.replaced) == (False, None)
    assert [difference.split(":")[0] for difference in outcome.unequal] == [table]
    assert statuses(connection) == {1: "live", 2: "building"}
    # What was built stays to be looked at, and goes with the next rebuild.
    assert rebuild(database).replaced == 1
    assert statuses(connection) == {1: "retired", 2: "live"}


def test_the_digests_cover_every_table_of_every_projection(connection: Connection, database: str) -> None:
    for projector in (CardsProjector(), VectorsProjector(Embedders(Counting))):
        ensure_live(connection, projector)
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables t "
            "WHERE table_schema = %s AND table_type = 'BASE TABLE' AND NOT EXISTS ("
            "SELECT FROM pg_inherits WHERE inhrelid = (t.table_schema || '.' || t.table_name)::regclass)",
            [projector.name],
        ).fetchall()
        text = statement(projector.package, "digest").as_string(connection)
        assert found
        assert all(f"FROM {name}" in text for (name,) in found)


# --- readers and writers go on


def test_readers_see_no_error_and_no_gap_while_generations_are_swapped(
    database: str, connection: Connection
) -> None:
    fill(connection, 800, users=5, texts=100)
    fold_live(database)
    wanted = count(connection)
    answers: set[int] = set()
    errors: list[Exception] = []
    stop = threading.Event()

    def read() -> None:
        try:
            with connect(database, application="reader") as own:
                own.prepare_threshold = 0
                while not stop.is_set():
                    row = own.execute(
                        "SELECT count(*), count(w.word) FROM cards.cards c LEFT JOIN cards.words w ON false"
                    ).fetchone()
                    assert row is not None
                    answers.add(row[0])
        except Exception as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(3):
        rebuild(database)
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
    assert answers == {wanted}


def test_the_read_service_answers_from_every_channel_while_generations_are_swapped(
    database: str, connection: Connection
) -> None:
    settings = settings_of(database, embed_model="hash", **PATIENT)
    log.append(connection, [noted(f"We walked to the night market, part {n}") for n in range(30)])
    vectors = VectorsProjector(Embedders(HashEmbedder))
    fold_live(database)
    fold_live(database, vectors)
    answers: list[dict[str, Any]] = []
    codes: list[int] = []
    stop = threading.Event()
    with TestClient(create_app(settings)) as client:

        def ask() -> None:
            while not stop.is_set():
                answer = client.post("/v1/recall", json={"user_id": "alex", "query": "night market"})
                codes.append(answer.status_code)
                answers.append(answer.json())

        asking = threading.Thread(target=ask)
        asking.start()
        eventually(lambda: len(answers) > 3)
        rebuild(database)
        rebuild(database, vectors)
        for _ in range(8):
            swap.rollback(connection, CardsProjector())
            swap.rollback(connection, vectors)
        stop.set()
        asking.join()
    assert set(codes) == {200}
    assert {len(answer["cards"]) for answer in answers} == {5}
    assert {report["status"] for answer in answers for report in answer["channels"].values()} == {"ok"}


def test_a_reader_in_a_long_transaction_holds_up_no_swap(database: str, connection: Connection) -> None:
    log.append(connection, [noted("one")])
    fold_live(database)
    with connect(database, application="reader") as reader, reader.transaction():
        assert count(reader) == 1
        assert rebuild(database).replaced == 1
        assert count(reader) == 1


def test_live_folding_and_appending_go_on_and_follow_the_swap(database: str, connection: Connection) -> None:
    fill(connection, 3000, users=12, texts=200)
    fold_live(database)
    stop = threading.Event()
    runner = Runner(settings_of(database), CardsProjector(), stop.is_set)
    thread = threading.Thread(target=runner.run)
    appended = 0

    def write() -> None:
        nonlocal appended
        with connect(database, application="writer") as own:
            while not stop.is_set():
                log.append(own, [noted(f"note {appended}", f"writer-{appended % 7}")])
                log.announce(own)
                appended += 1

    writer = threading.Thread(target=write)
    thread.start()
    writer.start()
    try:
        outcomes = [rebuild(database, verify=True) for _ in range(2)]
    finally:
        stop.set()
        writer.join()
        thread.join()
    assert [outcome.equal for outcome in outcomes] == [True, True]
    fold_live(database)
    assert appended > 0
    assert count(connection, "cards.cards WHERE user_id LIKE 'writer-%'") == appended
    assert rebuild(database, verify=True).equal
    live = [standing for standing in list_generations(connection, "cards") if standing.status == "live"]
    assert [(standing.number, standing.behind) for standing in live] == [(4, 0)]


def test_a_swap_does_not_interrupt_a_batch_and_gives_up_on_one_that_never_ends(
    database: str, connection: Connection
) -> None:
    ensure_live(connection, CardsProjector())
    with connect(database, application="runner") as runner, runner.transaction():
        assert hold_live(runner, "cards") is not None
        with (
            pytest.raises(GenerationError, match="does not come to the end"),
            with_fold_paused(connection, "cards", attempts=2, longest_s=0.1),
        ):
            pytest.fail("two cannot hold it")
    with with_fold_paused(connection, "cards", attempts=1):
        pass


# --- going back, and tidying up


def test_rollback_returns_to_the_old_generation_brought_up_to_date(
    database: str, connection: Connection
) -> None:
    log.append(connection, [moved("Taipei", 1)])
    fold_live(database)
    rebuild(database)
    log.append(connection, [moved("Tainan", 3), noted("more")])
    fold_live(database)
    newest = digest_of(connection, CardsProjector(), "cards")
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (1, 2)
    assert digest_of(connection, CardsProjector(), "cards") == newest
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (2, 1)
    assert statuses(connection) == {1: "retired", 2: "live"}


def test_rollback_without_an_earlier_generation_says_so(database: str, connection: Connection) -> None:
    ensure_live(connection, CardsProjector())
    with pytest.raises(GenerationError, match="no earlier generation"):
        swap.rollback(connection, CardsProjector())


def test_only_a_retired_generation_is_dropped_and_with_everything(
    database: str, connection: Connection
) -> None:
    log.append(connection, [noted("one")])
    fold_live(database)
    rebuild(database)
    with pytest.raises(GenerationError, match="2 of cards is live"):
        drop(connection, "cards", 2)
    with pytest.raises(GenerationError, match="no generation 7"):
        drop(connection, "cards", 7)
    drop(connection, "cards", 1)
    assert statuses(connection) == {2: "live"}
    assert count(connection, "information_schema.schemata WHERE schema_name = 'cards_g1'") == 0
    assert count(connection, "log.checkpoints WHERE processor = 'cards' AND generation = 1") == 0
    assert count(connection) == 1


def test_the_second_of_two_rebuilds_is_turned_away(database: str, connection: Connection) -> None:
    log.append(connection, [noted("one")])
    fold_live(database)
    with changing(connection, "cards"), pytest.raises(GenerationError, match="another rebuild"):
        rebuild(database)
    assert rebuild(database).replaced == 1


# --- what cannot be folded


POISON = {
    "is an unknown type": "type = 'NoSuchThing'",
    "schema version 99 is not known": "schema_version = 99",
    "is missing": """data = '{"content":"x"}'""",
    "CheckViolation": """data = replace(data::text, '"user_stated"', '"somebody"')::json""",
}


@pytest.mark.parametrize("why", POISON)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_event_that_cannot_be_folded_ends_the_rebuild_and_is_named(
    database: str, connection: Connection, why: str, workers: int
) -> None:
    partition, event_id = some_events(connection)
    fold_live(database)
    before = digest_of(connection, CardsProjector(), "cards")
    tamper(
        connection,
        f"UPDATE log.events SET {POISON[why]} WHERE partition = {partition} AND position = 2",
    )
    with pytest.raises(RuntimeError) as caught:
        rebuild(database, workers=workers)
    message = str(caught.value)
    kind = "NoSuchThing" if "type" in why else "EventNoted"
    assert f"event {event_id} ({kind}, partition {partition}, position 2)" in message
    if why != "CheckViolation":
        assert why in message
    assert statuses(connection) == {1: "live"}
    assert digest_of(connection, CardsProjector(), "cards") == before


def test_a_hole_in_the_log_ends_the_rebuild_and_is_named(database: str, connection: Connection) -> None:
    partition, _ = some_events(connection)
    fold_live(database)
    tamper(connection, f"DELETE FROM log.events WHERE partition = {partition} AND position = 2")
    with pytest.raises(FoldFailedError, match=f"partition {partition} has no position 2"):
        rebuild(database)
    assert statuses(connection) == {1: "live"}


def test_what_was_dropped_by_decision_is_left_out_of_rebuilds(database: str, connection: Connection) -> None:
    partition, event_id = some_events(connection)
    tamper(
        connection,
        f"UPDATE log.events SET type = 'NoSuchThing' WHERE partition = {partition} AND position = 2",
    )
    connection.execute(
        "INSERT INTO log.dropped (processor, partition, user_id, position, event_id, because, attempts, parked_at)"
        " VALUES ('cards', %s, 'alex', 2, %s, 'test', 1, now())",
        [partition, event_id],
    )
    rebuild(database)
    rows = connection.execute("SELECT content FROM cards.cards ORDER BY content").fetchall()
    assert [content for (content,) in rows] == ["one", "other", "three"]


# --- stopped half-way


def start(database: str, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDLOG_")}
    return subprocess.Popen(
        [sys.executable, "-m", "deploy.command", "rebuild", *arguments],
        env={**kept, variable_of("database_url"): database},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def partitions_done(connection: Connection) -> int:
    return count(connection, "log.checkpoints WHERE processor = 'cards' AND generation = 2 AND position > 0")


@pytest.mark.parametrize(
    ("number", "partitions"), [(signal.SIGKILL, 0), (signal.SIGKILL, 3), (signal.SIGTERM, 1)]
)
def test_a_rebuild_that_is_killed_leaves_the_live_generation_and_the_next_one_succeeds(
    database: str, connection: Connection, number: signal.Signals, partitions: int
) -> None:
    fill(connection, 12_000, users=60, texts=300)
    rebuild(database, verify=True)
    drop(connection, "cards", 1)
    before = digest_of(connection, CardsProjector(), "cards")
    connection.execute("UPDATE log.generations SET generation = 1 WHERE projection = 'cards'")
    connection.execute("UPDATE log.checkpoints SET generation = 1 WHERE processor = 'cards'")
    process = start(database, "cards", "--workers", "2")
    try:
        eventually(
            lambda: statuses(connection).get(2) == "building" and partitions_done(connection) >= partitions
        )
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    if number == signal.SIGTERM:
        assert process.returncode == 130, errors
        assert "the live generation is as it was" in errors
        assert statuses(connection) == {1: "live"}
    else:
        assert process.returncode == -signal.SIGKILL
        assert statuses(connection) == {1: "live", 2: "building"}
    assert digest_of(connection, CardsProjector(), "cards") == before
    assert rebuild(database, verify=True).equal
    assert statuses(connection) == {1: "retired", 2: "live"}


@pytest.mark.parametrize("stage", ["indexing", "swapping"])
def test_a_rebuild_killed_when_all_is_folded_leaves_the_live_generation_and_the_next_one_succeeds(
    database: str, connection: Connection, stage: str
) -> None:
    fill(connection, 3_000, users=30, texts=300)
    fold_live(database)
    before = digest_of(connection, CardsProjector(), "cards")
    with connect(database, application="in the way") as other, other.transaction():
        if stage == "swapping":
            assert hold_live(other, "cards") is not None
        process = start(database, "cards", "--workers", "1")
        try:
            eventually(lambda: statuses(connection).get(2) == "building")
            if stage == "indexing":
                # Rows may be written under this lock, and no index be made.
                other.execute("LOCK TABLE cards_g2.words IN ROW EXCLUSIVE MODE")
            eventually(lambda: count(connection, "pg_locks WHERE NOT granted") > 0)
            process.kill()
            process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == -signal.SIGKILL
        assert statuses(connection) == {1: "live", 2: "building"}
        assert digest_of(connection, CardsProjector(), "cards") == before
    assert rebuild(database, verify=True).equal
    assert statuses(connection) == {1: "retired", 2: "live"}
    assert digest_of(connection, CardsProjector(), "cards") == before


# --- vectors


class Counting:
    """An embedder that counts what it embeds, and stops after as many as it is told to."""

    name = "counting"
    dimension = 384
    embedded = 0
    at_most = 1_000_000

    def embed(self, texts: Sequence[str]) -> Any:
        if Counting.embedded + len(texts) > Counting.at_most:
            raise EmbedderUnavailableError("the model is away")
        Counting.embedded += len(texts)
        return np.array([[float(len(text))] * 384 for text in texts], dtype=np.float32)

    def embed_question(self, text: str) -> Any:
        return self.embed([text])[0]


class Newer(Counting):
    name = "newer"
    dimension = 768

    def embed(self, texts: Sequence[str]) -> Any:
        return np.repeat(super().embed(texts), 2, axis=1)


@pytest.fixture
def embedder() -> type[Counting]:
    Counting.embedded, Counting.at_most = 0, 1_000_000
    return Counting


def test_vectors_are_taken_from_the_cache(
    database: str, connection: Connection, embedder: type[Counting]
) -> None:
    log.append(connection, [noted(f"text {n}", f"user {n % 3}") for n in range(40)])
    projector = VectorsProjector(Embedders(embedder))
    fold_live(database, projector)
    assert embedder.embedded == 40
    assert rebuild(database, VectorsProjector(Embedders(embedder)), verify=True).equal
    assert embedder.embedded == 40
    assert count(connection, "vectors.card_vectors_384") == 40


def test_vectors_of_a_new_model_are_computed_once_whatever_interrupts(
    database: str, connection: Connection, embedder: type[Counting]
) -> None:
    texts = 700
    log.append(connection, [noted(f"text {n}") for n in range(texts)])
    fold_live(database, VectorsProjector(Embedders(embedder)))
    embedder.embedded, embedder.at_most = 0, texts // 2
    with pytest.raises(ProjectorBlockedError, match="the model is away"):
        rebuild(database, VectorsProjector(Embedders(Newer)))
    done = embedder.embedded
    assert 0 < done < texts
    assert statuses(connection, "vectors") == {1: "live"}
    embedder.at_most = 1_000_000
    rebuild(database, VectorsProjector(Embedders(Newer)))
    assert embedder.embedded == texts
    assert count(connection, "vectors.card_vectors_768") == texts
    assert count(connection, "vectors.card_vectors_384") == 0


# --- the command


def test_tables_are_rebuilt_elsewhere_from_an_export(
    database: str,
    connection: Connection,
    empty_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    events = fill(connection, 600, users=5, texts=100)
    fold_live(database)
    exported = tmp_path / "log.jsonl"
    with exported.open("wb") as file:
        archive.export_log(connection, file.write)
    cardlog = run(monkeypatch, empty_database)
    with connect(empty_database, application="test") as elsewhere:
        assert cardlog("rebuild", "cards", "--from-export", str(exported), "--json") == 0
        assert json.loads(capsys.readouterr().out)["imported"] == {"added": events, "already": 0}
        assert digest_of(elsewhere, CardsProjector(), "cards") == digest_of(
            connection, CardsProjector(), "cards"
        )
        assert cardlog("rebuild", "cards", "--from-export", str(exported), "--verify", "--json") == 0
        document = json.loads(capsys.readouterr().out)
    assert (document["imported"], document["equal"]) == ({"added": 0, "already": events}, True)


def run(monkeypatch: pytest.MonkeyPatch, database: str) -> Callable[..., int]:
    monkeypatch.setenv(variable_of("database_url"), database)
    return lambda *arguments: main(arguments)


def test_the_commands_speak_to_machines(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("embed_model"), "hash")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    cardlog = run(monkeypatch, database)
    log.append(connection, [noted("one"), moved("Taipei", 1)])
    fold_live(database)
    assert cardlog("rebuild", "cards", "--verify", "--json") == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["equal"], document["events"], document["left_out"]) == (True, 2, {})
    assert document["events_per_s"] > 0
    assert document["projections"]["cards"]["swapped"] is True
    progress = [json.loads(line) for line in captured.err.splitlines() if line.startswith("{")]
    assert {"folding", "indexing", "swapping"} <= {line["stage"] for line in progress}
    assert cardlog("digest", "cards", "--json") == 0
    digest = json.loads(capsys.readouterr().out)["cards"]
    assert (digest["generation"], digest["events"]) == (2, 2)
    assert digest["tables"] == document["projections"]["cards"]["tables"]
    assert cardlog("rollback", "cards", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"projection": "cards", "live": 1, "retired": 2}
    assert cardlog("generations", "cards", "--drop", "2", "--json") == 0
    [generation] = json.loads(capsys.readouterr().out)
    assert (generation["generation"], generation["status"], generation["behind"]) == (1, "live", 0)
    connection.execute("UPDATE cards.card_counts SET cards = 9")
    assert cardlog("rebuild", "cards", "--verify") == 1
    captured = capsys.readouterr()
    assert "NOT equal" in captured.out
    assert "card_counts" in captured.out
    assert "cards_g2" in captured.err
