"""Conflicts: which change of a fact waits for a verdict, and what settles it.

A :class:`ConflictResolver` takes the statements about one single-valued fact in the order they were made. It judges
each change by the values in force when the change takes effect. The result is a function of statements and verdicts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from events.platform.settings import Settings
from events.types.envelope import Event
from events.types.verdicts import ConflictRuled
from projectors.cards.statement import Statement, perhaps_one_value

Status = Literal["open", "keep_old", "accept_new", "coexist", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A change waits for a verdict when it is at least the ``changes``-th within ``days``.

    A change that no words announce also waits when it contradicts a value that has held for ``stale_days``.
    """

    changes: int = 3
    days: int = 30
    stale_days: int = 30

    @classmethod
    def of(cls, settings: Settings) -> Thresholds:
        return cls(
            changes=settings.arbitration_changes,
            days=settings.arbitration_days,
            stale_days=settings.arbitration_stale_days,
        )


@dataclass(frozen=True, slots=True)
class OrderedStatement:
    """A statement with the time it takes effect and its ``number`` in the order of saying, from 0.

    ``replaces`` is the value it overwrites, among several values. A statement that ``coexists`` leaves the value
    that it contradicts in force: a person ruled so, or the two may be one value in two scripts.
    """

    statement: Statement
    effective_at: datetime
    number: int
    announced: bool = False
    replaces: str | None = None
    coexists: bool = False


@dataclass(slots=True)
class ContestedStatement:
    """A contested statement, the statement it contradicts, and how the conflict ended, with the time of the log.

    An ``accepted`` statement counts, by verdict or because a later statement confirms it. ``echoes`` repeat it in the
    same turn.
    """

    statement: Statement
    old: Statement
    reason: str
    status: Status = "open"
    settled_at: datetime | None = None
    accepted: bool = False
    echoes: list[OrderedStatement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _ValuesInForce:
    """The values that hold from one statement on, each with its last statement, and the time they hold.

    ``passing`` are the values of stretches of time, each with the end of its stretch.
    """

    values: dict[str, Statement]
    since: datetime
    until: datetime | None
    passing: dict[str, datetime] = field(default_factory=dict)

    def at(self, instant: datetime) -> dict[str, Statement]:
        return self.values if self.until is None or self.until > instant else {}

    def passing_at(self, instant: datetime) -> dict[str, datetime]:
        return {value: until for value, until in self.passing.items() if until > instant}


class ConflictResolver:
    """Judges the statements of one identity. ``contests`` are all contested statements, open or settled."""

    def __init__(self, thresholds: Thresholds, rulings: Mapping[UUID, Event]) -> None:
        self._thresholds = thresholds
        self._rulings = rulings
        self._window = timedelta(days=thresholds.days)
        self._stale = timedelta(days=thresholds.stale_days)
        self._places: list[tuple[datetime, int]] = []
        self._statements: list[OrderedStatement] = []
        self._in_force: list[_ValuesInForce] = []
        self._changes: list[datetime] = []
        # At most one conflict is open: the values in force against the last statement.
        self._open: tuple[ContestedStatement, OrderedStatement] | None = None
        self._by_turn: dict[tuple[str, str], ContestedStatement] = {}
        self.contests: list[ContestedStatement] = []

    @property
    def accepted(self) -> list[OrderedStatement]:
        """The statements that count, in order of effective time."""
        return self._statements

    def apply(self, ordered: OrderedStatement) -> None:
        """Judges the next statement."""
        if ordered.statement.state.statement == "ended":
            self._settle_by_end(ordered)
            self._accept(ordered)
        elif (contest := self._echoed(ordered.statement)) is not None:
            contest.echoes.append(ordered)
        elif ordered.statement.state.effective_until is not None:
            self._accept(ordered)  # a statement with its own end replaces nothing
        else:
            self._settle_by_claim(ordered)
            self._judge(ordered)
        self._reconsider(ordered)

    def holds(self, value: str, instant: datetime, number: int) -> bool:
        """True when ``value`` holds just before the statement with this time and number."""
        place = bisect_left(self._places, (instant, number))
        return place > 0 and value in self._in_force[place - 1].at(instant)

    def _judge(self, ordered: OrderedStatement) -> None:
        statement, since = ordered.statement, ordered.effective_at
        place = bisect_left(self._places, (since, ordered.number))
        before = self._in_force[place - 1] if place else None
        held = before.at(since) if before is not None else {}
        known = held if before is None else {**held, **before.passing_at(since)}
        if before is None or not held or statement.value_key in known or self._is_past(ordered):
            self._accept(ordered)
            return
        ruling = self._rulings.get(statement.event.event_id)
        comparable = [claim for claim in held.values() if not perhaps_one_value(statement, claim)]
        if not (comparable or ordered.announced or ruling):
            self._accept(replace(ordered, coexists=True))
            return
        insort(self._changes, since)
        old = (comparable or list(held.values()))[-1]
        reason = self._doubt(ordered, old, before.since)
        if reason is None and ruling is None:
            self._withdraw(statement)
            self._accept(ordered)
            return
        contest = ContestedStatement(statement, old, reason or "ruled, though there was no doubt")
        self.contests.append(contest)
        for turn_id in statement.state.origin.turn_ids:
            self._by_turn[statement.value_key, turn_id] = contest
        self._withdraw(statement)
        if ruling is None:
            self._open = (contest, ordered)
            return
        verdict: ConflictRuled = ruling.payload
        contest.status, contest.settled_at = verdict.verdict, ruling.recorded_at
        if verdict.verdict != "keep_old":
            contest.accepted = True
            coexists = verdict.verdict == "coexist"
            self._accept(replace(ordered, coexists=coexists))

    def _is_past(self, ordered: OrderedStatement) -> bool:
        """True when another value took effect before this statement was made. History contradicts nothing."""
        place = bisect_left(self._places, (ordered.effective_at, ordered.number))
        return place < len(self._places) and self._places[place][0] <= ordered.statement.said_at

    def _doubt(self, ordered: OrderedStatement, old: Statement, since: datetime) -> str | None:
        """Returns why a change that is counted already must wait for a verdict, or None; ``old`` has held ``since``."""
        new, limit = ordered.statement.state, self._thresholds
        # Differences are compared, because the time minus the window can precede datetime.min.
        past = bisect_right(self._changes, -self._window, key=lambda change: change - ordered.effective_at)
        nth = bisect_right(self._changes, ordered.effective_at) - past
        if nth >= limit.changes:
            return f"change number {nth} of {new.concept_key} within {limit.days} days"
        held_for = ordered.effective_at - since
        if not ordered.announced and held_for >= self._stale:
            return (
                f"{new.concept_key} had been {old.state.value} for {held_for.days} days, and "
                f"{new.value} was said without announcing a change"
            )
        return None

    def _echoed(self, statement: Statement) -> ContestedStatement | None:
        """Returns the contest whose own turn repeats ``statement``. Such a repetition confirms nothing."""
        for turn_id in statement.state.origin.turn_ids:
            contest = self._by_turn.get((statement.value_key, turn_id))
            if contest is not None and not contest.accepted:
                return contest
        return None

    def _settle_by_claim(self, ordered: OrderedStatement) -> None:
        """A claim of the contested value settles the conflict, and so does a claim of the old value."""
        if self._open is not None:
            contest, _ = self._open
            if ordered.statement.value_key == contest.statement.value_key:
                if not self._is_past(ordered):
                    self._confirm(ordered.statement)
            elif ordered.statement.value_key == contest.old.value_key:
                self._withdraw(ordered.statement)

    def _settle_by_end(self, ordered: OrderedStatement) -> None:
        """The end of the old or of the contested value settles the conflict."""
        if self._open is not None:
            contest, _ = self._open
            over = ordered.statement.value_key
            if over == contest.old.value_key:
                self._confirm(ordered.statement)
            elif over in {"", contest.statement.value_key}:
                self._withdraw(ordered.statement)

    def _reconsider(self, ordered: OrderedStatement) -> None:
        """Judge the open conflict again when ``ordered`` is about the time before it.

        The old value may have ended by then. The conflict is then about the value that holds in its place.
        """
        if self._open is None:
            return
        contest, contested = self._open
        since = contested.effective_at
        if ordered is contested or ordered.effective_at > since:
            return
        before = self._in_force[bisect_right(self._places, since, key=lambda place: place[0]) - 1]
        held = before.at(since)
        comparable = [claim for claim in held.values() if not perhaps_one_value(contested.statement, claim)]
        old = held.get(contest.old.value_key) or next(reversed(comparable), None)
        confirmed = old is None or contested.statement.value_key in held
        reason = None if old is None or confirmed else self._doubt(contested, old, before.since)
        if old is None or reason is None:
            self._confirm(ordered.statement, coexists=old is None and bool(held))
        else:
            contest.old, contest.reason = old, reason

    def _confirm(self, by: Statement, *, coexists: bool = False) -> None:
        assert self._open is not None
        contest, contested = self._open
        self._withdraw(by)
        contest.accepted = True
        for ordered in (contested, *contest.echoes):
            self._accept(replace(ordered, coexists=coexists))

    def _withdraw(self, by: Statement) -> None:
        """Closes the open conflict: ``by`` settles it or replaces it."""
        if self._open is not None:
            contest, _ = self._open
            contest.status, contest.settled_at = "withdrawn", by.event.recorded_at
            self._open = None

    def _accept(self, ordered: OrderedStatement) -> None:
        place = bisect_left(self._places, (ordered.effective_at, ordered.number))
        self._places.insert(place, (ordered.effective_at, ordered.number))
        self._statements.insert(place, ordered)
        before = self._in_force[place - 1] if place else None
        self._in_force.insert(place, _after(before, ordered))
        # Later statements are evaluated again on the new values, up to the first whose result does not change.
        for later in range(place + 1, len(self._places)):
            in_force = _after(self._in_force[later - 1], self._statements[later])
            if in_force == self._in_force[later]:
                break
            self._in_force[later] = in_force


def _after(before: _ValuesInForce | None, ordered: OrderedStatement) -> _ValuesInForce:
    statement, instant = ordered.statement, ordered.effective_at
    payload, value = statement.state, statement.value_key
    if before is None:
        before = _ValuesInForce({}, instant, None)
    held, passing = before.at(instant), before.passing_at(instant)
    rest = {other: claim for other, claim in held.items() if other != value}
    if payload.statement == "ended":
        still = {other: until for other, until in passing.items() if other != value}
        return _ValuesInForce(rest if value else {}, before.since, before.until, still if value else {})
    if value in held:
        until = payload.effective_until or before.until
        return _ValuesInForce({**rest, value: statement}, before.since, until, passing)
    if payload.effective_until is not None:
        return _ValuesInForce(
            before.values, before.since, before.until, {**passing, value: payload.effective_until}
        )
    if value in passing:
        return before  # said within the stretch, and over with it
    others, stretches = (held, passing) if ordered.coexists else ({}, {})
    return _ValuesInForce({**others, value: statement}, instant, None, stretches)
