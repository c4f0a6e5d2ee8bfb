"""Error texts of pydantic in the words of Cardlog."""

from __future__ import annotations

from collections.abc import Sequence

from events.types.json_values import JsonObject

_REASONS = {
    "missing": "is required",
    "extra_forbidden": "is not a known field; leave it out",
    "string_type": "must be a string",
    "string_too_long": "is longer than {max_length} characters",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "list_type": "must be a list",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have at most {max_length} items",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "json_invalid": "is not valid JSON",
}


def reason_of(error: JsonObject) -> str:
    """Returns the reason of a validation error, for people. ``error`` is an item of pydantic's ``errors()``."""
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    reason = _REASONS.get(error["type"], "does not fit its description in /openapi.json")
    return reason.format(**error.get("ctx", {}))


def where_of(location: Sequence[int | str]) -> str:
    """Returns the field at ``location``. The first part of ``location`` is only the place: body, query or path."""
    # For a field of several types pydantic appends the type that it tried.
    parts = [str(part) for part in location[1:]]
    return ".".join(part for part in parts if part != "str" and "[" not in part) or "(body)"
