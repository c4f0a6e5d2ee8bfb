"""The commands that export, import and show the log."""

import json
import subprocess
from pathlib import Path

from events.platform.database import Connection, connect
from tests.support.events.archives import fill, heads_of, rows_of
from tests.support.forking import forked
from tests.support.stack import clean_environment


def command(database: str, *arguments: str, input: str = "") -> subprocess.CompletedProcess[str]:
    servers = {"CARDLOG_DATABASE_URL": database, "CARDLOG_REDIS_URL": "redis://127.0.0.1:1"}
    return forked(["log", *arguments], clean_environment() | servers, input=input)


def test_the_command_exports_imports_counts_and_shows(
    database: str, connection: Connection, empty_database: str, tmp_path: Path
) -> None:
    fill(connection, 0, 100)
    file = tmp_path / "log.jsonl"
    assert command(database, "export", str(file)).returncode == 0
    piped = command(database, "export", "-")
    assert piped.stdout == file.read_text()
    assert [each.name for each in tmp_path.iterdir()] == ["log.jsonl"]
    # A database without any table is migrated first.
    done = command(empty_database, "import", "-", input=piped.stdout)
    assert "imported 100 events, 0 existed already" in done.stderr
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(file.read_bytes()[:-100])
    again = command(empty_database, "import", str(cut))
    assert again.returncode == 1
    assert "it was cut off" in again.stderr
    assert "Traceback" not in again.stderr
    with connect(empty_database, application="look") as opened:
        assert rows_of(opened) == rows_of(connection)

    stats = json.loads(command(empty_database, "stats", "--json").stdout)
    assert (stats["events"], stats["users"], stats["types"]) == (100, 20, {"TurnRecorded": 100})
    sizes = sorted((row[1], row[0]) for row in heads_of(connection) if row[1])
    assert stats["partitions"]["used"] == len(sizes)
    assert stats["partitions"]["largest"]["events"] == sizes[-1][0]
    assert stats["partitions"]["smallest"]["events"] == sizes[0][0]
    assert stats["bytes"]["payload"] == sum(len(row[14].encode()) for row in rows_of(connection))
    assert command(database, "stats").returncode == 0

    rows = rows_of(connection)
    partition, position = rows[-1][:2]
    [shown] = command(database, "show", "--at", f"{partition}/{position}", "--json").stdout.splitlines()
    assert json.loads(shown)["event_id"] == str(rows[-1][2])
    behind = command(database, "show", "--partition", str(partition), "--after", str(position - 2), "--json")
    assert [json.loads(line)["position"] for line in behind.stdout.splitlines()] == [position - 1, position]
    assert "--after needs --partition" in command(database, "show", "--after", "3").stderr
    verified = command(database, "verify", "--json")
    found = json.loads(verified.stdout)
    assert (found["ok"], found["events"], found["faults"]) == (True, 100, [])


def test_a_failed_export_leaves_the_older_file(database: str, connection: Connection, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("older")
    fill(connection, 0, 10, users=1)
    connection.execute("SET session_replication_role = replica")
    connection.execute("DELETE FROM log.events WHERE position = 4")
    failed = command(database, "export", str(file))
    assert failed.returncode == 1
    assert "holds 9 events, its head says 10; run cardlog log verify" in failed.stderr
    assert file.read_text() == "older"
    assert list(tmp_path.iterdir()) == [file]
