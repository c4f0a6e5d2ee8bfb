"""The places of an answer: the scores of the line, and what is promised whatever the scores are."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from uuid import UUID

from projectors.cards.card import Card
from retrieval.recall.fusion import Evidence
from retrieval.recall.ranking.asked import Asked, asks
from retrieval.recall.ranking.candidate import SAME_TOPIC, Candidate, by_score, by_votes, note_subjects
from retrieval.recall.ranking.features import features_of
from retrieval.recall.ranking.linear import Linear
from retrieval.recall.ranking.newer import compare

YIELDED = "perhaps no longer"
_AGAIN = 0.6  # of a score unit, for each better place of the same conversation or member
_FORMULA = 1.0
_BELOW = 0.001  # of a score unit
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

    placed: list[Candidate]
    beside: dict[UUID, list[UUID]]
    same: dict[UUID, UUID]
    newer: Mapping[UUID, UUID] = field(default_factory=dict)


def candidates_of(
    evidence: Mapping[UUID, Evidence],
    cards: Mapping[UUID, Card],
    terms: Mapping[UUID, frozenset[int]],
    asked: Asked,
) -> list[Candidate]:
    """Returns the cards with evidence, the best-found first, with their features and what newer cards say of each."""
    found = [
        Candidate(card=card, evidence=told, terms=terms.get(card_id, frozenset()))
        for card_id, card in cards.items()
        if (told := evidence.get(card_id)) is not None
    ]
    found.sort(key=by_votes)
    note_subjects(found)
    if asked.about_now:
        compare(found, asked)
    # What ends a card answers in its place, so it is as near to the question.
    for by, told in [(each.ended_by, each.evidence) for each in found if each.ended_by and each.surely]:
        by.evidence = by.evidence.joined(told)
    latest = _latest(found, asked) if asked.question.last else {}
    seeds = {each.evidence.seed for each in found}
    empty: dict[UUID | None, float] = {
        each.card_id: asked.empty(each) for each in found if each.card_id in seeds
    }
    for each in found:
        each.features = features_of(each, asked, latest.get(each, 0.0), empty.get(each.evidence.seed, 0.0))
    return found


def _latest(found: Sequence[Candidate], asked: Asked) -> dict[Candidate, float]:
    """Returns how late each card on the topic happened: 1 for the latest, a half for the one before, and so on.

    On the topic are the user's own words that are near to the question by their words and their meaning together, and
    that tell of something that has happened. What a turn tells of happened at the time that it names, if it names one.
    """
    near = [
        each
        for each in found
        if each.evidence.words + each.evidence.meaning >= _ON_THE_TOPIC
        and each.card.provenance != "assistant_stated"
        and each.card.event_status != "cancelled"
        and not (each.card.event_status == "planned" and not each.card.time_resolved)
        and not (each.card.episode and asks(each.card.content) >= 1)
    ]
    named = {
        turn: each.card.begun
        for each in near
        if each.card.kind == "event" and each.card.time_resolved
        for turn in each.card.turn_ids
    }
    when = {
        each: next((at for turn in each.card.turn_ids if (at := named.get(turn))), each.card.said_at)
        for each in near
    }
    past = sorted({at for at in when.values() if at <= asked.question.now}, reverse=True)
    places = {at: 1 / place for place, at in enumerate(past, 1)}
    return {each: places.get(at, 0.0) for each, at in when.items()}


def ranked(
    found: Sequence[Candidate], asked: Asked, model: Linear, nearness: Mapping[UUID, float] | None = None
) -> Ranking:
    """Returns the places of the candidates, whose features are known.

    ``nearness`` are the scores of a reranker for some cards. The promises hold after it.
    """
    for each in found:
        each.scored(model.contributions(each.features))
    newer = {
        each.card_id: by.card_id
        for each in found
        if (by := each.ended_by) is not None
        and (each.surely or (each.revised > SAME_TOPIC and by.score > each.score))
    }
    kept, same = distinct(sorted(found, key=by_score))
    places, beside = by_turn(kept, asked)
    if nearness:
        places = reranked(places, nearness)
    places = below_the_newer(places, beside)
    if asked.question.message:
        places = spread(places, lambda each: {(each.card.project_id, each.card.session_id)})
    elif asked.question.several:
        members = asked.members(found)
        told = {each: (asked.value(each.card) or frozenset()) | each.terms for each in places}
        places = spread(places, lambda each: [member for member in members if member <= told[each]])
    places = below_the_users_words(places, asked)
    places = below_the_present_value(places, asked)
    ids = {lead.card_id: [each.card_id for each in others] for lead, others in beside.items()}
    return Ranking(places, ids, same, newer)


def distinct(ordered: Sequence[Candidate]) -> tuple[list[Candidate], dict[UUID, UUID]]:
    """Returns the ranking without repeated words, and for each card left out the card that stays.

    Of cards that differ only in their numbers, the best one keeps its score and the others lose a part: reminders and
    labels that come again and again would otherwise fill an answer.
    """
    first: dict[tuple[object, ...], UUID] = {}
    formulas: set[tuple[object, ...]] = set()
    kept, same = [], {}
    for each in ordered:
        card = each.card
        words = (card.kind, card.episode, card.speaker, card.content, card.effective_at)
        if (other := first.setdefault(words, card.card_id)) is not card.card_id:
            same[card.card_id] = other
            continue
        formula = (card.kind, card.episode, card.speaker, _formula(card.content))
        if formula in formulas:
            each.add("words that differ in numbers", -_FORMULA)
        formulas.add(formula)
        kept.append(each)
    return sorted(kept, key=by_score), same


@lru_cache(maxsize=8192)
def _formula(text: str) -> str:
    return _NUMBERED.sub("#", text[:_READ].casefold())


def by_turn(
    ordered: Sequence[Candidate], asked: Asked
) -> tuple[list[Candidate], dict[Candidate, list[Candidate]]]:
    """Returns one place for the cards of a turn, best first, and the cards beside each leading card.

    The best-placed card leads. An episode gives the lead to the best card of its turn that says more, has
    :data:`_YIELDS` of its votes, and is no fact that the question does not ask for. The lead gets the score of the
    episode, and the words of the turn stand beside it. A card joins another when that one shows all turns of the card.
    """
    leader_of: dict[str, Candidate] = {}
    groups: dict[Candidate, list[Candidate]] = {}
    for each in ordered:
        # A reference is a place of its own: the turns of its last op do not tell all of it.
        own = [] if each.card.kind == "reference" else each.card.turn_ids
        over = {leader_of.get(turn) for turn in own}
        lead = over.pop() if len(over) == 1 else None
        if lead is not None:
            groups[lead].append(each)
            continue
        groups[each] = []
        for turn in own:
            leader_of.setdefault(turn, each)
    places: list[Candidate] = []
    beside: dict[Candidate, list[Candidate]] = {}
    for best, others in groups.items():
        lead = best
        if best.card.episode:
            near = (
                each
                for each in others
                if each.evidence.votes >= _YIELDS * best.evidence.votes and not asked.for_another(each.card)
            )
            lead = next((each for each in near if _says_more(each, than=best)), best)
        if lead is not best:
            lead.add("the turn's words", best.score - lead.score)
        if others:
            beside[lead] = [each for each in (best, *others) if each is not lead]
        places.append(lead)
    return sorted(places, key=by_score), beside


def _says_more(each: Candidate, *, than: Candidate) -> bool:
    """True for a fact that did not end, for knowledge, and for an event with words or a time that the episode lacks."""
    card = each.card
    if card.kind == "event":
        return not card.episode and (bool(card.time_resolved) or not each.terms <= than.terms)
    return not card.ended


def reranked(places: Sequence[Candidate], nearness: Mapping[UUID, float]) -> list[Candidate]:
    """Returns the places with those that have a nearness in its order. They share out the scores that they had."""
    read = [each for each in places if each.card_id in nearness]
    scores = [each.score for each in read]
    ordered = sorted(read, key=lambda each: -nearness[each.card_id])
    for each, score in zip(ordered, scores, strict=True):
        each.add("reranking", score - each.score)
    following = iter(ordered)
    return [next(following) if each.card_id in nearness else each for each in places]


def below_the_newer(
    places: Sequence[Candidate], beside: Mapping[Candidate, Sequence[Candidate]]
) -> list[Candidate]:
    """Returns the places with each card that surely no longer holds just below the place of the card that ended it."""
    leads = {other: lead for lead, others in beside.items() for other in others}
    ordered = list(places)
    for place in places:
        if place.ended_by is None or not place.surely:
            continue
        ender = leads.get(place.ended_by, place.ended_by)
        if ender not in ordered or ordered.index(ender) <= ordered.index(place):
            continue
        place.add(YIELDED, ender.score - place.score)
        ordered.remove(place)
        ordered.insert(ordered.index(ender) + 1, place)
    return ordered


def above_the_coarser(places: Sequence[Candidate], finer: Mapping[UUID, Collection[UUID]]) -> list[Candidate]:
    """Returns the places with each card just above the first card that it expands. ``finer`` names those of a card."""
    ordered = list(places)
    for coarse in [each for each in places if each.card_id in finer]:
        for each in [one for one in ordered if one.card_id in finer[coarse.card_id]]:
            at = ordered.index(coarse)
            if ordered.index(each) > at:
                each.add("the finer statement", coarse.score - each.score)
                ordered.remove(each)
                ordered.insert(at, each)
    return ordered


def with_the_later(
    places: Sequence[Candidate], again: Mapping[UUID, UUID], beside: Mapping[UUID, Sequence[UUID]]
) -> list[Candidate]:
    """Returns the places with the last turn that names again what the first card answers just below this card."""
    ordered = list(places)
    lead_of = {other: lead for lead, others in beside.items() for other in others}
    for first in places[:1]:
        own = (first.card_id, *beside.get(first.card_id, ()))
        turns = {lead_of.get(again[card], again[card]) for card in own if card in again}
        if later := next((place for place in ordered[2:] if place.card_id in turns), None):
            later.add("named again", first.score - _BELOW - later.score)
            ordered.remove(later)
            ordered.insert(1, later)
    return ordered


def below_the_users_words(places: Sequence[Candidate], asked: Asked) -> list[Candidate]:
    """Returns the places with those that yield behind all others, if the user said any of these."""
    late = [place for place in places if asked.yields(place.card)]
    own = [place for place in places if place not in late]
    if not late or not any(place.card.provenance == "user_stated" for place in own):
        return list(places)
    last = min(place.score for place in own)
    for place in late:
        if place.score >= last:
            place.add("the user's own words", last - _BELOW - place.score)
    return [*own, *late]


def below_the_present_value(places: Sequence[Candidate], asked: Asked) -> list[Candidate]:
    """Returns the places with each reference above the records that hold no other words of the question.

    A reference has the present value, and a record tells of the past. A question about another time changes nothing.
    """
    ordered = list(places)
    if asked.stretch is not None or asked.question.intent not in ("present", "list"):
        return ordered
    for place in [each for each in ordered if each.card.kind == "reference"]:
        held = place.terms & asked.keys
        above = ordered[: ordered.index(place)]
        records = (each for each in above if each.card.kind != "reference" and each.terms & asked.keys)
        if (first := next((each for each in records if each.terms & asked.keys <= held), None)) is not None:
            place.add("the present value", first.score - place.score)
            ordered.remove(place)
            ordered.insert(ordered.index(first), place)
    return ordered


def spread(
    places: Sequence[Candidate], groups: Callable[[Candidate], Collection[Hashable]]
) -> list[Candidate]:
    """Returns the places greedily: a place whose groups all were seen loses a part for each better place of one."""
    seen: Counter[Hashable] = Counter()
    for each in places:
        own = groups(each)
        if again := min((seen[group] for group in own), default=0):
            each.add("more of the same", -_AGAIN * again)
        seen.update(own)
    return sorted(places, key=by_score)
