"""Metadata in a request."""

from __future__ import annotations

from events.http.errors import invalid
from events.types.metadata import MAX_BYTES, MAX_DEPTH, MetadataInvalidError, metadata_text

DESCRIPTION = (
    f"a JSON object of the app, at most {MAX_BYTES} bytes and {MAX_DEPTH} levels deep; numbers up to 2^53"
)


def metadata_wanted(given: object) -> str | None:
    """Returns the canonical text of the metadata that cards must contain. Raises a 422 problem."""
    try:
        return metadata_text(given)
    except MetadataInvalidError as error:
        raise invalid("metadata", str(error)) from None
