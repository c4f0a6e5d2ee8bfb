"""Loads what the fold of a user's document needs. The queries are asked for, and the caller runs them.

The projector runs them on the tables of its generation, and readers on the live tables, some blocking and some not.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from uuid import UUID

from events.core.cards import Statements
from events.core.feed import CardFeed
from events.core.fold import CoreFold, Present
from events.core.rows import change_of, entry_of, state_of
from events.core.state import Change, CoreState, QueueEntry
from events.store.log import EVENT_COLUMNS, events_of
from events.types.core import (
    CORE_TYPES,
    CoreCherryPicked,
    CoreRolledBack,
    PatchApproved,
    PatchRefused,
)
from events.types.envelope import Event, partition_of
from projectors.generations.projector import Rows

MOST_UNFOLDED = 20_000
"""The most events of a user above the checkpoint that a reader folds itself."""
MOST_COMPARED = 50_000
"""The most statements that a reader compares itself, in less than a second: it answers nobody else meanwhile."""
_ATTEMPTS = 20
_LAST = 2**62

Query = tuple[str, Mapping[str, object]]
"""The name of a statement and its parameters."""


class TooFarBehindError(RuntimeError):
    """The tables are so far behind the log that a reader cannot fold the rest."""


def presenting(
    user_id: str, feed: CardFeed, *, history: bool = False, entries: Collection[UUID] = ()
) -> Generator[Query, Rows, Present]:
    """Asks for the present document of a user: the live tables, and the events above their checkpoint.

    Everything is of one moment. When the tables moved while more of them was read, all is read again.
    """
    named = {"user_id": user_id, "partition": partition_of(user_id)}
    tail = {"types": sorted(CORE_TYPES | feed.types), "limit": MOST_UNFOLDED + 1}
    for _ in range(_ATTEMPTS):
        found = yield "live_present", named | tail
        folded, seen_to, state = 0, 0, CoreState()
        if found:
            folded, seen_to = found[0]["folded"], found[0]["head"]
            state = state_of(found[0], folded)
            rows = [{name: row[name] for name in EVENT_COLUMNS} for row in found[1:]]
        else:
            rows = yield "live_unfolded", named | tail | {"folded": 0}
        if len(rows) > MOST_UNFOLDED:
            raise TooFarBehindError("the tables of documents are too far behind the log")
        folded_to = rows[-1]["position"] if rows else folded
        events = events_of(rows)
        fold = yield from folding(
            user_id, state, events, feed, history=history, entries=entries, prefix="live_"
        )
        if fold.compared(events) > MOST_COMPARED:
            raise TooFarBehindError("the tables of documents are too far behind the log")
        if events or history or entries:  # otherwise nothing more was read
            [now] = yield "live_folded", named
            if now["folded"] != folded:
                continue
        for event in events:
            fold.take(event)
        return Present(user_id, fold, folded_to, max(seen_to, folded_to), fold.history if history else ())
    raise TooFarBehindError("the tables of documents move faster than they can be read")


def folding(
    user_id: str,
    state: CoreState,
    events: Sequence[Event],
    feed: CardFeed,
    *,
    history: bool = False,
    entries: Collection[UUID] = (),
    prefix: str = "",
) -> Generator[Query, Rows, CoreFold]:
    """Asks for what the fold of ``events`` needs. Returns the fold, which has taken none of them yet."""
    statements = Statements(feed)
    cards = [event for event in events if event.type in feed.types]
    if cards:
        yield from _statements(user_id, cards, feed, statements, prefix)
    changes: list[Change] = []
    if history or any(isinstance(event.payload, CoreRolledBack | CoreCherryPicked) for event in events):
        rows = yield f"{prefix}changes_between", {"user_id": user_id, "after": 0, "upto": _LAST}
        changes = [change_of(row) for row in rows]
    answered = [
        *entries,
        *(
            event.payload.queue_id
            for event in events
            if isinstance(event.payload, PatchApproved | PatchRefused)
        ),
    ]
    queue: list[QueueEntry] = []
    if cards or answered:
        rows = yield f"{prefix}queue_entries", {"user_id": user_id, "ids": answered}
        queue = [entry_of(row) for row in rows]
    return CoreFold(state, statements, feed, history=changes, queue=queue)


def _statements(
    user_id: str, events: Sequence[Event], feed: CardFeed, statements: Statements, prefix: str
) -> Generator[Query, Rows, None]:
    """Asks for the earlier statements of all identities that ``events`` touch, and the remarks on them."""
    wanted = {each.identity for event in events for each in feed.statements(event)}
    targets = [target for event in events if (target := feed.target(event)) is not None]
    positions = [position for event in events for position in feed.withdrawn(event)]
    if targets or positions:
        rows = yield (
            f"{prefix}statement_identities",
            {"user_id": user_id, "events": targets, "positions": positions},
        )
        wanted |= {row["identity"] for row in rows}
    seen: set[str] = set()
    said: dict[UUID, Event] = {}
    while wanted:
        rows = yield f"{prefix}known_statements", {"user_id": user_id, "identities": sorted(wanted)}
        seen |= wanted
        found = events_of(rows)
        wanted = set()
        for event in found:
            said[event.event_id] = event
            wanted |= {each for each in statements.add(event) if each not in seen}
    if said:
        rows = yield f"{prefix}known_remarks", {"user_id": user_id, "events": sorted(said)}
        for event in events_of(rows):
            statements.remark(event)
