"""The slots whose embedder fails, and when each is tried again. One slot's failure stops no other slot."""

import logging
import time
from collections.abc import Collection
from dataclasses import dataclass

from events.platform.database import Connection, statement
from events.platform.modes import GENERAL_MODE
from projectors.embedding.embedders import is_of_model
from projectors.generations.projector import Hindrance

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
