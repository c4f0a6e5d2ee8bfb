"""What a card's vector is made of: its event, its words, and its slot.

The card's mode at its place in the log decides on the slot, and the re-embeddings of the mode since then. These are
looked up to the end of the log, so a rebuild embeds each card once, with its present model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from events.language.chinese_script import has_cjk
from events.modes.mode_log import RegistriesAt
from events.modes.registry import Modes
from events.platform.database import Connection, rows_of, statement
from events.store.log import event_if_readable
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted, Utterance
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.modes import CardReclassified, ModeReembedded
from events.types.references import ReferenceArchived, ReferenceChanged, ReferenceCreated, ReferenceMoved
from projectors.embedding.embedders import Embedders

_PACKAGE = "projectors.vectors"

_OfReference = ReferenceCreated | ReferenceChanged
Worded = EventNoted | StateAsserted | KnowledgeLearned | _OfReference


def card_of(event: Event) -> UUID:
    """Returns the card whose vector ``event`` makes. The card of a reference stays when its words change."""
    payload = event.payload
    if isinstance(payload, ReferenceChanged | ReferenceArchived | ReferenceMoved):
        return payload.reference_id
    if isinstance(payload, CardReclassified):
        return payload.card_id
    return event.event_id


def owned_card(event: Event) -> tuple[str, UUID]:
    """Returns the card of ``event`` with its user."""
    return event.user_id, card_of(event)


def line_of(said: Utterance) -> str:
    """Returns the text to embed, with the speaker's name. A question about a person is then near the person's words.

    An English sentence tells a model more than a name and a colon (docs/benchmarks.md). No set of Chinese turns with
    names was measured. The turns before are no part of it: their words find a reply, and their meaning leads astray.
    """
    if not said.speaker:
        return said.text
    return f"{said.speaker}: {said.text}" if has_cjk(said.text) else f"{said.speaker} said: {said.text}"


def line_of_card(payload: Worded) -> str:
    """Returns the text to embed of a card."""
    if isinstance(payload, _OfReference):
        return payload.rendering
    return line_of(Utterance(payload.content, payload.origin.speaker))


def worded(
    connection: Connection, events: Sequence[Event]
) -> Iterator[tuple[Event, Worded, str | None, str]]:
    """Yields the events that make a vector: each with the card's own event, its mode and the text to embed.

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
            mode = None if isinstance(payload, _OfReference) else payload.origin.mode
            yield event, payload, mode, line_of_card(payload)
        elif isinstance(payload, CardReclassified):
            made_by = own.get((event.user_id, payload.card_id))
            if made_by is not None and isinstance(made_by.payload, Worded):
                yield event, made_by.payload, payload.mode, line_of_card(made_by.payload)


def project_of(payload: Worded) -> str:
    """Returns the project of a card. A reference that belongs to no project has an empty one."""
    if isinstance(payload, _OfReference):
        return payload.name.project_id or ""
    project_id: str = payload.origin.project_id
    return project_id


def last_of_each_card(events: Sequence[Event]) -> list[Event]:
    """Returns ``events`` without those that made a vector which a later one of them makes anew."""
    last = {
        owned_card(event): event.event_id for event in events if not isinstance(event.payload, CardsWithdrawn)
    }
    return [
        event
        for event in events
        if isinstance(event.payload, CardsWithdrawn) or last[owned_card(event)] == event.event_id
    ]


@dataclass(frozen=True, slots=True)
class Slotted:
    """The event that makes a card's vector, with the text to embed and the card's slot.

    ``reembedded`` are the names, each with its project or None, under which the card was embedded again.
    """

    event: Event
    line: str
    slot: str
    reembedded: frozenset[tuple[str, str | None]]


def slotted(connection: Connection, embedders: Embedders, events: Sequence[Event]) -> list[Slotted]:
    """Returns the events that make a vector, in order. Others are left out."""
    cards = list(worded(connection, events))
    if not cards:
        return []
    registries = RegistriesAt(connection, [event for event, _, _, _ in cards])
    found = []
    for event, payload, mode, line in cards:
        project = project_of(payload)
        since = list(_covering(registries.reembedded_after(event.user_id, event.position), project, mode))
        registry = since[-1].registry if since else registries.of(event.user_id, event.position)
        found.append(
            Slotted(
                event,
                line,
                embedders.slot_of_card(Modes(registry), project, mode),
                frozenset((each.name, each.project_id) for each in since),
            )
        )
    return found


def _covering(since: Sequence[ModeReembedded], project: str, mode: str | None) -> Iterator[ModeReembedded]:
    for each in since:
        if each.project_id in (None, project) and Modes(each.registry).meaning(project, mode) == each.name:
            yield each
