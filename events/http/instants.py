"""Instants in a request: ISO 8601 with an offset, or a day; within the allowed years, and not in the future."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import BeforeValidator
from pydantic.json_schema import WithJsonSchema

from events.http.errors import invalid
from events.types.instants import (
    DAY_EXAMPLE,
    EXAMPLE,
    PATTERN,
    PATTERN_IN_A_URL,
    PATTERN_OR_BLANK,
    PATTERN_OR_DAY,
    day_or_instant_of,
    instant_in_a_url,
    instant_of,
)

_SKEW = timedelta(minutes=1)  # another machine's clock may be a little ahead


def _reader(read: Callable[[str], datetime]) -> BeforeValidator:
    def checked(value: object) -> datetime:
        if isinstance(value, datetime):
            return value
        if not isinstance(value, str):
            raise ValueError(  # noqa: TRY004 - pydantic turns only a ValueError into an answer
                f"must be a string: ISO 8601 with an offset, such as {EXAMPLE}"
            )
        return read(value)

    return BeforeValidator(checked)


def _schema(pattern: str, *examples: str) -> WithJsonSchema:
    # The format `date-time` (RFC 3339) refuses instants that Cardlog takes, and takes years that Cardlog refuses.
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [EXAMPLE, *examples]})


Instant = Annotated[datetime, _reader(instant_of), _schema(PATTERN)]
"""An instant in a body."""
DayOrInstant = Annotated[
    datetime,
    _reader(lambda text: day_or_instant_of(text, datetime.now(UTC))),
    _schema(PATTERN_OR_DAY, DAY_EXAMPLE),
]
"""An instant in a body, or a day."""
InstantOrBlank = Annotated[datetime, _reader(instant_of), _schema(PATTERN_OR_BLANK)]
"""An instant of a turn. The turn contract reads blank text as no instant."""
QueryInstant = Annotated[datetime, _reader(instant_in_a_url), _schema(PATTERN_IN_A_URL)]
"""An instant in a URL."""


def refuse_future(field: str, instant: datetime | None, now: datetime) -> None:
    """Raises a 422 problem when ``instant`` is more than a minute after ``now``."""
    if instant is not None and instant > now + _SKEW:
        raise invalid(
            field,
            f"is in the future; use an instant up to now, {now.astimezone(UTC).isoformat(timespec='seconds')}",
        )
