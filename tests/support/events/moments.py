"""Expressions of time as the tests read them: on Friday 8 May 2026, 16:44 in Taipei."""

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from events.language.timex import Found, find

TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=TAIPEI)


def only(text: str, reading: Literal["statement", "question"] = "statement") -> Found:
    """Returns the one expression of ``text`` that is no mere length."""
    dated = [found for found in find(text, NOW, reading=reading) if found.kind != "duration"]
    assert len(dated) == 1, [found.text for found in dated]
    return dated[0]


def interval(text: str) -> tuple[str | None, str | None]:
    """Returns the two sides of the one expression of ``text``, as :func:`shown` formats them."""
    found = only(text)
    return shown(found.start), shown(found.end)


def shown(moment: datetime | None) -> str | None:
    """Formats a time exactly and briefly: a date at midnight, else a date and time."""
    if moment is None:
        return None
    assert moment.tzinfo is TAIPEI
    plain = moment.replace(tzinfo=None)
    midnight = plain == plain.replace(hour=0, minute=0, second=0)
    return plain.date().isoformat() if midnight else plain.isoformat(" ")
