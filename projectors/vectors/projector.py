"""The vectors projector. It embeds the words of every event that makes a card, each distinct text once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import islice

import numpy as np
from pgvector.psycopg import register_vector
from psycopg.sql import SQL

from events.platform.sql import statement
from events.store.log import Connection, reason_of
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted, Utterance
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors
from projectors.embedding.embedders import Embedders
from projectors.embedding.passages import Passage, embed_passages
from projectors.generations.generations import Projector, ProjectorBlockedError
from projectors.parking.parking import is_the_events_fault
from projectors.vectors import pending

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.vectors"
_DIMENSIONS = (384, 768, 1024)
_AT_ONCE = 256
_LATER_AT_ONCE = 32


def passage_of(payload: EventNoted | StateAsserted | KnowledgeLearned) -> Passage:
    """Returns the words that a card is found by: its content, and for an event the utterances before it."""
    said = Utterance(payload.content, payload.origin.speaker)
    return Passage(said, payload.before if isinstance(payload, EventNoted) else ())


class VectorsProjector:
    """Folds the log into ``card_vectors_*``, each card with the model of its mode.

    A model is opened when it is first needed, and again after a failure.
    Raises :class:`ProjectorBlockedError` while a needed model is not available. The batch then has no effect, the
    checkpoint stays, and nothing is lost.
    """

    name = "vectors"
    package = _PACKAGE
    types = frozenset(("StateAsserted", "EventNoted", "KnowledgeLearned", "CardsWithdrawn"))
    batch_partitions = 4  # a batch is one transaction, and embedding takes milliseconds a text
    # Other channels find a card without its vector, and a few texts take little longer than one text.
    rest_s = 0.1

    defer_above = 256  # events of lag: a few seconds of embedding
    defer_partitions = 64

    def __init__(self, embedders: Embedders) -> None:
        self._embedders = embedders

    def create_tables(self, connection: Connection) -> None:
        connection.execute(statement(_PACKAGE, "cache_tables"))
        connection.execute(statement(_PACKAGE, "tables"))
        connection.execute(statement(_PACKAGE, "pending_table"))

    def create_indexes(self, connection: Connection) -> None:
        for step in self.index_steps():
            connection.execute(step)

    def index_steps(self) -> list[SQL]:
        return [statement(_PACKAGE, f"index_vectors_{dimension}") for dimension in _DIMENSIONS]

    def analyze_steps(self) -> list[SQL]:
        return [statement(_PACKAGE, "analyze")]

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds into empty tables, 256 events a transaction.

        The cache keeps every computed vector even when the rebuild fails. The next rebuild therefore continues
        where the last one stopped.
        """
        events = iter(events)
        while batch := list(islice(events, _AT_ONCE)):
            with connection.transaction():
                self.project(connection, batch)

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        self._embed_all(connection, events)
        self._withdraw(connection, events)

    @property
    def deferred(self) -> Projector:
        """The same fold, which records cards as waiting for their vector and does not embed them."""
        return _Deferred(self._embedders)

    def settle(self, connection: Connection) -> int:
        """Embeds the newest waiting cards in the caller's transaction. Returns the number of cards done or given up.

        Raises :class:`ProjectorBlockedError` while a model is not available. The cards then still wait.
        """
        events = pending.take(connection, _LATER_AT_ONCE)
        if not events:
            return 0
        self._settle(connection, events)
        return len(events)

    def left(self, connection: Connection) -> tuple[int, float | None]:
        """Returns the number of waiting cards and the age of the oldest card in seconds."""
        return pending.left(connection)

    def _settle(self, connection: Connection, events: Sequence[Event]) -> None:
        """Embeds all events together. After a failure it halves the batch until it finds and gives up the culprit."""
        try:
            with connection.transaction():
                self._embed_all(connection, events)
                pending.remove(
                    connection, [event.user_id for event in events], [event.event_id for event in events]
                )
        except Exception as error:
            if not is_the_events_fault(error):
                raise
            if len(events) == 1:
                logger.warning("card %s cannot be embedded: %s", events[0].event_id, reason_of(error))
                pending.give_up(connection, events[0], reason_of(error))
                return
            half = len(events) // 2
            self._settle(connection, events[:half])
            self._settle(connection, events[half:])

    def _withdraw(self, connection: Connection, events: Sequence[Event]) -> None:
        gone = [
            (event.user_id, card)
            for event in events
            if isinstance(event.payload, CardsWithdrawn)
            for card in event.payload.event_ids
        ]
        if not gone:
            return
        users, cards = [user for user, _ in gone], [card for _, card in gone]
        # The order matters. The first delete waits for a worker that embeds such a card now. The next deletes find
        # its vector.
        if pending.is_there(connection):
            pending.remove(connection, users, cards)
        for dimension in _DIMENSIONS:
            connection.execute(
                statement(_PACKAGE, f"withdraw_vectors_{dimension}"), {"users": users, "cards": cards}
            )

    def _embed_all(self, connection: Connection, events: Sequence[Event]) -> None:
        cards = [
            (event, event.payload.origin.mode, passage_of(event.payload))
            for event in events
            if isinstance(event.payload, EventNoted | StateAsserted | KnowledgeLearned)
        ]
        if not cards:
            return
        if connection.adapters.types.get("vector") is None:
            register_vector(connection)
        try:
            by_model: dict[Embedder, list[tuple[Event, Passage]]] = {}
            for event, mode, passage in cards:
                by_model.setdefault(self._embedders.of(mode), []).append((event, passage))
            for embedder, group in by_model.items():
                self._embed(connection, embedder, group)
        except EmbedderUnavailableError as error:
            self._embedders.close()
            raise ProjectorBlockedError(str(error)) from error

    def _embed(
        self, connection: Connection, embedder: Embedder, cards: Sequence[tuple[Event, Passage]]
    ) -> None:
        if embedder.dimension not in _DIMENSIONS:
            raise ProjectorBlockedError(
                f"{embedder.name} has {embedder.dimension} dimensions; use a model with one of {_DIMENSIONS}"
            )
        vectors = embed_passages(
            lambda lines: self._remembered(connection, embedder, lines), [passage for _, passage in cards]
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(statement(_PACKAGE, f"copy_vectors_{embedder.dimension}")) as copy,
        ):
            copy.set_types(["text", "uuid", "text", "vector"])
            for (event, _), vector in zip(cards, vectors, strict=True):
                copy.write_row((event.user_id, event.event_id, embedder.name, vector))

    def _remembered(self, connection: Connection, embedder: Embedder, lines: Sequence[str]) -> Vectors:
        """Returns the vectors of ``lines`` from the cache. Missing vectors are computed and added to the cache."""
        keys = [_hash(line) for line in lines]
        wanted = dict(zip(keys, lines, strict=True))
        rows = connection.execute(
            statement(_PACKAGE, "cached"), {"model": embedder.name, "hashes": list(wanted)}
        ).fetchall()
        found = {bytes(row[0]): row[1].to_numpy() for row in rows}
        missing = {key: text for key, text in wanted.items() if key not in found}
        if missing:
            fresh = dict(zip(missing, embedder.embed(list(missing.values())), strict=True))
            connection.execute(
                statement(_PACKAGE, "add_cached"),
                {
                    "model": embedder.name,
                    "hashes": list(fresh),
                    "embeddings": [np.asarray(vector, dtype=np.float32) for vector in fresh.values()],
                },
            )
            found.update(fresh)
        vectors = np.empty((len(keys), embedder.dimension), dtype=np.float32)
        for row, key in enumerate(keys):
            vectors[row] = found[key]
        return vectors


class _Deferred(VectorsProjector):
    """Folds without embedding. See :attr:`VectorsProjector.deferred`."""

    def _embed_all(self, connection: Connection, events: Sequence[Event]) -> None:
        cards = [
            event
            for event in events
            if isinstance(event.payload, EventNoted | StateAsserted | KnowledgeLearned)
        ]
        if cards:
            pending.add(connection, cards)


def _hash(text: str) -> bytes:
    return sha256(text.encode()).digest()
