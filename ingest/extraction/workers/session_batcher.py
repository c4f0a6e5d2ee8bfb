"""Turns that belong together: consecutive ones of a session, until a pause or until there are enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from events.platform.settings import Settings
from events.types.envelope import Event
from events.types.turns import TurnRecorded


@dataclass(frozen=True, slots=True)
class SessionBatchLimits:
    """What is read together: turns said at most ``gap_s`` apart, so many of them, of so many characters.

    ``wait_s``: how long the newest turns of a session wait for more.
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
    """The turns of one session that are not closed yet, and since when they wait (on the caller's clock)."""

    limits: SessionBatchLimits
    turns: list[Event] = field(default_factory=list)
    since: float = 0.0
    _characters: int = 0

    def add(self, turn: Event, now: float) -> Iterator[tuple[Event, ...]]:
        """Take the next turn of the session; gives what it closes, in order: nothing, one burst or two."""
        if self.turns and not self._continues(turn):
            yield self.close()
        if not self.turns:
            self.since = now
        self.turns.append(turn)
        self._characters += len(_said(turn).text)
        if len(self.turns) >= self.limits.turns or self._characters >= self.limits.characters:
            yield self.close()

    def due(self, now: float) -> bool:
        """Whether the turns have waited long enough for more."""
        return bool(self.turns) and now - self.since >= self.limits.wait_s

    def close(self) -> tuple[Event, ...]:
        """The turns gathered so far; what comes next begins anew."""
        turns, self.turns, self._characters = tuple(self.turns), [], 0
        return turns

    def _continues(self, turn: Event) -> bool:
        pause = (_said(turn).said_at - _said(self.turns[-1]).said_at).total_seconds()
        return (
            abs(pause) <= self.limits.gap_s
            and self._characters + len(_said(turn).text) <= self.limits.characters
        )


def _said(event: Event) -> TurnRecorded:
    assert isinstance(event.payload, TurnRecorded)
    return event.payload
