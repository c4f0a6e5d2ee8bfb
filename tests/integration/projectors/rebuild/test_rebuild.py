"""A rebuild equals live folding, disturbs no reader, and leaves the live generation alone when it fails."""

import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deploy.command import main
from events.platform.database import Connection, connect, statement
from events.platform.settings import variable_of
from events.store import archive, log
from events.types.relations import CardsConnected, ConnectionWithdrawn
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import EmbedderUnavailableError
from projectors.embedding.embedders import Embedders
from projectors.generations.digest import digest_of
from projectors.generations.generations import ensure_live
from projectors.generations.projector import ProjectorBlockedError
from projectors.vectors.projector import VectorsProjector
from tests.bench.support.history import fill
from tests.support.projectors.folding import (
    count,
    event,
    fold_live,
    moved,
    noted,
    rebuild,
    statuses,
)

TABLES = {"cards", "statements", "relations", "arbitrations", "card_counts", "words"}


# --- equality


def test_a_rebuild_gives_the_rows_live_folding_gave(connection: Connection) -> None:
    events = fill(connection, 1000, users=9, texts=300)
    fold_live(connection)
    before = digest_of(connection, CardsProjector(), "cards")
    outcome = rebuild(connection, verify=True, workers=2)
    assert (outcome.equal, outcome.events, outcome.generation, outcome.replaced) == (True, events, 2, 1)
    assert outcome.tables == before == digest_of(connection, CardsProjector(), "cards")
    assert before.keys() == TABLES
    assert statuses(connection) == {1: "retired", 2: "live"}
    # Each event that happened is one card, in both ways to fold.
    assert count(connection, "cards.cards WHERE kind = 'event'") == count(
        connection, "log.events WHERE type = 'EventNoted'"
    )


def test_the_size_of_batches_changes_nothing(connection: Connection) -> None:
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
    fold_live(connection, batch=1)
    assert rebuild(connection, verify=True).unequal == ()
    rows = connection.execute(
        "SELECT from_card, to_card, implied, reason = 'said so' FROM cards.relations ORDER BY implied, from_card"
    ).fetchall()
    assert rows == [
        (second.event_id, first.event_id, False, True),
        *sorted(
            [(second.event_id, late.event_id, True, False), (late.event_id, first.event_id, True, False)]
        ),
    ]


TAMPERING = {
    "cards": "UPDATE cards.cards SET confidence = 0.25 WHERE card_id IN (SELECT card_id FROM cards.cards LIMIT 1)",
    "statements": "UPDATE cards.statements SET position = position + 1 WHERE event_id IN ("
    "SELECT event_id FROM cards.statements LIMIT 1)",
    "relations": "DELETE FROM cards.relations WHERE event_id IN (SELECT event_id FROM cards.relations LIMIT 1)",
    "card_counts": "UPDATE cards.card_counts SET terms = terms + 1",
    "words": "INSERT INTO cards.words SELECT user_id, word || 'x', term_key, gram_keys FROM cards.words LIMIT 1",
}


@pytest.mark.parametrize("table", TAMPERING)
def test_one_changed_row_is_found_and_nothing_is_swapped(connection: Connection, table: str) -> None:
    log.append(connection, [moved("Taipei", 1), moved("Tainan", 3), noted("We went to the night market")])
    fold_live(connection)
    connection.execute(TAMPERING[table].encode())
    outcome = rebuild(connection, verify=True)
    assert (outcome.equal, outcome.replaced) == (False, None)
    assert [difference.split(":")[0] for difference in outcome.unequal] == [table]
    assert statuses(connection) == {1: "live", 2: "building"}
    # The built tables stay for inspection. The next rebuild removes them.
    assert rebuild(connection).replaced == 1
    assert statuses(connection) == {1: "retired", 2: "live"}


def test_the_digests_cover_every_table_of_every_projection(connection: Connection) -> None:
    for projector in (CardsProjector(), VectorsProjector(Embedders(Counting))):
        ensure_live(connection, projector)
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = %s AND table_type = 'BASE TABLE'",
            [projector.name],
        ).fetchall()
        text = statement(projector.package, projector.prefix + "digest").as_string(connection)
        assert found
        # These hold waiting work of the live projection, and no result of it.
        missing = {name for (name,) in found if f"FROM {name}" not in text} - {
            "pending_vectors",
            "reembeddings",
            "blocked_slots",
            "spaces",
        }
        assert missing == set()


# --- vectors


class Counting:
    """An embedder that counts the texts it embeds, and stops after a given number."""

    name = fingerprint = "counting"
    revision, quantisation, pooling = "1", "fp32", "sum"
    dimension = 384
    embedded = 0
    at_most = 1_000_000

    def embed(self, texts: Sequence[str]) -> Any:
        if Counting.embedded + len(texts) > Counting.at_most:
            raise EmbedderUnavailableError("the model is away")
        Counting.embedded += len(texts)
        return np.array([[float(len(text))] * 384 for text in texts], dtype=np.float32).reshape(-1, 384)

    def embed_question(self, text: str) -> Any:
        return self.embed([text])[0]


class Newer(Counting):
    name = fingerprint = "newer"
    dimension = 768

    def embed(self, texts: Sequence[str]) -> Any:
        return np.repeat(super().embed(texts), 2, axis=1)


@pytest.fixture
def embedder() -> type[Counting]:
    Counting.embedded, Counting.at_most = 0, 1_000_000
    return Counting


def test_vectors_are_taken_from_the_cache(connection: Connection, embedder: type[Counting]) -> None:
    log.append(connection, [noted(f"text {n}", f"user {n % 3}") for n in range(40)])
    projector = VectorsProjector(Embedders(embedder))
    fold_live(connection, projector)
    assert embedder.embedded == 40
    assert rebuild(connection, VectorsProjector(Embedders(embedder)), verify=True).equal
    assert embedder.embedded == 40
    assert count(connection, "vectors.card_vectors_384") == 40


def test_vectors_of_a_new_model_are_computed_once_under_any_interruption(
    connection: Connection, embedder: type[Counting]
) -> None:
    texts = 700
    log.append(connection, [noted(f"text {n}") for n in range(texts)])
    fold_live(connection, VectorsProjector(Embedders(embedder)))
    embedder.embedded, embedder.at_most = 0, texts // 2
    with pytest.raises(ProjectorBlockedError, match="the model is away"):
        rebuild(connection, VectorsProjector(Embedders(Newer)))
    done = embedder.embedded
    assert 0 < done < texts
    assert statuses(connection, "vectors") == {1: "live"}
    embedder.at_most = 1_000_000
    rebuild(connection, VectorsProjector(Embedders(Newer)))
    assert embedder.embedded == texts
    assert count(connection, "vectors.card_vectors_768") == texts
    assert count(connection, "vectors.card_vectors_384") == 0


# --- the command


def test_tables_are_rebuilt_elsewhere_from_an_export(
    connection: Connection,
    empty_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    events = fill(connection, 600, users=5, texts=100)
    fold_live(connection)
    exported = tmp_path / "log.jsonl"
    with exported.open("wb") as file:
        archive.export_log(connection, file.write)
    cardlog = run(monkeypatch, empty_database)
    with connect(empty_database, application="test") as elsewhere:
        assert cardlog("rebuild", "cards", "--from-export", str(exported), "--json") == 0
        assert json.loads(capsys.readouterr().out)["imported"] == {
            "added": events,
            "already": 0,
            "without_keys": 0,
        }
        assert digest_of(elsewhere, CardsProjector(), "cards") == digest_of(
            connection, CardsProjector(), "cards"
        )
        assert cardlog("rebuild", "cards", "--from-export", str(exported), "--verify", "--json") == 0
        document = json.loads(capsys.readouterr().out)
    assert (document["imported"], document["equal"]) == (
        {"added": 0, "already": events, "without_keys": 0},
        True,
    )


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
