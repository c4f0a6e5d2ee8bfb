"""Re-embeddings of one user's mode: new vectors are computed while the old ones serve, and one transaction swaps them.

The event ``ModeReembedded`` asks for it. The cache keeps what is computed, so a killed worker loses one page of cards.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from events.platform.database import Connection, rows_of, statement
from events.store.log import event_if_readable, unerased
from events.types.envelope import Event
from events.types.modes import CardReclassified, ModeReembedded
from projectors.embedding.embedders import Embedders
from projectors.vectors.slot_embedder import live_spaces
from projectors.vectors.words import Slotted, card_of, slotted

_PACKAGE = "projectors.vectors"
_PAGE = 64
_SWAP_PAGE = 512
_TYPES = ("StateAsserted", "EventNoted", "KnowledgeLearned", "CardReclassified")


@dataclass(frozen=True, slots=True)
class Reembedding:
    """An open re-embedding. ``project_id`` "" means all projects. ``reached`` is a position in the log."""

    user_id: str
    name: str
    project_id: str
    event_id: UUID
    partition: int
    position: int
    reached: int

    @property
    def key(self) -> dict[str, str]:
        return {"user_id": self.user_id, "name": self.name, "project_id": self.project_id}


def request(connection: Connection, events: Sequence[Event]) -> None:
    """Records the re-embeddings that ``events`` ask for, in the generation first on the search path."""
    asked = [event for event in events if isinstance(event.payload, ModeReembedded)]
    for event in asked:
        assert isinstance(event.payload, ModeReembedded)
        connection.execute(
            statement(_PACKAGE, "add_reembedding"),
            {
                "user_id": event.user_id,
                "name": event.payload.name,
                "project_id": event.payload.project_id or "",
                "event_id": event.event_id,
                "partition": event.partition,
                "position": event.position,
                "at": event.recorded_at,
            },
        )


def hold(connection: Connection, users: Collection[str]) -> None:
    """Waits for a running step of the re-embeddings of ``users``, and stops the next until the transaction ends."""
    connection.execute(statement(_PACKAGE, "hold_reembeddings"), {"users": sorted(set(users))})


def take(connection: Connection, without: Collection[UUID]) -> Reembedding | None:
    """Returns the oldest open re-embedding that no other worker does, or None. It stays locked until the end."""
    with connection.cursor(row_factory=class_row(Reembedding)) as cursor:
        return cursor.execute(statement(_PACKAGE, "take_reembedding"), {"without": list(without)}).fetchone()


def step(
    connection: Connection,
    asked: Reembedding,
    embedders: Embedders,
    prepare: Callable[[Sequence[Slotted]], bool],
    replace: Callable[[Sequence[Slotted]], bool],
) -> int:
    """Computes the vectors of the next page of cards, or swaps all in when every page is computed.

    ``prepare`` computes vectors into the cache. ``replace`` puts them in the place of the old ones. Both get only cards
    whose present vector is of another embedder, and return False while the embedder is not available: the step then has
    no effect. Returns the number of events looked at, at least 1, and 0 for a step without effect.
    """
    page = _page(connection, asked, asked.reached, _PAGE)
    if page:
        wrong = _wrong(connection, asked, embedders, page)
        if not prepare(wrong):
            return 0
        connection.execute(
            statement(_PACKAGE, "move_reembedding"),
            asked.key | {"reached": page[-1].position, "cards": len(wrong)},
        )
        return len(page)
    try:
        with connection.transaction():
            after = replaced = 0
            while page := _page(connection, asked, after, _SWAP_PAGE):
                after = page[-1].position
                wrong = _wrong(connection, asked, embedders, page)
                # A page that has no vectors in the cache any more is computed here.
                if not prepare(wrong) or not replace(wrong):
                    raise _InterruptedError
                replaced += len(wrong)
            connection.execute(statement(_PACKAGE, "end_reembedding"), asked.key | {"cards": replaced})
    except _InterruptedError:
        return 0
    return 1


class _InterruptedError(Exception):
    """The embedder failed in the middle of a swap."""


def _page(connection: Connection, asked: Reembedding, after: int, limit: int) -> list[Event]:
    rows = rows_of(
        connection,
        statement(_PACKAGE, "card_events"),
        {
            "partition": asked.partition,
            "user_id": asked.user_id,
            "types": list(_TYPES),
            "after": after,
            "until": asked.position,
            "limit": limit,
        },
    )
    return list(map(event_if_readable, rows))


def _wrong(
    connection: Connection, asked: Reembedding, embedders: Embedders, page: Sequence[Event]
) -> list[Slotted]:
    """Returns the cards of ``page`` that are of the mode and have a vector of another embedder than they should."""
    rows = rows_of(
        connection,
        statement(_PACKAGE, "reclassified"),
        {"partition": asked.partition, "user_id": asked.user_id},
    )
    last = {
        event.payload.card_id: event.position
        for event in map(event_if_readable, rows)
        if isinstance(event.payload, CardReclassified)
    }
    name = (asked.name, asked.project_id or None)
    found = [
        each
        for each in slotted(connection, embedders, unerased(page))
        if name in each.reembedded
        and last.get(card_of(each.event), each.event.position) == each.event.position
    ]
    if not found:
        return []
    held = dict(
        connection.execute(
            statement(_PACKAGE, "models_held"),
            {"user_id": asked.user_id, "cards": [card_of(each.event) for each in found]},
        ).fetchall()
    )
    spaces = live_spaces(connection)

    def is_wrong(each: Slotted) -> bool:
        space = spaces.get(each.slot)
        model = held.get(card_of(each.event))
        return model is not None and (space is None or space.fingerprint != model)

    return [each for each in found if is_wrong(each)]
