"""Exports one user: every turn, event and card, as JSON lines. The memory does not depend on the size of the history.

The first line names the format and the user. A line for each turn and each other event follows, in the order of the
log, and then a line for each card with its sources, and for each insight. The last line counts the lines; a file
without it is not whole. The secret of a webhook is left out: a field of an event that its ``repr`` hides is empty.
"""

from collections.abc import Collection, Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from uuid import UUID

import orjson
from psycopg.rows import dict_row

from events.insights import insights_of
from events.platform.database import Connection, statement
from events.resources.curator import Insight
from events.resources.operating import User
from events.store import log
from events.store.log import Unreadable
from events.types.codec import encode
from events.types.envelope import Event, partition_of
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, shown_user, storage_id, tenant_of, user_of
from events.types.tombstones import Erased
from events.types.turns import TurnRecorded

KIND = "cardlog user export"
FORMAT = 1

_PACKAGE = "retrieval.export"
_PAGE = 500
_AFTER_ALL = "\U0010ffff"


class UserUnknownError(LookupError):
    """Nothing is known of a user, and nothing of the user was erased."""

    def __init__(self, storage_id: str) -> None:
        super().__init__(
            f"there is no user {shown_user(storage_id)}; `cardlog users list` lists all of a tenant"
        )


def export(connection: Connection, storage_id: str) -> Iterator[bytes]:
    """Yields the lines of the export of a user. Words that were erased are not in it.

    Events up to the head at the start are exported. Reads a page at a time, so a slow reader holds no transaction.
    Raises :class:`UserUnknownError` before the first line.
    """
    lines = _lines(connection, storage_id)
    first, second = next(lines), next(lines)
    if b'"kind":"end"' in second and b'"erased":0' in second:
        raise UserUnknownError(storage_id)
    yield first
    yield second
    yield from lines


def _lines(connection: Connection, storage_id: str) -> Iterator[bytes]:
    partition = partition_of(storage_id)
    head = log.heads(connection).get(partition, 0)
    yield _line(
        kind="export", archive=KIND, format=FORMAT, tenant=tenant_of(storage_id), user_id=user_of(storage_id),
        exported_at=datetime.now(UTC),
    )  # fmt: skip
    counts = {"turns": 0, "events": 0, "cards": 0, "insights": 0, "erased": 0}
    for event in log.history(connection, storage_id, up_to=head):
        if isinstance(event.payload, Erased):
            counts["erased"] += 1
            continue
        turn = isinstance(event.payload, TurnRecorded)
        counts["turns" if turn else "events"] += 1
        yield _event_line("turn" if turn else "event", event)
    for card in _cards(connection, storage_id):
        counts["cards"] += 1
        yield _line(kind="card", **card)
    for insight in insights_of(connection, storage_id).present:
        counts["insights"] += 1
        told = Insight.made_from(insight).model_dump()
        yield _line(**told | {"kind": "insight", "insight_kind": insight.kind})
    yield _line(kind="end", **counts)


def _cards(connection: Connection, storage_id: str) -> Iterator[dict[str, object]]:
    after = UUID(int=0)
    while True:
        with connection.cursor(row_factory=dict_row) as cursor:
            page = cursor.execute(
                statement(_PACKAGE, "cards_of_user"),
                {"user_id": storage_id, "after": after, "limit": _PAGE},
            ).fetchall()
        if not page:
            return
        after = page[-1]["card_id"]
        for row in page:
            yield row["card"] | {"relations": row["relations"], "changes": row["changes"]}


def _event_line(kind: str, event: Event) -> bytes:
    envelope = {
        name: getattr(event, name)
        for name in (
            "position", "event_id", "stream", "type", "schema_version", "dedupe_key", "occurred_at", "recorded_at",
            "actor", "causation_id", "correlation_id",
        )
    }  # fmt: skip
    payload = event.payload
    if isinstance(payload, Unreadable):
        return _line(kind=kind, **envelope, unreadable=payload.reason, data=None)
    secrets = {each.name: "" for each in fields(payload) if not each.repr}
    return _line(kind=kind, **envelope, data=orjson.Fragment(encode(replace(payload, **secrets))))


def _line(**fields: object) -> bytes:
    return orjson.dumps(fields) + b"\n"


def users(
    connection: Connection,
    tenant: str,
    *,
    after: str = "",
    limit: int = 100,
    among: Collection[str] | None = None,
) -> list[User]:
    """Returns up to ``limit`` users of a tenant whose ids come after ``after``, in the order of their bytes.

    A user is known when the log holds events of the user. ``among`` names the only users that count.
    """
    if among is not None:
        ids = [storage_id(tenant, user) for user in among if user > after]
        given = {"users": ids, "partitions": [partition_of(each) for each in ids], "limit": limit}
        rows = connection.execute(statement("retrieval.export", "users_among"), given).fetchall()
    else:
        plain = tenant == DEFAULT_TENANT
        values = {
            "after": storage_id(tenant, after),
            "end": _AFTER_ALL if plain else f"{tenant}{chr(ord(SEPARATOR) + 1)}",
            "plain": plain,
            "limit": limit,
        }
        rows = connection.execute(statement("retrieval.export", "users"), values).fetchall()
    return [User(user_id=user_of(user), erased_at=erased_at) for user, erased_at in rows]
