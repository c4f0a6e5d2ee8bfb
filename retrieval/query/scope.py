"""Whose cards may answer, and as of when: the filter every channel applies in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from events.platform.modes import GENERAL_MODE
from projectors.cards.card import Card
from retrieval.query.question import Question

KINDS = ("state", "event", "knowledge")
OWNER = "user"  # the entity of what is said about the one whose memory it is


MANY = 10_000
"""So many cards of a user are very many."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to search: a user's ``cards``, their ``share`` of everybody's, and keys of words in the
    question that are known to be ``common`` among very many cards; those that are not named need not be rare.

    Without a look it is taken for very many, which is safe.
    """

    cards: int = MANY + 1
    share: float = 0.0
    common: tuple[int, ...] = ()

    @property
    def many(self) -> bool:
        """Whether the cards are very many."""
        return self.cards > MANY


@dataclass(frozen=True, slots=True)
class Scope:
    """The walls of one recall. ``projects`` None means all of them.

    A state answers when its validity meets [``valid_from``, ``valid_until``]; both the same instant for
    "what is true then". Events and knowledge answer when they were there by ``until``. ``mode`` None means all
    registers; cards of turns that named none are of the general one. ``layers`` None means all, and those of none.
    ``size`` says how to search best, not what.
    """

    user_id: str
    projects: tuple[str, ...] | None
    kinds: tuple[str, ...]
    valid_from: datetime | None
    valid_until: datetime | None
    until: datetime | None
    known_at: datetime | None
    mode: str | None = None
    layers: tuple[str, ...] | None = None
    size: Size = Size()

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
            "mode": self.mode,
            "layers": None if self.layers is None else list(self.layers),
            "known_common": list(self.size.common),
        }

    def widened(self) -> Scope:
        """The same user and projects, without the other walls: to tell what those kept out."""
        return replace(
            self,
            kinds=KINDS,
            valid_from=None,
            valid_until=None,
            until=None,
            known_at=None,
            mode=None,
            layers=None,
        )

    def admits(self, card: Card) -> bool:
        """Whether a card that stands in no table may answer: the walls of every channel, for rows of a fold."""
        if card.retracted or card.contested:
            return False
        mine = self.projects is None or card.project_id in self.projects
        return mine and self.refuses(card) is None

    def refuses(self, card: Card, zone: tzinfo | None = UTC) -> str | None:
        """Why a card of this user and these projects may not answer, with times in ``zone``; None when it may."""
        at = card.occurred_at or card.effective_at
        if card.kind not in self.kinds:
            return f"it is a {card.kind} card, and only {', '.join(self.kinds)} was asked for"
        if self.mode is not None and (card.mode or GENERAL_MODE) != self.mode:
            return f"it is of the mode {card.mode or GENERAL_MODE}, not {self.mode}"
        if self.layers is not None and card.context_layer not in self.layers:
            return f"it is of the layer {card.context_layer or 'none'}, not of {', '.join(self.layers)}"
        if self.known_at is not None and card.created_at > self.known_at:
            return f"it was recorded {_shown(card.created_at, zone)}, after known_at"
        if self.until is not None and at is not None and at > self.until:
            return f"it is of {_shown(at, zone)}, after as_of"
        if card.kind == "state":
            begun, ended = card.effective_at, card.superseded_at
            if self.valid_until is not None and begun is not None and begun > self.valid_until:
                return f"it is true only from {_shown(begun, zone)} on"
            if self.valid_from is not None and ended is not None and ended <= self.valid_from:
                return f"it is no longer true since {_shown(ended, zone)}"
        return None


def _shown(instant: datetime, zone: tzinfo | None) -> str:
    return instant.astimezone(zone).isoformat()


def scope_of(
    question: Question,
    *,
    user_id: str,
    projects: tuple[str, ...] | None,
    kinds: tuple[str, ...] = KINDS,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    mode: str | None = None,
    layers: tuple[str, ...] | None = None,
) -> Scope:
    """The scope a question asks for: the present, a stretch of the past it names, or all there ever was."""
    valid_from: datetime | None = question.now
    valid_until: datetime | None = question.now
    span = question.span
    now_too = question.intent == "present" or (question.intent == "list" and span is not None and span.vague)
    if span is not None and not now_too:
        # "Where did I work in March?" is answered by what held at any time in March.
        valid_from = span.start
        valid_until = span.end if span.end is not None else question.now
    elif question.intent == "history":
        valid_from = valid_until = None
    elif question.intent in {"past", "why"}:
        # Why something is as it is, what it was before tells.
        valid_from = None
    return Scope(user_id, projects, kinds, valid_from, valid_until, as_of, known_at, mode, layers)
