"""The people of a user as the log has them. A read right after a write sees it, whatever the projector's lag is."""

from collections.abc import Iterable
from dataclasses import dataclass

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

_PACKAGE = "events.people"
CARD_EVENTS = (StateAsserted, EventNoted)
CARD_TYPES = frozenset(each.__name__ for each in CARD_EVENTS)
"""The types of the cards that name people."""
READ_TYPES = TYPES | PROPOSING | CARD_TYPES | {CardsWithdrawn.__name__}

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


def told_in(owner: str, told: Iterable[dict[str, object]], handles: Rows = (), links: Rows = ()) -> Told:
    """Returns what rows tell. Events that this build cannot read tell nothing."""
    events = [event for event in map(log.event_if_readable, told) if event.type in READ_TYPES]
    cards = [(card, read_card(card.payload)) for card in standing(events, CARD_EVENTS)]
    unfolded = [named for card, reading in cards for named in names_in(card, reading)]
    return Told(
        owner,
        [*(Handle(**row) for row in handles), *map(Handle.named, unfolded)],
        [*(Link(**row) for row in links), *(link for _, reading in cards for link in reading.links)],
        [each for each in events if each.type not in CARD_TYPES],
        unfolded,
    )


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
        told = yield Query(statement(_PACKAGE, "told_of"), named, folded=True)
    except psycopg.errors.UndefinedTable:
        return told_in(owner, (yield Query(statement(_PACKAGE, "unfolded"), named)))
    handles = yield Query(statement(_PACKAGE, "handles_of"), named)
    links = yield Query(statement(_PACKAGE, "links_of"), named)
    return told_in(owner, told, handles, links)


def told_of(connection: Connection, owner: str) -> Told:
    """Returns what is told of the people of a user at the end of the log."""
    return asking.answered(connection, telling(owner))
