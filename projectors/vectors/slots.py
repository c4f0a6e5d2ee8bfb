"""The slot of each card. The card's mode at its place in the log decides, and the re-embeddings of the mode since then.

The re-embeddings are looked up to the end of the log, so a rebuild embeds each card once, with its present model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from events.modes.mode_log import RegistriesAt
from events.modes.registry import Modes
from events.platform.database import Connection
from events.types.envelope import Event
from events.types.modes import ModeReembedded
from projectors.embedding.embedders import Embedders
from projectors.vectors.words import project_of, worded


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
