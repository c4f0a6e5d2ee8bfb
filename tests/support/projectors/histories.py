"""Random histories of statements and remarks, in any order and batches."""

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from events.types.cards import EventNoted, EventStatus
from events.types.envelope import Event
from events.types.naming import TagAliased
from events.types.relations import CardsConnected, ConnectionWithdrawn, Predicate
from tests.support.projectors.statements import (
    day,
    event,
    learned,
    merged,
    noted,
    ruled,
    said,
    skill,
    verified,
)
from tests.support.projectors.tables import is_ordered

CITIES = ("Taipei", "Tainan", "Kaohsiung")


SKILLS = ("Rust", "Ruby", "Go")


TITLES = ("JWT", "JSON Web Token", "token", "OAuth")


STATUSES: tuple[EventStatus, ...] = ("happened", "planned", "planned", "wished", "cancelled", "corrected")


PREDICATES: tuple[Predicate, ...] = ("update", "state_change", "expands", "related_to", "retracts")


def history(seed: int, length: int) -> list[Event]:
    """Statements of every kind within about a quarter of a year, and remarks on some of them."""
    choose = random.Random(seed)
    events: list[Event] = []
    for number in range(length):
        on = choose.randint(0, 90) + number / 1000
        since = choose.choice((None, None, None, choose.randint(-20, 120)))
        session = choose.choice(("a", "b", "c"))
        # Sometimes two statements share a turn, and often an instant.
        turn = choose.choice((None, None, f"{session}{int(on)}"))
        if turn is not None:
            on = int(on)
        kind = choose.randrange(12)
        how = choose.choice(("asserted", "asserted", "asserted", "ended", "corrected", "updated"))
        more = {"announced": choose.random() < 0.3, "session": session, "turn": turn, "statement": how}
        if kind < 4:
            until = {} if choose.random() < 0.9 else {"effective_until": day_after(on, choose)}
            replaces = choose.choice((None, None, choose.choice(CITIES)))
            value = "" if how == "ended" and choose.random() < 0.3 else choose.choice(CITIES)
            events.append(said(value, on, since, replaces=replaces, **more, **until))  # type: ignore[arg-type]
        elif kind < 6:
            replaces = choose.choice(SKILLS) if how in ("corrected", "updated") else None
            events.append(skill(choose.choice(SKILLS), on, since=since, replaces=replaces, **more))
        elif kind < 8:
            title, alias, related = (choose.choice(TITLES) for _ in range(3))
            names = (alias,) if choose.random() < 0.3 else ()
            words = choose.choice(("a token", "a signed token", "a signed token for claims"))
            events.append(learned(title, words, on, *names, related=(related,)))
        elif kind == 8:
            events.append(merged(choose.choice(TITLES), choose.choice(TITLES), on))
        else:
            events.append(
                noted(
                    f"note {number}",
                    on,
                    position=number + 1,
                    status=choose.choice(STATUSES),
                    **replaced(events, choose),
                )
            )
    remarks: list[Event] = []
    for number in range(length // 4):
        target, on = choose.choice(events), 100 + choose.randint(0, 9)
        if choose.random() < 0.5:
            remarks.append(ruled(target, choose.choice(("keep_old", "accept_new", "coexist")), on))
        else:
            remarks.append(verified(target.event_id, on))
        remarks.append(event(TagAliased(alias=f"tag{number % 2}", tag=choose.choice(TITLES)), on))
        one, other = choose.choice(events), choose.choice(events)
        make = CardsConnected if choose.random() < 0.8 else ConnectionWithdrawn
        remarks.append(
            event(
                make(
                    from_card=one.event_id, to_card=other.event_id, predicate=choose.choice(PREDICATES), reason="so"
                ),
                on,
            )
        )  # fmt: skip
    return [*events, *remarks]


def replaced(events: Sequence[Event], choose: random.Random) -> dict[str, Any]:
    """Often names an earlier event as replaced, and sometimes something that no event can replace."""
    earlier = [one for one in events if isinstance(one.payload, EventNoted)]
    if earlier and choose.random() < 0.7:
        return {"replaces_event": choose.choice(earlier).event_id}
    if events and choose.random() < 0.2:
        return {"replaces_event": choose.choice((choose.choice(events).event_id, UUID(int=7)))}
    return {}


def day_after(on: float, choose: random.Random) -> datetime:
    return day(on + choose.randint(-5, 30))


def shuffled(events: Sequence[Event], choose: random.Random) -> list[Event]:
    """Returns another order of arrival. Relations and noted events keep theirs: the log decides which came first."""
    ordered = list(events)
    choose.shuffle(ordered)
    in_order = iter(one for one in events if is_ordered(one))
    return [next(in_order) if is_ordered(one) else one for one in ordered]


def cut(events: list[Event], choose: random.Random) -> list[list[Event]]:
    batches: list[list[Event]] = []
    while events:
        size = choose.randint(1, 6)
        batches.append(events[:size])
        events = events[size:]
    return batches
