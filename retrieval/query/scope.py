"""The scope of a recall: whose cards may answer, and as of when. Every channel applies the same filter."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo

from events.modes.registry import UNDECLARED, Modes
from events.platform.modes import GENERAL_MODE
from events.types.metadata import holds, metadata_of
from projectors.cards.card import Card
from retrieval.query.question import Question

KINDS = ("state", "event", "knowledge", "reference")
OWNER = "user"  # the entity of statements about the owner of the memory


MANY = 10_000
"""A user with more cards than this has very many cards."""

COMMON = 500
"""A word that this many cards of a user hold is common. The bound keeps the search time from growing with the cards."""

_COMMON_SHARE = 4
_FEW = 50


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a user's memory.

    ``cards`` is the number of the user's cards, and ``share`` their share (0 to 1) of all cards. ``common`` holds the
    keys of the question's words that are known to be frequent; other words may be frequent too. The default says
    "very many cards", which is always safe.
    """

    cards: int = MANY + 1
    share: float = 0.0
    common: tuple[int, ...] = ()

    @property
    def many(self) -> bool:
        """True when the user has more than ``MANY`` cards."""
        return self.cards > MANY

    @property
    def common_from(self) -> int:
        """The number of the user's cards that make a word common when they hold it: a quarter, at least 50.

        A rarer word is searched in full. A common word finds no cards when a rarer word of the question does.
        """
        return min(COMMON, max(_FEW, self.cards // _COMMON_SHARE))


@dataclass(frozen=True, slots=True)
class Scope:
    """The filter of one recall. None means "no limit" in every optional field.

    A state may answer when its valid period meets [``valid_from``, ``valid_until``]. The same instant in both fields
    means "what is true then". An event or a knowledge card may answer when its time is at or before ``until``. A plan
    may also answer when it was said at or before ``until``, whatever its time. An event that a later event replaced
    at or before ``standing_at`` answers only with the later event.
    ``modes`` None means all modes; a card without a mode belongs to the general mode, and a reference to none.
    ``known_modes`` tell what the name of a mode means. ``first_mode`` is the mode of the asking session: its cards are
    looked for first. ``layers`` None also includes cards without a layer. ``metadata`` is the text of a JSON object
    that the metadata of a card must contain. ``size`` only chooses the way of searching, and never the result.
    """

    user_id: str
    projects: tuple[str, ...] | None
    kinds: tuple[str, ...]
    valid_from: datetime | None
    valid_until: datetime | None
    until: datetime | None
    known_at: datetime | None
    modes: tuple[str, ...] | None = None
    layers: tuple[str, ...] | None = None
    metadata: str | None = None
    size: Size = Size()
    standing_at: datetime | None = None
    known_modes: Modes = field(default=UNDECLARED, compare=False)
    first_mode: str | None = None

    def mode_of(self, card: Card) -> str:
        """Returns the mode of a card, after new names and deletions of modes."""
        if not self.known_modes:
            return card.mode or GENERAL_MODE
        return self.known_modes.belonging(card.project_id, card.mode)

    def in_modes(self, card: Card) -> bool:
        """True when a card is of the modes asked for. A reference is outside modes, so every question finds it."""
        return self.modes is None or card.kind == "reference" or self.mode_of(card) in self.modes

    def parameters(self) -> dict[str, object]:
        """Returns the named parameters that every channel's statement uses."""
        return {
            "user_id": self.user_id,
            "projects": None if self.projects is None else list(self.projects),
            "kinds": list(self.kinds),
            "valid_from": self.valid_from,
            "valid_until": self.valid_until,
            "until": self.until,
            "known_at": self.known_at,
            "modes": None if self.modes is None else self.known_modes.names_of(self.modes),
            "named": self._named,
            "layers": None if self.layers is None else list(self.layers),
            "has": self.metadata,
            "common": self.size.common_from,
            "known_common": list(self.size.common),
        }

    @property
    def _named(self) -> list[str] | None:
        """The names that somebody declared, when cards with other names belong to the general mode, and it is asked."""
        if self.modes is None or GENERAL_MODE not in self.modes or not self.known_modes.closed:
            return None
        return self.known_modes.names

    def widened(self) -> Scope:
        """Returns a scope with the same user and projects and no other filter, to find the withheld cards."""
        return replace(
            self,
            kinds=KINDS,
            valid_from=None,
            valid_until=None,
            until=None,
            known_at=None,
            modes=None,
            layers=None,
            metadata=None,
            standing_at=None,
        )

    def admits(self, card: Card) -> bool:
        """True when a folded card that is not in a table may answer. It is the same filter as in every channel."""
        if card.retracted or card.contested:
            return False
        mine = self.projects is None or card.project_id in self.projects
        return mine and self.refuses(card) is None

    def has_metadata(self, card: Card) -> bool:
        """True when the metadata of a card holds the metadata that the question asks for."""
        return self.metadata is None or holds(card.metadata, metadata_of(self.metadata))

    def replaced(self, card: Card) -> bool:
        """True when a later event took the place of an event, and the question is about what stands."""
        return (
            card.kind == "event"
            and self.standing_at is not None
            and card.superseded_at is not None
            and card.superseded_at <= self.standing_at
        )

    def too_late(self, card: Card) -> datetime | None:
        """Returns the time of a card that is later than ``until``, or None. A plan that was told by then is not."""
        at = card.occurred_at or card.effective_at
        if self.until is None or at is None or at <= self.until:
            return None
        told = card.kind == "event" and card.stated_status != "happened" and card.said_at <= self.until
        return None if told else at

    def refuses(self, card: Card, zone: tzinfo | None = UTC) -> str | None:
        """Returns the reason why a card of this user and these projects may not answer, or None when it may.

        Times in the reason are in ``zone``.
        """
        if card.kind not in self.kinds:
            return f"it is a {card.kind} card, and the question asks only for {', '.join(self.kinds)}"
        if self.modes is not None and not self.in_modes(card):
            return f"it is of the mode {self.mode_of(card)}, not {', '.join(self.modes)}"
        if self.layers is not None and card.context_layer not in self.layers:
            return f"it is of the layer {card.context_layer or 'none'}, not of {', '.join(self.layers)}"
        if not self.has_metadata(card):
            return f"its metadata does not hold {self.metadata}"
        if self.known_at is not None and card.created_at > self.known_at:
            return f"it was recorded {_shown(card.created_at, zone)}, after known_at"
        if (late := self.too_late(card)) is not None:
            return f"it is of {_shown(late, zone)}, after as_of"
        if self.replaced(card) and card.superseded_at is not None:
            return f"a later event took its place {_shown(card.superseded_at, zone)}"
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
    modes: tuple[str, ...] | None = None,
    layers: tuple[str, ...] | None = None,
    metadata: str | None = None,
) -> Scope:
    """Returns the scope of a question: the present, the time it names, or the whole history."""
    valid_from: datetime | None = question.now
    valid_until: datetime | None = question.now
    span = question.span
    now_too = question.intent == "present" or (question.intent == "list" and span is not None and span.vague)
    if span is not None and not now_too:
        # A state that was true at any time in March answers "Where did I work in March?".
        valid_from = span.start
        valid_until = span.end if span.end is not None else question.now
    elif question.intent == "history":
        valid_from = valid_until = None
    elif question.intent in {"past", "why"}:
        # Past states explain how something came about.
        valid_from = None
    # Events that no longer stand explain how something came about. They do not tell what happened in a named time.
    explains = question.intent == "history" or (question.intent in {"past", "why"} and span is None)
    return Scope(
        user_id=user_id,
        projects=projects,
        kinds=kinds,
        valid_from=valid_from,
        valid_until=valid_until,
        until=as_of,
        known_at=known_at,
        modes=modes,
        layers=layers,
        metadata=metadata,
        standing_at=None if explains else question.now,
    )
