"""The errors of the clients. Every error is a :class:`CardlogError` with the problem document of the service."""

from collections.abc import Mapping
from typing import Any


class CardlogError(Exception):
    """A request failed. ``problem`` is the RFC 9457 document, empty where the service sent none."""

    def __init__(self, message: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.problem: Mapping[str, Any] = problem or {}

    @property
    def status(self) -> int | None:
        """The HTTP status. None where no service answered."""
        return self.problem.get("status")

    @property
    def field(self) -> str | None:
        """The field of the request that is wrong, or None."""
        return self.problem.get("field")


class RefusedError(CardlogError):
    """The request is wrong, so a retry cannot succeed. ``field`` and the message say what to change."""


class UnavailableError(CardlogError):
    """The service was away, overloaded or broken at every retry. The same request may succeed later."""
