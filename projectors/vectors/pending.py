"""Cards that wait for their vector, because events arrived faster than the embedder works."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from psycopg.rows import dict_row

from events.platform.database import Connection, one_row, statement
from events.store.log import event_of, unerased
from events.types.envelope import Event
from events.types.tombstones import Erased
from projectors.generations.projector import columns
from projectors.vectors.words import Slotted, card_of, owned_card

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


def add(connection: Connection, events: Sequence[Event], slots: Sequence[str] | None = None) -> None:
    """Records that the cards of ``events`` wait for their vector.

    ``slots`` are the slots whose embedders fail, one for each event; None: the cards wait for their turn only.
    """
    connection.execute(
        statement(_PACKAGE, "add_pending"),
        {
            "users": [event.user_id for event in events],
            "cards": [card_of(event) for event in events],
            "partitions": [event.partition for event in events],
            "positions": [event.position for event in events],
            "times": [event.recorded_at for event in events],
            "slots": [None] * len(events) if slots is None else list(slots),
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
        remove(connection, map(owned_card, erased))
    return unerased(events)


def mark(connection: Connection, cards: Sequence[Slotted]) -> None:
    """Records the slots that waiting cards wait for."""
    if cards:
        rows = [(*owned_card(each.event), each.slot) for each in cards]
        connection.execute(statement(_PACKAGE, "mark_pending"), columns(("users", "cards", "slots"), rows))


def remove(connection: Connection, cards: Iterable[tuple[str, UUID]]) -> None:
    """Removes cards from the waiting list."""
    if found := list(cards):
        connection.execute(statement(_PACKAGE, "delete_pending"), columns(("users", "cards"), found))


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
