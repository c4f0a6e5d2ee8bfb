"""Archives of the log, and the commands that write and read them."""

import io
import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from events.platform.database import Connection, connect, migrate
from events.store import log
from events.store.archive import ArchiveError, ImportSummary, export_log, import_log
from events.store.verification import verify
from events.types.envelope import partition_of, uuid7
from tests.support.events.archives import NOW, fill, heads_of, rows_of, turn
from tests.support.forking import forked
from tests.support.stack import clean_environment

AWKWARD = 'tab\t newline\n return\r "quote" \\back\\ \\N \u2028 \u0001 \x7f ,"data":{} 控制 👩‍👩‍👧'


def exported(connection: Connection, user_id: str | None = None) -> bytes:
    file = io.BytesIO()
    export_log(connection, file.write, user_id=user_id)
    return file.getvalue()


class Pipe(io.BytesIO):
    """A file that can be read only once."""

    def seekable(self) -> bool:
        return False


@pytest.fixture
def other(empty_database: str) -> Iterator[Connection]:
    """A second log, empty."""
    with connect(empty_database, application="other") as opened:
        migrate(opened)
        yield opened


def test_an_import_is_the_log_again_byte_for_byte(connection: Connection, other: Connection) -> None:
    fill(connection, 0, 300)
    log.append(
        connection,
        [
            turn(
                AWKWARD, AWKWARD, stream=AWKWARD, actor=AWKWARD, causation_id=uuid7(), correlation_id=uuid7()
            ),
            turn("no key", "x", dedupe_key=None, occurred_at=datetime(1900, 1, 1, tzinfo=UTC)),
        ],
    )
    # Written by hand: over several lines, in another order, with a number no float keeps.
    by_hand = '{\n\t"text": "x",\r\n  "n": 123456789012345678901234567890.10, "text": "y" }'
    item = {
        "partition": partition_of("hand"), "event_id": str(uuid7()), "user_id": "hand", "stream": "s", "type": "Odd",
        "schema_version": 3, "occurred_at": NOW.isoformat(), "actor": "hand",
    }  # fmt: skip
    raw = json.dumps(item)[:-1] + ', "data": ' + by_hand + "}"
    connection.execute("SELECT log.append(json_build_array(%s::text::json))", (raw,))
    assert by_hand in [row[14] for row in rows_of(connection)]

    assert import_log(other, io.BytesIO(exported(connection))) == ImportSummary(303, 0)
    assert rows_of(other) == rows_of(connection)
    assert heads_of(other) == heads_of(connection)
    assert verify(other).faults == ()
    # The copied log continues as any log does.
    [again] = log.append(other, [turn("user1", "turn 1")])
    assert again.duplicate
    [new] = log.append(other, [turn("user1", "new")])
    assert new.version == 16
    assert verify(other).faults == ()


def test_an_archive_says_what_it_holds_and_can_be_checked_without_a_database(connection: Connection) -> None:
    fill(connection, 0, 50)
    lines = exported(connection).splitlines(keepends=True)
    header, *rows, end = lines
    heads = {partition: (position, digest) for partition, position, digest in json.loads(header)["heads"]}
    assert heads == {row[0]: (row[1], row[2].hex()) for row in heads_of(connection) if row[1]}
    assert json.loads(end) == {"events": 50, "sha256": sha256(b"".join(lines[:-1])).hexdigest()}
    # Every line is one JSON object with the columns of the log.
    documents = [json.loads(row) for row in rows]
    places = [(document["partition"], document["position"]) for document in documents]
    assert places == [row[:2] for row in rows_of(connection)]
    assert [document["data"]["text"] for document in documents] == [
        json.loads(row[14])["text"] for row in rows_of(connection)
    ]


def test_importing_again_changes_nothing_and_a_longer_archive_adds_what_is_new(
    connection: Connection, other: Connection
) -> None:
    fill(connection, 0, 100)
    first = exported(connection)
    fill(connection, 100, 250)
    second = exported(connection)
    assert import_log(other, io.BytesIO(first)) == ImportSummary(100, 0)
    before = other.execute("SELECT ctid, xmin, partition, position FROM log.events ORDER BY 3, 4").fetchall()
    assert import_log(other, io.BytesIO(first)) == ImportSummary(0, 100)
    after = other.execute("SELECT ctid, xmin, partition, position FROM log.events ORDER BY 3, 4").fetchall()
    assert after == before, "not a row was touched"
    assert import_log(other, Pipe(second)) == ImportSummary(150, 100)
    assert rows_of(other) == rows_of(connection)
    # The shorter archive into the longer log: all there already.
    assert import_log(other, io.BytesIO(first)) == ImportSummary(0, 100)
    assert heads_of(other) == heads_of(connection)


@pytest.mark.parametrize("opened", [io.BytesIO, Pipe])
def test_a_file_cut_off_is_imported_as_far_as_it_is_whole_and_the_rest_later(
    connection: Connection, other: Connection, opened: type[io.BytesIO]
) -> None:
    fill(connection, 0, 200)
    whole = exported(connection)
    lines = whole.splitlines(keepends=True)
    kept = b"".join(lines[:121])
    with pytest.raises(ArchiveError, match="the file ends after 120 events without its last line"):
        import_log(other, opened(kept + lines[121][:-7]))
    assert rows_of(other) == rows_of(connection)[:120]
    assert verify(other).faults == ()
    assert import_log(other, opened(whole)) == ImportSummary(80, 120)
    assert rows_of(other) == rows_of(connection)
    assert heads_of(other) == heads_of(connection)


def changed(lines: list[bytes], number: int, old: bytes, new: bytes) -> bytes:
    assert old in lines[number]
    return b"".join([*lines[:number], lines[number].replace(old, new, 1), *lines[number + 1 :]])


def test_one_changed_byte_is_named_and_nothing_behind_it_is_taken(
    connection: Connection, other: Connection
) -> None:
    fill(connection, 0, 60)
    rows = rows_of(connection)
    lines = exported(connection).splitlines(keepends=True)
    place = f"partition {rows[39][0]}, position {rows[39][1]}"
    for old, new in (
        (b"turn ", b"turm "),
        (b'"actor":"test"', b'"actor":"tess"'),
        (b'"digest":"', b'"digest":"x'),
    ):
        with pytest.raises(
            ArchiveError, match="digest does not follow" if b"x" not in new else "line 41"
        ) as error:
            import_log(other, Pipe(changed(lines, 40, old, new)))
        assert place in str(error.value) or b"x" in new
        assert rows_of(other) == rows[:39]
    assert verify(other).faults == ()


def test_lines_taken_out_or_swapped_are_found(connection: Connection, other: Connection) -> None:
    fill(connection, 0, 60, users=1)
    lines = exported(connection).splitlines(keepends=True)
    with pytest.raises(ArchiveError, match=r"position 31 \(line 31\): is not what comes next"):
        import_log(other, io.BytesIO(b"".join(lines[:30] + lines[31:])))
    assert len(rows_of(other)) == 29
    with pytest.raises(ArchiveError, match=r"position 41 \(line 41\)"):
        import_log(other, io.BytesIO(b"".join([*lines[:40], lines[41], lines[40], *lines[42:]])))
    # The last events of a partition leave no gap behind. Only the count shows their absence.
    with pytest.raises(ArchiveError, match="the last line counts 60 events, the file holds 58"):
        import_log(other, io.BytesIO(b"".join(lines[:59] + lines[-1:])))
    with pytest.raises(ArchiveError, match="checksum"):
        import_log(other, io.BytesIO(changed(lines, 0, b'"heads"', b' "heads"')))
    assert rows_of(other) == rows_of(connection)


def test_another_history_is_refused_before_anything_is_written(
    connection: Connection, other: Connection
) -> None:
    fill(connection, 0, 100)
    import_log(other, io.BytesIO(exported(connection)))
    # The same users continue in both logs. From here on the logs are two histories.
    fill(connection, 100, 160)
    log.append(other, [turn("user7", "something else")])
    before = rows_of(other)
    position = [row for row in before if row[0] == partition_of("user7")][-1][1]
    place = f"partition {partition_of('user7')}, position {position}: this log holds another event"
    with pytest.raises(ArchiveError, match=place):
        import_log(other, io.BytesIO(exported(connection)))
    assert rows_of(other) == before
    # In a pipe the fault shows later. The partition concerned is still left alone.
    with pytest.raises(ArchiveError, match=place):
        import_log(other, Pipe(exported(connection)))
    assert [row for row in rows_of(other) if row[0] == partition_of("user7")] == [
        row for row in before if row[0] == partition_of("user7")
    ]
    assert verify(other).faults == ()


def test_nothing_is_appended_behind_a_false_head(connection: Connection, other: Connection) -> None:
    fill(connection, 0, 20, users=1)
    import_log(other, io.BytesIO(exported(connection)))
    fill(connection, 20, 30, users=1)
    other.execute("UPDATE log.heads SET digest = sha256('x') WHERE position > 0")
    with pytest.raises(ArchiveError, match="position 20: this log's head has another digest"):
        import_log(other, io.BytesIO(exported(connection)))
    assert len(rows_of(other)) == 20


def test_one_users_archive_holds_that_user_alone_and_is_not_imported(
    connection: Connection, other: Connection
) -> None:
    fill(connection, 0, 100)
    file = exported(connection, "user3")
    documents = [json.loads(line) for line in file.splitlines()[1:-1]]
    assert {document["user_id"] for document in documents} == {"user3"}
    assert [document["data"]["text"] for document in documents] == [f"turn {n}" for n in range(3, 100, 20)]
    with pytest.raises(ArchiveError, match="user 'user3' alone"):
        import_log(other, io.BytesIO(file))
    assert rows_of(other) == []


@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b"{}\n", b'{"archive":"cardlog log","format":2,"user":null,"heads":[]}\n']
)
def test_what_is_no_archive_is_refused(connection: Connection, content: bytes) -> None:
    with pytest.raises(ArchiveError):
        import_log(connection, io.BytesIO(content))


def test_an_export_is_one_moment_of_a_log_that_is_being_written(
    database: str, connection: Connection, other: Connection
) -> None:
    fill(connection, 0, 3000)
    stop, began = threading.Event(), threading.Event()

    def write() -> None:
        with connect(database, application="writer") as own:
            number = 3000
            while not stop.is_set():
                fill(own, number, number + 10)
                number += 10
                began.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert began.wait(60)
        file = io.BytesIO()
        grown: list[int] = []

        def look(_done: int, _total: int | None) -> None:
            with connect(database, application="look") as own:
                grown.append(sum(log.heads(own).values()))

        done = export_log(connection, file.write, progress=look)
    finally:
        stop.set()
        writer.join(60)
    assert grown[-1] > done.events, "the log grew under the export"
    heads = json.loads(file.getvalue().splitlines()[0])["heads"]
    assert sum(position for _, position, _ in heads) == done.events
    assert import_log(other, io.BytesIO(file.getvalue())) == ImportSummary(done.events, 0)
    assert verify(other).faults == ()


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
