"""What a client raises: every error is a :class:`CardlogError` and carries the service's problem document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CardlogError(Exception):
    """A request did not get its answer. ``problem`` is the RFC 9457 document, empty where there was none."""

    def __init__(self, message: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.problem: Mapping[str, Any] = problem or {}

    @property
    def status(self) -> int | None:
        """The HTTP status; None where nobody answered."""
        return self.problem.get("status")

    @property
    def field(self) -> str | None:
        """The field of the request that is wrong, where one is."""
        return self.problem.get("field")


class RefusedError(CardlogError):
    """The request is wrong, and stays wrong however often it is sent: ``field`` and the message say what to change."""


class UnavailableError(CardlogError):
    """The service is away, overloaded or broken, and was so at every retry; the same request may succeed later."""
