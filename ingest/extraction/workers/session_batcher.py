"""Collects consecutive turns of a session into session batches. A pause or a full batch ends a batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from events.platform.settings import Settings
from events.types.envelope import Event
from events.types.turns import TurnRecorded


@dataclass(slots=True)
class SessionBatcher:
    """The collected turns of one session. ``since`` is the time of the first turn, on the clock of the caller.

    The settings limit the pause between two turns, the turns and characters of a batch, and how long it waits for more.
    """

    settings: Settings
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
        most = self.settings
        if len(self.turns) >= most.session_batch_turns or self._characters >= most.session_batch_chars:
            yield self.close()

    def due(self, now: float) -> bool:
        """True when the turns have waited long enough for more turns."""
        return bool(self.turns) and now - self.since >= self.settings.session_batch_linger_ms / 1000

    def close(self) -> tuple[Event, ...]:
        """Returns the collected turns and begins a new batch."""
        turns, self.turns, self._characters = tuple(self.turns), [], 0
        return turns

    def _continues(self, turn: Event) -> bool:
        pause = (_payload(turn).said_at - _payload(self.turns[-1]).said_at).total_seconds()
        return (
            abs(pause) <= self.settings.session_batch_gap_s
            and self._characters + len(_payload(turn).text) <= self.settings.session_batch_chars
        )


def _payload(event: Event) -> TurnRecorded:
    assert isinstance(event.payload, TurnRecorded)
    return event.payload
