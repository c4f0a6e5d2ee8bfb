"""Exports the log to a file of JSON lines and imports it again, byte for byte.

The first line names the format and the head of every partition. One line an event follows, by partition and position,
with the payload as stored and the digest of the event. The last line counts the events and holds the SHA-256 of all
bytes before it. A reader can check the chain of digests without a database.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import index
from typing import BinaryIO

import orjson
import psycopg

from events.platform.chains import SEED
from events.platform.database import Connection, statement
from events.sealing import keystore
from events.sealing.sealer import PREFIX
from events.store.copying import copying
from events.store.event_line import parse_line
from events.store.log import announce
from events.types.envelope import PARTITIONS
from events.types.json_values import JsonObject

FORMAT = 1
_KIND = "cardlog log"
_FETCH = 2_000
_BATCH_EVENTS = 5_000
_BATCH_BYTES = 8 * 1024 * 1024
_PLACE = re.compile(rb'\{"partition":(\d{1,5}),"position":(\d{1,19}),"digest":"([0-9a-f]{64})",')
_LAST_LINE = b'{"events":'
_OPTIONAL = ("dedupe_key", "causation_id", "correlation_id")
_MAC = re.compile("[0-9a-f]{80}")
_SALT = re.compile("[0-9a-f]{32}")
_WRAPPED = re.compile("(?:[0-9a-f]{2}){40,4096}")
_REQUIRED = (
    "partition", "position", "event_id", "user_id", "stream", "version", "type", "schema_version",
    "occurred_at", "recorded_at", "actor",
)  # fmt: skip
_NULL = "\\N"

Progress = Callable[[int, int | None], object]  # The events done, and the total or None.


class ArchiveError(ValueError):
    """The file is no whole archive or does not fit this log. The message says where. Imported events stay."""


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The result of an export. ``sha256`` covers every line but the last."""

    events: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The result of an import. ``already`` counts the events that the log held before, with the same digests.

    ``without_keys`` counts the added events with a sealed payload when the file holds no key. Nobody can read them, and
    no card is made of them. A file with keys lacks only those of erased payloads, which do not count.
    """

    added: int
    already: int
    without_keys: int = 0


@dataclass(frozen=True, slots=True)
class _Row:
    position: int
    before: bytes
    digest: bytes
    fields: JsonObject
    payload: str


def _quiet(_done: int, _total: int | None) -> None:
    pass


def export_log(
    connection: Connection,
    write: Callable[[bytes], object],
    *,
    user_id: str | None = None,
    with_keys: bool = False,
    progress: Progress = _quiet,
) -> ExportSummary:
    """Writes the whole log, or the events of one user, from one snapshot. Appends may happen meanwhile.

    Sealed payloads stay sealed. With ``with_keys`` each of their lines holds the salt and the wrapped key too, and
    the archive needs only the key-encryption key. The memory does not depend on the size of the log. The archive of
    one user is for reading only, because its chain of digests has gaps. :func:`import_log` refuses such an archive.
    Raises :class:`ArchiveError` for a log with a hole.
    """
    checksum, events = sha256(), -1
    for line in export_lines(connection, user_id=user_id, with_keys=with_keys, progress=progress):
        checksum.update(line)
        write(line)
        events += 1
    write(orjson.dumps({"events": events, "sha256": checksum.hexdigest()}) + b"\n")
    return ExportSummary(events, checksum.hexdigest())


def export_lines(
    connection: Connection,
    *,
    user_id: str | None = None,
    with_keys: bool = False,
    progress: Progress = _quiet,
) -> Iterator[bytes]:
    """Yields the first line of an archive, and one line for each event: see :func:`export_log`."""
    events = 0
    with connection.transaction():
        connection.execute(statement("events.store", "export_snapshot"))
        heads = connection.execute(statement("events.store", "export_heads")).fetchall()
        total = sum(head for _, head, _ in heads) if user_id is None else None
        yield orjson.dumps({"archive": _KIND, "format": FORMAT, "user": user_id, "heads": heads}) + b"\n"
        for partition, head, _ in heads:
            before = events
            with connection.cursor("export", binary=True) as cursor:
                cursor.itersize = _FETCH
                cursor.execute(
                    statement("events.store", "export_with_keys" if with_keys else "export_partition"),
                    {"partition": partition, "user_id": user_id},
                )
                while page := cursor.fetchmany(_FETCH):
                    yield from (_line(*row) for row in page)
                    events += len(page)
                    progress(events, total)
            if user_id is None and events - before != head:
                raise ArchiveError(
                    f"partition {partition} holds {events - before} events, its head says {head}; "
                    "run cardlog log verify"
                )


def _line(line: str, salt: str | None = None, subject_key: str | None = None) -> bytes:
    """Returns the line of an event, with the salt and the wrapped key of a sealed payload."""
    if salt is not None and subject_key is not None:
        place, event, rest = line.partition('"event_id":')
        line = f'{place}"salt":"{salt}","subject_key":"{subject_key}",{event}{rest}'
    return line.encode()


def import_log(connection: Connection, file: BinaryIO, *, progress: Progress = _quiet) -> ImportSummary:
    """Imports every event of the archive ``file``, with the same ids, positions, times and digests.

    The import recomputes the digest of each event before it writes the event. Events that the log holds already must
    be equal. The other events continue each partition exactly at its head. An interrupted import may be repeated, and
    a repeated import changes nothing. Salts and wrapped keys of the file are imported with their events.

    Raises :class:`ArchiveError` for a file that was changed or cut off. The events before that place are imported
    then. Raises :class:`ArchiveError` for a log with another history, before anything is written. A pipe cannot be
    read twice, so the error then comes before anything is written in that partition.
    """
    if file.seekable():
        start = file.tell()
        _compare(connection, file)
        file.seek(start)
    return import_lines(connection, file, progress=progress)


def import_lines(
    connection: Connection, lines: Iterable[bytes], *, progress: Progress = _quiet
) -> ImportSummary:
    """Imports the lines of an archive, read once: see :func:`import_log`."""
    result = _Import(connection, progress).run(lines)
    announce(connection)
    return result


def _compare(connection: Connection, file: BinaryIO) -> None:
    """Raises :class:`ArchiveError` when an event of the log differs from the event of the file at its position."""
    heads = dict(connection.execute(statement("events.store", "heads")).fetchall())
    if not any(heads.values()):
        return
    pending: list[tuple[int, bytes]] = []
    current = -1
    for line in file:
        found = _PLACE.match(line)
        if found is None:
            continue
        partition, position = int(found[1]), int(found[2])
        if pending and (partition != current or len(pending) >= _BATCH_EVENTS):
            _same(connection, current, pending)
            pending = []
        current = partition
        if position <= heads.get(partition, 0):
            pending.append((position, bytes.fromhex(found[3].decode())))
    if pending:
        _same(connection, current, pending)


def _same(connection: Connection, partition: int, events: Sequence[tuple[int, bytes]]) -> None:
    where = {"partition": partition, "first": events[0][0], "last": events[-1][0]}
    known = dict(connection.execute(statement("events.store", "digests"), where).fetchall())
    for position, digest in events:
        if position not in known:
            raise ArchiveError(
                f"partition {partition}, position {position}: is missing in this log; run cardlog log verify"
            )
        if known[position] != digest:
            raise ArchiveError(
                f"partition {partition}, position {position}: this log holds another event there than the file; "
                "they are two histories, import into an empty log instead"
            )


class _Import:
    """Imports an archive in one pass."""

    def __init__(self, connection: Connection, progress: Progress) -> None:
        self._connection = connection
        self._progress = progress
        self._partition = -1
        self._position = 0
        self._digest = SEED
        self._rows: list[_Row] = []
        self._bytes = 0
        self._added = 0
        self._already = 0
        self._sealed = self._keys = 0

    def run(self, file: Iterable[bytes]) -> ImportSummary:
        checksum, seen, total = sha256(), 0, None
        ended = False
        try:
            for number, line in enumerate(file, 1):
                if ended:
                    raise ArchiveError(f"line {number}: there is more after the last line")
                if not line.endswith(b"\n"):
                    break
                if number == 1:
                    total = _total(line)
                elif line.startswith(_LAST_LINE):
                    _check_end(line, seen, checksum.hexdigest())
                    ended = True
                else:
                    self._take(line, number)
                    seen += 1
                    if seen % _FETCH == 0:
                        self._progress(seen, total)
                checksum.update(line)
        finally:
            # The events before a bad line stay. The next import continues there.
            self._flush()
        self._progress(seen, total)
        if not ended:
            raise ArchiveError(
                f"the file ends after {seen} events without its last line: it was cut off; "
                f"{self._added} events were imported, {self._already} were there already"
            )
        return ImportSummary(self._added, self._already, 0 if self._keys else self._sealed)

    def _take(self, line: bytes, number: int) -> None:
        partition, row = self._parse(line, number)
        if partition != self._partition or len(self._rows) >= _BATCH_EVENTS or self._bytes >= _BATCH_BYTES:
            self._flush()
        self._partition, self._position, self._digest = partition, row.position, row.digest
        self._rows.append(row)
        self._bytes += len(line)

    def _parse(self, line: bytes, number: int) -> tuple[int, _Row]:
        """Returns partition and row of ``line``. Raises :class:`ArchiveError` unless it follows the event before."""
        try:
            parsed = parse_line(line)
            fields, payload = parsed.fields, parsed.payload
            partition, position = index(fields["partition"]), index(fields["position"])
            digest = str(fields["digest"])
            if (mac := fields.get("mac")) is not None and not _MAC.fullmatch(mac):
                raise ValueError("mac is no 80 hexadecimal digits")
            for name, form in (("salt", _SALT), ("subject_key", _WRAPPED)):
                if (given := fields.get(name)) is not None and not form.fullmatch(given):
                    raise ValueError(f"{name} has not the right number of hexadecimal digits")
        except (ValueError, KeyError, TypeError) as error:
            raise ArchiveError(f"line {number} is no event of an archive: {error}") from error
        before, last = (self._digest, self._position) if partition == self._partition else (SEED, 0)
        if partition < self._partition or partition >= PARTITIONS or position != last + 1:
            raise ArchiveError(
                f"partition {partition}, position {position} (line {number}): is not what comes next"
            )
        if (followed := parsed.digest_after(before)).hex() != digest:
            raise ArchiveError(
                f"partition {partition}, position {position} (line {number}): its digest does not follow; "
                "the file was changed there"
            )
        return partition, _Row(position, before, followed, fields, payload)

    def _flush(self) -> None:
        """Writes the pending rows of one partition and moves its head, in one transaction."""
        rows, self._rows, self._bytes = self._rows, [], 0
        if not rows:
            return
        partition = self._partition
        with self._connection.transaction():
            found = self._connection.execute(
                statement("events.store", "lock_head"), {"partition": partition}
            ).fetchone()
            if found is None:
                raise ArchiveError(f"partition {partition} has no head in this log; run cardlog log verify")
            head, digest = found
            known = [row for row in rows if row.position <= head]
            if known:
                _same(self._connection, partition, [(row.position, row.digest) for row in known])
            fresh = rows[len(known) :]
            if fresh:
                if fresh[0].position != head + 1 or fresh[0].before != digest:
                    raise ArchiveError(
                        f"partition {partition}, position {head}: this log's head has another digest than the file"
                    )
                self._write(partition, fresh)
        self._already += len(known)
        self._added += len(fresh)

    def _write(self, partition: int, rows: Sequence[_Row]) -> None:
        last = rows[-1]
        try:
            with copying(self._connection, "log.events", statement("events.store", "copy_events")) as copy:
                copy.write("".join([_copied(row.fields, row.payload) for row in rows]))
        except (psycopg.IntegrityError, psycopg.DataError) as error:
            raise ArchiveError(
                f"partition {partition}, positions {rows[0].position} to {last.position}: this log refuses them: "
                f"{error.diag.message_primary}"
            ) from error
        self._connection.execute(
            statement("events.store", "move_head"),
            {
                "partition": partition,
                "position": last.position,
                "digest": last.digest,
                "recorded_at": last.fields["recorded_at"],
            },
        )
        sealed = [row for row in rows if row.fields.get("salt") is not None]
        self._sealed += sum(row.payload.startswith(PREFIX) for row in rows)
        self._keys += len(sealed)
        other = keystore.import_keys(
            self._connection,
            partition,
            [row.position for row in sealed],
            users=[row.fields["user_id"] for row in sealed],
            salts=[row.fields["salt"] for row in sealed],
            wrapped=[row.fields.get("subject_key") for row in sealed],
        )
        if other is not None:
            raise ArchiveError(
                f"partition {partition}: user {other!r} has another data key in this log than in the file; import "
                "into an empty log instead"
            )


def _total(line: bytes) -> int:
    """Returns the number of events that the first line announces."""
    try:
        header = orjson.loads(line)
        kind, version, user, heads = (header[name] for name in ("archive", "format", "user", "heads"))
        total = sum(head for _, head, _ in heads)
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(
            "the first line is not that of an archive: export one with cardlog log export"
        ) from error
    if kind != _KIND or version != FORMAT:
        raise ArchiveError(
            f"this is {kind!r} of format {version}; this build reads {_KIND!r} of format {FORMAT}"
        )
    if user is not None:
        raise ArchiveError(
            f"this archive holds user {user!r} alone: its chain cannot be followed, so it is for reading only; "
            "import a whole one"
        )
    return int(total)


def _check_end(line: bytes, seen: int, checksum: str) -> None:
    try:
        end = orjson.loads(line)
        count, expected = end["events"], end["sha256"]
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError("the last line cannot be read") from error
    if count != seen:
        raise ArchiveError(f"the last line counts {count} events, the file holds {seen}")
    if expected != checksum:
        raise ArchiveError(
            "the checksum of the file is not the one in its last line; every event in the file is correct"
        )


def _copied(fields: JsonObject, payload: str) -> str:
    """Returns the row as a line of COPY's text format."""
    # No text of PostgreSQL holds a NUL. A NUL can therefore separate the values while all are escaped at once.
    values = [str(fields[name]) for name in _REQUIRED]
    line = _escaped("\0".join(("\\x" + fields["digest"], *values, payload))).replace("\0", "\t")
    options = [_NULL if fields[name] is None else _escaped(fields[name]) for name in _OPTIONAL]
    mac = fields.get("mac")  # an event that was appended without the log key has none
    return "\t".join((line, *options, _NULL if mac is None else _escaped("\\x" + mac))) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
