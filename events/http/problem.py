"""Errors as RFC 9457 problem documents, the same from every HTTP service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MEDIA_TYPE = "application/problem+json"
_RETRIED = (429, 503)


class ProblemError(Exception):
    """An answer that is an error; ``field`` names where the request went wrong, if it did."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str,
        *,
        field: str | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = ({"retry-after": "1"} if status in _RETRIED else {}) | dict(headers or {})
        self.document: dict[str, Any] = {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
        }
        if field is not None:
            self.document["field"] = field
        self.document.update(extra)


def invalid(field: str, reason: str, **extra: Any) -> ProblemError:
    """422: the request is understood and cannot be taken; ``field`` says where, ``reason`` says why."""
    return ProblemError(422, "Invalid request", f"{field}: {reason}", field=field, reason=reason, **extra)
