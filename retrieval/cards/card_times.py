"""The times of a card as readers are told them: on the speaker's clock, at the grain of the speaker's words."""

from datetime import datetime, timedelta
from typing import Literal

from projectors.cards.card import Card
from retrieval.cards.event_time import last_moment, replaced, time_passed
from retrieval.cards.told_times import ToldTime, told_day, told_point, told_time, zone_of

Plan = Literal["open", "time passed", "off", "wish"]
_INSTANT = timedelta(microseconds=1)


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
    return bool(card.time_resolved) or at != card.said_at


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
