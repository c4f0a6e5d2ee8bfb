"""The document as it held at an instant, by the events that were recorded until then or until later.

Cards hold in their valid time, and a change by a command from the time of the command. The order in which turns
arrived therefore does not matter. The fold is pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from events.core.cards import Statements
from events.core.contributions import slot_of
from events.core.feed import CardFeed, CardValue
from events.core.fold import CoreFold
from events.core.state import Change, CoreState
from events.types.core import CoreCherryPicked, CoreRolledBack
from events.types.envelope import Event


@dataclass(frozen=True, slots=True)
class Past:
    """``state`` has the last version that it rests on. ``changes`` gives the change of each version in its marks."""

    state: CoreState
    changes: Mapping[int, Change]


def past_of(events: Sequence[Event], feed: CardFeed, as_of: datetime) -> Past:
    """Returns the document of one user at ``as_of`` by ``events``, which are in the order of the log."""
    recorded, statements = CoreFold(CoreState(), Statements(feed), feed), Statements(feed)
    versions: dict[UUID, int] = {}
    for event in events:
        recorded.take(event)
        versions[event.event_id] = recorded.state.version
        statements.add(event)
        statements.remark(event)
        for each in statements.at(feed.withdrawn(event)):
            statements.remove(each)
    values = statements.held()
    commands = [event for event in events if event.type not in feed.types]
    instants = {event.occurred_at for event in commands} | {end for each in values for end in _ends(each)}
    # A rollback names changes of the log, and the order of the instants makes other ones.
    of_changes = any(isinstance(event.payload, CoreRolledBack | CoreCherryPicked) for event in commands)
    if of_changes and max(instants) <= as_of:
        return Past(recorded.state, {each.version: each for each in recorded.changes})
    fold = _folded(commands, values, {event.event_id: event for event in events}, feed, as_of)
    numbered = [replace(each, version=versions[each.event_id]) for each in fold.changes]
    state = replace(fold.state, version=max((each.version for each in numbered), default=0))
    if numbered:
        state = replace(state, updated_at=max(each.recorded_at for each in numbered))
    return Past(state, dict(enumerate(numbered, 1)))


def _ends(value: CardValue) -> Sequence[datetime]:
    return (value.since,) if value.until is None else (value.since, value.until)


def _folded(
    commands: Sequence[Event],
    values: Sequence[CardValue],
    events: Mapping[UUID, Event],
    feed: CardFeed,
    as_of: datetime,
) -> CoreFold:
    """Folds commands and the ends of valid times in the order of their instants, those of cards first."""
    fold = CoreFold(CoreState(), Statements(feed), feed)
    steps: list[tuple[datetime, int, Event | CardValue]] = [
        *((event.occurred_at, event.position, event) for event in commands),
        *((end, 0, each) for each in values for end in _ends(each)),
    ]
    due = sorted((step for step in steps if step[0] <= as_of), key=lambda step: step[:2])
    held: list[CardValue] = []
    for (instant, position), found in groupby(due, key=lambda step: step[:2]):
        if position:
            for _, _, command in found:
                if isinstance(command, Event):
                    fold.change(command)
            continue
        slots = {slot_of(each) for _, _, each in found if isinstance(each, CardValue)}
        now = [
            each for each in values if each.since <= instant and (each.until is None or instant < each.until)
        ]
        before = [each for each in held if slot_of(each) in slots]
        after = [each for each in now if slot_of(each) in slots]
        fold.change_values(events[(after or before)[-1].event_id], before, after)
        held = now
    return fold
