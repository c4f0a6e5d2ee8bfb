"""Fields of requests: UUIDs as every answer writes them (RFC 9562), instants and days, texts, and metadata of apps."""

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator
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
from events.types.metadata import MAX_BYTES, MAX_DEPTH, MetadataInvalidError, metadata_text
from events.types.turn_contract import MAX_NAME_BYTES, MAX_TEXT_BYTES, text_of

T = TypeVar("T")
METADATA = (
    f"a JSON object of the app, at most {MAX_BYTES} bytes and {MAX_DEPTH} levels deep; numbers up to 2^53"
)


def metadata_wanted(given: object) -> str | None:
    """Returns the canonical text of the metadata that cards must contain. Raises a 422 problem."""
    try:
        return metadata_text(given)
    except MetadataInvalidError as error:
        raise invalid("metadata", str(error)) from None


def text_given(field: str, text: str) -> str:
    """Returns the text of a field. Raises a 422 problem for a text that the log cannot hold."""
    return text_of(field, text, invalid)


def cursor_of(place: bytes) -> str:
    """Returns the cursor of the page behind ``place``."""
    return base64.urlsafe_b64encode(place).decode().rstrip("=")


def place_at(cursor: str | None, read: Callable[[bytes], T]) -> T | None:
    """Returns what ``read`` makes of the place in a cursor. Raises a 422 problem where it raises ValueError."""
    if cursor is None:
        return None
    try:
        return read(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        raise invalid(
            "cursor", "is not a cursor; give the next_cursor of the page before, unchanged"
        ) from None


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


_FORM = re.compile("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def _as_documented(value: object) -> object:
    # UUID() also reads braces, "urn:uuid:" and text without hyphens. The format `uuid` of JSON Schema has none of them.
    if not isinstance(value, str):
        return value
    if not _FORM.fullmatch(value):
        raise ValueError("must be a UUID, such as 0198c0de-6a2f-7c1d-9a54-1f2e3d4c5b6a")
    return UUID(value)


Uuid = Annotated[UUID, BeforeValidator(_as_documented)]


def storable(longest: int) -> tuple[AfterValidator, WithJsonSchema]:
    """Returns the annotations of a text that the log can hold, with at most ``longest`` bytes."""

    def check(text: str) -> str:
        if not text.strip():
            raise ValueError("must not be empty")
        if len(text.encode("utf-8", "surrogatepass")) > longest:
            raise ValueError(f"is longer than {longest} bytes; shorten it")
        return text_of("", text, lambda _, reason: ValueError(reason))

    schema = {"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"}
    return AfterValidator(check), WithJsonSchema(schema)


Name = Annotated[str, *storable(MAX_NAME_BYTES)]
"""A name in a body."""
Words = Annotated[str, *storable(MAX_TEXT_BYTES)]
"""A text in a body."""
