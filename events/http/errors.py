"""Errors as RFC 9457 problem documents. Both HTTP services use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def missing(thing: str, field: str, **extra: Any) -> ProblemError:
    """Returns the 404 problem for a ``thing`` that a user does not have.

    The caller of a thing of somebody else gets the same problem, so nobody learns from it what exists.
    """
    whose = "there is" if thing == "user" else "this user has"
    return ProblemError(404, "Not found", f"{whose} no such {thing}", field=field, **extra)
