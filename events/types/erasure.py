"""The payload that replaces an erased payload."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Erased:
    """The payload of an event whose key was destroyed. Nobody can read the payload again.

    The class is no event type: the log never holds it. Readers of the log skip an event with this payload.
    """

    reason: str
