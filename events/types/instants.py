"""Instants as text: ISO 8601 with an offset. The stream, HTTP and the OpenAPI documents share one pattern."""

import re
from datetime import UTC, date, datetime, time, timedelta

DAY_EXAMPLE = "2023-11-20"
EXAMPLE = "2026-05-08T16:44:10+08:00"
YEARS = range(1900, 2201)  # wide enough for any conversation, and far from datetime's own limits
_FURTHEST_OFFSET = timedelta(hours=14)  # Kiritimati; Postgres accepts less than 16 hours
_BLANK = " \t\r\n"

_YEAR = "(?:(?:19|20|21)[0-9]{2}|2200)"
_MONTH = "(?:0[1-9]|1[0-2])"
_DAY = "(?:0[1-9]|[12][0-9]|3[01])"
_HOUR = "(?:[01][0-9]|2[0-3])"
_SIXTIETH = "[0-5][0-9]"
_FRACTION = "(?:[.,][0-9]+)?"
_OFFSET = f"(?:Z|SIGN(?:(?:0[0-9]|1[0-3])(?::?{_SIXTIETH})?|14(?::?00)?))"
_INSTANT = (
    f"{_YEAR}(?:-{_MONTH}-{_DAY}|{_MONTH}{_DAY})[T ]"
    f"{_HOUR}(?::{_SIXTIETH}(?::{_SIXTIETH}{_FRACTION})?|{_SIXTIETH}(?:{_SIXTIETH}{_FRACTION})?)?{_OFFSET}"
)
_AROUND = "[ \\t\\r\\n]*"

PATTERN = f"^{_AROUND}{_INSTANT.replace('SIGN', '[+-]')}{_AROUND}$"
"""Every accepted instant matches this pattern. Every match is accepted, if its month has its day.

The pattern means the same in Python and in JSON Schema. It is stricter than ISO 8601, which also has week dates. It is
wider than RFC 3339, which always has seconds.
"""
PATTERN_OR_BLANK = f"^{_AROUND}(?:{_INSTANT.replace('SIGN', '[+-]')}{_AROUND})?$"
"""The same, and blank text."""
PATTERN_IN_A_URL = f"^{_AROUND}{_INSTANT.replace('SIGN', '[ +-]')}{_AROUND}$"
"""The same with a blank for a plus sign. A plus sign that a client did not escape in a URL arrives as a blank."""
PATTERN_OR_DAY = f"^{_AROUND}(?:{_YEAR}-{_MONTH}-{_DAY}|{_INSTANT.replace('SIGN', '[+-]')}){_AROUND}$"
"""Every accepted instant, and days such as 2023-11-20."""

_ACCEPTED = re.compile(PATTERN)
_DAY_FIRST = re.compile(rf"{_AROUND}([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|[0-9]{{8}})")
_LATE_BLANK = re.compile(rf" (?=[0-9]{{2}}(?::?[0-9]{{2}})?{_AROUND}$)")


class InstantInvalidError(ValueError):
    """A text is not an accepted instant. The message gives the reason and the remedy, and follows the field's name."""


def instant_of(text: str) -> datetime:
    """Returns the aware instant that ``text`` names. Raises :class:`InstantInvalidError`."""
    if _ACCEPTED.fullmatch(text):
        try:
            return datetime.fromisoformat(text.strip(_BLANK))
        except ValueError:
            pass  # the month has no such day
    raise InstantInvalidError(_reason(text))


def day_or_instant_of(text: str, now: datetime) -> datetime:
    """Returns the instant that ``text`` names. A day is its noon (UTC), or ``now`` while the day lasts somewhere.

    Raises :class:`InstantInvalidError`.
    """
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text.strip(_BLANK)):
        try:
            return instant_of(text)
        except InstantInvalidError as error:
            raise InstantInvalidError(f"{error}, or a day such as {DAY_EXAMPLE}") from None
    noon = noon_of(text.strip(_BLANK))
    begun = noon - timedelta(hours=12) - _FURTHEST_OFFSET <= now
    return min(noon, now) if begun else noon


def noon_of(text: str) -> datetime:
    """Returns the noon (UTC) of a day such as 2024-05-03. Raises :class:`InstantInvalidError`."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.year not in YEARS:
        shown = repr(text if len(text) <= 40 else text[:40] + "…")
        raise InstantInvalidError(f"is {shown}; use a day of the calendar, such as {DAY_EXAMPLE}")
    return datetime.combine(day, time(12), UTC)


def instant_in_a_url(text: str) -> datetime:
    """Returns the instant of a query parameter. A blank in the place of the plus sign counts as the plus sign.

    Raises :class:`InstantInvalidError`.
    """
    signed = _LATE_BLANK.sub("+", text)
    return instant_of(signed if _ACCEPTED.fullmatch(signed) else text)


def _reason(text: str) -> str:
    shown = repr(text if len(text) <= 40 else text[:40] + "…")
    if (day := _DAY_FIRST.match(text)) is not None:
        try:
            date.fromisoformat(day[1])
        except ValueError:
            return f"is {shown}, and the calendar has no such day; use ISO 8601 with an offset, such as {EXAMPLE}"
        if text[day.end() :].strip(_BLANK)[:1] in ("", "Z", "+", "-"):
            return (
                f"is {shown} without a time of day; give the day, the time and the offset, such as {EXAMPLE}"
            )
    try:
        instant = datetime.fromisoformat(text.strip(_BLANK))
    except ValueError:
        return f"is {shown}; use ISO 8601 with an offset, such as {EXAMPLE}"
    offset = instant.utcoffset()
    if offset is None:
        return f"is {shown} without an offset; append one, such as +08:00 or Z"
    if instant.year not in YEARS:
        return f"is in the year {instant.year}; use {YEARS[0]} to {YEARS[-1]}"
    if offset.total_seconds() % 60:
        return f"is {shown}, with seconds in its offset; use whole minutes, such as +08:00"
    if abs(offset) > _FURTHEST_OFFSET:
        return f"is {shown}; use an offset between -14:00 and +14:00"
    return f"is {shown}; use ISO 8601 with an offset, such as {EXAMPLE}"
