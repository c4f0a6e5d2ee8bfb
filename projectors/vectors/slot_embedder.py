"""Embeds cards with the embedders of their slots, each distinct line once. The cards of a failing slot wait.

The embedder of a slot stays the same until another generation is live. One slot's failure stops no other slot.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from pgvector.psycopg import register_vector

from events.platform.database import Connection, statement
from events.platform.modes import GENERAL_MODE
from events.store.copying import copying
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors, checked
from projectors.embedding.embedders import Embedders, Space, is_of_model
from projectors.generations.projector import Hindrance
from projectors.vectors.words import Slotted, card_of

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.vectors"
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_REST_SHARE = 3.0
"""A slot rests at least this many times as long as its failed attempt took. A hanging embedder therefore takes a
quarter of the time at most."""


@dataclass(frozen=True, slots=True)
class _Failure:
    reason: str
    again_at: float
    pause_s: float


class BlockedSlots:
    """What one worker knows of failing embedders. The table ``blocked_slots`` says the same to operators."""

    def __init__(self) -> None:
        self._failures: dict[str, _Failure] = {}
        self._well: set[str] = set()

    def __getstate__(self) -> dict[str, object]:
        return {"_failures": {}, "_well": set()}

    def failed(self, connection: Connection, slot: str, reason: str, took_s: float) -> None:
        """Records a failed attempt, which took ``took_s`` seconds. The slot rests, longer after each failure."""
        before = self._failures.get(slot)
        pause_s = _FIRST_PAUSE_S if before is None else min(before.pause_s * 2, _LONGEST_PAUSE_S)
        if before is None or before.reason != reason:
            logger.warning("cards of %s wait for their vectors: %s", name_of(slot), reason)
        rest_s = max(pause_s, took_s * _REST_SHARE)
        self._failures[slot] = _Failure(reason, time.monotonic() + rest_s, pause_s)
        self._well.discard(slot)
        connection.execute(statement(_PACKAGE, "block_slot"), {"slot": slot, "reason": reason})

    def works(self, connection: Connection, slots: Collection[str]) -> None:
        """Records that the embedders of ``slots`` work."""
        news = sorted(set(slots) - self._well)
        if news:
            self._well.update(news)
            self._forget(connection, news)

    def resting(self) -> frozenset[str]:
        """Returns the slots that are not tried now."""
        now = time.monotonic()
        return frozenset(slot for slot, failure in self._failures.items() if failure.again_at > now)

    def keep(self, connection: Connection, also: Collection[str] = ()) -> None:
        """Forgets the failures of slots for which no card waits any more, except the slots ``also``."""
        if self._failures:
            rows = connection.execute(statement(_PACKAGE, "waited_for"), {"slots": list(self._failures)})
            awaited = {slot for (slot,) in rows.fetchall()} | set(also)
            self._forget(connection, sorted(set(self._failures) - awaited))

    def _forget(self, connection: Connection, slots: Collection[str]) -> None:
        for slot in slots:
            self._failures.pop(slot, None)
        if slots:
            connection.execute(statement(_PACKAGE, "unblock_slots"), {"slots": list(slots)})

    @property
    def hindrance(self) -> Hindrance | None:
        """What hinders the work now, or None. All work counts as hindered while the default embedder fails."""
        if not self._failures:
            return None
        first = min(failure.again_at for failure in self._failures.values())
        return Hindrance(
            reason="; ".join(dict.fromkeys(failure.reason for failure in self._failures.values())),
            whole="" in self._failures,
            again_s=max(0.1, first - time.monotonic()),
        )


def name_of(slot: str) -> str:
    """Returns the name of a slot for operators."""
    if is_of_model(slot):
        return f"the model {slot.partition('=')[2]}"
    return f"the mode {slot or GENERAL_MODE}"


def embedders_in_use(
    connection: Connection, embedders: Embedders, slots: Iterable[str]
) -> tuple[dict[str, Embedder], dict[str, str]]:
    """Returns the embedder of each slot in the generation first on the search path, and the slots that have none now.

    The first vectors of a slot decide its embedder. A slot whose embedder is not available comes with the reason and
    the remedy.
    """
    found = live_spaces(connection)
    used: dict[str, Embedder] = {}
    missing: dict[str, str] = {}
    # Always in the same order, so that two workers never wait for each other.
    for slot in sorted(set(slots)):
        try:
            if slot not in found:
                chosen = embedders.of_slot(slot)
                chosen.embed(())  # an embedder that does not work must not get the slot
                keep(connection, {slot: Space(chosen.name, chosen.fingerprint)})
                found = live_spaces(connection)
            used[slot] = embedders.of_space(slot, found[slot])
        except EmbedderUnavailableError as error:
            missing[slot] = str(error)
    return used, missing


def keep(connection: Connection, spaces: dict[str, Space]) -> None:
    """Gives slots of the generation first on the search path their embedder, unless they have one."""
    for slot, space in sorted(spaces.items()):
        connection.execute(
            statement(_PACKAGE, "add_space"),
            {"slot": slot, "name": space.name, "fingerprint": space.fingerprint},
        )


def live_spaces(connection: Connection) -> dict[str, Space]:
    """Returns the embedder of each slot, for the generation first on the search path. Nothing is written."""
    rows = connection.execute(statement(_PACKAGE, "spaces")).fetchall()
    return {slot: Space(name, fingerprint) for slot, name, fingerprint in rows}


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
