"""Judges the cards that were looked up: which of them may answer, for whom, and beside which conflict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from events.resources.cards import Contradiction, Side
from events.resources.recall import PastFact
from projectors.cards.card import Card
from projectors.cards.connections import SUPERSEDING
from retrieval.cards.chain import Chains, RelationEdge, same
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.answer import past_fact
from retrieval.recall.fusion import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A conflict that waits for a verdict. The old card holds; the new card is contested."""

    arbitration_id: UUID
    concept_key: str
    entity: str
    old_card: UUID
    new_card: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class CardResolution:
    """The cards that may answer, with their evidence, and the conflicts that any of them is part of.

    A card that answers for others has their evidence, too. ``terms`` are the keys of the own terms of the found cards.
    ``over`` names, for a turn whose only fact another card superseded, that card. ``retracted`` has, for a turn whose
    facts all were retracted, one of them or the fact in its place, and for a turn whose successor is of a kind that is
    not asked for, that card. ``conditions`` has, for a card, those that qualify it and those that it qualifies, and
    ``finer`` those that expand it. ``again`` names the last later turn that names what a card answers. ``past`` has the
    facts of the turn of a card that no longer hold. ``found`` are all cards that were looked up. ``left_out`` says why
    a card does not answer.
    """

    cards: dict[UUID, Card]
    evidence: dict[UUID, Evidence]
    conflicts: tuple[Contradiction, ...] = ()
    left_out: Mapping[UUID, str] = field(default_factory=dict)
    found: Mapping[UUID, Card] = field(default_factory=dict)
    terms: Mapping[UUID, frozenset[int]] = field(default_factory=dict)
    over: Mapping[UUID, UUID] = field(default_factory=dict)
    retracted: Mapping[UUID, Card] = field(default_factory=dict)
    conditions: Mapping[UUID, Sequence[Card]] = field(default_factory=dict)
    finer: Mapping[UUID, set[UUID]] = field(default_factory=dict)
    again: Mapping[UUID, UUID] = field(default_factory=dict)
    past: Mapping[UUID, Sequence[PastFact]] = field(default_factory=dict)


def past_facts(
    of_turns: Sequence[tuple[UUID, UUID]],
    known: Mapping[UUID, Card],
    edges: Sequence[RelationEdge],
    question: Question,
    scope: Scope,
) -> dict[UUID, list[PastFact]]:
    """Returns the facts of the turns of some cards that no longer hold, each with the fact in its place, by the card.

    ``of_turns`` has retracted and superseded facts. A retracted fact never held. A superseded one counts when the
    question is about now, and when another turn tells its successor.
    """
    edges = [edge for edge in edges if edge.from_card in known and edge.to_card in known]
    chains = Chains(edges)
    corrected = {edge.to_card: edge.from_card for edge in edges if _replaces(edge, known)}

    def begun(card: UUID) -> datetime | None:
        one = known[card]
        counts = not (one.retracted or one.contested) and one.begun is not None and one.begun <= question.now
        return one.begun if counts else None

    found: dict[UUID, list[PastFact]] = {}
    for card, fact in of_turns:
        if not {card, fact} <= known.keys():
            continue  # it was folded anew since
        last, wrong = fact, known[fact]
        while known[last].retracted and last in corrected:
            last = corrected[last]
        right = known[chains.latest(last, begun)[-1]]
        elsewhere = right.content != wrong.content and not set(right.turn_ids) & set(known[card].turn_ids)
        # What ended the fact tells it, too, and holds at no instant.
        told = elsewhere and replace(scope, kinds=(right.kind,), valid_from=None).admits(right)
        if wrong.retracted or (told and question.intent in ("present", "list")):
            found.setdefault(card, []).append(past_fact(wrong, right if told else None))
    return found


class Judging:
    """The cards of one question while their reasons are collected. ``out`` says why a card does not answer.

    ``found`` are the cards that the channels found, with their ``evidence``; ``others`` are named by the relations,
    conflicts and turns.
    """

    def __init__(
        self,
        question: Question,
        scope: Scope,
        found: Mapping[UUID, Card],
        evidence: Mapping[UUID, Evidence],
        others: Mapping[UUID, Card],
        edges: Sequence[RelationEdge],
    ) -> None:
        self.question, self.scope = question, scope
        self.found, self.evidence = dict(found), dict(evidence)
        self.known = known = {**others, **found}
        # A card may be retracted without another card in its place.
        self.out = {
            edge.to_card: f"retracted: {edge.reason}" for edge in edges if edge.predicate == "retracts"
        }
        self.out |= {card: "it is contested" for card, row in known.items() if row.contested}
        self.out |= {card: "it was retracted" for card, row in known.items() if row.retracted}
        self.out |= {
            card: "its metadata is another" for card, row in known.items() if not scope.has_metadata(row)
        }
        self.out |= {
            card: "it is of another layer"
            for card, row in known.items()
            if scope.layers is not None and row.context_layer not in scope.layers
        }
        self.edges = [edge for edge in edges if edge.from_card in known and edge.to_card in known]
        self._chains = Chains(self.edges)

    def resolution(
        self, disputes: Sequence[Dispute], of_turns: Sequence[tuple[UUID, UUID, bool]]
    ) -> CardResolution:
        """Returns the cards that may answer. Each step of the judging states its rule.

        ``of_turns`` has, for the episode of a turn, each fact of the turn and if it was retracted.
        """
        self._hold_old_sides(disputes)
        self._follow_chains()
        over, wrong = self._turns_that_are_over(of_turns)
        self._join_same()
        finer: dict[UUID, set[UUID]] = {}
        for edge in self.edges:
            if edge.predicate == "expands":
                finer.setdefault(edge.to_card, set()).add(edge.from_card)
        conflicts = [_dispute(dispute, self.known) for dispute in disputes] + [
            _contradiction(edge, self.known)
            for edge in self.edges
            if edge.predicate == "contradicts" and not self.out.keys() & {edge.from_card, edge.to_card}
        ]
        cards = {card: row for card, row in self.found.items() if card not in self.out}
        return CardResolution(
            cards,
            {card: self.evidence[card] for card in cards},
            tuple(conflicts),
            self.out,
            over=over,
            retracted=wrong,
            conditions=_conditions(self.question, self.scope, self.edges, self.known, self.out),
            finer=finer,
        )

    def _hold_old_sides(self, disputes: Sequence[Dispute]) -> None:
        """A hit on the new side of a conflict answers with the old side, which holds."""
        for dispute in disputes:
            if dispute.new_card in self.found:
                self._raise_to(dispute.old_card, self.evidence[dispute.new_card])

    def _follow_chains(self) -> None:
        """A card that another one superseded gives its place to the end of its chain. A history shows the chain."""
        for card, told in list(self.evidence.items()):
            if self.question.intent == "history":
                for relative in _chained(card, self.edges):
                    self._raise_to(relative, told)
            elif self.scope.replaced(self.known[card]):
                last = self._chains.latest(card, self._said)[-1]
                self._raise_to(last, told)
                self.out[card] = f"{last} took its place" if last != card else "a later event took its place"
            elif self.known[card].kind != "event":
                last = self._chains.latest(card, self._begun)[-1]
                if last != card:
                    self._raise_to(last, told)
                    if self.question.intent == "present":
                        self.out[card] = f"{last} took its place"

    def _turns_that_are_over(
        self, of_turns: Sequence[tuple[UUID, UUID, bool]]
    ) -> tuple[dict[UUID, UUID], dict[UUID, Card]]:
        """Returns ``over`` and ``retracted`` of :class:`CardResolution`."""
        known = self.known
        ended: dict[UUID, set[UUID]] = {}
        for episode, state, _ in of_turns:
            latest = self._chains.latest(state, self._begun)[-1] if state in known else state
            ended.setdefault(episode, set()).add(latest)
        stated = {(episode, state) for episode, state, _ in of_turns}
        over = {
            episode: successors.pop()
            for episode, successors in ended.items()
            if episode in self.evidence and len(successors) == 1 and (episode, *successors) not in stated
        }
        sound = {episode for episode, _, retracted in of_turns if not retracted}
        right = {edge.to_card: known[edge.from_card] for edge in self.edges if _corrects(edge, known)}
        wrong = {
            episode: right.get(state, known[state])
            for episode, state, _ in of_turns
            if episode not in sound and state in known
        }
        for episode, successor in over.items():
            self._raise_to(successor, self.evidence[episode])
            if successor in known and successor not in self.found:
                # The question asks for no states. The turn of the new fact ends the old turn, if it answers.
                after = known[successor]
                turns = set(after.turn_ids)
                of_turn = (
                    one for one, row in self.found.items() if row.episode and turns & set(row.turn_ids)
                )
                over[episode] = next(of_turn, successor)
                of_its_kind = replace(self.scope, kinds=(after.kind,))
                if self.question.intent in ("present", "list") and of_its_kind.admits(after):
                    wrong[episode] = after
        return over, wrong

    def _join_same(self) -> None:
        """Of cards that are the same, the best one answers."""
        for group in set(same(self.edges).values()):
            members = [card for card in group if card in self.found and card not in self.out]
            members.sort(key=lambda card: (-self.evidence[card].votes, card))
            self.out.update((card, f"it is the same as {members[0]}") for card in members[1:])

    def _raise_to(self, card: UUID, told: Evidence) -> None:
        if card in self.known and card not in self.out and _inside(self.scope, self.known[card]):
            self.found.setdefault(card, self.known[card])
            self.evidence[card] = self.evidence.get(card, Evidence()).joined(told)

    def _begun(self, card: UUID) -> datetime | None:
        at = self.known[card].begun
        return at if card not in self.out and at is not None and at <= self.question.now else None

    def _said(self, card: UUID) -> datetime | None:
        at = self.known[card].said_at
        return at if at <= self.question.now else None


def _conditions(
    question: Question,
    scope: Scope,
    edges: Sequence[RelationEdge],
    known: Mapping[UUID, Card],
    out: Mapping[UUID, str],
) -> dict[UUID, list[Card]]:
    """Returns the cards that are shown together with a card, because one of the two qualifies the other."""
    found: dict[UUID, list[Card]] = {}
    for edge in edges:
        ends = (edge.from_card, edge.to_card)
        told = all(
            card not in out and _inside(replace(scope, kinds=(known[card].kind,)), known[card])
            for card in ends
        )
        if (
            edge.predicate == "qualifies"
            and told
            and all(known[card].said_at <= question.now for card in ends)
        ):
            for card, other in (ends, ends[::-1]):
                if other not in (each.card_id for each in found.get(card, ())):
                    found.setdefault(card, []).append(known[other])
    return found


def _inside(scope: Scope, card: Card) -> bool:
    """True when a card that no channel found may answer: kind, project and ``as_of`` fit. Validity does not count."""
    mine = scope.projects is None or card.project_id in scope.projects
    return mine and card.kind in scope.kinds and scope.too_late(card) is None


def _chained(card: UUID, edges: Sequence[RelationEdge]) -> set[UUID]:
    """The cards that are connected to a card by changes or details, in both directions."""
    reached, waiting = {card}, [card]
    while waiting:
        here = waiting.pop()
        for edge in edges:
            if edge.predicate in (*SUPERSEDING, "expands") and here in (edge.from_card, edge.to_card):
                new = {edge.from_card, edge.to_card} - reached
                reached |= new
                waiting += new
    return reached - {card}


def _corrects(edge: RelationEdge, known: Mapping[UUID, Card]) -> bool:
    """True when a fact stands in the place of another one that was never true."""
    return _replaces(edge, known) and not known[edge.from_card].retracted


def _replaces(edge: RelationEdge, known: Mapping[UUID, Card]) -> bool:
    """True when a fact took the place of another one that was never true. It may itself be retracted by now."""
    newer, older = known[edge.from_card], known[edge.to_card]
    return edge.predicate == "retracts" and (newer.entity, newer.concept_key) == (
        older.entity,
        older.concept_key,
    )


def _dispute(dispute: Dispute, known: Mapping[UUID, Card]) -> Contradiction:
    sides = [dispute.old_card, dispute.new_card]
    return Contradiction(
        concept_key=dispute.concept_key,
        entity=dispute.entity,
        card_ids=sides,
        reason=dispute.reason,
        arbitration_id=dispute.arbitration_id,
        cards=[Side.made_from(known[card]) for card in sides if card in known],
    )


def _contradiction(edge: RelationEdge, known: Mapping[UUID, Card]) -> Contradiction:
    sides = [edge.to_card, edge.from_card]
    return Contradiction(
        concept_key=known[edge.to_card].concept_key,
        entity=known[edge.to_card].entity,
        card_ids=sides,
        reason=edge.reason,
        cards=[Side.made_from(known[card]) for card in sides if card in known],
    )
