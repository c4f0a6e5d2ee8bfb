"""Collects consecutive turns of a session into session batches. A pause or a full batch ends a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from events.platform.settings import Settings
from events.types.envelope import Event
from events.types.turns import TurnRecorded


@dataclass(frozen=True, slots=True)
class SessionBatchLimits:
    """The limits of a session batch.

    Consecutive turns are at most ``gap_s`` seconds apart. A batch has at most ``turns`` turns, and about ``characters``
    characters. ``wait_s`` is the time in seconds that a batch waits for more turns.
    """

    gap_s: float
    turns: int
    characters: int
    wait_s: float

    @classmethod
    def of(cls, settings: Settings) -> SessionBatchLimits:
        return cls(
            settings.session_batch_gap_s,
            max(1, settings.session_batch_turns),
            settings.session_batch_chars,
            settings.session_batch_linger_ms / 1000,
        )


@dataclass(slots=True)
class SessionBatcher:
    """The collected turns of one session. ``since`` is the time of the first turn, on the clock of the caller."""

    limits: SessionBatchLimits
    turns: list[Event] = field(default_factory=list)
    since: float = 0.0
    _characters: int = 0

    def add(self, turn: Event, now: float) -> Iterator[tuple[Event, ...]]:
        """Takes the next turn of the session. Yields the batches that it completes, in order: none, one or two."""
        if self.turns and not self._continues(turn):
            yield self.close()
        if not self.turns:
            self.since = now
        self.turns.append(turn)
        self._characters += len(_payload(turn).text)
        if len(self.turns) >= self.limits.turns or self._characters >= self.limits.characters:
            yield self.close()

    def due(self, now: float) -> bool:
        """True when the turns have waited ``wait_s`` for more turns."""
        return bool(self.turns) and now - self.since >= self.limits.wait_s

    def close(self) -> tuple[Event, ...]:
        """Returns the collected turns and begins a new batch."""
        turns, self.turns, self._characters = tuple(self.turns), [], 0
        return turns

    def _continues(self, turn: Event) -> bool:
        pause = (_payload(turn).said_at - _payload(self.turns[-1]).said_at).total_seconds()
        return (
            abs(pause) <= self.limits.gap_s
            and self._characters + len(_payload(turn).text) <= self.limits.characters
        )


def _payload(event: Event) -> TurnRecorded:
    assert isinstance(event.payload, TurnRecorded)
    return event.payload
