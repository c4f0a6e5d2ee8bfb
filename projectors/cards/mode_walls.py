"""The walls between modes: what was said in two modes never supersedes, verifies or merges each other.

A mode is meant by its first name, which every statement carries. A new name of the mode therefore changes nothing.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from events.types.envelope import Event
from events.types.modes import CardReclassified
from projectors.cards.statement import Statement
from projectors.cards.timeline import Remarks, Timeline

TimelineOf = Callable[[Sequence[Statement]], Timeline]


def within_modes(statements: Sequence[Statement], remarks: Remarks, timeline_of: TimelineOf) -> Timeline:
    """Returns the timelines of the modes of ``statements``, side by side in one.

    Somebody who gives a card another mode moves the statements of the card that the log had then. A statement without
    a mode, such as a merge of two titles, holds in each mode.
    """
    modes = {one.event.event_id: one.mode for one in statements}
    names: dict[UUID, tuple[int, str]] = {}

    def timeline_in(mode: str | None) -> Timeline:
        return timeline_of([one for one in statements if modes[one.event.event_id] in (mode, None)])

    for given in _given(remarks):
        payload: CardReclassified = given.payload
        if (mode := modes.get(payload.card_id)) is None:
            continue
        for period in timeline_in(mode).periods:
            ids = {one.event.event_id: one.event.position for one in period.statements}
            if payload.card_id in ids:
                for each, position in ids.items():
                    if each == payload.card_id or position < given.position:
                        modes[each] = payload.mode_id or payload.mode
                        names[each] = (given.position, payload.mode)
    if len({*modes.values()}) == 1:
        found = [timeline_of(statements)]
    else:
        found = [timeline_in(mode) for mode in sorted({mode for mode in modes.values() if mode is not None})]
    together = side_by_side(found)
    for period in together.periods if names else ():
        told = [names[one.event.event_id] for one in period.statements if one.event.event_id in names]
        period.mode = max(told)[1] if told else None
    return together


def side_by_side(found: Sequence[Timeline]) -> Timeline:
    """Returns timelines that do not touch each other as one."""
    return Timeline(
        tuple(period for each in found for period in each.periods),
        tuple(edge for each in found for edge in each.edges),
        tuple(conflict for each in found for conflict in each.conflicts),
    )


def _given(remarks: Remarks) -> list[Event]:
    """Returns the events that gave a card another mode, in the order of the log."""
    given = [
        event for about in remarks.values() for event in about if isinstance(event.payload, CardReclassified)
    ]
    return sorted(given, key=lambda event: (event.position, event.event_id))
