"""The places of an answer: the scores of the line, and what is promised whatever the scores are.

Promised: a card that another one superseded or perhaps ended stands below it; the cards of a turn have one place;
repeated words stand once; several conversations are heard before one is heard again, when a message tells several
things; a list shows different members before it repeats one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from projectors.cards.card import Card
from retrieval.recall.ranking.asked import Asked, asks
from retrieval.recall.ranking.evidence import Evidence
from retrieval.recall.ranking.features import features_of
from retrieval.recall.ranking.linear import Linear
from retrieval.recall.ranking.newer import COMPARED, Newer, newer_on_the_same
from retrieval.recall.ranking.placed import Placed

YIELDED = "perhaps no longer"
_AGAIN = 0.6  # of a score unit, for each better place of the same conversation or member
_NEAR = 0.5  # of a score unit: a newer card this far below an older one may still have ended it
_FORMULA = 1.0
_ON_THE_TOPIC = 0.75  # of the nearness by words and by meaning, of which each is 1 for the nearest card
_YIELDS = 0.25  # of the votes of an episode: a card with less leaves it the lead
_READ = 600  # the characters of a card that are compared
_NUMBERED = re.compile(r"[^\W\d_]*\d+")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The places of an answer, best first. ``beside`` holds, for a leading card, the other cards of its turn.

    ``same`` names, for each card left out as a repetition, the card that stays. ``newer`` names, for a card that
    perhaps no longer holds, the card that may have ended it.
    """

    placed: list[Placed]
    beside: dict[UUID, list[UUID]]
    same: dict[UUID, UUID]
    newer: Mapping[UUID, UUID] = field(default_factory=dict)


def featured(
    evidence: Mapping[UUID, Evidence], cards: Mapping[UUID, Card], asked: Asked
) -> tuple[dict[UUID, dict[str, float]], Newer]:
    """Returns the features of each card with evidence, the best-found cards first, and what newer cards say."""
    found = sorted(
        (each for each in cards if each in evidence), key=lambda each: (-evidence[each].votes, each)
    )
    newer = Newer()
    if asked.about_now:
        newer = newer_on_the_same(
            [cards[each] for each in found[:COMPARED]],
            asked,
            {each: evidence[each].meaning for each in found[:COMPARED]},
        )
    told = dict(evidence)
    for older, ender in newer.by.items():
        if older in newer.surely and ender in told:
            told[ender] = told[ender].joined(evidence[older])
    latest = _latest([cards[each] for each in found], told, asked) if asked.question.last else {}
    seeds = {told[each].seed for each in found} & cards.keys()
    empty: dict[UUID | None, float] = {each: asked.empty(cards[each]) for each in seeds if each is not None}
    return {
        each: features_of(
            cards[each],
            told[each],
            asked,
            newer,
            latest=latest.get(each, 0.0),
            beside_empty=empty.get(told[each].seed, 0.0),
        )
        for each in found
    }, newer


def _latest(found: Sequence[Card], told: Mapping[UUID, Evidence], asked: Asked) -> dict[UUID, float]:
    """Returns how late each card on the topic happened: 1 for the latest, a half for the one before, and so on.

    On the topic are the user's own words that are near to the question by their words and their meaning together, and
    that tell of something that has happened. What a turn tells of happened at the time that it names, if it names one.
    """
    near = [
        card
        for card in found
        if told[card.card_id].words + told[card.card_id].meaning >= _ON_THE_TOPIC
        and card.provenance != "assistant_stated"
        and card.event_status != "cancelled"
        and not (card.event_status == "planned" and not card.time_resolved)
        and not (card.episode and asks(card.content) >= 1)
    ]
    named = {
        turn: card.begun
        for card in near
        if card.kind == "event" and card.time_resolved
        for turn in card.turn_ids
    }
    when = {
        card.card_id: next((at for turn in card.turn_ids if (at := named.get(turn))), card.said_at)
        for card in near
    }
    past = sorted({at for at in when.values() if at <= asked.question.now}, reverse=True)
    places = {at: 1 / place for place, at in enumerate(past, 1)}
    return {card: places.get(at, 0.0) for card, at in when.items()}


def ranked(
    features: Mapping[UUID, Mapping[str, float]],
    newer: Newer,
    evidence: Mapping[UUID, Evidence],
    cards: Mapping[UUID, Card],
    asked: Asked,
    model: Linear,
) -> Ranking:
    """Returns the places of the cards whose ``features`` are known."""
    placed = [Placed.of(card_id, model.contributions(of_card)) for card_id, of_card in features.items()]
    kept, same = distinct(sorted(placed, key=Placed.order), cards)
    scores = {each.card_id: each.score for each in placed}
    ended = {
        older: by
        for older, by in newer.by.items()
        if older in newer.surely or scores[by] >= scores[older] - _NEAR
    }
    grouped, beside = by_turn(kept, cards, evidence)
    grouped = below_the_newer(
        grouped, beside, {older: by for older, by in ended.items() if older in newer.surely}
    )
    if asked.question.message:
        grouped = spread(grouped, lambda each: {(cards[each].project_id, cards[each].session_id)})
    elif asked.question.several:
        members = asked.members(cards.values())
        told = {
            each: (asked.value(cards[each]) or frozenset()) | asked.terms.get(each, frozenset())
            for each in cards
        }
        grouped = spread(grouped, lambda each: [one for one in members if one <= told[each]])
    return Ranking(grouped, beside, same, ended)


def distinct(ranked: Sequence[Placed], cards: Mapping[UUID, Card]) -> tuple[list[Placed], dict[UUID, UUID]]:
    """Returns the ranking without repeated words, and for each card left out the card that stays.

    Of cards that differ only in their numbers, the best one keeps its score and the others lose a part: reminders and
    labels that come again and again would otherwise fill an answer.
    """
    first: dict[tuple[Any, ...], UUID] = {}
    formulas: set[tuple[Any, ...]] = set()
    kept, same = [], {}
    for placed in ranked:
        card = cards[placed.card_id]
        words = (card.kind, card.episode, card.speaker, card.content, card.effective_at)
        if (other := first.setdefault(words, placed.card_id)) != placed.card_id:
            same[placed.card_id] = other
            continue
        formula = (card.kind, card.episode, card.speaker, _formula(card.content))
        kept.append(placed.plus("words that differ in numbers", -_FORMULA) if formula in formulas else placed)
        formulas.add(formula)
    return sorted(kept, key=Placed.order), same


@lru_cache(maxsize=8192)
def _formula(text: str) -> str:
    return _NUMBERED.sub("#", text[:_READ].casefold())


def by_turn(
    ranked: Sequence[Placed], cards: Mapping[UUID, Card], evidence: Mapping[UUID, Evidence]
) -> tuple[list[Placed], dict[UUID, list[UUID]]]:
    """Returns one place for the cards of a turn, best first, and the cards beside each leading card.

    The best-placed card leads. An episode gives the lead to another card of its turn that says more: a fact, a
    definition, or a time that the episode does not tell. That card must have :data:`_YIELDS` of its votes. It gets the
    score of the episode, and the words of the turn stand beside it. A card joins another when that one shows all turns
    of the card.
    """
    leader_of: dict[str, UUID] = {}
    groups: dict[UUID, list[Placed]] = {}
    for placed in ranked:
        # A reference is a place of its own: the turns of its last op do not tell all of it.
        own = [] if cards[placed.card_id].kind == "reference" else cards[placed.card_id].turn_ids
        over = {leader_of.get(turn) for turn in own}
        lead = over.pop() if len(over) == 1 else None
        if lead is not None:
            groups[lead].append(placed)
            continue
        groups[placed.card_id] = [placed]
        for turn in own:
            leader_of.setdefault(turn, placed.card_id)
    places, beside = [], {}
    for best, *others in groups.values():
        lead_card = best
        if cards[best.card_id].episode:
            least = _YIELDS * evidence[best.card_id].votes
            near = (each for each in others if evidence[each.card_id].votes >= least)
            says_more = (each for each in near if _says_more(each, cards, than=cards[best.card_id]))
            if (more := next(says_more, None)) is not None:
                lead_card = more.plus("the turn's words", best.score - more.score)
        if others:
            beside[lead_card.card_id] = [
                each.card_id for each in (best, *others) if each.card_id != lead_card.card_id
            ]
        places.append(lead_card)
    return sorted(places, key=Placed.order), beside


def _says_more(placed: Placed, cards: Mapping[UUID, Card], *, than: Card) -> bool:
    """True for a state or knowledge, and for an event with a time that the episode ``than`` does not tell."""
    card = cards[placed.card_id]
    if card.kind == "event":
        return not card.episode and bool(card.time_resolved) and not than.time_resolved
    return True


def below_the_newer(
    places: Sequence[Placed], beside: Mapping[UUID, Sequence[UUID]], newer: Mapping[UUID, UUID]
) -> list[Placed]:
    """Returns the places with each card that perhaps no longer holds just below the place of the card that ended it."""
    leads = {other: lead for lead, others in beside.items() for other in others}
    ordered = list(places)
    for place in places:
        ender = newer.get(place.card_id)
        if ender is None:
            continue
        ender = leads.get(ender, ender)
        at = {each.card_id: number for number, each in enumerate(ordered)}
        if ender not in at or at[ender] < at[place.card_id]:
            continue
        above = ordered[at[ender]]
        moved = place.plus(YIELDED, above.score - place.score)
        ordered.pop(at[place.card_id])
        ordered.insert(at[ender], moved)
    return ordered


def spread(places: Sequence[Placed], groups: Callable[[UUID], Collection[Hashable]]) -> list[Placed]:
    """Returns the places greedily: a place whose groups all were seen loses a part for each better place of one."""
    seen: Counter[Hashable] = Counter()
    spread_out = []
    for placed in places:
        own = groups(placed.card_id)
        again = min((seen[each] for each in own), default=0)
        spread_out.append(placed.plus("more of the same", -_AGAIN * again) if again else placed)
        seen.update(own)
    return sorted(spread_out, key=Placed.order)
