"""PostgreSQL's own backups: a dump restored elsewhere is the same log and continues normally."""

import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from deploy.embedded.installation import places, unpacked
from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from events.store import log
from events.store.verification import verify
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.extraction.workers.rules_worker import ExtractorWorker
from projectors.generations.generations import ensure_live
from projectors.registry import projectors
from projectors.runner import Runner
from retrieval.http.read_api import create_app
from tests.support.events.turns import recorded, turn
from tests.support.roles import roles_for
from tests.support.waiting import PATIENT

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)

TURNS = {
    "alex": [
        "I live in Oslo.",
        "I bought a bicycle yesterday.",
        "I moved to Bergen.",
        'Say "hi" \\ to\tAnn.',
    ],
    "mei": ["我住在台北。", "我昨天買了一台腳踏車。", "我搬到高雄了。"],
}


def settings_of(database: str) -> Settings:
    return Settings(database_url=database, **PATIENT)


def say(connection: Connection, user: str, *texts: str) -> None:
    """Each a minute after the one before."""
    (minutes,) = connection.execute(
        "SELECT count(*) FROM log.events WHERE type = 'TurnRecorded'"
    ).fetchone() or (0,)
    said = [NOW + timedelta(minutes=minutes + number) for number in range(len(texts))]
    log.append(
        connection,
        [
            turn(user, recorded(text, said_at=said_at), dedupe_key=f"turn/{text}")
            for text, said_at in zip(texts, said, strict=True)
        ],
    )


def work(connection: Connection, database: str) -> int:
    """Does all the work of the workers and returns how many events they passed."""
    settings, passed = settings_of(database), 0
    EXTRACTOR.open(connection)
    extractor = ExtractorWorker(settings, RulesExtractor(), lambda: False)
    while done := extractor.step(connection):
        passed += done
    for projector in projectors(settings):
        ensure_live(connection, projector)
        runner = Runner(settings, projector, lambda: False)
        while done := runner.step(connection):
            passed += done
    return passed


def contents(connection: Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Returns every row of every table as text in a fixed order, without the times of the migrations."""
    tables = connection.execute(
        "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
    ).fetchall()
    return {
        name: connection.execute(f"SELECT t::text FROM {name} t ORDER BY 1".encode()).fetchall()
        for (name,) in tables
    }


def filled_tables(connection: Connection) -> set[str]:
    return {name for name, rows in contents(connection).items() if rows}


def residence(database: str, user: str, question: str) -> str:
    with TestClient(create_app(settings_of(database))) as client:
        answer = client.post("/v1/recall", json={"user_id": user, "query": question})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["cards"][0]["value"])


def run(program: str, *arguments: str) -> None:
    home = unpacked(places(Path("unused")))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(home / "lib")}
    done = subprocess.run(
        [str(home / "bin" / program), *arguments], env=environment, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr.lower(), done.stderr


@pytest.fixture
def filled(database: str, connection: Connection) -> Connection:
    for user, texts in TURNS.items():
        say(connection, user, *texts)
    work(connection, database)
    assert filled_tables(connection) >= {"cards.cards", "vectors.card_vectors_384", "log.checkpoints"}
    # Every table has a row, with a parked user and unfinished work among them.
    connection.execute(
        "INSERT INTO log.parked (processor, generation, partition, user_id, position, event_id, reason) "
        "SELECT 'cards', 1, partition, 'ghost', position, event_id, 'a test' FROM log.events LIMIT 1"
    )
    say(connection, "alex", "I have a cat named Tom.")
    return connection


@pytest.fixture(params=["plain", "directory"])
def restored(
    request: pytest.FixtureRequest, filled: Connection, database: str, tmp_path: Path
) -> Iterator[str]:
    """The URL of a fresh server that holds only the dump, and none of the roles that own the dumped tables."""
    kind, dump, bare = request.param, tmp_path / "dump", ("--no-owner", "--no-acl")
    with roles_for(database, ("recorder",)):
        # pg_dump ignores --no-owner for every format but plain.
        options = bare if kind == "plain" else ()
        run("pg_dump", *options, f"--format={kind}", f"--file={dump}", f"--dbname={database}")
    with EmbeddedPostgres(tmp_path / "fresh", durable=False) as server:
        if kind == "plain":
            run("psql", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={dump}", f"--dbname={server.url}")
        else:
            run("pg_restore", *bare, "--exit-on-error", "--jobs=2", f"--dbname={server.url}", str(dump))
        yield server.url


def test_a_restored_dump_is_the_same_and_continues(restored: str, filled: Connection, database: str) -> None:
    with connect(restored, application="restored") as connection:
        expected = contents(filled)
        assert {"log.events", "log.parked", "cards.cards", "cards.statements"} <= set(expected)
        assert contents(connection) == expected
        assert migrate(connection) == [], "the log's schema came along, with the list of its migrations"
        assert verify(connection) == verify(filled)
        assert verify(connection).faults == ()
        assert verify(connection).events == sum(log.heads(filled).values()) > 0

        # Unfinished work is done once, in both databases.
        assert work(connection, restored) == work(filled, database) > 0
        cards = "SELECT user_id, kind, content, value, superseded_at IS NULL FROM cards.cards ORDER BY 1, 2, 3, 4, 5"
        assert connection.execute(cards).fetchall() == filled.execute(cards).fetchall()
        assert work(connection, restored) == 0

        # The log has the same guards as before, and grows where it ended.
        for change in ("UPDATE log.events SET actor = 'x'", "DELETE FROM log.events", "TRUNCATE log.events"):
            with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="append-only"):
                connection.execute(change.encode())
        say(connection, "mei", "我搬到高雄了。")
        assert work(connection, restored) == 0, "said before: a duplicate"
        say(connection, "mei", "我搬到台南了。")
        assert work(connection, restored) > 0
        assert verify(connection).faults == ()
    assert residence(restored, "alex", "Where do I live?") == "Bergen"
    assert residence(restored, "mei", "我住在哪裡？") == "台南"
