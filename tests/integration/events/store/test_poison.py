"""Poison, and batches that are too long, stop no worker."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from redis import Redis

from events.platform.database import Connection
from events.platform.isolation import is_the_datas_fault
from events.platform.key_file import KeyFileError
from events.platform.settings import Settings
from events.store import authentication, log
from events.store.checkpoints import Processor
from events.types.codec import PayloadError, describe
from events.types.envelope import Event, NewEvent, partition_of, uuid7
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.recording.recorder import Recorder
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.generations.projector import Projector
from projectors.runner import Runner
from projectors.vectors.projector import VectorsProjector
from tests.support import poison
from tests.support.events.turns import recorded, turn
from tests.support.ingest.recorder import queue_of, recording, settled
from tests.support.projectors.folding import settings_of
from tests.support.projectors.parking import noted
from tests.support.streams import entries, raw_entries
from tests.support.waiting import eventually

POISON = 300


GOOD = 60


def stored(connection: Connection, bad: Sequence[Any], good: Sequence[NewEvent]) -> int:
    """Append both, mixed, the bad ones each for a user of its own; how many of those the log took.

    What ``log.append`` refuses is put into the table all the same, if the server takes it: another build may have.
    """
    taken = 0
    every = max(1, len(bad) // len(good))
    for number, payload in enumerate(bad):
        if number % every == 0 and number // every < len(good):
            log.append(connection, [good[number // every]])
        event = NewEvent(
            event_id=uuid7(), user_id=f"poison {number}", stream="session/default/s", payload=payload,
            occurred_at=poison.NOW, actor="test",
        )  # fmt: skip
        try:
            log.append(connection, [event])
            taken += 1
        except Exception as error:
            if not is_the_datas_fault(error):
                raise
            taken += forced(connection, event)
    return taken


def forced(connection: Connection, event: NewEvent) -> bool:
    name, version = describe(event.payload)
    try:
        item = {
            "partition": partition_of(event.user_id), "event_id": str(event.event_id), "user_id": event.user_id,
            "stream": event.stream, "type": name, "schema_version": version, "dedupe_key": None,
            "occurred_at": event.occurred_at.isoformat(), "actor": event.actor,
            "data": orjson.loads(orjson.dumps(event.payload)),
        }  # fmt: skip
        connection.execute("SELECT log.append(%s::text::json)", (json.dumps([item]),))
    except Exception as error:
        if not is_the_datas_fault(error):
            raise
        return False
    return True


def good_users(number: int) -> str:
    return f"good {number}"


def reached(connection: Connection, processor: Processor) -> bool:
    return all(position == head for position, head in processor.progress(connection).values())


def drained(step: Callable[[], object], connection: Connection, processor: Processor) -> None:
    """Runs steps until the processor is at the head of the log. Fails after fifty steps."""
    for _ in range(50):
        if not step() and reached(connection, processor):
            return
    raise AssertionError("it does not get to the end of the log")


def test_the_recorder_buries_poison_and_records_every_good_turn(
    redis: Redis, redis_url: str, connection: Connection
) -> None:
    settings = settings_of(connection, redis_url=redis_url)
    entries = poison.collected(poison.ENTRIES, POISON)
    assert len(entries) == POISON
    for number, fields in enumerate(entries):
        if number % 5 == 0:
            redis.xadd("turns", {"user_id": good_users(number), "text": f"good {number}"})
        redis.xadd("turns", fields)  # type: ignore[arg-type]
    queue = queue_of(settings)
    with recording(settings):
        eventually(lambda: queue.counts().get("recorded", 0) > 0 and settled(queue))
    rows = connection.execute(
        "SELECT data->>'text' FROM log.events WHERE user_id LIKE 'good %' ORDER BY user_id COLLATE \"C\""
    )
    assert [row[0] for row in rows] == sorted(f"good {number}" for number in range(0, POISON, 5))
    counts = queue.counts()
    assert counts["recorded"] + counts["duplicates"] + counts["dead"] == POISON + POISON // 5
    assert counts["dead"] > POISON // 3
    letters = raw_entries(Redis.from_url(redis_url), "turns:dead")
    assert all(fields[b"field"] and fields[b"reason"] for fields in letters)
    longest = max(len(fields[b"reason"]) for fields in letters)
    assert longest < 1000, "a dead letter tells of the fault, and not all of it again"


def test_what_the_log_alone_refuses_is_found_among_a_batch_and_buried(
    redis: Redis, redis_url: str, connection: Connection
) -> None:
    settings = settings_of(connection, redis_url=redis_url)
    # The value is too large for an index. The driver reports it in the class of a server that went away.
    connection.execute(
        "CREATE FUNCTION log.refuse_some() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF NEW.data->>'text' LIKE 'cursed%' THEN RAISE EXCEPTION 'index row requires 20048 bytes' "
        "USING ERRCODE = 'program_limit_exceeded'; END IF; RETURN NEW; END $$"
    )
    connection.execute(
        "CREATE TRIGGER refuse_some BEFORE INSERT ON log.events FOR EACH ROW EXECUTE FUNCTION log.refuse_some()"
    )
    for number in range(100):
        text = f"cursed {number}" if number in (17, 18, 71) else f"blessed {number}"
        redis.xadd("turns", {"user_id": f"u{number % 3}", "text": text})
    queue = queue_of(settings)
    with recording(settings):
        eventually(lambda: queue.counts().get("recorded", 0) == 97 and settled(queue))
    letters = entries(redis, "turns:dead")
    assert [letter["field:text"] for letter in letters] == ["cursed 17", "cursed 18", "cursed 71"]
    assert all(
        "the log cannot store the turn: ProgramLimitExceeded: index row" in letter["reason"]
        for letter in letters
    )
    assert connection.execute("SELECT count(*) FROM log.events").fetchone() == (97,)


def test_the_rules_extractor_gives_poison_up_and_reads_every_good_turn(connection: Connection) -> None:
    good = [replace(turn(good_users(n), f"good {n}"), stream="session/default/s") for n in range(GOOD)]
    taken = stored(connection, poison.collected(poison.TURNS, POISON), good)
    assert taken > POISON // 2
    worker = ExtractorWorker(settings_of(connection), RulesExtractor(), lambda: False)
    EXTRACTOR.open(connection)
    drained(lambda: worker.step(connection), connection, EXTRACTOR)
    rows = connection.execute("SELECT user_id FROM log.events WHERE type = 'TurnsExtracted'").fetchall()
    read = {user for (user,) in rows}
    assert {good_users(n) for n in range(GOOD)} <= read
    failed = connection.execute("SELECT count(*) FROM log.events WHERE type = 'ExtractionFailed'").fetchone()
    assert failed is not None
    assert failed[0] > 0
    told = len(read - {good_users(n) for n in range(GOOD)}) + failed[0]
    assert told == taken, "every turn was read, or is said not to be"


@pytest.mark.parametrize("instant", ["20000-01-01 00:00+00", "0044-03-15 12:00+00 BC", "infinity"])
def test_an_instant_that_no_date_holds_is_one_unreadable_event(
    instant: str, database: str, connection: Connection
) -> None:
    # Both users share a partition: an event that stopped the partition would stop the good user.
    bad, good = (
        "poison",
        next(n for n in map(good_users, range(9999)) if partition_of(n) == partition_of("poison")),
    )
    log.append(connection, [turn(bad, "forged"), noted(bad, "forged")])
    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute("UPDATE log.events SET occurred_at = %s::timestamptz", (instant,))
    log.append(connection, [turn(good, "I live in Oslo."), noted(good, "good")])
    with pytest.raises(PayloadError, match=r"occurred_at: .* is no instant that can be read"):
        log.read(connection, partition_of(bad))
    worker = ExtractorWorker(Settings(database_url=database), RulesExtractor(), lambda: False)
    EXTRACTOR.open(connection)
    drained(lambda: worker.step(connection), connection, EXTRACTOR)
    told = connection.execute("SELECT user_id, type FROM log.events WHERE actor LIKE 'extractor%'").fetchall()
    assert (bad, "ExtractionFailed") in told
    assert (good, "TurnsExtracted") in told
    projector = CardsProjector()
    generation = ensure_live(connection, projector)
    runner = Runner(Settings(database_url=database), projector, lambda: False)
    drained(lambda: runner.step(connection), connection, generation.processor)
    folded = connection.execute("SELECT DISTINCT user_id FROM cards.cards").fetchall()
    assert folded == [(good,)]
    assert connection.execute("SELECT DISTINCT user_id FROM log.parked").fetchall() == [(bad,)]


def test_a_log_key_file_that_cannot_be_read_buries_no_turn(
    redis: Redis, redis_url: str, connection: Connection, tmp_path: Path
) -> None:
    settings = settings_of(connection, redis_url=redis_url)
    key_file = tmp_path / "log.key"
    log.append(connection, [turn("u", "I live in Oslo.")])
    authentication.use_file(str(key_file))
    try:
        worker = ExtractorWorker(settings, RulesExtractor(), lambda: False)
        EXTRACTOR.open(connection)
        with pytest.raises(KeyFileError):
            worker.step(connection)
        assert not any(position for position, _ in EXTRACTOR.progress(connection).values()), (
            "nothing is given up"
        )
        redis.xadd("turns", {"user_id": "u", "text": "I moved to Cairo."})
        queue = queue_of(settings)
        recorder = Recorder(settings, "r1", (stop := threading.Event()).is_set)
        thread = threading.Thread(target=recorder.run)
        thread.start()
        try:
            eventually(lambda: queue.depth().pending == 1)
            authentication.create(key_file, {})
            eventually(lambda: queue.counts().get("recorded", 0) == 1 and settled(queue))
        finally:
            stop.set()
            thread.join(60)
    finally:
        authentication.use(None)
    assert not redis.exists("turns:dead")


@pytest.mark.parametrize("name", ["cards", "vectors"])
def test_a_projector_parks_poison_with_its_user_and_folds_every_good_card(
    name: str, connection: Connection
) -> None:
    projector: Projector = CardsProjector() if name == "cards" else VectorsProjector(Embedders(HashEmbedder))
    good = [noted(good_users(n), f"good {n}") for n in range(GOOD)]
    taken = stored(connection, poison.collected(poison.CARDS, POISON), good)
    assert taken > POISON // 2
    runner = Runner(settings_of(connection), projector, lambda: False)
    generation = ensure_live(connection, projector)
    drained(lambda: runner.step(connection), connection, generation.processor)
    table = "cards.cards" if name == "cards" else "vectors.card_vectors_384"
    rows = connection.execute(f"SELECT user_id FROM {table} WHERE user_id LIKE 'good %'").fetchall()
    assert sorted(row[0] for row in rows) == sorted(map(good_users, range(GOOD)))
    parked = connection.execute("SELECT user_id, reason FROM log.parked").fetchall()
    assert parked
    assert all(user.startswith("poison") and reason for user, reason in parked)


USERS = 40
MOST = 3
"""Users whose turns the server lets one transaction take."""


class Server:
    """Ends the session of a worker in whose transaction more than ``MOST`` users are handled."""

    def __init__(self, connection: Connection, application: str) -> None:
        self._connection = connection
        self._application = f"cardlog {application}"
        self._users: set[tuple[object, str]] = set()
        self.ended = 0

    def allows(self, users: Sequence[str]) -> None:
        for pid, begun in self._connection.execute(
            "SELECT pid, xact_start FROM pg_stat_activity WHERE application_name = %s AND datname = current_database()",
            (self._application,),
        ).fetchall():
            self._users |= {(begun, user) for user in users}
            if sum(each[0] == begun for each in self._users) > MOST:
                self._connection.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
                self.ended += 1


def tell(connection: Connection) -> None:
    log.append(
        connection, [turn(f"user {n}", recorded("I moved to Oslo.", turn_id="t")) for n in range(USERS)]
    )


def behind(connection: Connection, processor: str) -> int:
    row = connection.execute(
        """SELECT coalesce(sum(h.position - c.position), 1) FROM log.checkpoints c JOIN log.heads h USING (partition)
           WHERE c.processor = %s""",
        (processor,),
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_an_extractor_whose_batch_is_too_long_extracts_every_turn(
    database: str, connection: Connection
) -> None:
    server = Server(connection, "extractor")

    class Watched(RulesExtractor):
        def extract(self, batch: SessionBatch) -> Extraction:
            server.allows([each.user_id for each in batch.turns])
            return super().extract(batch)

    tell(connection)
    settings = replace(Settings(), database_url=database)
    ExtractorWorker(
        settings, Watched(), lambda: behind(connection, PROCESSOR.name) == 0 or server.ended > USERS
    ).run()
    assert behind(connection, PROCESSOR.name) == 0
    assert server.ended > 0


def test_a_projector_whose_batch_is_too_long_folds_every_event(database: str, connection: Connection) -> None:
    server = Server(connection, "cards")

    class Watched(CardsProjector):
        def project(self, connection: psycopg.Connection[object], events: Sequence[Event]) -> None:
            server.allows([each.user_id for each in events])
            super().project(connection, events)

    log.append(connection, [noted(f"user {n}", "We moved to Oslo") for n in range(USERS)])
    settings = replace(Settings(), database_url=database)
    Runner(settings, Watched(), lambda: behind(connection, "cards") == 0 or server.ended > USERS).run()
    assert behind(connection, "cards") == 0
    assert server.ended > 0
