"""Whose cards may answer, and as of when: the filter every channel applies in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from retrieval.question import Question

KINDS = ("state", "event", "knowledge")


@dataclass(frozen=True, slots=True)
class Scope:
    """The walls of one recall. ``projects`` None means all of them.

    A state answers when its validity meets [``valid_from``, ``valid_until``]; both the same instant for
    "what is true then". Events and knowledge answer when they were there by ``until``.
    """

    user_id: str
    projects: tuple[str, ...] | None
    kinds: tuple[str, ...]
    valid_from: datetime | None
    valid_until: datetime | None
    until: datetime | None
    known_at: datetime | None
    layers: tuple[str, ...] | None = None

    def admits(self, row: Mapping[str, Any]) -> bool:
        """Whether a card that stands in no table may answer: the same filter, for rows of a fold."""
        if row["kind"] not in self.kinds or row["retracted"]:
            return False
        if self.projects is not None and row["project_id"] not in self.projects:
            return False
        if self.layers is not None and row["context_layer"] not in self.layers:
            return False
        if row["kind"] == "state":
            if self.valid_until is not None and row["effective_at"] > self.valid_until:
                return False
            ended = row["superseded_at"]
            if self.valid_from is not None and ended is not None and ended <= self.valid_from:
                return False
        at = row["occurred_at"] or row["effective_at"]
        if self.until is not None and at > self.until:
            return False
        return self.known_at is None or bool(row["created_at"] <= self.known_at)

    def parameters(self) -> dict[str, Any]:
        """The named parameters of every channel's statement."""
        return {
            "user_id": self.user_id,
            "projects": None if self.projects is None else list(self.projects),
            "kinds": list(self.kinds),
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "until": self.until,
            "known_at": self.known_at,
        }


def scope_of(
    question: Question,
    *,
    user_id: str,
    projects: tuple[str, ...] | None,
    kinds: tuple[str, ...] = KINDS,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    layers: tuple[str, ...] | None = None,
) -> Scope:
    """The scope a question asks for: the present, a stretch of the past it names, or all there ever was."""
    valid_from: datetime | None = question.now
    valid_until: datetime | None = question.now
    span = question.span
    if span is not None and question.intent != "present":
        # "Where did I work in March?" is answered by what held at any time in March.
        valid_from = span.start
        valid_until = span.end if span.end is not None else question.now
    elif question.intent == "history":
        valid_from = valid_until = None
    elif question.intent == "past":
        valid_from = None
    return Scope(user_id, projects, kinds, valid_from, valid_until, as_of, known_at, layers)
