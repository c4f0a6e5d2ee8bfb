"""The result of the overlay: the cards of one user as they will be once their unprojected tail is folded."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from events.language.terms import term_keys
from events.resources.cards import Contradiction
from projectors.cards.card import Card, StoredCard
from projectors.cards.card_rows import CONCEPT_TERM
from projectors.cards.related_rows import StoredRelation
from retrieval.channels.channel import assistant_share
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.fusion import Evidence, of_share, place_behind


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayResult:
    """The cards of one user as they will be once the unprojected tail is folded.

    ``cards`` are the cards that are new or change. ``gone`` are the cards that will disappear. ``pending`` are the new
    cards. ``replacements`` are pairs of an event and the event that replaces it, in the order of the log. ``conflicts``
    are new statements that contradict a value in force and will wait for a verdict. ``concluded`` is True when the user
    has an insight. ``moded`` is False when the user surely has no modes, and ``disputed`` when the
    user surely has no open arbitration.
    """

    cards: Mapping[UUID, StoredCard] = field(default_factory=dict)
    gone: frozenset[UUID] = frozenset()
    pending: frozenset[UUID] = frozenset()
    replacements: tuple[tuple[UUID, UUID], ...] = ()
    conflicts: tuple[Contradiction, ...] = ()
    concluded: bool = False
    moded: bool = True
    disputed: bool = True
    warnings: tuple[str, ...] = ()

    def merge(self, found: Mapping[UUID, Card], scope: Scope) -> dict[UUID, Card]:
        """Returns the found cards as they will be, and the new or changed cards of the scope that were not found.

        No card appears twice. Where the tables already hold a card of the same kind from the same turn, the pending
        card is left out.
        """
        cards: dict[UUID, Card] = {}
        for card_id, card in found.items():
            if card_id not in self.gone:
                changed = self.cards.get(card_id)
                if changed is None:
                    cards[card_id] = card
                elif scope.admits(changed):
                    cards[card_id] = _changed(card, changed)
        real = {
            _made_of(card, turn)
            for card_id, card in cards.items()
            if card_id not in self.pending
            for turn in card.turn_ids
        }
        for card_id in sorted(self.cards.keys() - found.keys()):
            new = self.cards[card_id]
            repeated = card_id in self.pending and any(_made_of(new, turn) in real for turn in new.turn_ids)
            if scope.admits(new) and not repeated:
                cards[card_id] = new
        return cards

    def evidence(
        self, question: Question, resolved: Mapping[UUID, Evidence], terms: Mapping[UUID, frozenset[int]]
    ) -> dict[UUID, Evidence]:
        """Returns the resolved evidence and that of the other cards. A card without evidence is absent.

        No channel has seen these cards. The share of the question's terms that a card holds stands for the channels
        that compare meaning and spelling. A channel of words compares with its best hit, so its place is taken by the
        share relative to the best one, among these cards and those with the keys ``terms``. No card is placed lower
        than behind all cards that were found by meaning. An event has the evidence of the event that it replaces, too.
        """
        asked = dict(question.weights) | {CONCEPT_TERM + key: 1.0 for key in question.concepts}
        total = sum(asked.values())
        found = dict(resolved)
        unseen = {card_id: card for card_id, card in self.cards.items() if card_id not in found}
        held: dict[UUID, float] = {}
        for card in list(unseen.values())[:1]:  # all cards are of one user
            weights = dict(zip(term_keys(card.user_id, asked), asked.values(), strict=True))
            own = {**terms, **self.terms}
            held = {each: sum(weights[key] for key in weights.keys() & own[each]) for each in own}
        best, behind = max(held.values(), default=0.0), place_behind(resolved)
        for card_id, card in unseen.items():
            share = assistant_share(question) if card.provenance == "assistant_stated" else 1.0
            told = of_share(
                share * held[card_id] / total if total else 0.0,
                of_best=share * held[card_id] / best if best else 0.0,
                behind=behind,
                inside=_within(question, card),
            )
            if told.votes:
                found[card_id] = told
        for older, newer in self.replacements:
            if older in resolved and newer in self.cards:
                found[newer] = found.get(newer, Evidence()).joined(resolved[older])
        return found

    @property
    def terms(self) -> dict[UUID, frozenset[int]]:
        """The keys of the own terms of each card."""
        return {card_id: frozenset(card.term_keys[: card.own_terms]) for card_id, card in self.cards.items()}


def replacements(
    relations: Iterable[StoredRelation], cards: Mapping[UUID, StoredCard]
) -> tuple[tuple[UUID, UUID], ...]:
    """Returns the events among ``cards`` that others of them replace: (earlier, later), in the order of the log."""
    pairs = [
        (row.to_card, row.from_card)
        for row in relations
        if row.implied
        and all(card in cards and cards[card].kind == "event" for card in (row.to_card, row.from_card))
    ]
    return tuple(sorted(pairs, key=lambda pair: cards[pair[1]].position))


def _changed(card: Card, changed: StoredCard) -> Card:
    """Returns a card as it will be. Of an event that is in the table, only its standing changes."""
    if card.kind != "event":
        return changed
    return replace(
        card,
        event_status=changed.event_status,
        superseded_at=changed.superseded_at,
        retracted=changed.retracted,
    )


def _made_of(card: Card, turn: str) -> tuple[str, str, bool]:
    """Returns the key of a card made of ``turn``. Two cards with equal keys are the same card.

    The key holds the kind, the turn, and whether the card is the episode of the turn.
    """
    return card.kind, turn, bool(card.episode)


def _within(question: Question, card: Card) -> bool:
    """True when a card happened or became true in the time window of the question."""
    span = question.span
    begun = card.effective_at if card.kind != "event" else card.occurred_at
    if span is None or begun is None:
        return False
    over = card.occurred_until or begun
    return (span.end is None or begun < span.end) and (
        span.start is None or begun >= span.start or over > span.start
    )
