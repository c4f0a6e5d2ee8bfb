"""The times that the words of a turn mean: "a week from Saturday", said on 2026-03-04, is 2026-03-14.

A reader gets the words of a turn as they were said, also when nothing else was read from them. Only the day and the
clock of the speaker resolve the times in these words.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from events.language import timex
from events.resources.recall import TimeExpression
from projectors.cards.card import Card
from retrieval.cards.card_times import times_of
from retrieval.cards.told_times import on_clock, told_day, told_time, zone_of

_LONGEST = 4096
"""The characters of a turn that are read."""
_MOST = 8
_SURE = 0.8
"""The least confidence of a reading that has a rival without a time of its own."""
_INSTANT = timedelta(microseconds=1)


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
