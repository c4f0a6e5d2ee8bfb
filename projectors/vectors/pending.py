"""Cards that were folded faster than they could be embedded: which wait for their vector, and embedding them later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import dict_row

from events.platform.sql import statement
from events.store.log import Connection, event_of
from events.types.envelope import Event

_PACKAGE = "projectors.vectors"


def waiting_of(connection: Connection, user_id: str, position: int | None = None) -> int:
    """How many of this user's cards wait for their vector, of those from events up to ``position`` of its partition.

    Together with the checkpoint of ``vectors`` it says what has its meaning: a card is embedded when the
    checkpoint has passed its event and it does not wait here. Ask for both in one transaction, the checkpoint first.
    """
    if not _there(connection):
        return 0
    row = connection.execute(
        statement(_PACKAGE, "pending_of_user"), {"user_id": user_id, "position": position}
    ).fetchone()
    assert row is not None
    return int(row[0])


def waiting_up_to(connection: Connection, heads: Mapping[int, int]) -> int:
    """How many cards from events up to ``heads`` wait for their vector in the live generation."""
    if not _there(connection):
        return 0
    row = connection.execute(
        statement(_PACKAGE, "pending_up_to"),
        {"partitions": list(heads), "positions": list(heads.values())},
    ).fetchone()
    assert row is not None
    return int(row[0])


def add(connection: Connection, events: Sequence[Event]) -> None:
    """Note that the cards of ``events`` have no vector yet."""
    connection.execute(statement(_PACKAGE, "pending_table"))
    connection.execute(
        statement(_PACKAGE, "add_pending"),
        {
            "users": [event.user_id for event in events],
            "cards": [event.event_id for event in events],
            "partitions": [event.partition for event in events],
            "positions": [event.position for event in events],
            "times": [event.recorded_at for event in events],
        },
    )


def take(connection: Connection, limit: int) -> list[Event]:
    """The newest cards that wait and that nobody else embeds, held until the transaction ends."""
    if not is_there(connection):
        return []
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(statement(_PACKAGE, "take_pending"), {"limit": limit}).fetchall()
    return [event_of(row) for row in rows]


def remove(connection: Connection, users: Sequence[str], cards: Sequence[UUID]) -> None:
    """These wait no more."""
    connection.execute(statement(_PACKAGE, "delete_pending"), {"users": list(users), "cards": list(cards)})


def give_up(connection: Connection, event: Event, reason: str) -> None:
    """This one cannot be embedded; the others go on."""
    connection.execute(
        statement(_PACKAGE, "fail_pending"),
        {"user_id": event.user_id, "card_id": event.event_id, "failure": reason},
    )


def left(connection: Connection) -> tuple[int, float | None]:
    """How many cards wait in the generation first on the search path, and the age of the oldest in seconds."""
    if not is_there(connection):
        return 0, None
    row = connection.execute(statement(_PACKAGE, "left")).fetchone()
    assert row is not None
    return int(row[0]), row[1]


def is_there(connection: Connection) -> bool:
    """Whether the generation first on the search path can have cards that wait."""
    row = connection.execute(statement(_PACKAGE, "pending_there")).fetchone()
    return row is not None and bool(row[0])


def _there(connection: Connection) -> bool:
    row = connection.execute(statement("events.health", "pending_vectors_exists")).fetchone()
    return row is not None and bool(row[0])
