"""The people projector. It keeps the names that cards tell, and the places of the events that say who is whom."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from events.people.judgement import PROPOSING, TYPES
from events.people.mentions import read_card
from events.people.people_log import CARD_TYPES, READ_TYPES, names_in, retracts
from events.people.person import Handle
from events.platform.database import Connection
from events.platform.linger import UNHURRIED_S
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from projectors.generations.projector import Projector, columns

_MENTION = ("user_id", "event_id", "handle", "name", "roles", "certain", "said_at", "turn_id")
_HANDLE = ("user_id", "handle", "name", "certain", "since", "until", "mentions")
_LINK = ("user_id", "event_id", "one", "other", "kind", "quote")


class PeopleProjector(Projector):
    """Folds the log into ``entries``, ``mentions``, ``handles`` and ``links``.

    Each card is read alone, and sums do not depend on the order. A batch therefore costs what its own cards cost.
    """

    name = "people"
    package = "projectors"
    prefix = "people_"
    types = READ_TYPES
    rest_s = UNHURRIED_S

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        # A withdrawal takes back what came before it, so the events are folded in runs.
        for withdrawing, run in groupby(events, key=lambda event: isinstance(event.payload, CardsWithdrawn)):
            if withdrawing:
                self._withdraw(connection, run)
            else:
                self._add(connection, list(run))

    def _withdraw(self, connection: Connection, events: Iterable[Event]) -> None:
        for event in events:
            gone = {"user_id": event.user_id, "events": list(event.payload.event_ids)}
            connection.execute(self._statement("remove_mentions"), gone)
            connection.execute(self._statement("remove_entries"), gone)

    def _add(self, connection: Connection, events: list[Event]) -> None:
        mentions: list[tuple[str, UUID, str, str, str, bool, datetime, str]] = []
        links: list[tuple[str, UUID, str, str, str, str]] = []
        sums: dict[tuple[str, str], Handle] = {}
        with connection.cursor() as cursor:
            for event in events:
                if event.type in TYPES | PROPOSING or retracts(event):
                    place = {"user_id": event.user_id, "event_id": event.event_id, "position": event.position}
                    cursor.execute(self._statement("add_entry"), place)
                elif event.type in CARD_TYPES:
                    reading = read_card(event.payload)
                    for each in names_in(event, reading):
                        handle, key = Handle.named(each), (event.user_id, each.handle)
                        sums[key] = handle if key not in sums else sums[key].with_more(handle)
                        mentions.append(
                            (event.user_id, each.event_id, each.handle, each.name, " ".join(each.roles),
                             each.certain, each.said_at, each.turn_id)
                        )  # fmt: skip
                    links += [
                        (event.user_id, event.event_id, each.one, each.other, each.kind, each.quote)
                        for each in reading.links
                    ]
            if mentions:
                cursor.execute(self._statement("add_mentions"), columns(_MENTION, mentions))
                rows = [
                    (user, each.handle, each.name, each.certain, each.since, each.until, each.mentions)
                    for (user, _), each in sorted(sums.items())
                ]
                cursor.execute(self._statement("add_handles"), columns(_HANDLE, rows))
            if links:
                cursor.execute(self._statement("add_links"), columns(_LINK, links))
