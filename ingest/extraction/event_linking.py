"""Finds the earlier event that a cancellation, a correction or a moved plan speaks of, and the owner of what ended.

The functions are pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from events.language import timex
from events.language.chinese_script import has_cjk
from events.language.concepts import normalise_entity
from events.language.terms import analyse, fold, stem
from events.language.timex.calendar import WITHIN_DAY
from events.language.values import word_set
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import NewEvent
from events.types.extraction import TurnsExtracted
from events.types.relations import CardsConnected
from events.types.turn_contract import on_clock
from ingest.extraction.known_cards import KnownCards, KnownEvent, KnownFact, identity_of, known_card

_LINKED = ("cancelled", "corrected", "planned", "happened")
_LONGEST = 400  # Characters of a text that are compared.

# Words that name no event by themselves.
_GENERIC = frozenset(
    map(stem, word_set("plan thing idea event stuff arrangement earlier previous original old"))
) | word_set("计划 事情 事 件 安排 行程 原来 本来 原本 原定 那个 这个 之前 的事")
# Words that name one kind of plan. A plan is often called by another word than the one it was made with.
_KINDS: dict[str, str] = {
    word if not word.isascii() else stem(word): kind
    for kind, words in (
        (
            "~travel",
            "trip travel journey vacation holiday getaway tour fly flight 旅行 旅游 之旅 出国 度假 出游 玩 旅程",
        ),
        (
            "~meal",
            "dinner lunch brunch breakfast supper meal eat 吃饭 聚餐 饭局 晚餐 午餐 晚饭 午饭 早餐 聚会 聚",
        ),
        ("~meeting", "meeting meet call sync interview 会议 开会 面试 会面 见面 碰面"),
        ("~film", "movie film cinema 电影 看电影"),
        ("~celebration", "wedding party celebration 婚礼 派对 喜酒 婚宴"),
    )
    for word in words.split()
}
_KIND_NAMES = frozenset(_KINDS.values())
_PARTICLES = re.compile(r"的|(?<![\u3400-\u9fff])[跟和与同](?=[\u3400-\u9fff])")
_GENERIC_WEIGHT, _TIME_WEIGHT, _CHARACTER_WEIGHT, _KIND_WEIGHT = 0.25, 0.5, 0.3, 0.5
_ENOUGH = 0.5
"""The share of the words, by weight, that the earlier event must say."""
_MARGIN, _NAMELESS_MARGIN = 0.08, 0.3
"""By how much the best event must lead, unless the next one tells of the same thing. Words without a name or a time
("the trip") must lead by more.
"""
_ALIKE = 0.6
_ENTITY_PENALTY, _TIME_PENALTY = 0.25, 0.3
_LONGEST_DAY = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class _Words:
    """The terms of a text with their weights, the terms inside its times, and its times."""

    weights: dict[str, float]
    timely: frozenset[str]
    times: tuple[tuple[datetime, datetime], ...]

    @property
    def total(self) -> float:
        return sum(self.weights.values())

    @property
    def names(self) -> frozenset[str]:
        """The terms that name one thing and not only its kind."""
        return frozenset(term for term, weight in self.weights.items() if weight >= 1)


def target_of(
    replaces: str,
    entity: str,
    candidates: Sequence[KnownEvent],
    *,
    said_at: datetime,
    content: str = "",
    near: frozenset[UUID] = frozenset(),
) -> UUID | None:
    """Returns the id of the event that the words ``replaces`` name, or None when none fits or several fit equally.

    ``candidates`` are earlier events, the latest last. ``said_at`` is the clock of the new words. ``content`` tells the
    new event, and its words decide between events that fit otherwise alike. ``near`` are the events of the same
    conversation. Words that name nothing ("it", 那個) mean the only event in ``near``.
    """
    wanted = _words(replaces[:_LONGEST], said_at)
    if wanted.total < _GENERIC_WEIGHT * 2:
        nearest = [one for one in candidates if one.event_id in near]
        return nearest[0].event_id if len(nearest) == 1 else None
    context = frozenset(analyse(content[:_LONGEST]))
    scored = [
        (score, place, one)
        for place, one in enumerate(candidates)
        if (score := _score(wanted, entity, one, context, near)) is not None
    ]
    if not scored:
        return None
    scored.sort(key=lambda each: (-each[0], _distance(each[2], said_at), -each[1]))
    best = scored[0]
    margin = _MARGIN if wanted.times or wanted.names else _NAMELESS_MARGIN
    rivals = [each[2] for each in scored[1:] if best[0] - each[0] < margin]
    if any(not _alike(best[2], rival) for rival in rivals):
        return None
    return best[2].event_id


def linked(events: Sequence[NewEvent], known: KnownCards) -> list[NewEvent]:
    """Returns ``events`` with the earlier event in ``replaces_event``, for each event that replaces one.

    The earlier event is of the same mode. It is one of ``known``, or precedes the event in ``events``. Plans come first
    for a plan that is cancelled or moves. An event keeps a target that it already has. Episodes are never a target.
    "Moved to 4 pm" is on the day of the earlier event, and "moved to Friday" is at its hour.

    The end of something without an owner ("Rex died") gets the one owner that is known. Without one it is left out.
    """
    found: list[NewEvent] = []
    here: list[KnownEvent] = []
    facts = [*known.facts]
    for event in events:
        owned = _with_owner(event, facts)
        if owned is None:
            found = [_refused(event, one) for one in found]
            continue
        made = _completed(_with_target(owned, known, here), known, here)
        card = known_card(made)
        if isinstance(card, KnownEvent):
            here = [*(one for one in here if one.event_id != card.replaces_event), card]
        elif card is not None:
            facts.append(card)
        found.append(made)
    return found


def relinked(events: Sequence[NewEvent], was: KnownCards, now: KnownCards) -> list[NewEvent]:
    """Returns ``events`` with their targets among ``now``. They were made when ``was`` was known.

    A card of ``was`` may have been withdrawn since. An event then gets its target anew, by its words. A relation goes
    to the fact with the same identity, and is left out when there is none.
    """
    standing = {one.event_id for one in (*now.plans, *now.events)}
    gone = {one.event_id for one in (*was.plans, *was.events)} - standing
    facts = {fact.event_id: fact for fact in was.facts}
    successors = {(fact.mode, fact.identity): fact.event_id for fact in now.facts}
    kept: list[NewEvent] = []
    for event in events:
        payload = event.payload
        if isinstance(payload, EventNoted) and payload.replaces_event in gone:
            kept.append(replace(event, payload=replace(payload, replaces_event=None)))
        elif isinstance(payload, CardsConnected) and (fact := facts.get(payload.to_card)) is not None:
            target = successors.get((fact.mode, fact.identity))
            if target is not None:
                kept.append(replace(event, payload=replace(payload, to_card=target)))
        else:
            kept.append(event)
    return linked(kept, now)


def wants_target(events: Sequence[NewEvent]) -> bool:
    """Returns True when the earlier event that an event replaces or may repeat, or the owner, is not found yet."""
    return any(
        _is_without_owner(event)
        or (
            isinstance(event.payload, EventNoted)
            and event.payload.replaces_event is None
            and (event.payload.replaces is not None or event.payload.status == "planned")
            and event.payload.status in _LINKED
        )
        for event in events
    )


def _is_without_owner(event: NewEvent) -> bool:
    payload = event.payload
    return (
        isinstance(payload, StateAsserted)
        and payload.statement == "ended"
        and normalise_entity(payload.entity) == normalise_entity(payload.value)
    )


def _with_owner(event: NewEvent, facts: Sequence[KnownFact]) -> NewEvent | None:
    """Returns the event with the owner of what it ends, and None when none or several are known."""
    if not _is_without_owner(event):
        return event
    ended, mode = identity_of(event.payload)[1:], event.payload.origin.register
    owners = {
        fact.identity[0]: fact.entity
        for fact in facts
        if fact.statement != "ended" and fact.identity[1:] == ended and fact.mode == mode
    }
    if len(owners) != 1:
        return None
    return replace(event, payload=replace(event.payload, entity=next(iter(owners.values()))))


def _refused(card: NewEvent, event: NewEvent) -> NewEvent:
    """Returns ``event``. The extraction that caused ``card`` counts it as refused."""
    if event.event_id != card.causation_id or not isinstance(event.payload, TurnsExtracted):
        return event
    cards, refused = event.payload.cards - 1, event.payload.refused + 1
    return replace(event, payload=replace(event.payload, cards=cards, refused=refused))


def _with_target(event: NewEvent, known: KnownCards, here: Sequence[KnownEvent]) -> NewEvent:
    payload = event.payload
    if not isinstance(payload, EventNoted) or payload.episode or payload.replaces_event is not None:
        return event
    mode = payload.origin.register
    known, here = known.in_mode(mode), [one for one in here if one.mode == mode]
    target = None
    if payload.replaces and payload.status in _LINKED:
        target = _target(payload, known, here)
    elif payload.status == "planned":
        target = _told_before(event, known.plans)
    return event if target is None else replace(event, payload=replace(payload, replaces_event=target))


def _completed(event: NewEvent, known: KnownCards, here: Sequence[KnownEvent]) -> NewEvent:
    """Returns a moved or corrected event with what its words leave out: the day of its target, or its hour."""
    payload = event.payload
    if (
        not isinstance(payload, EventNoted)
        or payload.replaces_event is None
        or payload.status not in ("planned", "corrected")
    ):
        return event
    others = (*here, *known.plans, *known.events)
    target = next((one for one in others if one.event_id == payload.replaces_event), None)
    if target is None or not target.time_resolved:
        return event
    moved = _on_the_same_day(payload, target) or _at_the_same_hour(payload, target)
    return replace(event, payload=moved)


def _on_the_same_day(payload: EventNoted, target: KnownEvent) -> EventNoted | None:
    """Returns the event on the day of its target, if its hint is a clock time and nothing else."""
    hint = payload.occurred_at_hint or ""
    day = on_clock(target.occurred_at, payload.origin.time_zone)
    date = f"{day.year}年{day.month}月{day.day}日" if has_cjk(hint) else f"{day:%Y-%m-%d} "
    said_at = on_clock(payload.origin.said_at, payload.origin.time_zone)
    told = [one for one in timex.find(date + hint, said_at) if one.start is not None]
    clock = told[0] if len(told) == 1 else None
    if clock is None or clock.start is None or clock.stop <= len(date) or clock.grain not in WITHIN_DAY:
        return None
    # What was in the afternoon stays there.
    afternoon = clock.ambiguous and clock.start.hour < 12 <= day.hour
    later = timedelta(hours=12 if afternoon else 0)
    return replace(
        payload,
        occurred_at=clock.start + later,
        occurred_until=clock.end and clock.end + later,
        alternative_at=None if afternoon else clock.alternative,
        time_grain=clock.grain,
        time_resolved=True,
    )


def _at_the_same_hour(payload: EventNoted, target: KnownEvent) -> EventNoted:
    day = on_clock(payload.occurred_at, payload.origin.time_zone)
    until = payload.occurred_until
    other = payload.alternative_at and on_clock(payload.alternative_at, payload.origin.time_zone)
    one_day = payload.time_grain == "day" and day.hour == 0 and (until is None or until - day <= _LONGEST_DAY)
    if (
        payload.status != "planned"
        or not payload.time_resolved
        or not one_day
        or target.time_grain not in WITHIN_DAY
    ):
        return payload
    start, end = _at_hour_of(day, target.occurred_at, target.occurred_until)
    return replace(
        payload,
        occurred_at=start,
        occurred_until=end,
        time_grain=target.time_grain,
        alternative_at=other and _at_hour_of(other, target.occurred_at, None)[0],
    )


def _at_hour_of(day: datetime, plan: datetime, until: datetime | None) -> tuple[datetime, datetime | None]:
    """Returns the begin and the end on ``day`` of what begins at the hour of ``plan`` and lasts until ``until``."""
    start = datetime.combine(day, plan.astimezone(day.tzinfo).time(), day.tzinfo)
    return start, until and start + (until - plan)


def _target(payload: EventNoted, known: KnownCards, here: Sequence[KnownEvent]) -> UUID | None:
    origin = payload.origin
    said_at = on_clock(origin.said_at, origin.time_zone)
    near = frozenset(one.event_id for one in here)
    plans = [*known.plans, *(one for one in here if one.status == "planned")]
    others = [*known.events, *(one for one in here if one.status != "planned")]
    if payload.status == "cancelled":
        others = [one for one in others if one.status != "cancelled"]
    elif payload.status == "happened":
        others = [one for one in others if one.status == "wished"]
    wrong = payload.status == "corrected" or payload.corrects
    groups = [[*known.events, *known.plans, *here]] if wrong else [plans, others]
    for group in groups:
        target = target_of(
            payload.replaces or "", payload.entity, group, said_at=said_at, content=payload.content, near=near
        )
        if target is not None:
            return target
    return None


def _told_before(event: NewEvent, plans: Sequence[KnownEvent]) -> UUID | None:
    """Returns the plan of the same session that ``event`` tells again, or None.

    Batches of a session that are read side by side do not know each other's plans.
    """
    again = known_card(event)
    assert isinstance(again, KnownEvent)
    own = {normalise_entity(name) for name in (again.entity, *again.participants)}
    same = (
        one
        for one in reversed(plans)
        if one.session_id == again.session_id
        and not own.isdisjoint(map(normalise_entity, (one.entity, *one.participants)))
        and (not one.time_resolved or (again.time_resolved and one.occurred_at == again.occurred_at))
        and _alike(one, again)
    )
    return next((one.event_id for one in same), None)


def _score(
    wanted: _Words, entity: str, one: KnownEvent, context: frozenset[str], near: frozenset[UUID]
) -> float | None:
    """Returns how well an event fits the words, or None when it does not fit."""
    details = _terms(f"{one.content}\n{one.words}\n{' '.join(one.participants)}"[: 3 * _LONGEST])
    timely = _at_time(wanted, one)
    shared = {term: weight for term, weight in wanted.weights.items() if term in details}
    matched = sum(shared.values())
    if timely:
        matched += sum(wanted.weights[term] for term in wanted.timely if term not in shared)
    if wanted.names and wanted.names.isdisjoint(shared):
        return None
    share = matched / wanted.total
    if share < _ENOUGH:
        return None
    score = share
    if wanted.times and one.time_resolved:
        score += 0.2 if timely else 0.0 if wanted.timely <= shared.keys() else -_TIME_PENALTY
    owner = normalise_entity(entity)
    if owner != normalise_entity(one.entity):
        others = {normalise_entity(name) for name in one.participants}
        if owner not in others and not set(analyse(entity)) & details:
            if not wanted.names and not wanted.times:
                return None
            score -= _ENTITY_PENALTY
    if context:
        score += 0.15 * len(context & details) / len(context)
    if one.event_id in near:
        score += 0.1
    return score if score >= _ENOUGH else None


def _words(text: str, said_at: datetime) -> _Words:
    """Returns the terms of ``text`` with their weights. A term inside a time weighs less than a name."""
    found = [one for one in timex.find(text, said_at) if one.start is not None]
    # A bare "Friday" is the last one, and the plan was made for the next one.
    ahead = [
        one
        for one in timex.find(f"will {text}" if text.isascii() else f"要{text}", said_at)
        if one.start is not None
    ]
    rest, timely, reached = [], [], 0
    for one in found:
        rest.append(text[reached : one.begin])
        timely.append(one.text)
        reached = one.stop
    rest.append(text[reached:])
    weights = {term: _weight(term) for part in rest for term in _terms(part)}
    inside = {term for part in timely for term in _terms(part)} - weights.keys()
    weights.update(dict.fromkeys(sorted(inside), _TIME_WEIGHT))
    times = tuple(
        (one.start, one.through or one.end or one.start + timedelta(days=1))
        for one in (*found, *ahead)
        if one.start is not None
    )
    return _Words(weights, frozenset(inside), times)


def _weight(term: str) -> float:
    if term in _GENERIC:
        return _GENERIC_WEIGHT
    if term in _KINDS or term in _KIND_NAMES:
        return _KIND_WEIGHT
    if len(term) == 1 and not term.isascii():
        return _CHARACTER_WEIGHT
    return 1.0


@lru_cache(maxsize=4096)
def _terms(text: str) -> frozenset[str]:
    found = analyse(_PARTICLES.sub(" ", fold(text)))
    return frozenset(found).union(_KINDS[term] for term in found if term in _KINDS)


def _at_time(wanted: _Words, one: KnownEvent) -> bool:
    """Returns True when one of the times meets the time of the event."""
    if not one.time_resolved:
        return False
    end = one.occurred_until or one.occurred_at + timedelta(minutes=1)
    return any(start < end and one.occurred_at < until for start, until in wanted.times)


def _distance(one: KnownEvent, said_at: datetime) -> timedelta:
    return abs((one.occurred_at if one.time_resolved else one.said_at) - said_at)


def _alike(one: KnownEvent, other: KnownEvent) -> bool:
    """Returns True when two events tell of one kind of thing, for instance a plan that was said twice."""
    mine, yours = _terms(one.content), _terms(other.content)
    return len(mine & yours) >= _ALIKE * max(1, len(mine | yours))
