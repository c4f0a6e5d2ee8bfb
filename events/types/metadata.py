"""The metadata of a turn: a small JSON object of the app, kept unchanged on the cards of the turn."""

import math

import orjson

MAX_BYTES = 4096
"""The most bytes of the canonical JSON text."""
MAX_DEPTH = 4
"""Levels of objects and lists. The object itself is the first level."""
MAX_NUMBER = 2**53
"""The greatest magnitude of a number. Every JSON reader keeps whole numbers up to it exactly."""


class MetadataInvalidError(ValueError):
    """A value is no metadata. The message gives the reason and the remedy, and follows the field's name."""


def metadata_text(given: object) -> str | None:
    """Returns the canonical JSON text of ``given``: a JSON object, or its text. None and an empty object give None.

    Equal metadata have equal texts. Raises :class:`MetadataInvalidError`.
    """
    if isinstance(given, str):
        if not given.strip():
            return None
        # A text that is far too long is not parsed. The parser refuses text that is nested too deeply.
        if len(given) > 8 * MAX_BYTES:
            raise MetadataInvalidError(_too_long(len(given.encode())))
        try:
            given = orjson.loads(given)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            raise MetadataInvalidError(
                'is not valid JSON; send a JSON object, such as {"ticket": "A-17"}'
            ) from None
    if given is None:
        return None
    if not isinstance(given, dict):
        raise MetadataInvalidError('must be a JSON object, such as {"ticket": "A-17"}')
    _check(given, 1)
    text = orjson.dumps(given, option=orjson.OPT_SORT_KEYS)
    if len(text) > MAX_BYTES:
        raise MetadataInvalidError(_too_long(len(text)))
    return text.decode() if given else None


def metadata_of(text: str | None) -> dict[str, object] | None:
    """Returns the metadata with the canonical text ``text``."""
    if text is None:
        return None
    found: dict[str, object] = orjson.loads(text)
    return found


def holds(metadata: object, wanted: object) -> bool:
    """True when ``metadata`` contains ``wanted``, as the operator ``@>`` of PostgreSQL's ``jsonb`` decides.

    An object contains an object with fewer fields. A list contains a list whose items it has, in any order.
    """
    if isinstance(wanted, dict):
        return isinstance(metadata, dict) and all(
            key in metadata and holds(metadata[key], each) for key, each in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(metadata, list) and all(
            any(holds(own, each) for own in metadata) for each in wanted
        )
    if isinstance(metadata, bool) or isinstance(wanted, bool):
        return metadata is wanted
    return not isinstance(metadata, dict | list) and bool(metadata == wanted)


def _too_long(size: int) -> str:
    return f"is {size} bytes of JSON; at most {MAX_BYTES} are allowed"


def _check(value: object, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            raise MetadataInvalidError(f"is nested more than {MAX_DEPTH} levels deep; use fewer levels")
        for each in value.values() if isinstance(value, dict) else value:
            _check(each, depth + 1)
        for key in value if isinstance(value, dict) else ():
            _check(key, depth + 1)
    elif isinstance(value, str):
        if "\0" in value:
            raise MetadataInvalidError("holds a NUL character; leave it out")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MetadataInvalidError("holds a lone surrogate; leave it out") from None
    elif isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MAX_NUMBER):
        raise MetadataInvalidError("holds a number beyond 2^53; send it as a string")
