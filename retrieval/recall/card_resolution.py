"""Card resolution: from hits to the cards that may answer. Chains are followed, duplicates joined, conflicts found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import AsyncRowFactory, class_row
from psycopg.sql import SQL, Composed, Identifier

from events.language.terms import analyse, term_keys
from events.platform.failures import RETRY_S
from events.platform.sql import statement
from events.resources.cards import Side
from events.types.records import record
from projectors.cards.card import Card
from projectors.cards.connections import SUPERSEDING
from retrieval.cards.alerts import Contradiction
from retrieval.cards.card import by_id, card_row
from retrieval.cards.chain import Chains, RelationEdge, same
from retrieval.cards.past import Fold, past
from retrieval.channels.channel import found_rows
from retrieval.pool import Pool, connected
from retrieval.query.question import Question
from retrieval.query.scope import OWNER, Scope
from retrieval.recall.fusion import Evidence
from retrieval.recall.overview import registered
from retrieval.recall.ranking.features import is_asked_for

_PACKAGE = "retrieval.recall"
_PREDICATES = (*SUPERSEDING, "expands", "qualifies", "retracts", "contradicts", "same_as")
_TURNS = 30  # the best episodes, of which it is asked if their facts still hold
_FACTS = 5  # the facts whose values are looked up in later turns
_READ = 200  # characters of a value
_TERMS = 200  # the own terms of a card that are compared with those of others
_LATER = 10  # the latest turns that name a fact that the question asks for: one of them may have ended it
_NEARBY = 200  # the cards at most whose other relations and whose history are read
_FOLLOWED = 1_000  # the cards at most between a value and the value that is true now: a longer way takes 50 ms and more
_NEAR = 500  # positions in the log between a card and the episode of its turn, at most

_LOOKED_AT = 500  # the latest events and concepts among which an overview finds the most important ones

_R = TypeVar("_R")


@record
class _FoundCard(Card):
    """A card that was looked up, with the keys of its own terms."""

    terms: Sequence[int]


@record
class _Episode(_FoundCard):
    """The episode of the turn of the card ``of_card``."""

    of_card: UUID


_CARD, _EPISODE = card_row(_FoundCard), card_row(_Episode)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """A conflict that waits for a verdict. The old card holds; the new card is contested."""

    arbitration_id: UUID
    concept_key: str
    entity: str
    old_card: UUID
    new_card: UUID
    reason: str


_COLUMNS = statement(_PACKAGE, "card_columns")
_CARDS = SQL(statement(_PACKAGE, "cards").format(columns=_COLUMNS).as_string())
_EPISODES = SQL(statement(_PACKAGE, "turn_episodes").format(columns=_COLUMNS).as_string())
_REACHABLE = SQL(
    statement("retrieval.cards", "reachable_relations")
    .format(relations=Identifier("cards", "relations"))
    .as_string()
)
_DISPUTE = class_row(Dispute)
_EDGE = class_row(RelationEdge)


@dataclass(frozen=True, slots=True)
class CardResolution:
    """The cards that may answer, with their evidence, and the conflicts that any of them is part of.

    A card that answers for others has their evidence, too. ``terms`` are the keys of the own terms of the found cards.
    ``over`` names, for a turn whose only fact another card superseded, that card. ``retracted`` has, for a turn whose
    facts all were retracted, one of them or the fact in its place, and for a turn whose successor is of a kind that is
    not asked for, that card. ``conditions`` has, for a card, those that qualify it and those that it qualifies, and
    ``finer`` those that expand it. ``found`` are all cards that were looked up. ``left_out`` says why a card does not
    answer.
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

    def alerts(self, chosen: set[UUID]) -> list[Contradiction]:
        """Returns the conflicts that a chosen card is part of. Both sides are shown, chosen or not."""
        return [conflict for conflict in self.conflicts if chosen.intersection(conflict.card_ids)]


class CardResolver:
    """Looks up the cards that the channels found, and decides which of them may answer."""

    def __init__(self, pool: Pool, fold: Fold) -> None:
        self._pool = pool
        self._fold = fold

    async def cards(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Card]:
        """Returns some cards by id, whatever their status. An unknown card and another user's card are absent."""
        async with connected(self._pool, scope.user_id, RETRY_S, many=scope.size.many) as connection:
            return {card.card_id: card for card in await (await _cards(connection, scope, ids)).fetchall()}

    async def overview(self, scope: Scope, limit: int) -> list[UUID]:
        """Returns the most important cards of the scope, at most ``limit`` of each kind and context layer."""
        values = {"owner": OWNER, "registered": list(registered()), "looked_at": _LOOKED_AT, "limit": limit}
        async with connected(self._pool, scope.user_id, RETRY_S, many=scope.size.many) as connection:
            return [card_id for (card_id,) in await found_rows(connection, "overview", scope, values)]

    async def episodes(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Card]:
        """Returns the episode of the turn of each of these cards, by the id of the card.

        A card without an episode is absent, and so is one whose episode is outside the scope.
        """
        if not ids:
            return {}
        values = {"user_id": scope.user_id, "cards": list(ids), "near": _NEAR, "most": _TERMS}
        async with connected(self._pool, scope.user_id, RETRY_S, many=scope.size.many) as connection:
            found = await (await _asked(connection, _EPISODE, _EPISODES, values)).fetchall()
        return {episode.of_card: episode for episode in found if scope.admits(episode)}

    async def resolve(
        self,
        question: Question,
        scope: Scope,
        best: Sequence[UUID],
        evidence: Mapping[UUID, Evidence],
        *,
        disputed: bool = True,
    ) -> CardResolution:
        """Returns the cards that may answer, out of ``best``.

        A retracted card and a contested card do not answer. A card that an edge supersedes gives its place to the
        end of its chain, unless the question asks about the past. So does an event that a later event replaced. Of
        cards that are the same, the best one answers. Without ``disputed`` the user has no open arbitration.
        """
        if not best:
            return CardResolution({}, {})
        history = question.intent == "history"
        of_now = scope.known_at is None and not history
        async with connected(self._pool, scope.user_id, RETRY_S, many=scope.size.many) as connection:
            # These queries need only the ids, so they are sent in one round trip.
            async with connection.pipeline():
                asked_cards = await _cards(connection, scope, best)
                asked_disputes = None
                if disputed and scope.known_at is None:
                    asked_disputes = await _disputes(connection, scope, question.now, best)
                asked_edges = await _edges(connection, scope, best, history=history)
                asked_states = await connection.execute(
                    statement(_PACKAGE, "turn_states"),
                    {"user_id": scope.user_id, "cards": list(best[:_TURNS]) if of_now else []},
                )
                looked_up = by_id(await asked_cards.fetchall())
                disputes = [] if asked_disputes is None else await asked_disputes.fetchall()
                edges = await asked_edges.fetchall()
                of_turns = await asked_states.fetchall()
            terms = {card: frozenset(row.terms) for card, row in looked_up.items()}
            found: dict[UUID, Card] = dict(looked_up)
            marks = {card: evidence[card] for card in looked_up}
            if scope.known_at is not None:
                found, marks, disputes = await self._as_known(connection, scope, found, marks)
                edges = await (await _edges(connection, scope, list(found), history=history)).fetchall()
            chained = [card for card, row in found.items() if _needs_chain(question, scope, row)]
            if chained := [*chained, *(state for _, state, _ in of_turns)]:
                asked_edges = await _edges(connection, scope, chained, history=history, implied=True)
                edges += await asked_edges.fetchall()
            named = {end for edge in edges for end in (edge.from_card, edge.to_card)}
            named |= {card for dispute in disputes for card in (dispute.old_card, dispute.new_card)}
            later = await _later(connection, question, scope, found, marks)
            named |= later.keys() | {state for _, state, retracted in of_turns if retracted}
            others: dict[UUID, _FoundCard] = {}
            if missing := sorted(named - found.keys()):
                others = by_id(await (await _cards(connection, scope, missing)).fetchall())
            for card in later.keys() & others.keys():
                found[card], marks[card], terms[card] = (
                    others[card],
                    later[card],
                    frozenset(others[card].terms),
                )
        judged = _judged(question, scope, found, marks, others, edges, disputes, of_turns)
        return replace(judged, found=looked_up, terms=terms)

    async def _as_known(
        self,
        connection: AsyncConnection,
        scope: Scope,
        cards: dict[UUID, Card],
        evidence: Mapping[UUID, Evidence],
    ) -> tuple[dict[UUID, Card], dict[UUID, Evidence], list[Dispute]]:
        """The cards and conflicts as they were known then. A card gets the evidence of its identity."""
        assert scope.known_at is not None
        then = await past(
            connection, self._fold, user_id=scope.user_id, known_at=scope.known_at, cards=list(cards)
        )
        best: dict[str, Evidence] = {}
        for card, identity in then.identities.items():
            best[identity] = best.get(identity, Evidence()).joined(evidence.get(card, Evidence()))
        found = {card_id: card for card_id, card in cards.items() if card_id not in then.hidden}
        # The other events of a chain answer through its relations, and not because they are folded together.
        found.update(
            (card.card_id, card)
            for card in then.history.cards
            if card.kind != "event" or card.card_id in cards
        )
        admitted = {card_id: card for card_id, card in found.items() if scope.admits(card)}
        marks = {
            card: evidence.get(card) or best.get(then.identities.get(card, ""), Evidence())
            for card in admitted
        }
        disputes = [
            Dispute(
                arbitration_id=row.arbitration_id,
                concept_key=row.concept_key,
                entity=row.entity,
                old_card=row.old_card,
                new_card=row.new_card,
                reason=row.reason,
            )
            for row in then.history.arbitrations
            if row.status == "open"
        ]
        return admitted, marks, disputes


def before_folding(scope: Scope) -> Scope:
    """Returns the scope to search with. With ``known_at``, validity is decided after the fold of the past."""
    return (
        scope
        if scope.known_at is None
        else replace(scope, valid_from=None, valid_until=None, standing_at=None)
    )


def _judged(  # noqa: C901 - one branch a reason
    question: Question,
    scope: Scope,
    found: dict[UUID, Card],
    evidence: dict[UUID, Evidence],
    others: Mapping[UUID, Card],
    edges: Sequence[RelationEdge],
    disputes: Sequence[Dispute],
    of_turns: Sequence[tuple[UUID, UUID, bool]],
) -> CardResolution:
    known = {**others, **found}
    # A card may be retracted without another card in its place.
    out = {edge.to_card: f"retracted: {edge.reason}" for edge in edges if edge.predicate == "retracts"}
    edges = [edge for edge in edges if edge.from_card in known and edge.to_card in known]
    chains = Chains(edges)
    out |= {card: "it is contested" for card, row in known.items() if row.contested}
    out |= {card: "it was retracted" for card, row in known.items() if row.retracted}
    out |= {card: "its metadata is another" for card, row in known.items() if not scope.has_metadata(row)}
    out |= {card: "it is of another layer" for card, row in known.items() if not _of_layers(scope, row)}

    def raise_to(card: UUID, told: Evidence) -> None:
        if card in known and card not in out and _inside(scope, known[card]):
            found.setdefault(card, known[card])
            evidence[card] = evidence.get(card, Evidence()).joined(told)

    def begun(card: UUID) -> datetime | None:
        at = known[card].begun
        return at if card not in out and at is not None and at <= question.now else None

    def said(card: UUID) -> datetime | None:
        at = known[card].said_at
        return at if at <= question.now else None

    for dispute in disputes:
        # A hit on the new side answers with the old side, which holds, and the conflict is shown.
        if dispute.new_card in found:
            raise_to(dispute.old_card, evidence[dispute.new_card])
    for card, told in list(evidence.items()):
        if question.intent == "history":
            for relative in _chained(card, edges):
                raise_to(relative, told)
        elif scope.replaced(known[card]):
            last = chains.latest(card, said)[-1]
            raise_to(last, told)
            out[card] = f"{last} took its place" if last != card else "a later event took its place"
        elif known[card].kind != "event":
            last = chains.latest(card, begun)[-1]
            if last != card:
                raise_to(last, told)
                if question.intent == "present":
                    out[card] = f"{last} took its place"
    ended: dict[UUID, set[UUID]] = {}
    for episode, state, _ in of_turns:
        ended.setdefault(episode, set()).add(chains.latest(state, begun)[-1] if state in known else state)
    stated = {(episode, state) for episode, state, _ in of_turns}
    over = {
        episode: latest.pop()
        for episode, latest in ended.items()
        if episode in evidence and len(latest) == 1 and (episode, *latest) not in stated
    }
    sound = {episode for episode, _, retracted in of_turns if not retracted}
    right = {edge.to_card: known[edge.from_card] for edge in edges if _corrects(edge, known)}
    wrong = {
        episode: right.get(state, known[state])
        for episode, state, _ in of_turns
        if episode not in sound and state in known
    }
    for episode, successor in over.items():
        raise_to(successor, evidence[episode])
        if successor in known and successor not in found:
            # The question asks for no states. The turn of the new fact ends the old turn, if it answers.
            after = known[successor]
            turns = set(after.turn_ids)
            of_turn = (one for one, row in found.items() if row.episode and turns & set(row.turn_ids))
            over[episode] = next(of_turn, successor)
            if question.intent in ("present", "list") and replace(scope, kinds=(after.kind,)).admits(after):
                wrong[episode] = after
    for group in set(same(edges).values()):
        members = [card for card in group if card in found and card not in out]
        members.sort(key=lambda card: (-evidence[card].votes, card))
        out.update((card, f"it is the same as {members[0]}") for card in members[1:])
    conflicts = [_dispute(dispute, known) for dispute in disputes] + [
        _contradiction(edge, known)
        for edge in edges
        if edge.predicate == "contradicts" and not out.keys() & {edge.from_card, edge.to_card}
    ]
    cards = {card: row for card, row in found.items() if card not in out}
    return CardResolution(
        cards,
        {card: evidence[card] for card in cards},
        tuple(conflicts),
        out,
        over=over,
        retracted=wrong,
        conditions=_conditions(question, scope, edges, known, out),
        finer=_finer(edges),
    )


def _finer(edges: Sequence[RelationEdge]) -> dict[UUID, set[UUID]]:
    finer: dict[UUID, set[UUID]] = {}
    for edge in edges:
        if edge.predicate == "expands":
            finer.setdefault(edge.to_card, set()).add(edge.from_card)
    return finer


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


def _needs_chain(question: Question, scope: Scope, card: Card) -> bool:
    """True for an event whose chain answers too: it was replaced, or the question is about history."""
    return scope.replaced(card) or (card.kind == "event" and question.intent == "history")


def _of_layers(scope: Scope, card: Card) -> bool:
    return scope.layers is None or card.context_layer in scope.layers


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
    newer, older = known[edge.from_card], known[edge.to_card]
    same = (newer.entity, newer.concept_key) == (older.entity, older.concept_key)
    return edge.predicate == "retracts" and same and not newer.retracted


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


async def _cards(connection: AsyncConnection, scope: Scope, ids: Sequence[UUID]) -> AsyncCursor[_FoundCard]:
    values = {"user_id": scope.user_id, "cards": list(ids), "most": _TERMS}
    return await _asked(connection, _CARD, _CARDS, values)


async def _edges(
    connection: AsyncConnection,
    scope: Scope,
    cards: Sequence[UUID],
    *,
    history: bool,
    implied: bool = False,
) -> AsyncCursor[RelationEdge]:
    """The edges of these cards and of the cards they lead to, stated or ``implied``.

    Chains are followed to the cards that are true now. For a ``history`` the nearest cards count. Implied edges of
    states show in the cards themselves. Without a history, they lead only to later cards.
    """
    visited = len(cards) + _NEARBY
    followed = visited if history else visited + _FOLLOWED
    return await _asked(
        connection,
        _EDGE,
        _REACHABLE,
        {
            "user_id": scope.user_id,
            "cards": list(cards),
            "predicates": list(_PREDICATES),
            "chains": list(SUPERSEDING),
            "implied": [implied],
            "known_at": scope.known_at,
            "older": history or not implied,
            "visited": visited,
            "followed": followed,
            "limit": 2 * followed,
        },
    )


async def _later(
    connection: AsyncConnection,
    question: Question,
    scope: Scope,
    found: Mapping[UUID, Card],
    evidence: Mapping[UUID, Evidence],
) -> dict[UUID, Evidence]:
    """Returns the latest turns that name the value of a fact that was asked for.

    They have the votes of the fact and no other evidence, so that they are compared with it and answer nothing else.
    """
    facts = [card for card in found.values() if is_asked_for(card, question)]
    if not facts or scope.known_at is not None:
        return {}
    words = " ".join((fact.value or "")[:_READ] for fact in facts[:_FACTS])
    keys = list(dict.fromkeys(term_keys(scope.user_id, analyse(words))))
    values = {
        "keys": keys,
        "weights": [1.0] * len(keys),
        "after": min(fact.said_at for fact in facts),
        "limit": _LATER,
    }
    rows = await found_rows(connection, "later_turns", scope, values)
    votes = Evidence(votes=max(evidence[fact.card_id].votes for fact in facts))
    return {card: votes for (card,) in rows if card not in found}


async def _disputes(
    connection: AsyncConnection, scope: Scope, now: datetime, cards: Sequence[UUID]
) -> AsyncCursor[Dispute]:
    return await _asked(
        connection,
        _DISPUTE,
        statement(_PACKAGE, "disputes"),
        {"user_id": scope.user_id, "cards": list(cards), "at": now},
    )


async def _asked(
    connection: AsyncConnection,
    row_factory: AsyncRowFactory[_R],
    query: SQL | Composed,
    values: Mapping[str, object],
) -> AsyncCursor[_R]:
    cursor = connection.cursor(row_factory=row_factory)
    await cursor.execute(query, values)
    return cursor
