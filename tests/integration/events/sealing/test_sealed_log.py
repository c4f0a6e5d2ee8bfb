"""Sealed events: readable with the key, unreadable without, erased by destroying a key or a salt, never mixed up."""

import dataclasses
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from deploy.commands.operate.doctor import doctor
from deploy.commands.security.sealing import CopyRefusedError, seal_log
from events.platform.database import Connection, connect, migrate, rows_of, statement
from events.platform.key_file import new_key
from events.platform.settings import Settings
from events.sealing import keystore
from events.sealing import sealer as sealing
from events.sealing.key_encryption import KeyUnavailableError, LocalKeyEncryption, create
from events.sealing.sealer import Sealer
from events.store import log
from events.store.archive import export_log, import_log
from events.store.verification import verify
from events.types.envelope import partition_of
from events.types.tombstones import Erased
from events.types.turns import TurnRecorded
from tests.integration.events.store.test_log import turn, users_of_one_partition
from tests.support.tables import examples

SECRET = "the code word is marzipan"
EVENTS = (
    "SELECT partition, position, user_id, event_id, data::text FROM log.events ORDER BY partition, position"
)


@pytest.fixture
def sealer() -> Iterator[Sealer]:
    made = Sealer(LocalKeyEncryption([new_key()]))
    sealing.use(made)
    yield made
    sealing.use(None)


def payloads(connection: Connection, user: str) -> list[object]:
    return [event.payload for event in log.read(connection, partition_of(user)) if event.user_id == user]


def change(connection: Connection, query: str, *values: object) -> None:
    """Changes the log as a superuser can."""
    connection.execute("ALTER TABLE log.events DISABLE TRIGGER events_append_only")
    connection.execute(query, values)
    connection.execute("ALTER TABLE log.events ENABLE TRIGGER events_append_only")


def test_a_sealed_event_reads_as_it_was_appended_and_the_table_holds_no_word_of_it(
    connection: Connection, sealer: Sealer
) -> None:
    event = turn("ada", "1", SECRET)
    log.append(connection, [event])
    assert payloads(connection, "ada") == [event.payload]
    stored = connection.execute(EVENTS).fetchall()
    assert "marzipan" not in str(stored)
    assert str(stored[0][4]).startswith('{"sealed":"')
    assert verify(connection).faults == ()


def test_without_the_key_reading_stops_and_blames_no_event(connection: Connection, sealer: Sealer) -> None:
    log.append(connection, [turn("ada", "1", SECRET)])
    sealing.use(None)
    with pytest.raises(KeyUnavailableError, match="CARDLOG_KEK_FILE"):
        log.read(connection, partition_of("ada"))
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    with pytest.raises(KeyUnavailableError, match="not at hand"):
        log.read(connection, partition_of("ada"))
    partition = {"partition": partition_of("ada"), "after": 0, "limit": None}
    [row] = rows_of(connection, statement("events.store", "read_partition"), partition)
    with pytest.raises(KeyUnavailableError, match="not at hand"):
        log.event_if_readable(row)


def test_the_doctor_tries_the_key_encryption_key_of_each_data_key(
    database: str, connection: Connection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sealing.use(Sealer(create(tmp_path / "kek.key")))
    log.append(connection, [turn("ada", "1", SECRET)])
    sealing.use(Sealer(create(tmp_path / "other.key")))
    log.append(connection, [turn("bob", "1", SECRET)])
    doctor(settings=Settings(database_url=database, kek_file=str(tmp_path / "kek.key")), data=None)
    assert "FAIL  sealing: a data key was wrapped by the key-encryption key" in capsys.readouterr().out
    connection.execute("DELETE FROM sealing.subject_keys WHERE user_id = 'bob'")
    doctor(settings=Settings(database_url=database, kek_file=str(tmp_path / "kek.key")), data=None)
    assert "ok    sealing: new payloads are sealed" in capsys.readouterr().out
    sealing.use(None)


def test_destroying_a_subject_erases_its_payloads_alone_and_later_events_get_a_new_key(
    connection: Connection, sealer: Sealer
) -> None:
    ada, bob = users_of_one_partition(2)
    kept = turn(bob, "1", "kept")
    log.append(connection, [turn(ada, "1", SECRET), kept, turn(ada, "2", SECRET)])
    before = connection.execute(EVENTS).fetchall()
    assert keystore.destroy_subject(connection, ada) == 2
    assert [type(each) for each in payloads(connection, ada)] == [Erased, Erased]
    assert payloads(connection, bob) == [kept.payload]
    assert connection.execute(EVENTS).fetchall() == before, "the log itself never changes"
    assert verify(connection).faults == ()
    # The writer still has the destroyed key in memory. The database refuses it.
    later = turn(ada, "3", "later")
    log.append(connection, [later])
    assert payloads(connection, ada)[2:] == [later.payload]


def test_destroying_a_salt_erases_one_event(connection: Connection, sealer: Sealer) -> None:
    gone, kept = turn("ada", "1", SECRET), turn("ada", "2", "kept")
    log.append(connection, [gone, kept])
    assert keystore.destroy_events(connection, "bob", [kept.event_id]) == 0, "another user's events stay"
    assert keystore.destroy_events(connection, "ada", [gone.event_id]) == 1
    erased, still = payloads(connection, "ada")
    assert isinstance(erased, Erased)
    assert still == kept.payload


def test_a_destruction_that_is_rolled_back_erases_nothing(connection: Connection, sealer: Sealer) -> None:
    event = turn("ada", "1", SECRET)
    log.append(connection, [event])
    with connection.transaction(force_rollback=True):
        keystore.destroy_subject(connection, "ada")
        assert isinstance(payloads(connection, "ada")[0], Erased)
    assert payloads(connection, "ada") == [event.payload]


def test_an_append_that_is_rolled_back_leaves_no_key_that_later_events_trust(
    connection: Connection, sealer: Sealer
) -> None:
    with connection.transaction(force_rollback=True):
        log.append(connection, [turn("ada", "1", SECRET)])
    event = turn("ada", "2", SECRET)
    log.append(connection, [event])
    assert payloads(connection, "ada") == [event.payload]


def test_every_event_commits_together_with_its_salt(
    database: str, connection: Connection, sealer: Sealer
) -> None:
    """Another session sees neither before the commit, and a connection that dies leaves neither behind."""
    dying = connect(database, application="dying", autocommit=False)
    log.append(dying, [turn("ada", "1", SECRET)])
    counts = "SELECT (SELECT count(*) FROM log.events), (SELECT count(*) FROM sealing.salts)"
    assert connection.execute(counts).fetchone() == (0, 0)
    connection.execute("SELECT pg_terminate_backend(%s)", (dying.info.backend_pid,))
    assert connection.execute(counts).fetchone() == (0, 0)
    dying.close()
    log.append(connection, [turn("ada", "1", SECRET), turn("ada", "1", SECRET), turn("bob", "2", SECRET)])
    assert connection.execute(counts).fetchone() == (2, 2), "a duplicate gets no salt"


def test_a_writer_with_another_process_key_takes_the_key_in_the_database(
    connection: Connection, sealer: Sealer
) -> None:
    first, second = turn("ada", "1", "one"), turn("ada", "2", "two")
    log.append(connection, [first])
    sealing.use(Sealer(sealer.encryption))
    log.append(connection, [second])
    assert payloads(connection, "ada") == [first.payload, second.payload]
    assert connection.execute("SELECT count(*) FROM sealing.subject_keys").fetchone() == (1,)


@examples
def test_tampering_and_swapping_are_errors_that_name_the_place(
    connection: Connection, sealer: Sealer, query: str, what: str
) -> None:
    ada, bob = users_of_one_partition(2)
    log.append(connection, [turn(ada, "1", SECRET), turn(bob, "1", "other")])
    change(connection, query)
    place = f"partition {partition_of(ada)}, position 1: "
    with pytest.raises(log.SealedPayloadError, match=place + ".*" + what):
        log.read(connection, partition_of(ada))


def test_a_rotation_wraps_every_key_again_and_changes_no_event(
    connection: Connection, sealer: Sealer
) -> None:
    old, new = new_key(), new_key()
    sealing.use(Sealer(LocalKeyEncryption([old])))
    events = [turn(f"user{n}", "1", SECRET) for n in range(5)]
    log.append(connection, events)
    before = connection.execute(EVENTS).fetchall()
    rotated = Sealer(LocalKeyEncryption([new, old]))
    assert keystore.rewrap(connection, rotated, lambda _: None) == 5
    assert keystore.rewrap(connection, rotated, lambda _: None) == 0
    sealing.use(Sealer(LocalKeyEncryption([new])))
    assert [payloads(connection, event.user_id) for event in events] == [[event.payload] for event in events]
    assert connection.execute(EVENTS).fetchall() == before
    later = dataclasses.replace(events[0], dedupe_key="later", event_id=turn("x", "1").event_id)
    log.append(connection, [later])
    assert len(payloads(connection, "user0")) == 2


def test_verification_with_the_key_names_a_swapped_payload_and_counts_erased_ones(
    connection: Connection, sealer: Sealer
) -> None:
    ada, bob = users_of_one_partition(2)
    gone = turn(ada, "3", SECRET)
    log.append(connection, [turn(ada, "1", SECRET), turn(bob, "1", "other"), gone])
    keystore.destroy_events(connection, ada, [gone.event_id])
    sound = verify(connection, sealer=sealer)
    assert (sound.faults, sound.sealed, sound.erased) == ((), 2, 1)
    change(
        connection,
        "UPDATE sealing.salts s SET salt = o.salt FROM sealing.salts o WHERE o.position <> s.position",
    )
    assert verify(connection).faults == (), "the chain covers the sealed bytes, and not the salts"
    [fault] = verify(connection, sealer=sealer).faults
    assert fault.startswith(f"partition {partition_of(ada)}, position 1: the sealed payload does not fit")


def test_an_archive_without_keys_opens_nothing_and_one_with_keys_opens_everything_but_erased_events(
    connection: Connection, empty_database: str, sealer: Sealer
) -> None:
    kept, gone = turn("ada", "1", SECRET), turn("bob", "1", SECRET)
    log.append(connection, [kept, gone])
    with_keys, without = BytesIO(), BytesIO()
    keystore.destroy_subject(connection, "bob")
    export_log(connection, without.write)
    export_log(connection, with_keys.write, with_keys=True)
    for archive, expected in ((without, Erased), (with_keys, TurnRecorded)):
        archive.seek(0)
        assert b"marzipan" not in archive.getvalue()
        with connect(empty_database, application="copy") as copy:
            copy.execute("DROP SCHEMA IF EXISTS log, sealing, access, erasure, audit CASCADE")
            migrate(copy)
            done = import_log(copy, archive)
            assert (done.added, done.without_keys) == (2, 2 if archive is without else 0)
            [payload] = payloads(copy, "ada")
            assert isinstance(payload, expected)
            assert isinstance(payloads(copy, "bob")[0], Erased)
            assert verify(copy, sealer=sealer).faults == ()
            archive.seek(0)
            assert import_log(copy, archive).added == 0


def test_a_log_is_copied_into_a_sealed_one_with_the_same_events(
    connection: Connection, empty_database: str, sealer: Sealer
) -> None:
    sealing.use(None)
    events = [turn(f"user{n % 3}", str(n), SECRET) for n in range(9)]
    log.append(connection, events[:6])
    sealing.use(sealer)
    log.append(connection, events[6:])
    before = {n: log.read(connection, n) for n in map(partition_of, {event.user_id for event in events})}
    with connect(empty_database, application="copy") as copy:
        migrate(copy)
        assert seal_log(connection, copy, sealer, lambda *_: None).added == 9
        assert {n: log.read(copy, n) for n in before} == before
        stored = copy.execute("SELECT data::text FROM log.events").fetchall()
        assert all(str(data).startswith('{"sealed":"') for (data,) in stored)
        result = verify(copy, sealer=sealer)
        assert (result.faults, result.sealed) == ((), 9)
        with pytest.raises(CopyRefusedError, match="empty database"):
            seal_log(connection, copy, sealer, lambda *_: None)
