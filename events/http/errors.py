"""Errors as RFC 9457 problem documents. Both HTTP services use them."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from events.types.json_values import JsonObject

MEDIA_TYPE = "application/problem+json"
_RETRIED = (429, 503)


class ProblemError(Exception):
    """An HTTP error. ``field`` names the field, parameter or header at fault, if there is one.

    ``detail`` gives the cause and the remedy. ``extra`` adds fields to the document. 429 and 503 have a
    ``retry-after`` of 1 s by default.
    """

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: object,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = ({"retry-after": "1"} if status in _RETRIED else {}) | dict(headers or {})
        self.document: dict[str, object] = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
        }
        if field is not None:
            self.document["field"] = field
        self.document.update(extra)


def invalid(field: str, reason: str, **extra: Any) -> ProblemError:
    """Returns a 422 problem. ``field`` is at fault; ``reason`` gives the cause and the remedy."""
    return ProblemError(422, "Invalid request", f"{field}: {reason}", field=field, reason=reason, **extra)


def conflict(title: str, field: str, reason: str, /, **extra: Any) -> ProblemError:
    """Returns a 409 problem. ``field`` names what stands against the command; ``reason`` gives cause and remedy."""
    return ProblemError(409, title, f"{field}: {reason}", field=field, **extra)


def missing(thing: str, field: str, **extra: Any) -> ProblemError:
    """Returns the 404 problem for a ``thing`` that a user does not have.

    The caller of a thing of somebody else gets the same problem, so nobody learns from it what exists.
    """
    whose = "there is" if thing == "user" else "this user has"
    return ProblemError(404, "Not found", f"{whose} no such {thing}", field=field, **extra)


_REASONS = {
    "missing": "is required",
    "extra_forbidden": "is not a known field; leave it out",
    "string_type": "must be a string",
    "string_too_long": "is longer than {max_length} characters; shorten it",
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
    "list_type": "must be a list; put a single value in brackets",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have at most {max_length} items",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "json_invalid": "is not valid JSON",
}


def problem_of(errors: Sequence[JsonObject], known: Mapping[object, Collection[str]]) -> ProblemError:
    """Returns the 422 problem of a request that does not fit its model.

    ``errors`` are pydantic's, with the place (``body``, ``query`` or ``path``) before each location. ``known`` holds
    the fields by place. An unknown field comes before other faults: a required field often has another name there.
    """
    first = errors[0]
    # A field of several types has a fault for each. The one about the value is of the type that was given.
    same = (each for each in errors if each["loc"][:2] == first["loc"][:2])
    fault = next((each for each in same if not each["type"].endswith(("_type", "literal_error"))), first)
    fault = next((each for each in errors if each["type"] == "extra_forbidden"), fault)
    reason, (place, *names) = reason_of(fault), fault["loc"]
    if fault["type"] == "extra_forbidden" and len(names) == 1 and (fields := known.get(place)):
        near = get_close_matches(str(names[0])[:100], fields, 1)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(fields)}"
        reason = f"is not a known field; {hint}"
    return invalid(_where_of(fault["loc"]), reason)


def reason_of(error: JsonObject) -> str:
    """Returns the reason of a validation error, for people. ``error`` is an item of pydantic's ``errors()``."""
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    reason = _REASONS.get(error["type"], "does not fit its description in /openapi.json")
    return reason.format(**error.get("ctx", {}))


def _where_of(location: Sequence[int | str]) -> str:
    """Returns the field at ``location``. The first part of ``location`` is only the place: body, query or path."""
    place, *names = location
    # A parameter of a query is written without its number, also when it is repeated.
    parts = [str(name) for name in names if place != "query" or isinstance(name, str)]
    # For a field of several types pydantic appends the type that it tried.
    return ".".join(part for part in parts if part != "str" and "[" not in part) or "(body)"
