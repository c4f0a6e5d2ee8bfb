"""The vectors projector. It embeds the words of every event that makes a card, each distinct text once."""

import logging
from collections.abc import Iterable, Sequence
from uuid import UUID

from events.platform.database import Connection, statement
from events.platform.linger import UNHURRIED_S
from events.store.log import reason_of
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.modes import CardReclassified, ModeReembedded
from events.types.references import (
    REFERENCE_TYPES,
    ReferenceArchived,
    ReferenceChanged,
    ReferenceMoved,
    reference_id,
)
from projectors.embedding.embedders import Embedders, Space
from projectors.generations.projector import Hindrance, Projector, ProjectorBlockedError, columns
from projectors.parking import is_the_events_fault
from projectors.vectors import pending, reembedding
from projectors.vectors.slot_embedder import DIMENSIONS, BlockedSlots, SlotEmbedder, hash_of, keep
from projectors.vectors.words import (
    Slotted,
    Worded,
    card_of,
    last_of_each_card,
    line_of_card,
    owned_card,
    slotted,
)

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.vectors"
_LATER_AT_ONCE = 32


class VectorsProjector(Projector):
    """Folds the log into ``card_vectors_*``, each card with the model that its mode had at its place in the log.

    A reclassified card gets a vector of its new mode's model. A generation keeps the embedder of the first vectors of a
    slot. Other settings begin with the next generation.

    A model is opened when it is first needed, and again after a failure. While the model of a slot is not available,
    the cards of that slot wait, and all others get their vectors.
    In a rebuild it raises :class:`ProjectorBlockedError` instead. The batch then has no effect. The cache keeps every
    computed vector even when the rebuild fails, so the next one continues where the last one stopped.
    """

    name = "vectors"
    package = _PACKAGE
    types = (
        frozenset(("StateAsserted", "EventNoted", "KnowledgeLearned", "CardsWithdrawn", "CardReclassified"))
        | {"ModeReembedded"}
        | REFERENCE_TYPES
    )
    at_once = 256
    batch_partitions = 4  # a batch is one transaction, and embedding takes milliseconds a text
    # Other channels find a card without its vector, and a few texts take little longer than one text.
    rest_s = UNHURRIED_S

    defer_above = 256  # events of lag: a few seconds of embedding

    def __init__(self, embedders: Embedders, kept: dict[str, Space] | None = None) -> None:
        """``kept`` are the slots whose embedder a new generation takes over. The settings decide on the others."""
        self._embedders = embedders
        self._kept = kept or {}
        self._blocked = BlockedSlots()
        self._embedder = SlotEmbedder(embedders, self._blocked)
        self._held_up: dict[UUID, str] = {}

    def seed(self, connection: Connection) -> None:
        """Writes the embedders that the new generation takes over."""
        keep(connection, self._kept)

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        events = last_of_each_card(events)
        gone = _gone(events)
        changed = {
            owned_card(event)
            for event in events
            if isinstance(event.payload, ReferenceChanged | CardReclassified)
        }
        if gone or changed:
            self._delete(connection, sorted(gone | changed))
        made = [event for event in events if owned_card(event) not in gone]
        if waiting := self._embed_all(connection, made):
            if _schema(connection) != self.name:
                # A generation with fewer vectors than the live one must not take its place.
                hindrance = self._blocked.hindrance
                raise ProjectorBlockedError("" if hindrance is None else hindrance.reason)
            self._wait(connection, waiting)
        if any(isinstance(event.payload, ModeReembedded) for event in events):
            reembedding.request(connection, events)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Deletes the vectors of these events. The vector of a reference is made again from what remains."""
        gone = {"user_id": storage_id, "events": None if event_ids is None else list(event_ids)}
        # The order matters, as in _delete.
        connection.execute(statement(_PACKAGE, "forget_pending"), gone)
        reembedding.hold(connection, [storage_id])
        connection.execute(statement(_PACKAGE, "forget_reembeddings"), gone)
        connection.execute(statement(_PACKAGE, "forget_vectors"), gone)
        if event_ids is not None:
            # The words of a reference come from its last op, and the id of its card from its creation.
            left = last_of_each_card([event for event in remaining if reference_id(event) is not None])
            if left:
                self._delete(connection, list(map(owned_card, left)))
                self._wait(connection, self._embed_all(connection, left))

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Deletes the cached vectors of every line of ``events``."""
        lines: set[str] = set()
        for event in events:
            if isinstance(event.payload, Worded):
                lines.add(line_of_card(event.payload))
        if not lines:
            return 0
        hashes = {"hashes": sorted(map(hash_of, lines))}
        return connection.execute(statement(_PACKAGE, "forget_cached"), hashes).rowcount

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        found = super().held(connection, storage_id)
        rows = connection.execute(statement(_PACKAGE, "held_pending"), {"user_id": storage_id})
        found["pending_vectors"] = rows.fetchall()[0][0]
        return found

    @property
    def deferred(self) -> Projector:
        """The same fold, which records cards as waiting for their vector and does not embed them."""
        return _Deferred(self._embedders, self._kept)

    def settle(self, connection: Connection) -> int:
        """Embeds the newest waiting cards in the caller's transaction. Returns the number of cards done or given up.

        Cards whose model is not available still wait.
        """
        resting = self._blocked.resting()
        while events := pending.take(connection, _LATER_AT_ONCE, resting):
            if done := self._settle(connection, events):
                return done
            resting |= self._blocked.resting()
        done = self._reembed(connection)
        self._blocked.keep(connection, self._held_up.values())
        return done

    @property
    def hindrance(self) -> Hindrance | None:
        return self._blocked.hindrance

    def _reembed(self, connection: Connection) -> int:
        """Does a step of the oldest re-embedding whose embedder is available. Returns 0 when there is none."""
        resting = self._blocked.resting()
        without = [event_id for event_id, slot in self._held_up.items() if slot in resting]
        if not without:
            self._held_up.clear()
        asked = reembedding.take(connection, without)
        if asked is None:
            return 0

        def prepare(cards: Sequence[Slotted]) -> bool:
            waiting = self._embedder.prepare(connection, cards)
            for each in waiting:
                self._held_up[asked.event_id] = each.slot
            return not waiting

        def replace(cards: Sequence[Slotted]) -> bool:
            _delete_vectors(connection, [owned_card(each.event) for each in cards])
            return not self._embedder.write(connection, cards)

        return reembedding.step(connection, asked, self._embedders, prepare, replace)

    def left(self, connection: Connection) -> tuple[int, float | None]:
        return pending.left(connection)

    def _settle(self, connection: Connection, events: Sequence[Event]) -> int:
        """Embeds all events together. After a failure it halves the batch until it finds and gives up the culprit.

        Returns the number of cards that do not wait any more.
        """
        try:
            with connection.transaction():
                waiting = self._embed_all(connection, events)
                left = {each.event.event_id for each in waiting}
                done = [event for event in events if event.event_id not in left]
                pending.remove(connection, map(owned_card, done))
                pending.mark(connection, waiting)
            return len(done)
        except Exception as error:
            if not is_the_events_fault(error):
                raise
            if len(events) == 1:
                card_id = card_of(events[0])
                logger.warning("card %s cannot be embedded: %s", card_id, reason_of(error))
                pending.give_up(connection, events[0].user_id, card_id, reason_of(error))
                return 1
            half = len(events) // 2
            return self._settle(connection, events[:half]) + self._settle(connection, events[half:])

    def _delete(self, connection: Connection, gone: Sequence[tuple[str, UUID]]) -> None:
        # The order matters. The first delete waits for a worker that embeds such a card now. The next deletes find
        # its vector.
        pending.remove(connection, gone)
        reembedding.hold(connection, [user for user, _ in gone])
        _delete_vectors(connection, gone)

    def _embed_all(self, connection: Connection, events: Sequence[Event]) -> list[Slotted]:
        """Embeds the cards of ``events``. Returns those whose embedder is not available."""
        return self._embedder.write(connection, slotted(connection, self._embedders, events))

    def _wait(self, connection: Connection, waiting: Sequence[Slotted]) -> None:
        if waiting:
            pending.add(connection, [each.event for each in waiting], [each.slot for each in waiting])


def _gone(events: Sequence[Event]) -> set[tuple[str, UUID]]:
    """Returns the cards that ``events`` take back or put away, each with its user."""
    gone: set[tuple[str, UUID]] = set()
    for event in events:
        if isinstance(event.payload, CardsWithdrawn):
            gone.update((event.user_id, card) for card in event.payload.event_ids)
        elif isinstance(event.payload, ReferenceArchived | ReferenceMoved):
            gone.add((event.user_id, event.payload.reference_id))
    return gone


def _delete_vectors(connection: Connection, cards: Sequence[tuple[str, UUID]]) -> None:
    for dimension in DIMENSIONS if cards else ():
        connection.execute(
            statement(_PACKAGE, f"withdraw_vectors_{dimension}"), columns(("users", "cards"), cards)
        )


def _schema(connection: Connection) -> str:
    row = connection.execute("SELECT current_schema()").fetchone()
    return "" if row is None else str(row[0])


class _Deferred(VectorsProjector):
    """Folds without embedding. See :attr:`VectorsProjector.deferred`."""

    def _embed_all(self, connection: Connection, events: Sequence[Event]) -> list[Slotted]:
        cards = [event for event in events if isinstance(event.payload, Worded | CardReclassified)]
        if cards:
            pending.add(connection, cards)
        return []
