"""Embeds cards with the embedders of their slots, each distinct line once. The cards of a failing slot wait."""

import time
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
from pgvector.psycopg import register_vector

from events.platform.database import Connection, statement
from events.store.copying import copying
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors, checked
from projectors.embedding.embedders import Embedders
from projectors.vectors.blocked import BlockedSlots
from projectors.vectors.slots import Slotted
from projectors.vectors.spaces import embedders_in_use
from projectors.vectors.words import card_of

_PACKAGE = "projectors.vectors"
DIMENSIONS = (384, 768, 1024)


class SlotEmbedder:
    """Computes and writes the vectors of cards. Every method returns the cards whose embedder is not available now."""

    def __init__(self, embedders: Embedders, blocked: BlockedSlots) -> None:
        self._embedders = embedders
        self._blocked = blocked

    def write(self, connection: Connection, cards: Sequence[Slotted]) -> list[Slotted]:
        """Computes the vectors of ``cards`` and writes them. The cards have none yet."""
        return self._each_embedder(connection, cards, self._write)

    def prepare(self, connection: Connection, cards: Sequence[Slotted]) -> list[Slotted]:
        """Computes the vectors of ``cards`` into the cache only."""
        return self._each_embedder(connection, cards, self._compute)

    def _each_embedder(
        self,
        connection: Connection,
        cards: Sequence[Slotted],
        work: Callable[[Connection, Embedder, Sequence[Slotted]], object],
    ) -> list[Slotted]:
        if not cards:
            return []
        if connection.adapters.types.get("vector") is None:
            register_vector(connection)
        begun = time.monotonic()
        wanted = {each.slot for each in cards} - self._blocked.resting()
        used, missing = embedders_in_use(connection, self._embedders, wanted)
        for slot, reason in missing.items():
            self._fail(connection, slot, reason, time.monotonic() - begun)
        groups: dict[Embedder, list[Slotted]] = {}
        for each in cards:
            if each.slot in used:
                groups.setdefault(used[each.slot], []).append(each)
        done: set[str] = set()
        for embedder, group in groups.items():
            begun = time.monotonic()
            sharing = sorted({each.slot for each in group})
            try:
                work(connection, embedder, group)
            except EmbedderUnavailableError as error:
                for slot in sharing:
                    self._fail(connection, slot, str(error), time.monotonic() - begun)
                continue
            done.update(sharing)
        self._blocked.works(connection, done)
        return [each for each in cards if each.slot not in done]

    def _fail(self, connection: Connection, slot: str, reason: str, took_s: float) -> None:
        self._embedders.forget(slot)
        self._blocked.failed(connection, slot, reason, took_s)

    def _write(self, connection: Connection, embedder: Embedder, cards: Sequence[Slotted]) -> None:
        vectors = self._compute(connection, embedder, cards)
        table = f"card_vectors_{embedder.dimension}"
        with copying(connection, table, statement(_PACKAGE, "copy_vectors")) as copy:
            copy.set_types(["text", "uuid", "text", "vector"])
            for each, vector in zip(cards, vectors, strict=True):
                copy.write_row((each.event.user_id, card_of(each.event), embedder.fingerprint, vector))

    def _compute(self, connection: Connection, embedder: Embedder, cards: Sequence[Slotted]) -> Vectors:
        if embedder.dimension not in DIMENSIONS:
            raise EmbedderUnavailableError(
                f"{embedder.name} has {embedder.dimension} dimensions; use a model with one of {DIMENSIONS}"
            )
        return _remembered(connection, embedder, [each.line for each in cards])


def _remembered(connection: Connection, embedder: Embedder, lines: Sequence[str]) -> Vectors:
    """Returns the vectors of ``lines`` from the cache. Missing vectors are computed and added to the cache."""
    keys = [hash_of(line) for line in lines]
    wanted = dict(zip(keys, lines, strict=True))
    rows = connection.execute(
        statement(_PACKAGE, "cached"), {"model": embedder.fingerprint, "hashes": list(wanted)}
    ).fetchall()
    found = {bytes(row[0]): row[1].to_numpy() for row in rows}
    missing = {key: text for key, text in wanted.items() if key not in found}
    if missing:
        made = checked(
            embedder.embed(list(missing.values())), len(missing), embedder.dimension, embedder.name
        )
        fresh = dict(zip(missing, made, strict=True))
        connection.execute(
            statement(_PACKAGE, "add_cached"),
            {
                "model": embedder.fingerprint,
                "hashes": list(fresh),
                "embeddings": [np.asarray(vector, dtype=np.float32) for vector in fresh.values()],
            },
        )
        found.update(fresh)
    vectors = np.empty((len(keys), embedder.dimension), dtype=np.float32)
    for row, key in enumerate(keys):
        vectors[row] = found[key]
    return vectors


def hash_of(line: str) -> bytes:
    """Returns the key of a line in the cache."""
    return sha256(line.encode()).digest()
