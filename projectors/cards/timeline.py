"""Timelines: pure functions from a set of statements to valid periods. The order of arrival does not matter.

A timeline is ordered by *effective* time.
- A statement that agrees with the value in force verifies it.
- A statement that differs supersedes the value from its own effective time on. Several values coexist.
- A statement that ends a value closes the period of the value. Its own card is true at no instant.
- What was said without a time held before a change that is told as news later, whatever day the change took place.
- A statement with its own end supersedes nothing.
- A mistake that the same session corrects was never true. Its card is retracted.
- A contested statement that is not accepted was never current.
- What a card said was never true when a relation retracts the card. What is said again after the relation counts.
- A value that is said again after a relation put another card in the place of its card is a card of its own.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from events.types.cards import StateAsserted
from events.types.envelope import Event
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.verdicts import CardVerified, ConflictRuled
from projectors.cards.arbitration import ConflictResolver, ContestedStatement, OrderedStatement, Thresholds
from projectors.cards.connections import SUPERSEDING
from projectors.cards.corrections import Correction, find_corrections
from projectors.cards.statement import Statement, in_order

_A_DAY = timedelta(days=1)
_NEWS = timedelta(days=30)
"""How long after a change its words are news. Told later, the change is history, and what was said since holds."""

REMARKING = (*SUPERSEDING, "retracts")
"""The relations after which what their older card said may be said again."""

Remarks = Mapping[UUID, Sequence[Event]]
"""The remarks on statements, by the event of the statement."""

Claims = Sequence[Statement]
"""Statements that say the same and make one card, in order."""


@dataclass(slots=True)
class ValidPeriod:
    """The time in which one value was true, with the statement that made its card and the statements that agree.

    ``revisions`` are the statements that overwrote the content in place, in order. ``names`` are the names of a
    concept, its title first, and a ``pinned`` concept is in every prompt. ``mode`` is the mode that somebody gave the
    card; None leaves it the mode of its turn.
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
    mode: str | None = None
    names: tuple[str, ...] = ()
    pinned: bool = False

    @property
    def statements(self) -> Iterator[Statement]:
        yield self.first
        yield from self.agreeing

    @property
    def latest(self) -> Statement:
        """The statement whose content the card shows."""
        return self.revisions[-1] if self.revisions else self.first

    @property
    def value_key(self) -> str:
        return self.latest.value_key


@dataclass(frozen=True, slots=True)
class TimelineEdge:
    """A relation that a timeline implies between the cards of two statements. The statement ``by`` caused it."""

    newer: Statement
    older: Statement
    predicate: str
    reason: str
    by: Statement


@dataclass(frozen=True, slots=True)
class Conflict:
    """A contested statement with the first statements of the two cards in conflict."""

    contest: ContestedStatement
    old: Statement
    new: Statement


@dataclass(frozen=True, slots=True)
class Timeline:
    """The valid periods of one identity in order of effective time, the relations between them, and the conflicts."""

    periods: tuple[ValidPeriod, ...]
    edges: tuple[TimelineEdge, ...]
    conflicts: tuple[Conflict, ...] = ()


def state_timeline(
    statements: Sequence[Statement],
    remarks: Remarks | None = None,
    thresholds: Thresholds | None = None,
) -> Timeline:
    """Returns the timeline of one state identity, with a single value or with several values."""
    remarks = remarks or {}
    said = in_order(statements)
    return retracting(lambda said, wrong: _state_timeline(said, wrong, remarks, thresholds), said, remarks)


def retracting(
    timeline_of: Callable[[Sequence[Statement], Sequence[Claims]], Timeline],
    said: Sequence[Statement],
    remarks: Remarks,
) -> Timeline:
    """Returns the timeline of ``said`` without what relations retract.

    A relation that no later event withdrew takes back its card as the card was at the position of the relation. The
    position of a relation from a correction is that of the correction, however often it was withdrawn. ``timeline_of``
    returns the timeline of statements without some groups of them, each of which makes a retracted card.
    """
    corrections = {(each.event.causation_id, each.event.event_id): each.event.position for each in said}
    wrong: list[Claims] = []
    for position, target in _retractions(remarks, corrections):
        earlier = [each for each in said if each.event.position < position]
        for period in timeline_of(earlier, wrong).periods:
            claims = list(period.statements)
            if not period.retracted and target in {each.event.event_id for each in claims}:
                wrong.append(claims)
    return timeline_of(said, wrong)


def _retractions(
    remarks: Remarks, corrections: Mapping[tuple[UUID | None, UUID], int]
) -> list[tuple[int, UUID]]:
    """Returns the position and the target of each retraction in force, in the order of the log."""
    return sorted(
        (corrections.get((target, by), position), target)
        for (target, by, predicate), position in _in_force(remarks).items()
        if predicate == "retracts"
    )


def _in_force(remarks: Remarks) -> dict[tuple[UUID, UUID, str], int]:
    """Returns the positions of the relations that no later event withdrew, by target, source and predicate."""
    in_force: dict[tuple[UUID, UUID, str], int] = {}
    for target, about in remarks.items():
        for event in sorted(about, key=lambda event: event.position):
            if isinstance(event.payload, CardsConnected):
                in_force[target, event.payload.from_card, event.payload.predicate] = event.position
            elif isinstance(event.payload, ConnectionWithdrawn):
                in_force.pop((target, event.payload.from_card, event.payload.predicate), None)
    return in_force


def _state_timeline(
    said: Sequence[Statement], wrong: Sequence[Claims], remarks: Remarks, thresholds: Thresholds | None
) -> Timeline:
    corrections = find_corrections(said)
    ordered = {each.statement.event.event_id: each for each in _before_the_news(_ordered(said, corrections))}
    taken_back = {claim.event.event_id for correction in corrections for claim in correction.claims}
    taken_back.update(claim.event.event_id for claims in wrong for claim in claims)
    counted = [each for event_id, each in ordered.items() if event_id not in taken_back]
    contests: list[ContestedStatement] = []
    if said and said[0].single:
        resolver = ConflictResolver(thresholds or Thresholds(), _rulings(said, remarks))
        for each in _without_switches(counted, resolver):
            resolver.apply(each)
        counted, contests = resolver.accepted, resolver.contests
    else:
        counted.sort(key=lambda each: (each.effective_at, each.number))
    walk = _Walk(remarks)
    for each in counted:
        walk.take(each)
    walk.periods += [_never_true(claims, ordered, retracted=True) for claims in wrong]
    for correction in corrections:
        walk.periods.append(_never_true(correction.claims, ordered, retracted=True))
        walk.links.append(
            _Link(correction.made_by, correction.claims[0], "retracts", "corrected by the speaker")
        )
    for contest in contests:
        if not contest.accepted:
            echoes = [echo.statement for echo in contest.echoes]
            walk.periods.append(_never_true([contest.statement, *echoes], ordered, contested=True))
            walk.links.append(_Link(contest.statement, contest.old, "contradicts", contest.reason))
    cards: dict[UUID, Statement] = {}
    for period in walk.periods:
        cards.update((each.event.event_id, period.first) for each in period.statements)
        period.verified_at = verified_at(period.statements, remarks)
    return Timeline(
        tuple(
            sorted(
                walk.periods,
                key=lambda period: (period.effective_at, ordered[period.first.event.event_id].number),
            )
        ),
        tuple(link.between(cards) for link in walk.links),
        tuple(
            Conflict(each, cards[each.old.event.event_id], cards[each.statement.event.event_id])
            for each in contests
        ),
    )


@dataclass(frozen=True, slots=True)
class _Link:
    """An edge between the cards that two statements end up in."""

    newer: Statement
    older: Statement
    predicate: str
    reason: str

    def between(self, cards: Mapping[UUID, Statement]) -> TimelineEdge:
        newer, older = cards[self.newer.event.event_id], cards[self.older.event.event_id]
        return TimelineEdge(newer, older, self.predicate, self.reason, self.newer)


def verified_at(statements: Iterable[Statement], remarks: Remarks) -> datetime | None:
    """Returns the time of the last verification of any of ``statements``, or None."""
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
    claims: Claims,
    ordered: Mapping[UUID, OrderedStatement],
    *,
    retracted: bool = False,
    contested: bool = False,
) -> ValidPeriod:
    instant = ordered[claims[0].event.event_id].effective_at
    return ValidPeriod(claims[0], instant, instant, retracted, contested, agreeing=list(claims[1:]))


def _ordered(said: Sequence[Statement], corrections: Sequence[Correction]) -> Iterator[OrderedStatement]:
    """Yields every statement with the time it takes effect and whether it announces a change."""
    by_statement = {correction.made_by.event.event_id: correction for correction in corrections}
    effective: dict[UUID, datetime] = {}
    for number, statement in enumerate(said):
        payload, event_id = statement.state, statement.event.event_id
        correction = by_statement.get(event_id)
        instant = payload.effective_at
        if correction is not None and not payload.time_resolved:
            # The corrected value takes effect at the effective time of the mistake.
            instant = effective[correction.claims[0].event.event_id]
        if payload.effective_until is not None:
            instant = min(instant, payload.effective_until)
        effective[event_id] = instant
        replaces = statement.replaces_key if _overwrites(statement) and correction is None else None
        yield OrderedStatement(statement, instant, number, _announces(payload, correction), replaces)


def _before_the_news(said: Iterable[OrderedStatement]) -> Sequence[OrderedStatement]:
    """Returns the statements. One without a time takes effect before the news that end its value and are said later.

    "I live in Ghent" tells what holds when it is said, and "I moved to Antwerp last week" is said later. The cost is
    linear.
    """
    over: dict[str, datetime] = {}  # the earliest news that end a value, and with "" all values
    replaced: list[tuple[datetime, str]] = []  # the two earliest news of a single value, of different values
    found: list[OrderedStatement] = []
    for each in reversed(list(said)):
        state, value = each.statement.state, each.statement.value_key
        open_ended = state.statement == "asserted" and state.effective_until is None
        if open_ended and state.effective_at == state.origin.said_at and not state.announced:
            ends = [over[key] for key in (value, "") if key in over]
            ends += [instant for instant, other in replaced if other != value]
            found.append(replace(each, effective_at=min((each.effective_at, *ends))))
            continue
        found.append(each)
        ended = state.statement == "ended"
        if (state.announced or ended) and timedelta() < state.origin.said_at - each.effective_at <= _NEWS:
            if ended:
                over[value] = min(each.effective_at, over.get(value, each.effective_at))
            elif each.statement.single and state.effective_until is None:
                earliest = {other: instant for instant, other in sorted(replaced, reverse=True)}
                earliest[value] = min(each.effective_at, earliest.get(value, each.effective_at))
                replaced = sorted((instant, other) for other, instant in earliest.items())[:2]
    return found[::-1]


def _overwrites(statement: Statement) -> bool:
    """True when the statement replaces one of several values by another."""
    return (
        not statement.single
        and statement.state.statement in {"corrected", "updated"}
        and statement.replaces_key != statement.value_key
    )


def _announces(payload: StateAsserted, correction: Correction | None) -> bool:
    """True when the words announce a change: they say so, correct a value, or name the day of the change."""
    if payload.announced or payload.statement == "updated":
        return True
    if payload.statement == "corrected":
        return correction is None or correction.announced
    return payload.time_resolved and abs(payload.effective_at - payload.origin.said_at) >= _A_DAY


def _rulings(said: Sequence[Statement], remarks: Remarks) -> dict[UUID, Event]:
    """Returns the first verdict on each statement, by the event of the statement."""
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
    ordered: Sequence[OrderedStatement], resolver: ConflictResolver
) -> Iterator[OrderedStatement]:
    """Yields all statements but an end whose value a claim of the same turn replaces.

    "I switched from Firefox to Chrome" is one change. It is accepted or contested as a whole.
    """
    claimed: defaultdict[tuple[str, datetime], set[str]] = defaultdict(set)
    if any(each.statement.state.statement == "ended" for each in ordered):
        for each in ordered:
            statement = each.statement
            if statement.state.statement != "ended":
                for turn_id in statement.state.origin.turn_ids:
                    claimed[turn_id, each.effective_at].add(statement.value_key)
    for each in ordered:
        value = each.statement.value_key
        if each.statement.state.statement == "ended" and resolver.holds(
            value, each.effective_at, each.number
        ):
            turns = [(turn_id, each.effective_at) for turn_id in each.statement.state.origin.turn_ids]
            if any(len(claimed[turn]) > (value in claimed[turn]) for turn in turns if turn in claimed):
                continue
        yield each


class _Walk:
    """Makes valid periods of the statements that count, taken in order of effective time."""

    def __init__(self, remarks: Remarks) -> None:
        self.periods: list[ValidPeriod] = []
        self.links: list[_Link] = []
        replaced = [
            (position, target)
            for (target, _, predicate), position in _in_force(remarks).items()
            if predicate in SUPERSEDING
        ]
        self._replaced_at = {target: position for position, target in sorted(replaced, reverse=True)}
        self._open: dict[str, ValidPeriod] = {}
        self._last: dict[
            str, ValidPeriod
        ] = {}  # the latest period of each value; a repeated end belongs to it

    def take(self, ordered: OrderedStatement) -> None:
        instant = ordered.effective_at
        for value, period in list(self._open.items()):
            if period.superseded_at is not None and period.superseded_at <= instant:
                del self._open[value]
        if ordered.statement.state.statement == "ended":
            self._end(ordered.statement, instant)
        else:
            self._claim(ordered)

    def _end(self, statement: Statement, instant: datetime) -> None:
        value = statement.value_key
        over = [period for key, period in self._open.items() if value in {"", key}]
        last = self._last.get(value)
        if not over and last is not None:
            # The value ended before. The statement repeats that end.
            last.agreeing.append(statement)
            return
        ending = ValidPeriod(statement, instant, superseded_at=instant, ended=True)
        for period in over:
            period.superseded_at = instant
            reason = f"over as of {instant.date().isoformat()}: {statement.state.content}"
            self.links.append(_Link(statement, period.first, "state_change", reason))
            del self._open[period.value_key]
        self.periods.append(ending)
        for key in {value, *(period.value_key for period in over)}:
            self._last[key] = ending

    def _claim(self, ordered: OrderedStatement) -> None:
        statement, instant = ordered.statement, ordered.effective_at
        value, until = statement.value_key, statement.state.effective_until
        replaced = None if ordered.replaces is None else self._open.get(ordered.replaces)
        superseded = [replaced] if replaced is not None else []
        period = self._open.get(value)
        if period is not None and self._was_replaced(period, statement):
            period.superseded_at = instant
            since = instant.date().isoformat()
            reason = f"{statement.state.concept_key} is {statement.state.value} again, as of {since}"
            self.links.append(_Link(statement, period.first, "update", reason))
            period = None
        if period is not None:
            period.agreeing.append(statement)
        elif replaced is not None:
            period = replaced
            period.agreeing.append(statement)
            period.revisions.append(statement)
            del self._open[ordered.replaces or ""]
            superseded = []
        else:
            period = ValidPeriod(statement, instant)
            self.periods.append(period)
            # A statement with its own end supersedes nothing. The periods around it stay as they are.
            if statement.single and not ordered.coexists and until is None:
                superseded = [each for key, each in self._open.items() if key != value]
        if until is not None:
            period.superseded_at = max(until, period.effective_at)
        for older in superseded:
            older.superseded_at = instant
            del self._open[older.value_key]
            self.links.append(
                _Link(statement, older.first, "update", _reason(statement.state, older.latest.state))
            )
        self._open[value] = self._last[value] = period

    def _was_replaced(self, period: ValidPeriod, statement: Statement) -> bool:
        """True when a relation put another card in the place of that of ``period``, before ``statement``."""
        position = self._replaced_at.get(period.first.event.event_id)
        return position is not None and position < statement.event.position


def _reason(newer: StateAsserted, older: StateAsserted) -> str:
    since = newer.effective_at.date().isoformat()
    how = "announced" if newer.announced else "stated"
    return f"{newer.concept_key} is {newer.value}, no longer {older.value}, {how} as of {since}"
