"""When a change of a fact is too grave to be believed without asking, and what settles it.

A docket hears what was said of one single-valued fact in the order it was said, and judges each change by
what held when it took effect. So the judgement is a function of the statements and rulings alone.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from events.envelope import Event
from events.types.verdicts import ConflictRuled
from projectors.cards.statement import Statement

Status = Literal["open", "keep_old", "accept_new", "coexist", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A change waits for a verdict when it is the ``changes``-th or a later one within ``days``, or when it
    contradicts, without announcing a change, what has held for ``stale_days``."""

    changes: int = 3
    days: int = 30
    stale_days: int = 30


@dataclass(frozen=True, slots=True)
class Heard:
    """A statement with its place: when it takes effect, and the how-manieth it was to be said."""

    statement: Statement
    effective_at: datetime
    number: int
    announced: bool = False
    replaces: str | None = None  # the value it overwrites, among several
    beside: bool = False  # ruled to coexist with what it contradicted


@dataclass(slots=True)
class Contest:
    """A statement that was not believed at once, what it contradicts, and how that ended.

    ``accepted``: it counts, by verdict or because something said later bore it out. ``echoes`` repeat it in the
    same turn.
    """

    statement: Statement
    old: Statement
    reason: str
    status: Status = "open"
    settled_at: datetime | None = None
    accepted: bool = False
    echoes: list[Heard] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What holds from a statement on: the values, each with who said so last; since when, and until when."""

    values: dict[str, Statement]
    since: datetime
    until: datetime | None

    def at(self, instant: datetime) -> dict[str, Statement]:
        return self.values if self.until is None or self.until > instant else {}


class Docket:
    """Judges the statements of one identity; ``contests`` are all that were not believed at once."""

    def __init__(self, thresholds: Thresholds, rulings: Mapping[UUID, Event]) -> None:
        self._thresholds = thresholds
        self._rulings = rulings
        self._window = timedelta(days=thresholds.days)
        self._stale = timedelta(days=thresholds.stale_days)
        self._places: list[tuple[datetime, int]] = []
        self._heard: list[Heard] = []
        self._standing: list[_Standing] = []
        self._changes: list[datetime] = []
        # At most one: the question is always what holds against what was said last.
        self._open: tuple[Contest, Heard] | None = None
        self._by_turn: dict[tuple[str, str], Contest] = {}
        self.contests: list[Contest] = []

    @property
    def accepted(self) -> list[Heard]:
        """All that counts, by when it takes effect."""
        return self._heard

    def hear(self, heard: Heard) -> None:
        """Judge what was said next."""
        if heard.statement.state.statement == "ended":
            self._settle_by_end(heard)
            self._accept(heard)
        elif (contest := self._echoed(heard.statement)) is not None:
            contest.echoes.append(heard)
        else:
            self._settle_by_claim(heard)
            self._judge(heard)

    def holds(self, value: str, instant: datetime, number: int) -> bool:
        """Whether ``value`` holds where a statement stands, so far."""
        place = bisect_left(self._places, (instant, number))
        return place > 0 and value in self._standing[place - 1].at(instant)

    def _judge(self, heard: Heard) -> None:
        statement, since = heard.statement, heard.effective_at
        place = bisect_left(self._places, (since, heard.number))
        before = self._standing[place - 1] if place else None
        held = before.at(since) if before is not None else {}
        if before is None or not held or statement.value_key in held or self._is_past(heard, place):
            self._accept(heard)
            return
        nth = 1 + bisect_right(self._changes, since) - bisect_right(self._changes, since - self._window)
        insort(self._changes, since)
        old = list(held.values())[-1]
        reason = self._doubt(heard, old, before.since, nth)
        ruling = self._rulings.get(statement.event.event_id)
        if reason is None and ruling is None:
            self._withdraw(statement)
            self._accept(heard)
            return
        contest = Contest(statement, old, reason or "ruled, though there was no doubt")
        self.contests.append(contest)
        for turn_id in statement.state.origin.turn_ids:
            self._by_turn[statement.value_key, turn_id] = contest
        self._withdraw(statement)
        if ruling is None:
            self._open = (contest, heard)
            return
        verdict: ConflictRuled = ruling.payload
        contest.status, contest.settled_at = verdict.verdict, ruling.occurred_at
        if verdict.verdict != "keep_old":
            contest.accepted = True
            beside = verdict.verdict == "coexist"
            self._accept(replace(heard, beside=beside))

    def _is_past(self, heard: Heard, place: int) -> bool:
        """Whether it tells of a time that was over when it was said: history, which contradicts nothing."""
        said_at, until = heard.statement.said_at, heard.statement.state.effective_until
        if until is not None and until <= said_at:
            return True
        return place < len(self._places) and self._places[place][0] <= said_at

    def _doubt(self, heard: Heard, old: Statement, since: datetime, nth: int) -> str | None:
        new, limit = heard.statement.state, self._thresholds
        if nth >= limit.changes:
            return f"change number {nth} of {new.concept_key} within {limit.days} days"
        held_for = heard.effective_at - since
        if not heard.announced and held_for >= self._stale:
            return (
                f"{new.concept_key} had been {old.state.value} for {held_for.days} days, and "
                f"{new.value} was said without announcing a change"
            )
        return None

    def _echoed(self, statement: Statement) -> Contest | None:
        """The contest whose own turn says ``statement`` once more: that bears nothing out."""
        for turn_id in statement.state.origin.turn_ids:
            contest = self._by_turn.get((statement.value_key, turn_id))
            if contest is not None and not contest.accepted:
                return contest
        return None

    def _settle_by_claim(self, heard: Heard) -> None:
        """Settle what the claim bears out or takes back."""
        if self._open is not None and not self._is_past(heard, len(self._places)):
            contest, _ = self._open
            if heard.statement.value_key == contest.statement.value_key:
                self._bear_out(heard.statement)
            elif heard.statement.value_key == contest.old.value_key:
                self._withdraw(heard.statement)

    def _settle_by_end(self, heard: Heard) -> None:
        """What is contested is settled when the one or the other is over."""
        if self._open is not None:
            contest, _ = self._open
            over = heard.statement.value_key
            if over == contest.old.value_key:
                self._bear_out(heard.statement)
            elif over in {"", contest.statement.value_key}:
                self._withdraw(heard.statement)

    def _bear_out(self, by: Statement) -> None:
        assert self._open is not None
        contest, contested = self._open
        self._withdraw(by)
        contest.accepted = True
        for heard in (contested, *contest.echoes):
            self._accept(heard)

    def _withdraw(self, by: Statement) -> None:
        """The conflict is no longer open: ``by`` settled it, or took its place."""
        if self._open is not None:
            contest, _ = self._open
            contest.status, contest.settled_at = "withdrawn", by.said_at
            self._open = None

    def _accept(self, heard: Heard) -> None:
        place = bisect_left(self._places, (heard.effective_at, heard.number))
        self._places.insert(place, (heard.effective_at, heard.number))
        self._heard.insert(place, heard)
        before = self._standing[place - 1] if place else None
        self._standing.insert(place, _after(before, heard))
        # What was said of later times stands on what comes before it now, until nothing changes any more.
        for later in range(place + 1, len(self._places)):
            standing = _after(self._standing[later - 1], self._heard[later])
            if standing == self._standing[later]:
                break
            self._standing[later] = standing


def _after(before: _Standing | None, heard: Heard) -> _Standing:
    statement, instant = heard.statement, heard.effective_at
    payload, value = statement.state, statement.value_key
    held = before.at(instant) if before is not None else {}
    rest = {other: claim for other, claim in held.items() if other != value}
    if payload.statement == "ended":
        if before is None:
            return _Standing({}, instant, None)
        return _Standing(rest if value else {}, before.since, before.until)
    if before is not None and value in held:
        return _Standing({**rest, value: statement}, before.since, payload.effective_until or before.until)
    return _Standing({**(held if heard.beside else {}), value: statement}, instant, payload.effective_until)
