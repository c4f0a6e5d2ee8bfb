"""The list of erasures outside the database: an older backup that is restored is erased again."""

from dataclasses import replace
from pathlib import Path

import pytest

from deploy.commands.operate.log import run_export, run_import
from events.platform.database import Connection, connect
from events.sealing import sealer as sealing
from events.store.verification import verify
from events.types.tombstones import digest_of
from ingest.erasure import subjects, tombstones
from ingest.erasure.erasure import Eraser, ErasureRefusedError, Terms
from ingest.erasure.receipts import faults, receipt_of
from ingest.erasure.tombstones import TombstoneFileError
from projectors.forgetting import ForgettingProjection
from tests.support.databases import backed_up
from tests.support.ingest.memories import Memory, words_in_tables

CANARY = "Zyxwortflosse"
TERMS = Terms(by="test")


def eraser_of(memory: Memory, file: Path) -> Eraser:
    settings = replace(memory.settings, tombstones_file=str(file))
    return Eraser(settings, [ForgettingProjection(each) for each in memory.projectors])


def test_a_restored_backup_is_erased_again(
    memory: Memory, connection: Connection, postgres_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "tombstones.jsonl"
    [turn] = memory.say(connection, "bea", f"I met {CANARY}.")
    memory.say(connection, "bea", "I live in Montevideo.")
    memory.say(connection, "ada", f"I live in {CANARY}.")
    memory.understand(connection)
    kept = words_in_tables(connection, "Montevideo")
    database = connection.info.dbname
    connection.close()
    with backed_up(postgres_url, database) as backup:
        with connect(memory.settings.database_url, application="test") as again:
            subjects.erase_user(eraser_of(memory, file), again, "ada", TERMS)
            subjects.erase_turn(eraser_of(memory, file), again, "bea", turn, TERMS)
        assert CANARY.encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o777 == 0o600
        restored = Memory(backup)
        with connect(restored.settings.database_url, application="test") as old:
            assert words_in_tables(old, CANARY)
            # After the backup, and before the replay, the user returns.
            done = subjects.replay(eraser_of(restored, file), old, tombstones.read(file))
            assert len(done) == 2
            assert words_in_tables(old, CANARY) == {}
            restored.understand(old)
            assert words_in_tables(old, "Montevideo") == kept
            assert verify(old).faults == ()
            assert subjects.replay(eraser_of(restored, file), old, tombstones.read(file)) == []


def test_a_repeated_erasure_takes_what_was_made_of_a_turn_since_the_restore(
    memory: Memory, connection: Connection, postgres_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "tombstones.jsonl"
    [turn] = memory.say(connection, "bea", f"I met {CANARY}.")
    database = connection.info.dbname
    connection.close()
    with backed_up(postgres_url, database) as backup:
        with connect(memory.settings.database_url, application="test") as again:
            subjects.erase_turn(eraser_of(memory, file), again, "bea", turn, TERMS)
        restored = Memory(backup)
        with connect(restored.settings.database_url, application="test") as old:
            restored.understand(old)
            assert words_in_tables(old, CANARY)
            subjects.replay(eraser_of(restored, file), old, tombstones.read(file))
            assert words_in_tables(old, CANARY) == {}


def test_a_receipt_of_before_the_restore_says_what_to_run_and_then_where_its_successor_is(
    memory: Memory, connection: Connection, postgres_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "tombstones.jsonl"
    [turn] = memory.say(connection, "bea", f"I met {CANARY}.")
    database = connection.info.dbname
    connection.close()
    with backed_up(postgres_url, database) as backup:
        with connect(memory.settings.database_url, application="test") as again:
            erasure = subjects.erase_turn(eraser_of(memory, file), again, "bea", turn, TERMS).erasure_id
            receipt = receipt_of(again, erasure)
        assert receipt is not None
        with connect(backup, application="test") as old:
            memory.say(old, "bea", "I live in Montevideo.")  # takes the place of the tombstone
            [fault] = faults(old, receipt)
            assert "run `cardlog erase --replay`" in fault
            subjects.replay(eraser_of(Memory(backup), file), old, tombstones.read(file))
            [fault] = faults(old, receipt)
            assert f"GET /v1/erasures/{erasure} gives its receipt of now" in fault
            now = receipt_of(old, erasure)
            assert now is not None
            assert (now["subject"], now["reason"]) == (receipt["subject"], "restored_backup")
            assert faults(old, now) == []


def test_an_import_repeats_the_erasures_of_the_list(
    memory: Memory, connection: Connection, empty_database: str, tmp_path: Path
) -> None:
    file, archive = tmp_path / "tombstones.jsonl", tmp_path / "log.jsonl"
    memory.say(connection, "ada", f"I live in {CANARY}.")
    memory.understand(connection)
    run_export(str(archive), with_keys=True, cardlog=memory.settings)
    subjects.erase_user(eraser_of(memory, file), connection, "ada", TERMS)
    target = replace(memory.settings, database_url=empty_database)
    with connect(empty_database, application="test") as imported:
        run_import(str(archive), cardlog=target)
        restored = Memory(empty_database)
        restored.understand(imported)
        assert words_in_tables(imported, CANARY)
        run_import(str(archive), cardlog=replace(target, tombstones_file=str(file)))
        assert words_in_tables(imported, CANARY) == {}


def test_an_import_without_the_list_says_that_erased_words_are_back(
    memory: Memory,
    connection: Connection,
    empty_database: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    memory.say(connection, "ada", f"I live in {CANARY}.")
    run_export(str(tmp_path / "log.jsonl"), with_keys=True, cardlog=memory.settings)
    run_import(str(tmp_path / "log.jsonl"), cardlog=replace(memory.settings, database_url=empty_database))
    assert (
        "what was erased after the export, if anything, is back: set CARDLOG_TOMBSTONES_FILE"
        in capsys.readouterr().err
    )


def test_a_failure_at_a_later_user_keeps_and_announces_what_was_erased(
    memory: Memory, connection: Connection, tmp_path: Path
) -> None:
    file = tmp_path / "tombstones.jsonl"
    memory.say(connection, "ada", f"I met {CANARY}.")
    sealer = sealing.in_use()
    sealing.use(None)
    memory.say(connection, "bea", f"I met {CANARY}.")
    sealing.use(sealer)
    memory.understand(connection)
    with connect(memory.settings.database_url, application="test") as follower:
        follower.execute("LISTEN cardlog_log")
        with pytest.raises(ErasureRefusedError):
            subjects.erase_person(eraser_of(memory, file), connection, [CANARY], ["ada", "bea"], TERMS)
        assert list(follower.notifies(timeout=60, stop_after=1))
    [kept] = tombstones.read(file)
    assert kept.user == digest_of("user", "ada")


def test_a_crash_in_the_middle_of_a_line_is_mended(
    memory: Memory, connection: Connection, tmp_path: Path
) -> None:
    file = tmp_path / "tombstones.jsonl"
    memory.say(connection, "ada", "I live in Montevideo.")
    subjects.erase_user(eraser_of(memory, file), connection, "ada", TERMS)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"erasure_id":"0199')
    assert len(tombstones.read(file)) == 1
    memory.say(connection, "bea", "I live in Montevideo.")
    subjects.erase_user(eraser_of(memory, file), connection, "bea", TERMS)
    assert [one.kind for one in tombstones.read(file)] == ["user", "user"]
    file.write_bytes(whole[: len(whole) // 2])
    assert eraser_of(memory, file).keep_tombstones(connection) == 2


def test_a_file_that_holds_something_else_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tombstones.jsonl"
    file.write_bytes(b'{"kind":"user"}\n')
    with pytest.raises(TombstoneFileError, match="line 1"):
        tombstones.read(file)
