"""``cardlog log``: shows, verifies, exports and imports the log."""

import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from psycopg.rows import dict_row

from deploy.commands.operate import proof
from deploy.commands.security.sealing import run_kek, run_seal
from deploy.instance import find
from deploy.options import (
    Answer,
    Count,
    File,
    Flat,
    Given,
    Json,
    OnlyTenant,
    OptionInvalidError,
    Tenant,
    at_least,
    between,
    instant_of,
    wanted_user,
)
from deploy.progress import Progress
from deploy.security.audited import audited
from deploy.security.private_files import reading, writing
from events.platform.counting import counted
from events.platform.database import Connection, Row, connect, connect_owner, migrate, statement
from events.platform.settings import Settings
from events.sealing import keystore
from events.store import archive, log
from events.types.codec import known_types
from events.types.envelope import PARTITIONS, partition_of
from events.types.tenancy import DEFAULT_TENANT, shown_user, tenant_of, user_of


def reason_for_none(connection: Connection, parameters: Row, user: str | None) -> tuple[str, bool]:
    """Returns one sentence, and True when the user or the type does not exist at all.

    ``parameters`` are those of the statement ``show_events``, and ``user`` is the user's name on the command line.
    """
    storage = parameters["user_id"]
    if storage is not None and not _exists(
        connection, "user_exists", {"partition": partition_of(storage), "user_id": storage}
    ):
        return f"the log has no event of the user {user!r}", True
    kind = parameters["type"]
    if kind is not None and not _exists(connection, "type_exists", {"type": kind}):
        if kind in known_types():
            return f"the log has no event of the type {kind} yet", False
        near = get_close_matches(kind, known_types(), n=1, cutoff=0.5)
        guess = f"did you mean {near[0]}?" if near else "`cardlog log stats` lists the types of the log"
        return f"there is no event type {kind!r}; {guess}", True
    return "no event meets the filter", False


def _exists(connection: Connection, name: str, parameters: dict[str, object]) -> bool:
    row = connection.execute(statement("deploy.commands.operate", name), parameters).fetchone()
    return bool(row and row[0])


_PLACE = re.compile(r"\D*(\d{1,5})\D+(\d{1,18})\D*")


app = App(name="log", help="Show the log, verify it, seal it, export and import it.")
app.command(proof.run_verify, name="verify")
app.command(proof.run_anchor, name="anchor")
app.command(proof.run_key, name="key")
app.command(run_kek, name="kek")
app.command(run_seal, name="seal")


@dataclass(frozen=True, kw_only=True)
class EventFilter:
    """The filter of the events to show."""

    user: Annotated[str | None, Parameter(help="only this user's")] = None
    tenant: OnlyTenant = None
    stream: Annotated[str | None, Parameter(help="only this stream")] = None
    type: Annotated[str | None, Parameter(help="only this event type, such as TurnRecorded")] = None
    since: Annotated[str | None, Parameter(metavar="INSTANT")] = None
    """only what was recorded since (ISO 8601)"""
    partition: Annotated[
        int | None,
        Parameter(
            metavar="N",
            validator=between(0, PARTITIONS - 1),
            help=f"only this partition, 0 to {PARTITIONS - 1}",
        ),
    ] = None
    after: Annotated[int | None, Parameter(metavar="POSITION", validator=at_least(0))] = None
    """only after this position of the partition"""
    at: Annotated[str | None, Parameter(metavar="PLACE")] = None
    """only the one event at this place, such as 25/1007"""
    limit: Annotated[Count, Parameter(help="the most events to print")] = None
    json: bool = False
    """print one JSON object a line with the columns of log.events"""


@app.command(name="show")
def run_show(
    *, options: Flat[EventFilter] = EventFilter(), settings: Given[Settings], data: Given[Path | None]
) -> int:
    """Print events, oldest first within each partition.

    A place is written partition/position, such as 25/1007. Users hash to one of 64 partitions, and the positions of
    a partition are 1, 2, 3 and so on. Sealed payloads are opened when the key-encryption key is at hand, and the
    payload of an erased event is {"erased": reason}. A user or a type that the log does not have is an error.
    """
    parameters = _wanted(options)
    settings, _ = find(settings, data)
    with (
        audited(settings, "log-show", *([options.user] if options.user else [])),
        connect(settings.database_url, application="log show", autocommit=False) as connection,
        connection.cursor("log_show", row_factory=dict_row) as cursor,
    ):
        cursor.itersize = 1000
        cursor.execute(statement("deploy.commands.operate", "show_events"), parameters)
        shown = False
        for row in cursor:
            shown = True
            row["data"] = log.text_of(
                row["data"], row["user_id"], row["event_id"], row["type"], row["schema_version"]
            )
            sys.stdout.write((_json(row) if options.json else _line(row)) + "\n")
        if shown:
            return 0
        reason, unknown = reason_for_none(connection, parameters, options.user)
    print(f"cardlog log show: {reason}", file=sys.stderr)
    return 1 if unknown else 0


def _wanted(options: EventFilter) -> dict[str, object]:
    partition, after, up_to = options.partition, options.after, None
    if options.at is not None:
        place = _PLACE.fullmatch(options.at)
        if place is None:
            raise ValueError(
                f"--at {options.at!r} is not a place; write it as PARTITION/POSITION, such as 25/1007"
            )
        partition, up_to = int(place[1]), int(place[2])
        after = up_to - 1
    elif (user := wanted_user(options.user, options.tenant)) is not None:
        home = partition_of(user)
        if partition not in (None, home):
            raise ValueError(f"user {options.user!r} is in partition {home}, not in {partition}")
        partition = home
    elif after is not None and partition is None:
        raise OptionInvalidError("--after needs --partition or --user: positions count within a partition")
    if partition is not None and not 0 <= partition < PARTITIONS:
        raise ValueError(f"there is no partition {partition}; use 0 to {PARTITIONS - 1}")
    since = None if options.since is None else instant_of("--since", options.since).astimezone()
    return {
        "partition": partition,
        "after": after,
        "up_to": up_to,
        "user_id": wanted_user(options.user, options.tenant),
        "tenant": options.tenant,
        "stream": options.stream,
        "type": options.type,
        "since": since,
        "limit": options.limit,
    }


def _json(row: Row) -> str:
    data = row.pop("data")
    row = {"tenant": tenant_of(row["user_id"]), **row, "user_id": user_of(row["user_id"])}
    # An unsealed payload is inserted as it is stored, so the output shows the bytes that the digest covers.
    return json.dumps(row, ensure_ascii=False, default=_text_of)[:-1] + f', "data": {data}}}'


def _text_of(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _line(row: Row) -> str:
    data = json.loads(row["data"])
    if not isinstance(data, dict):
        data = {"text": data}
    words = data.get("text") or data.get("content") or data.get("reason") or data.get("erased") or ""
    words = " ".join(str(words).split())
    if len(words) > 100:
        words = words[:99] + "…"
    place = f"{row['partition']}/{row['position']}"
    user = shown_user(row["user_id"])
    return f"{place:<10} {row['recorded_at']:%Y-%m-%d %H:%M:%S} {user:<12} {row['type']:<18} {words}"


@app.command(name="stats", help="count events by type, users, partitions and bytes")
def run_stats(*, as_json: Json = False, cardlog: Given[Settings]) -> Answer:
    with connect(cardlog.database_url, application="log stats", autocommit=False) as connection:
        with connection.cursor(row_factory=dict_row) as cursor:
            types = cursor.execute(statement("deploy.commands.operate", "log_types")).fetchall()
        (users,) = connection.execute(statement("deploy.commands.operate", "log_users")).fetchone() or (0,)
        table, indexes = connection.execute(statement("deploy.commands.operate", "log_size")).fetchone() or (
            0,
            0,
        )
        heads = {partition: head for partition, head in log.heads(connection).items() if head}
    smallest = min(heads.items(), key=lambda item: item[1], default=None)
    largest = max(heads.items(), key=lambda item: item[1], default=None)
    first = min((row["first_recorded_at"].astimezone(UTC) for row in types), default=None)
    last = max((row["last_recorded_at"].astimezone(UTC) for row in types), default=None)
    versions: dict[str, dict[int, int]] = {}
    for row in types:
        versions.setdefault(row["type"], {})[row["schema_version"]] = row["events"]
    total = sum(row["events"] for row in types)
    found = {
        "events": total,
        "users": users,
        "types": {kind: sum(counts.values()) for kind, counts in versions.items()},
        "schema_versions": versions,
        "partitions": {
            "used": len(heads),
            "smallest": smallest and {"partition": smallest[0], "events": smallest[1]},
            "largest": largest and {"partition": largest[0], "events": largest[1]},
        },
        "bytes": {"payload": sum(row["payload_bytes"] for row in types), "table": table, "indexes": indexes},
        "first_recorded_at": first and first.isoformat(),
        "last_recorded_at": last and last.isoformat(),
    }
    lines = [
        f"{counted(total, 'event')} of {counted(users, 'user')} in {len(heads)} of {PARTITIONS} partitions"
    ]
    if first is not None and last is not None and smallest is not None and largest is not None:
        lines += [
            f"recorded from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC",
            f"partition {smallest[0]} holds the fewest ({smallest[1]}), {largest[0]} the most ({largest[1]})",
        ]
    lines.append(f"{table / 1e6:.1f} MB in the table, {indexes / 1e6:.1f} MB in its indexes")
    lines += [
        f"{row['type']:<22} v{row['schema_version']} {row['events']:>12} {row['payload_bytes'] / 1e6:>10.1f} MB"
        for row in types
    ]
    return Answer(found, lines)


@app.command(name="export")
def run_export(
    file: Annotated[File, Parameter(help="the file to write, or - for standard output")],
    /,
    *,
    user: Annotated[
        str | None, Parameter(help="only this user's events (such a file cannot be imported)")
    ] = None,
    with_keys: Annotated[
        bool,
        Parameter(
            help="add the salt and the wrapped key of each sealed payload; erasures do not reach such a file"
        ),
    ] = False,
    tenant: Tenant = DEFAULT_TENANT,
    cardlog: Given[Settings],
) -> int:
    """Write the log to a file.

    The file holds JSON lines of one snapshot; writers of the log continue meanwhile. The last line holds a count and
    a checksum. Sealed payloads stay sealed, and the file holds no key unless --with-keys is given. A file gets its name
    only when it is complete.
    """
    with (
        audited(cardlog, "log-export", *([user] if user else [])),
        connect(cardlog.database_url, application="log export") as connection,
        writing(file) as out,
        Progress("events") as progress,
    ):
        done = archive.export_log(
            connection,
            out.write,
            user_id=wanted_user(user, tenant),
            with_keys=with_keys,
            progress=progress,
        )
        sealed = not with_keys and keystore.any_key(connection)
    print(f"exported {counted(done.events, 'event')}, SHA-256 {done.sha256}", file=sys.stderr)
    if sealed:
        print(
            "the payloads are sealed, and the file holds no key: alone it is no backup; --with-keys adds the keys",
            file=sys.stderr,
        )
    return 0


@app.command(name="import")
def run_import(
    file: Annotated[File, Parameter(help="an exported file, or - for standard input")],
    /,
    *,
    cardlog: Given[Settings],
) -> int:
    """Import an exported log.

    Append the events of an exported log to this one, byte for byte, and check every digest. Equal events that exist
    already are skipped, so an interrupted import can be repeated. A log with a different history is refused. Running
    workers continue with the imported events. What CARDLOG_TOMBSTONES_FILE lists is then erased again.
    """
    with (
        reading(file) as source,
        connect_owner(cardlog, application="log import") as connection,
    ):
        migrate(connection)
        with Progress("events") as progress:
            done = archive.import_log(connection, source, progress=progress)
    from deploy.commands.security.erase import erase_again  # noqa: PLC0415 - the import takes a second

    print(f"imported {counted(done.added, 'event')}, {done.already} existed already", file=sys.stderr)
    print(erase_again(cardlog), file=sys.stderr)
    if done.without_keys:
        print(
            f"{counted(done.without_keys, 'payload')} of them are sealed, and the file holds no key: nobody can read "
            "them, and no card is made of them. Import a file of `cardlog log export --with-keys` into an empty log",
            file=sys.stderr,
        )
    return 0
