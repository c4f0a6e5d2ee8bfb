"""The times of a card as readers are told them: on the speaker's clock, at the grain of the speaker's words.

A reader gets the words of a turn as they were said, also when nothing else was read from them. Only the day and the
clock of the speaker resolve the times in these words: "a week from Saturday", said on 2026-03-04, is 2026-03-14.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, TypeVar

from events.language import timex
from events.resources.recall import TimeExpression
from projectors.cards.card import Card
from retrieval.cards.told_times import ToldTime, on_clock, told_day, told_point, told_time, zone_of

_C = TypeVar("_C", bound=Card)
Plan = Literal["open", "time passed", "off", "wish"]
_INSTANT = timedelta(microseconds=1)
_LONGEST = 4096
"""The characters of a turn that are read."""
_MOST = 8
_SURE = 0.8
"""The least confidence of a reading that has a rival without a time of its own."""


def times_of(card: Card) -> dict[str, str]:
    """Returns the times of a card by name, in reading order.

    An event has ``at`` (a minute), ``on`` (a day), ``in`` (a month, year or decade), ``about`` (roughly), or ``from``
    and ``to`` (a stretch, with its last day). A state has ``since`` and ``until``. An event whose words name only its
    end ("by Friday") has ``until``, its last day. ``said`` is the day of the turn. It is there when the words name no
    beginning, or tell it only roughly. ``time`` is ``"unresolved"`` when the words name a time that was not resolved.
    ``or`` is the other reading of an ambiguous time. ``value`` is the value of a state that is a time.
    """
    zone = zone_of(card.time_zone)
    times: dict[str, str] = {}
    told: ToldTime | None = None
    if card.kind == "event" and card.occurred_at is not None and _is_named(card, card.occurred_at):
        told = told_time(card.occurred_at, card.occurred_until, card.time_grain, zone)
        times["from" if told.form == "from" else told.form] = told.start
        if told.end is not None:
            times["to"] = told.end
        if told.form == "about":
            times["said"] = told_day(card.said_at, zone)
    elif card.kind == "state" and card.effective_at is not None and _is_named(card, card.effective_at):
        told = told_point(card.effective_at, card.time_grain, zone)
        times["since"] = told.text
    else:
        times["said"] = told_day(card.said_at, zone)
        if (end := last_moment(card)) is not None:
            times["until"] = told_day(end - _INSTANT, zone)
        elif card.time_resolved is False:
            times["time"] = "unresolved"
    if told is not None and card.alternative_at is not None:
        times["or"] = _alternative(card, card.alternative_at)
    if card.kind == "state":
        # A card that records an end has no period of its own: "no longer works there" holds since then. A retracted
        # card was never true.
        if card.superseded_at is not None and not (card.ended or card.retracted):
            times["until"] = told_day(card.superseded_at, zone)
        if card.value_at is not None:
            times["value"] = (
                told_point(card.value_at, card.value_grain, zone)
                if card.value_until is None
                else told_time(card.value_at, card.value_until, card.value_grain, zone)
            ).text
    return times


def _is_named(card: Card, at: datetime) -> bool:
    """True when the words of the turn name the time ``at``.

    "Until June" names only an end. The beginning is then the instant of the turn.
    """
    if card.kind == "state" and at == card.said_at:
        return False
    return bool(card.time_resolved)


def _alternative(card: Card, other: datetime) -> str:
    """Tells the other reading, which is as long as the first."""
    zone, start, end = zone_of(card.time_zone), card.occurred_at, card.occurred_until
    if card.kind == "event" and start is not None and end is not None and end > start:
        try:
            return told_time(other, other + (end - start), card.time_grain, zone).text
        except OverflowError:
            pass
    return told_point(other, card.time_grain, zone).text


def when_of(card: Card) -> str:
    """Returns the times of a card as one line.

    For instance ``2026-05``, ``about 2020``, ``2026-04-02/2026-04-04``, ``since 2019`` or ``said 2026-04-02``.
    """
    times = times_of(card)
    parts = []
    for name, text in times.items():
        match name:
            case "at" | "on" | "in":
                parts.append(text)
            case "from":
                parts.append(f"{text}/{times['to']}" if "to" in times else f"from {text}")
            case "to":
                pass
            case "time":
                parts[-1] += f", time {text}"
            case _:
                parts.append(f"{name} {text}")
    return " ".join(parts)


def plan_of(card: Card, now: datetime) -> Plan | None:
    """Returns what became of a plan by ``now``, or None for a card that is no plan.

    ``"off"`` is also a plan that another one replaced. ``"time passed"`` does not say that it happened. A ``"wish"``
    was never arranged.
    """
    if card.kind != "event" or card.event_status not in ("planned", "wished", "cancelled"):
        return None
    if card.event_status == "wished":
        return "wish"
    if card.event_status == "cancelled" or replaced(card, now):
        return "off"
    return "time passed" if time_passed(card, now) else "open"


def as_it_stood(card: _C, at: datetime) -> _C:
    """Returns ``card`` with the status it had at ``at``.

    An event that a later event replaced after ``at`` had the status of its own words then. Other cards do not change.
    """
    if card.kind != "event" or card.superseded_at is None or replaced(card, at):
        return card
    return replace(card, event_status=card.stated_status)


def replaced(card: Card, at: datetime) -> bool:
    """True when a later event had taken the place of an event by ``at``."""
    return card.superseded_at is not None and card.superseded_at <= at


def last_moment(card: Card) -> datetime | None:
    """Returns the end of an event whose words name an end and no beginning ("by Friday"), or None."""
    until = card.occurred_until
    named = card.kind == "event" and card.time_resolved is not True
    return until if named and until is not None and until > card.said_at else None


def time_passed(card: Card, at: datetime) -> bool:
    """True for a planned event whose time lies before ``at``, and that no other plan has replaced by then.

    Nobody said that it happened. The time is the end of the event, or its start when it has no end. Of an ambiguous
    time, both readings must lie before ``at``. A plan has not passed when its words name no time that was resolved:
    neither a beginning nor an end.
    """
    start = card.occurred_at
    if card.kind != "event" or card.event_status != "planned" or start is None or replaced(card, at):
        return False
    if card.time_resolved is not True:
        end = last_moment(card)
        return end is not None and end <= at
    last = max(start, card.alternative_at or start)
    return at - last >= (card.occurred_until or start) - start


def time_expressions(card: Card) -> tuple[TimeExpression, ...]:
    """Returns the times that the words of a turn mean, in order, each once, at most eight; no other card has any.

    A time that the words tell by themselves ("May 2016"), one that the card has, the day of the turn ("tonight"), an
    estimate ("a few years ago") and an unsure reading are left out.
    """
    if not card.episode:
        return ()
    own = times_of(card).values()
    found = _expressions(card.content[:_LONGEST], card.said_at, card.time_zone)
    return tuple(each for each in found if each.time not in own)


@lru_cache(maxsize=4096)
def _expressions(words: str, said_at: datetime, time_zone: str | None) -> tuple[TimeExpression, ...]:
    zone = zone_of(time_zone)
    found = timex.find(words, on_clock(said_at, zone))[:_MOST]
    told = ((" ".join(one.text.split()), " or ".join(_readings(one, time_zone))) for one in found)
    today = told_day(said_at, zone)
    means = {said: time for said, time in told if time not in ("", today)}
    return tuple(TimeExpression(words=said, time=time) for said, time in means.items())


def _readings(one: timex.Found, time_zone: str | None) -> Iterator[str]:
    zone, start, end = zone_of(time_zone), one.start, one.through or one.end
    first = start or end
    unsure = one.ambiguous and one.alternative is None and one.confidence < _SURE
    if first is None or unsure or one.vague or one.grain == "second" or str(first.year) in one.text:
        return
    if start is None:
        yield f"until {told_day(first - _INSTANT, zone)}"
        return
    yield told_time(start, end, one.grain, zone).text
    if one.ambiguous and (other := one.alternative) is not None:
        try:
            yield told_time(other, end and other + (end - start), one.grain, zone).text
        except OverflowError:  # at the end of the calendar
            return
