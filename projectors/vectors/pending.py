"""Cards that wait for their vector, because events arrived faster than the embedder works."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from psycopg.rows import dict_row

from events.platform.database import Connection, one_row, statement
from events.store.log import event_of, unerased
from events.types.envelope import Event
from events.types.tombstones import Erased

_PACKAGE = "projectors.vectors"


def waiting_up_to(connection: Connection, heads: Mapping[int, int]) -> int:
    """Returns the number of cards of the live generation that wait for their vector, from events up to ``heads``.

    A card is embedded when the checkpoint of ``vectors`` has passed its event and the card does not wait here. Read
    both in one transaction, the checkpoint first.
    """
    there = connection.execute(statement("events.health", "pending_vectors_exists")).fetchone()
    if there is None or not there[0]:
        return 0
    row = one_row(
        connection,
        statement(_PACKAGE, "pending_up_to"),
        {"partitions": list(heads), "positions": list(heads.values())},
    )
    return int(row[0])


def add(
    connection: Connection,
    events: Sequence[Event],
    cards: Sequence[UUID],
    slots: Sequence[str | None] | None = None,
) -> None:
    """Records that ``cards``, with the words of ``events``, wait for their vector.

    ``slots`` are the slots whose embedders fail; None: the cards wait for their turn only. All have the same length.
    """
    connection.execute(
        statement(_PACKAGE, "add_pending"),
        {
            "users": [event.user_id for event in events],
            "cards": list(cards),
            "partitions": [event.partition for event in events],
            "positions": [event.position for event in events],
            "times": [event.recorded_at for event in events],
            "slots": list(slots or [None] * len(events)),
        },
    )


def take(connection: Connection, limit: int, without: Collection[str] = ()) -> list[Event]:
    """Returns the newest waiting cards that no other worker embeds. They stay locked until the transaction ends.

    Cards that wait for a slot of ``without`` are left out. A card whose event was erased leaves the list.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            statement(_PACKAGE, "take_pending"), {"limit": limit, "without": list(without)}
        ).fetchall()
    events = [event_of(row) for row in rows]
    if erased := [event for event in events if isinstance(event.payload, Erased)]:
        remove(connection, [event.user_id for event in erased], [event.event_id for event in erased])
    return unerased(events)


def mark(connection: Connection, users: Sequence[str], cards: Sequence[UUID], slots: Sequence[str]) -> None:
    """Records the slots that waiting cards wait for. The lists have the same length."""
    if cards:
        connection.execute(
            statement(_PACKAGE, "mark_pending"),
            {"users": list(users), "cards": list(cards), "slots": list(slots)},
        )


def remove(connection: Connection, users: Sequence[str], cards: Sequence[UUID]) -> None:
    """Removes cards from the waiting list. The lists have the same length."""
    connection.execute(statement(_PACKAGE, "delete_pending"), {"users": list(users), "cards": list(cards)})


def give_up(connection: Connection, user_id: str, card_id: UUID, reason: str) -> None:
    """Marks one card as impossible to embed, with the reason. The other cards continue."""
    connection.execute(
        statement(_PACKAGE, "fail_pending"),
        {"user_id": user_id, "card_id": card_id, "failure": reason},
    )


def left(connection: Connection) -> tuple[int, float | None]:
    """Returns the number of waiting cards of the generation first on the search path, and the oldest age in seconds."""
    row = one_row(connection, statement(_PACKAGE, "left"))
    return int(row[0]), row[1]
