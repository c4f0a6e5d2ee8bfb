"""The list of erasures outside the database. After an older backup was restored, it says what to erase again."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import UUID

import orjson
from psycopg.rows import dict_row
from pydantic import TypeAdapter, ValidationError

from events.platform.database import Connection, statement
from events.types.tombstones import ErasureKind, digest_of


class TombstoneFileError(RuntimeError):
    """The file of tombstones cannot be read or written. The message names the file and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """One line of the file: an erasure of one user. ``user`` is a digest. ``events`` is None for the whole user.

    ``subject`` is the digest of who was erased. The erasure of a user in a team has the team as ``user``.
    """

    erasure_id: UUID
    kind: ErasureKind
    user: str
    events: tuple[UUID, ...] | None
    erased_at: datetime
    subject: str | None = None

    def line(self) -> bytes:
        return orjson.dumps(self) + b"\n"


_TOMBSTONE = TypeAdapter(Tombstone)


def read(path: Path) -> list[Tombstone]:
    """Returns the tombstones in ``path``, which may be missing. A last line without its end was never finished."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TombstoneFileError(
            f"{path} cannot be read ({error.strerror}): set CARDLOG_TOMBSTONES_FILE"
        ) from None
    return [
        _parsed(path, number, line) for number, line in enumerate(text.split(b"\n")[:-1], 1) if line.strip()
    ]


def keep(path: Path, connection: Connection) -> int:
    """Adds the tombstones of the database that ``path`` lacks, and returns their number. They are then on disk.

    Only its owner may read the file. Several processes may call it at the same time: a line may then occur twice.
    """
    known = {(one.erasure_id, one.user) for one in read(path)}
    fresh = [one for one in in_database(connection) if (one.erasure_id, one.user) not in known]
    if fresh:
        _append(path, fresh)
    return len(fresh)


def in_database(connection: Connection) -> Iterator[Tombstone]:
    """Yields the tombstones that the database knows."""
    with connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(statement("ingest.erasure", "tombstones")):
            yield Tombstone(
                erasure_id=row["erasure_id"],
                kind=row["kind"],
                user=digest_of("user", row["user_id"]),
                events=None if row["events"] is None else tuple(row["events"]),
                erased_at=row["erased_at"],
                subject=row["subject"],
            )


def _append(path: Path, tombstones: Iterable[Tombstone]) -> None:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        with open(descriptor, "r+b") as file:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.fchmod(descriptor, 0o600)
            # A crash may have left half a line. Its tombstone is written again.
            file.truncate(file.read().rfind(b"\n") + 1)
            file.seek(0, os.SEEK_END)
            file.write(b"".join(one.line() for one in tombstones))
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise TombstoneFileError(
            f"{path} cannot be written ({error.strerror}): set CARDLOG_TOMBSTONES_FILE to a file outside the database"
        ) from None


def _parsed(path: Path, number: int, line: bytes) -> Tombstone:
    try:
        return _TOMBSTONE.validate_json(line)
    except ValidationError as error:
        raise TombstoneFileError(
            f"{path}, line {number}: is no tombstone; bring the file back from a copy, or remove the line"
        ) from error
