"""From statements to cards: pure functions of the set of statements, whatever order they arrived in.

A timeline is ordered by *effective* time. Statements that agree with what holds verify it; one that
differs supersedes it from its own effective time on, or stands beside it where several values may; one that
ends it closes it and is a card itself, that holds at no instant; one that tells its own end supersedes nothing; a
slip of the same session was never true and is retracted; what is contested and not accepted was never current.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from events.types.cards import StateAsserted
from events.types.envelope import Event
from events.types.verdicts import CardVerified, ConflictRuled
from projectors.cards.arbitration import ConflictResolver, ContestedStatement, OrderedStatement, Thresholds
from projectors.cards.corrections import Correction, find_corrections
from projectors.cards.statement import Statement, in_order

_A_DAY = timedelta(days=1)

Remarks = Mapping[UUID, Sequence[Event]]
"""What was said of statements afterwards, by the statement's event."""


@dataclass(slots=True)
class ValidPeriod:
    """One card's life: the statement that made it, those that agreed, and when it stopped being true.

    ``revisions`` overwrote what it says, in place, the last one last. ``names`` are those of a concept, its
    title first.
    """

    first: Statement
    effective_at: datetime
    superseded_at: datetime | None = None
    retracted: bool = False
    contested: bool = False
    ended: bool = False
    agreeing: list[Statement] = field(default_factory=list)
    revisions: list[Statement] = field(default_factory=list)
    verified_at: datetime | None = None
    names: tuple[str, ...] = ()

    @property
    def statements(self) -> Iterator[Statement]:
        yield self.first
        yield from self.agreeing

    @property
    def latest(self) -> Statement:
        """The statement whose words the card shows."""
        return self.revisions[-1] if self.revisions else self.first

    @property
    def value_key(self) -> str:
        return self.latest.value_key


@dataclass(frozen=True, slots=True)
class TimelineEdge:
    """A relation the timeline implies between the cards that two statements made, and the statement it is due to."""

    newer: Statement
    older: Statement
    predicate: str
    reason: str
    by: Statement


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contest with the cards of its two sides."""

    contest: ContestedStatement
    old: Statement
    new: Statement


@dataclass(frozen=True, slots=True)
class Timeline:
    """Every span of one identity, in order of effective time, the relations between them, and the conflicts."""

    spans: tuple[ValidPeriod, ...]
    edges: tuple[TimelineEdge, ...]
    conflicts: tuple[Conflict, ...] = ()


def state_timeline(
    statements: Sequence[Statement],
    remarks: Remarks | None = None,
    thresholds: Thresholds | None = None,
) -> Timeline:
    """The cards of one single-valued identity, or of several values that replaced each other."""
    remarks = remarks or {}
    said = in_order(statements)
    corrections = find_corrections(said)
    heard = {each.statement.event.event_id: each for each in _heard(said, corrections)}
    taken_back = {claim.event.event_id for correction in corrections for claim in correction.claims}
    standing = [each for event_id, each in heard.items() if event_id not in taken_back]
    contests: list[ContestedStatement] = []
    if said and said[0].single:
        resolver = ConflictResolver(thresholds or Thresholds(), _rulings(said, remarks))
        for each in _without_switches(standing, resolver):
            resolver.apply(each)
        standing, contests = resolver.accepted, resolver.contests
    else:
        standing.sort(key=lambda each: (each.effective_at, each.number))
    walk = _Walk()
    for each in standing:
        walk.take(each)
    for correction in corrections:
        walk.spans.append(_never_true(correction.claims, heard, retracted=True))
        walk.links.append(
            _Link(correction.made_by, correction.claims[0], "retracts", "corrected by the speaker")
        )
    for contest in contests:
        if not contest.accepted:
            echoes = [echo.statement for echo in contest.echoes]
            walk.spans.append(_never_true([contest.statement, *echoes], heard, contested=True))
            walk.links.append(_Link(contest.statement, contest.old, "contradicts", contest.reason))
    cards: dict[UUID, Statement] = {}
    for span in walk.spans:
        cards.update((each.event.event_id, span.first) for each in span.statements)
        span.verified_at = verified_at(span.statements, remarks)
    return Timeline(
        tuple(
            sorted(walk.spans, key=lambda span: (span.effective_at, heard[span.first.event.event_id].number))
        ),
        tuple(link.between(cards) for link in walk.links),
        tuple(
            Conflict(each, cards[each.old.event.event_id], cards[each.statement.event.event_id])
            for each in contests
        ),
    )


@dataclass(frozen=True, slots=True)
class _Link:
    """An edge between whatever cards two statements turn out to be part of."""

    newer: Statement
    older: Statement
    predicate: str
    reason: str

    def between(self, cards: Mapping[UUID, Statement]) -> TimelineEdge:
        newer, older = cards[self.newer.event.event_id], cards[self.older.event.event_id]
        return TimelineEdge(newer, older, self.predicate, self.reason, self.newer)


def verified_at(statements: Iterable[Statement], remarks: Remarks) -> datetime | None:
    """When somebody last confirmed one of ``statements``."""
    return max(
        (
            remark.occurred_at
            for statement in statements
            for remark in remarks.get(statement.event.event_id, ())
            if isinstance(remark.payload, CardVerified)
        ),
        default=None,
    )


def _never_true(
    claims: Sequence[Statement],
    heard: Mapping[UUID, OrderedStatement],
    *,
    retracted: bool = False,
    contested: bool = False,
) -> ValidPeriod:
    instant = heard[claims[0].event.event_id].effective_at
    return ValidPeriod(claims[0], instant, instant, retracted, contested, agreeing=list(claims[1:]))


def _heard(said: Sequence[Statement], corrections: Sequence[Correction]) -> Iterator[OrderedStatement]:
    """Every statement with when it takes effect and whether it announces a change."""
    by_statement = {correction.made_by.event.event_id: correction for correction in corrections}
    effective: dict[UUID, datetime] = {}
    for number, statement in enumerate(said):
        payload, event_id = statement.state, statement.event.event_id
        correction = by_statement.get(event_id)
        instant = payload.effective_at
        if correction is not None and not payload.time_resolved:
            # The right value holds since the wrong one was claimed to.
            instant = effective[correction.claims[0].event.event_id]
        if payload.effective_until is not None:
            instant = min(instant, payload.effective_until)
        effective[event_id] = instant
        replaces = statement.replaces_key if _overwrites(statement) and correction is None else None
        yield OrderedStatement(statement, instant, number, _announces(payload, correction), replaces)


def _overwrites(statement: Statement) -> bool:
    """Whether it puts one of several values in the place of another."""
    return (
        not statement.single
        and statement.state.statement in {"corrected", "updated"}
        and statement.replaces_key != statement.value_key
    )


def _announces(payload: StateAsserted, correction: Correction | None) -> bool:
    """Whether the words tell that something changed: they say so, correct something, or say since when."""
    if payload.announced or payload.statement == "updated":
        return True
    if payload.statement == "corrected":
        return correction is None or correction.announced
    return payload.time_resolved and abs(payload.effective_at - payload.origin.said_at) >= _A_DAY


def _rulings(said: Sequence[Statement], remarks: Remarks) -> dict[UUID, Event]:
    """The verdict on each statement, the first where several were given."""
    return {
        statement.event.event_id: min(verdicts, key=lambda event: (event.occurred_at, event.event_id))
        for statement in said
        if (
            verdicts := [
                remark
                for remark in remarks.get(statement.event.event_id, ())
                if isinstance(remark.payload, ConflictRuled)
            ]
        )
    }


def _without_switches(
    heard: Sequence[OrderedStatement], resolver: ConflictResolver
) -> Iterator[OrderedStatement]:
    """All but endings that only name what a claim of the same turn takes the place of.

    "I switched from Firefox to Chrome" is one change, to be believed or doubted as a whole.
    """
    claimed: defaultdict[tuple[str, datetime], set[str]] = defaultdict(set)
    if any(each.statement.state.statement == "ended" for each in heard):
        for each in heard:
            statement = each.statement
            if statement.state.statement != "ended":
                for turn_id in statement.state.origin.turn_ids:
                    claimed[turn_id, each.effective_at].add(statement.value_key)
    for each in heard:
        value = each.statement.value_key
        if each.statement.state.statement == "ended" and resolver.holds(
            value, each.effective_at, each.number
        ):
            turns = [(turn_id, each.effective_at) for turn_id in each.statement.state.origin.turn_ids]
            if any(len(claimed[turn]) > (value in claimed[turn]) for turn in turns if turn in claimed):
                continue
        yield each


class _Walk:
    """Takes what counts by when it takes effect, and makes spans of it."""

    def __init__(self) -> None:
        self.spans: list[ValidPeriod] = []
        self.links: list[_Link] = []
        self._open: dict[str, ValidPeriod] = {}
        self._last: dict[str, ValidPeriod] = {}  # the latest span of each value, to which its end belongs

    def take(self, heard: OrderedStatement) -> None:
        instant = heard.effective_at
        for value, span in list(self._open.items()):
            if span.superseded_at is not None and span.superseded_at <= instant:
                del self._open[value]
        if heard.statement.state.statement == "ended":
            self._end(heard.statement, instant)
        else:
            self._claim(heard)

    def _end(self, statement: Statement, instant: datetime) -> None:
        value = statement.value_key
        over = [span for key, span in self._open.items() if value in {"", key}]
        last = self._last.get(value)
        if not over and last is not None:
            # It was over before, and is said again.
            last.agreeing.append(statement)
            return
        ending = ValidPeriod(statement, instant, superseded_at=instant, ended=True)
        for span in over:
            span.superseded_at = instant
            reason = f"over as of {instant.date().isoformat()}: {statement.state.content}"
            self.links.append(_Link(statement, span.first, "state_change", reason))
            del self._open[span.value_key]
        self.spans.append(ending)
        for key in {value, *(span.value_key for span in over)}:
            self._last[key] = ending

    def _claim(self, heard: OrderedStatement) -> None:
        statement, instant = heard.statement, heard.effective_at
        value, until = statement.value_key, statement.state.effective_until
        replaced = None if heard.replaces is None else self._open.get(heard.replaces)
        superseded = [replaced] if replaced is not None else []
        span = self._open.get(value)
        if span is not None:
            span.agreeing.append(statement)
        elif replaced is not None:
            span = replaced
            span.agreeing.append(statement)
            span.revisions.append(statement)
            del self._open[heard.replaces or ""]
            superseded = []
        else:
            span = ValidPeriod(statement, instant)
            self.spans.append(span)
            # What tells how long it lasts is a stretch of time within what goes on before and after it.
            if statement.single and not heard.beside and until is None:
                superseded = list(self._open.values())
        if until is not None:
            span.superseded_at = max(until, span.effective_at)
        for older in superseded:
            older.superseded_at = instant
            del self._open[older.value_key]
            self.links.append(
                _Link(statement, older.first, "update", _reason(statement.state, older.latest.state))
            )
        self._open[value] = self._last[value] = span


def _reason(newer: StateAsserted, older: StateAsserted) -> str:
    since = newer.effective_at.date().isoformat()
    how = "announced" if newer.announced else "stated"
    return f"{newer.concept_key} is {newer.value}, no longer {older.value}, {how} as of {since}"
