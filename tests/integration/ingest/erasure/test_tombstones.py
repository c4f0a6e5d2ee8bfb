"""The list of erasures outside the database: an older backup that is restored is erased again."""

from dataclasses import replace
from pathlib import Path

import pytest

from deploy.commands.operate.log import run_export, run_import
from events.platform.database import connect
from events.sealing import sealer as sealing
from events.store.verification import verify
from events.types.tombstones import digest_of
from ingest.erasure import tombstones
from ingest.erasure.erasure import ErasureRefusedError
from ingest.erasure.receipts import faults, receipt_of
from ingest.erasure.tombstones import TombstoneFileError
from tests.support.ingest.memories import Memory

CANARY = "Zyxwortflosse"


@pytest.fixture
def file(memory: Memory, tmp_path: Path) -> Path:
    """The list that the memory keeps."""
    path = tmp_path / "tombstones.jsonl"
    memory.settings = replace(memory.settings, tombstones_file=str(path))
    return path


def test_a_restored_backup_is_erased_again(memory: Memory, postgres_url: str, file: Path) -> None:
    [turn] = memory.say("bea", f"I met {CANARY}.")
    memory.say("bea", "I live in Montevideo.")
    memory.say("ada", f"I live in {CANARY}.")
    memory.understand()
    kept = memory.words("Montevideo")
    with memory.backed_up(postgres_url) as restored:
        memory.erase("user", "ada")
        memory.erase("turn", "bea", turn)
        assert CANARY.encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o777 == 0o600
        assert restored.words(CANARY)
        assert len(restored.replay(file)) == 2
        assert restored.words(CANARY) == {}
        restored.understand()
        assert restored.words("Montevideo") == kept
        assert verify(restored.connection).faults == ()
        assert restored.replay(file) == []


def test_a_repeated_erasure_takes_what_was_made_of_a_turn_since_the_restore(
    memory: Memory, postgres_url: str, file: Path
) -> None:
    [turn] = memory.say("bea", f"I met {CANARY}.")
    with memory.backed_up(postgres_url) as restored:
        memory.erase("turn", "bea", turn)
        restored.understand()
        assert restored.words(CANARY)
        restored.replay(file)
        assert restored.words(CANARY) == {}


def test_a_receipt_of_before_the_restore_says_what_to_run_and_then_where_its_successor_is(
    memory: Memory, postgres_url: str, file: Path
) -> None:
    [turn] = memory.say("bea", f"I met {CANARY}.")
    with memory.backed_up(postgres_url) as restored:
        erasure = memory.erase("turn", "bea", turn).erasure_id
        receipt = receipt_of(memory.connection, erasure)
        assert receipt is not None
        memory.say(
            "bea", "I live in Montevideo.", through=restored.connection
        )  # in the place of the tombstone
        [fault] = faults(restored.connection, receipt)
        assert "run `cardlog erase --replay`" in fault
        restored.replay(file)
        [fault] = faults(restored.connection, receipt)
        assert f"GET /v1/erasures/{erasure} gives its receipt of now" in fault
        now = receipt_of(restored.connection, erasure)
        assert now is not None
        assert (now["subject"], now["reason"]) == (receipt["subject"], "restored_backup")
        assert faults(restored.connection, now) == []


def test_an_import_repeats_the_erasures_of_the_list(
    memory: Memory, empty_database: str, tmp_path: Path, file: Path
) -> None:
    archive = tmp_path / "log.jsonl"
    memory.say("ada", f"I live in {CANARY}.")
    memory.understand()
    run_export(str(archive), with_keys=True, cardlog=memory.settings)
    memory.erase("user", "ada")
    target = replace(memory.settings, database_url=empty_database)
    with connect(empty_database, application="test") as imported:
        run_import(str(archive), cardlog=replace(target, tombstones_file=""))
        restored = Memory(empty_database, imported)
        restored.understand()
        assert restored.words(CANARY)
        run_import(str(archive), cardlog=target)
        assert restored.words(CANARY) == {}


def test_an_import_without_the_list_says_that_erased_words_are_back(
    memory: Memory, empty_database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.say("ada", f"I live in {CANARY}.")
    run_export(str(tmp_path / "log.jsonl"), with_keys=True, cardlog=memory.settings)
    run_import(str(tmp_path / "log.jsonl"), cardlog=replace(memory.settings, database_url=empty_database))
    words = "what was erased after the export, if anything, is back: set CARDLOG_TOMBSTONES_FILE"
    assert words in capsys.readouterr().err


def test_a_failure_at_a_later_user_keeps_and_announces_what_was_erased(memory: Memory, file: Path) -> None:
    memory.say("ada", f"I met {CANARY}.")
    sealer = sealing.in_use()
    sealing.use(None)
    memory.say("bea", f"I met {CANARY}.")
    sealing.use(sealer)
    memory.understand()
    with connect(memory.settings.database_url, application="test") as follower:
        follower.execute("LISTEN cardlog_log")
        with pytest.raises(ErasureRefusedError):
            memory.erase("person", [CANARY], ["ada", "bea"])
        assert list(follower.notifies(timeout=60, stop_after=1))
    [kept] = tombstones.read(file)
    assert kept.user == digest_of("user", "ada")


def test_a_crash_in_the_middle_of_a_line_is_mended(memory: Memory, file: Path) -> None:
    memory.say("ada", "I live in Montevideo.")
    memory.erase("user", "ada")
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"erasure_id":"0199')
    assert len(tombstones.read(file)) == 1
    memory.say("bea", "I live in Montevideo.")
    memory.erase("user", "bea")
    assert [one.kind for one in tombstones.read(file)] == ["user", "user"]
    file.write_bytes(whole[: len(whole) // 2])
    assert memory.eraser().keep_tombstones(memory.connection) == 2


def test_a_file_that_holds_something_else_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tombstones.jsonl"
    file.write_bytes(b'{"kind":"user"}\n')
    with pytest.raises(TombstoneFileError, match="line 1"):
        tombstones.read(file)
