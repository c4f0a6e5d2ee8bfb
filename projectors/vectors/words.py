"""What a card's vector is made of: its event, its mode, and its words."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from events.platform.database import Connection, rows_of, statement
from events.store.log import event_if_readable
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted, Utterance
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.modes import CardReclassified
from events.types.references import ReferenceArchived, ReferenceChanged, ReferenceCreated, ReferenceMoved
from projectors.embedding.passages import Passage

_PACKAGE = "projectors.vectors"

Worded = EventNoted | StateAsserted | KnowledgeLearned | ReferenceCreated | ReferenceChanged


def card_of(event: Event) -> UUID:
    """Returns the card whose vector ``event`` makes. The card of a reference stays when its words change."""
    payload = event.payload
    if isinstance(payload, ReferenceChanged | ReferenceArchived | ReferenceMoved):
        return payload.reference_id
    if isinstance(payload, CardReclassified):
        return payload.card_id
    return event.event_id


def passage_of(payload: Worded) -> Passage:
    """Returns the words that a card is found by: its content, and for an event the utterances before it."""
    if isinstance(payload, ReferenceCreated | ReferenceChanged):
        return Passage(Utterance(payload.rendering, None), ())
    said = Utterance(payload.content, payload.origin.speaker)
    return Passage(said, payload.before if isinstance(payload, EventNoted) else ())


def worded(
    connection: Connection, events: Sequence[Event]
) -> Iterator[tuple[Event, Worded, str | None, Passage]]:
    """Yields the events that make a vector: each with the card's own event, its mode and its words.

    The words of a reclassified card come from its own event. An erased card has none.
    """
    given = [event for event in events if isinstance(event.payload, CardReclassified)]
    own: dict[tuple[str, UUID], Event] = {}
    if given:
        places = [(event.partition, position) for event in given for position in event.payload.positions]
        rows = rows_of(
            connection,
            statement(_PACKAGE, "events_of_cards"),
            {
                "partitions": [partition for partition, _ in places],
                "positions": [position for _, position in places],
            },
        )
        own = {(event.user_id, event.event_id): event for event in map(event_if_readable, rows)}
    for event in events:
        payload = event.payload
        if isinstance(payload, Worded):
            yield event, payload, _mode_of(payload), passage_of(payload)
        elif isinstance(payload, CardReclassified):
            made_by = own.get((event.user_id, payload.card_id))
            if made_by is not None and isinstance(made_by.payload, Worded):
                yield event, made_by.payload, payload.mode, passage_of(made_by.payload)


def project_of(payload: Worded) -> str:
    """Returns the project of a card. A reference that belongs to no project has an empty one."""
    if isinstance(payload, ReferenceCreated | ReferenceChanged):
        return payload.name.project_id or ""
    project_id: str = payload.origin.project_id
    return project_id


def _mode_of(payload: Worded) -> str | None:
    return None if isinstance(payload, ReferenceCreated | ReferenceChanged) else payload.origin.mode


def last_of_each_card(events: Sequence[Event]) -> list[Event]:
    """Returns ``events`` without those that made a vector which a later one of them makes anew."""
    last = {
        (event.user_id, card_of(event)): event.event_id
        for event in events
        if not isinstance(event.payload, CardsWithdrawn)
    }
    return [
        event
        for event in events
        if isinstance(event.payload, CardsWithdrawn) or last[event.user_id, card_of(event)] == event.event_id
    ]
