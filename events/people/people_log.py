"""The people of a user as the log has them. A read right after a write sees it, whatever the projector's lag is."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import psycopg

from events.people.judgement import PROPOSING, TYPES
from events.people.mentions import ROLES, Link, Reading, read_card
from events.people.person import Handle, Named, People, fold
from events.platform.database import Connection, Row, statement
from events.store import asking, log
from events.store.asking import Asking, Query
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn, standing
from events.types.relations import CardsConnected, ConnectionWithdrawn

_PACKAGE = "events.people"
CARD_EVENTS = (StateAsserted, EventNoted)
RELATIONS = (CardsConnected, ConnectionWithdrawn)
CARD_TYPES = frozenset(each.__name__ for each in CARD_EVENTS)
"""The types of the cards that name people."""
READ_TYPES = TYPES | PROPOSING | CARD_TYPES | {each.__name__ for each in (CardsWithdrawn, *RELATIONS)}

_MOST_CARDS = 200

Rows = Iterable[Row]


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of the people of one user: the input of the fold."""

    owner: str
    handles: list[Handle]
    links: list[Link]
    events: list[Event]
    unfolded: list[Named]

    def people(self, *more: Event) -> People:
        """Returns the people, after ``more`` events too."""
        people = fold(self.owner, self.handles, self.links, [*self.events, *more])
        people.unfolded = self.unfolded
        return people


def told_in(owner: str, events: list[Event], handles: Rows = (), links: Rows = (), ties: Rows = ()) -> Told:
    """Returns what rows and the events of no table tell. ``ties`` are the ties of cards that were retracted."""
    cards = [(card, read_card(card.payload)) for card in standing(events, CARD_EVENTS)]
    unfolded = [named for card, reading in cards for named in names_in(card, reading)]
    named = [*(Handle(**row) for row in handles), *map(Handle.named, unfolded)]
    retracted = _retracted(events)
    tied = [*((row["event_id"], row["handle"]) for row in ties)]
    tied += [(each.event_id, each.handle) for each in unfolded if "tied" in each.roles]
    over = {handle: retracted[card] for card, handle in tied if card in retracted}
    # What is said after the retraction holds again.
    over = {
        handle: at
        for handle, at in over.items()
        if all(at >= each.until for each in named if each.handle == handle)
    }
    return Told(
        owner,
        [replace(each, tied=each.handle not in over) for each in named],
        [*(Link(**row) for row in links), *(link for _, reading in cards for link in reading.links)],
        [each for each in events if each.type not in CARD_TYPES and not isinstance(each.payload, RELATIONS)],
        unfolded,
    )


def retracts(event: Event) -> bool:
    """True for an event that retracts a card, or takes its retraction back."""
    return isinstance(event.payload, RELATIONS) and event.payload.predicate == "retracts"


def _retracted(events: Iterable[Event]) -> dict[UUID, datetime]:
    """Returns the cards that are retracted, with the time of the last retraction."""
    found: dict[tuple[UUID, UUID], datetime] = {}
    for event in filter(retracts, events):
        link = (event.payload.from_card, event.payload.to_card)
        found.pop(link, None)
        if isinstance(event.payload, CardsConnected):
            found[link] = event.occurred_at
    return {card: at for (_, card), at in found.items()}


def _readable(told: Rows) -> list[Event]:
    """Returns the events in rows. Those that this build cannot read tell nothing."""
    return [event for event in map(log.event_if_readable, told) if event.type in READ_TYPES]


def names_in(card: Event, reading: Reading) -> list[Named]:
    """Returns the handles that a card event names, each once. ``reading`` is what was read in it."""
    origin = card.payload.origin
    found: list[Named] = []
    for handle in dict.fromkeys(each.handle for each in reading.mentions):
        own = [each for each in reading.mentions if each.handle == handle]
        found.append(
            Named(
                event_id=card.event_id,
                handle=handle,
                name=min(filter(None, (each.name for each in own)), default=""),
                roles=tuple(role for role in ROLES if any(role == each.role for each in own)),
                certain=any(each.certain for each in own),
                said_at=origin.said_at,
                turn_id=min(origin.turn_ids, default=""),
            )
        )
    return found


def telling(owner: str) -> Asking[Told]:
    """Asks for what is told of the people of a user at the end of the log.

    Of the cards that no table has, the latest 200 tell: a projector that is far behind must not hold up a question.
    """
    named = {
        **asking.of_user(owner),
        "types": sorted(READ_TYPES - CARD_TYPES),
        "card_types": sorted(CARD_TYPES),
        "cards": _MOST_CARDS,
    }
    try:
        events = _readable((yield Query(statement(_PACKAGE, "told_of"), named, folded=True)))
    except psycopg.errors.UndefinedTable:
        return told_in(owner, _readable((yield Query(statement(_PACKAGE, "unfolded"), named))))
    handles = yield Query(statement(_PACKAGE, "handles_of"), named)
    links = yield Query(statement(_PACKAGE, "links_of"), named)
    ties: Rows = ()
    if retracted := list(_retracted(events)):
        ties = yield Query(statement(_PACKAGE, "ties_of"), {**named, "retracted": retracted})
    return told_in(owner, events, handles, links, ties)


def told_of(connection: Connection, owner: str) -> Told:
    """Returns what is told of the people of a user at the end of the log."""
    return asking.answered(connection, telling(owner))
