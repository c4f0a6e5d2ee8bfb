"""Instants in a request: ISO 8601 with an offset, within the allowed years, and not in the future."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.json_schema import WithJsonSchema

from events.http.problem import invalid

EXAMPLE = "2026-05-08T16:44:10+08:00"
_YEARS = range(1900, 2201)  # the turn contract has the same range
_EATEN_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")
_SKEW = timedelta(minutes=1)  # another machine's clock may be a little ahead


def parse_instant(value: Any) -> datetime:
    """Returns ``value`` as an aware instant. Raises ValueError with the fault of ``value`` and the remedy."""
    if isinstance(value, datetime):
        instant = value
    else:
        # A plus sign that a client did not escape in a URL arrives as a space.
        text = _EATEN_PLUS.sub("+", value.strip()) if isinstance(value, str) else repr(value)
        try:
            instant = datetime.fromisoformat(text)
        except ValueError:
            raise ValueError(
                f"{text[:40]!r} is not a valid instant; use ISO 8601 with an offset, such as {EXAMPLE}"
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
    """Raises a 422 problem when ``instant`` is more than a minute after ``now``."""
    if instant is not None and instant > now + _SKEW:
        raise invalid(
            field,
            f"is in the future; use an instant up to now, {now.astimezone(UTC).isoformat(timespec='seconds')}",
        )
