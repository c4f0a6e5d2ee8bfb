"""Instants in a request: ISO 8601 with an offset, possible ones, and of what was, not of what will be."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.json_schema import WithJsonSchema

from events.http.problem import invalid

EXAMPLE = "2026-05-08T16:44:10+08:00"
_YEARS = range(1900, 2201)  # what a turn may be said in, too
_EATEN_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
_SKEW = timedelta(minutes=1)  # another machine's clock may be a little ahead


def parse_instant(value: Any) -> datetime:
    """An aware instant. Raises ValueError saying what is wrong with ``value`` and how it is written."""
    if isinstance(value, datetime):
        instant = value
    else:
        # A plus that was not escaped in a URL arrives as a space.
        text = _EATEN_PLUS.sub("+", value.strip()) if isinstance(value, str) else repr(value)
        try:
            instant = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(
                f"{text[:40]!r} is no possible instant; use ISO 8601 with an offset, such as {EXAMPLE}"
            ) from None
    if instant.tzinfo is None:
        raise ValueError(f"{str(value)[:40]!r} has no offset; append one, such as +08:00 or Z")
    if instant.year not in _YEARS:
        raise ValueError(f"the year {instant.year} is out of range; use {_YEARS[0]} to {_YEARS[-1]}")
    return instant


Instant = Annotated[
    datetime,
    BeforeValidator(parse_instant),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": [EXAMPLE]}),
]


def refuse_future(field: str, instant: datetime | None, now: datetime) -> None:
    """Raise a 422 problem where ``instant`` has not come yet."""
    if instant is not None and instant > now + _SKEW:
        raise invalid(
            field,
            f"lies in the future; give an instant up to now, {now.astimezone(UTC).isoformat(timespec='seconds')}",
        )
