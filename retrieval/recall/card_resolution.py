"""How found cards are read: as what was known then, along their chains, once each, with the conflicts about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import dict_row
from psycopg.sql import SQL, Composed, Identifier

from events.platform.sql import statement
from retrieval.cards.chain import SUPERSEDING, RelationEdge, latest_in_chain, same
from retrieval.cards.past import Fold, past
from retrieval.pool.connections import Pool, connected
from retrieval.pool.reconnect import WITHIN_S
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_PACKAGE = "retrieval.recall"
_PREDICATES = (*SUPERSEDING, "expands", "retracts", "contradicts", "same_as")
_BEFORE_THE_LATEST = 0.9  # of its successor's score, for what a question about history shows too

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CardResolution:
    """The cards that may answer, with what they score, and the conflicts any of them is part of.

    ``left_out`` says of the others that were ``found``, which is all that was looked up, why they do not answer.
    """

    cards: dict[UUID, Row]
    scores: dict[UUID, float]
    conflicts: tuple[Row, ...] = ()
    left_out: Mapping[UUID, str] = field(default_factory=dict)
    found: Mapping[UUID, Row] = field(default_factory=dict)

    def alerts(self, chosen: Iterable[Mapping[str, Any]]) -> list[Row]:
        """The conflicts a chosen card is part of: both sides, whether or not both were chosen, and the reason."""
        ids = {card["card_id"] for card in chosen}
        return [conflict for conflict in self.conflicts if ids.intersection(conflict["card_ids"])]


class CardResolver:
    """Looks up what the channels found, and applies the reading rules of cards to it."""

    def __init__(self, pool: Pool, fold: Fold) -> None:
        self._pool = pool
        self._fold = fold

    async def cards(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Row]:
        """The rows of some cards, whatever they are; none for who is not there, or another's."""
        async with connected(self._pool, WITHIN_S, many=scope.size.many) as connection:
            return _by_id(await (await _cards(connection, scope, ids)).fetchall())

    async def resolve(
        self, question: Question, scope: Scope, best: Sequence[UUID], scores: Mapping[UUID, float]
    ) -> CardResolution:
        """What the cards named come to.

        What was retracted or is contested is no answer. What an edge superseded gives its place to the end of
        its chain, unless the question asks about the past. Of cards that are the same, the best answers.
        """
        if not best:
            return CardResolution({}, {})
        async with connected(self._pool, WITHIN_S, many=scope.size.many) as connection:
            # All that depends on the names alone is asked in one breath.
            async with connection.pipeline():
                waiting = (
                    await _cards(connection, scope, best),
                    await _disputes(connection, scope, question.now, best),
                    await _edges(connection, scope, best),
                )
                rows, disputes, reached = [await cursor.fetchall() for cursor in waiting]
            looked_up = _by_id(rows)
            found, marks = dict(looked_up), {card: scores[card] for card in looked_up}
            if scope.known_at is not None:
                found, marks, disputes = await self._as_known(connection, scope, found, marks)
                reached = await (await _edges(connection, scope, list(found))).fetchall()
            edges = [RelationEdge(**row) for row in reached]
            named = {end for edge in edges for end in (edge.from_card, edge.to_card)}
            named |= {dispute[side] for dispute in disputes for side in ("old_card", "new_card")}
            if missing := sorted(named - found.keys()):
                others = _by_id(await (await _cards(connection, scope, missing)).fetchall())
            else:
                others = {}
        return replace(_judged(question, scope, found, marks, others, edges, disputes), found=looked_up)

    async def _as_known(
        self,
        connection: AsyncConnection[Any],
        scope: Scope,
        cards: dict[UUID, Row],
        scores: dict[UUID, float],
    ) -> tuple[dict[UUID, Row], dict[UUID, float], list[Row]]:
        """The cards and conflicts as they were known then; what was found of an identity counts for what it was."""
        assert scope.known_at is not None
        then = await past(
            connection, self._fold, user_id=scope.user_id, known_at=scope.known_at, cards=list(cards)
        )
        best: dict[str, float] = {}
        for card, identity in then.identities.items():
            best[identity] = max(best.get(identity, 0.0), scores.get(card, 0.0))
        found = {card: row for card, row in cards.items() if card not in then.hidden}
        for row in then.history.cards:
            found[row["card_id"]] = {**row, "source_span": _parsed(row["source_span"])}
        admitted = {card: row for card, row in found.items() if scope.admits(row)}
        marks = {card: scores.get(card) or best.get(then.identities.get(card, ""), 0.0) for card in admitted}
        return admitted, marks, [row for row in then.history.arbitrations if row["status"] == "open"]


def before_folding(scope: Scope) -> Scope:
    """The scope to search with: what was true by what was known then is only told once that is folded."""
    return scope if scope.known_at is None else replace(scope, valid_from=None, valid_until=None)


def _judged(
    question: Question,
    scope: Scope,
    found: dict[UUID, Row],
    scores: dict[UUID, float],
    others: Mapping[UUID, Row],
    edges: Sequence[RelationEdge],
    disputes: Sequence[Row],
) -> CardResolution:
    known = {**others, **found}
    edges = [edge for edge in edges if edge.from_card in known and edge.to_card in known]
    out = {edge.to_card: f"retracted: {edge.reason}" for edge in edges if edge.predicate == "retracts"}
    out |= {card: "it is contested" for card, row in known.items() if row["contested"]}
    out |= {card: "it was retracted" for card, row in known.items() if row["retracted"]}
    out |= {card: "it is of another layer" for card, row in known.items() if not _of_layers(scope, row)}

    def raise_to(card: UUID, score: float) -> None:
        if card in known and card not in out and _inside(scope, known[card]):
            found.setdefault(card, known[card])
            scores[card] = max(scores.get(card, 0.0), score)

    def begun(card: UUID) -> datetime | None:
        at = _begun(known[card])
        return at if card not in out and at <= question.now else None

    for dispute in disputes:
        # Whoever finds only the new side is answered with the old one, which holds, and told of the other.
        if dispute["new_card"] in found:
            raise_to(dispute["old_card"], scores[dispute["new_card"]])
    for card, score in list(scores.items()):
        if question.intent == "history":
            for relative in _chained(card, edges):
                raise_to(relative, score * _BEFORE_THE_LATEST)
        elif known[card]["kind"] != "event":
            last = latest_in_chain(card, edges, begun)[-1]
            if last != card:
                raise_to(last, score)
                if question.intent == "present":
                    out[card] = f"{last} took its place"
    for group in set(same(edges).values()):
        members = [card for card in group if card in found and card not in out]
        members.sort(key=lambda card: (-scores[card], card))
        out.update(dict.fromkeys(members[1:], f"it is the same as {members[0]}"))
    conflicts = [_dispute(dispute, known) for dispute in disputes] + [
        _contradiction(edge, known)
        for edge in edges
        if edge.predicate == "contradicts" and not out.keys() & {edge.from_card, edge.to_card}
    ]
    cards = {card: row for card, row in found.items() if card not in out}
    return CardResolution(cards, {card: scores[card] for card in cards}, tuple(conflicts), out)


def _of_layers(scope: Scope, row: Row) -> bool:
    return scope.layers is None or row["context_layer"] in scope.layers


def _inside(scope: Scope, row: Row) -> bool:
    """Whether a card that no channel found may answer all the same: the walls, but not when it was true."""
    return row["kind"] in scope.kinds and (scope.projects is None or row["project_id"] in scope.projects)


def _chained(card: UUID, edges: Sequence[RelationEdge]) -> set[UUID]:
    """All that is chained to a card by change or detail, whichever way."""
    reached, waiting = {card}, [card]
    while waiting:
        here = waiting.pop()
        for edge in edges:
            if edge.predicate in (*SUPERSEDING, "expands") and here in (edge.from_card, edge.to_card):
                new = {edge.from_card, edge.to_card} - reached
                reached |= new
                waiting += new
    return reached - {card}


def _dispute(dispute: Row, known: Mapping[UUID, Row]) -> Row:
    return {
        "concept_key": dispute["concept_key"],
        "entity": dispute["entity"],
        "card_ids": [dispute["old_card"], dispute["new_card"]],
        "reason": dispute["reason"],
        "arbitration_id": dispute["arbitration_id"],
        "cards": _briefs(known, dispute["old_card"], dispute["new_card"]),
    }


def _contradiction(edge: RelationEdge, known: Mapping[UUID, Row]) -> Row:
    row = known[edge.to_card]
    return {
        "concept_key": row["concept_key"],
        "entity": row["entity"],
        "card_ids": [edge.to_card, edge.from_card],
        "reason": edge.reason,
        "cards": _briefs(known, edge.to_card, edge.from_card),
    }


def _briefs(known: Mapping[UUID, Row], *cards: UUID) -> list[Row]:
    names = ("card_id", "kind", "content", "value", "effective_at", "occurred_at", "turn_ids")
    return [{name: known[card][name] for name in names} for card in cards if card in known]


def _begun(row: Row) -> datetime:
    begun: datetime = (
        row["effective_at"] if row["kind"] == "state" else row["occurred_at"] or row["effective_at"]
    )
    return begun


async def _cards(connection: AsyncConnection[Any], scope: Scope, ids: Sequence[UUID]) -> AsyncCursor[Row]:
    return await _asked(
        connection, statement("retrieval.recall", "cards"), {"user_id": scope.user_id, "cards": list(ids)}
    )


async def _edges(connection: AsyncConnection[Any], scope: Scope, cards: Sequence[UUID]) -> AsyncCursor[Row]:
    """What somebody said of these cards and of those they lead to; a timeline's own edges show in its cards."""
    return await _asked(
        connection,
        statement("retrieval.cards", "reachable_relations").format(
            relations=Identifier("cards", "relations")
        ),
        {
            "user_id": scope.user_id,
            "cards": list(cards),
            "predicates": list(_PREDICATES),
            "implied": [False],
            "known_at": scope.known_at,
            "limit": 1000,
        },
    )


async def _disputes(
    connection: AsyncConnection[Any], scope: Scope, now: datetime, cards: Sequence[UUID]
) -> AsyncCursor[Row]:
    return await _asked(
        connection,
        statement(_PACKAGE, "disputes"),
        {"user_id": scope.user_id, "cards": list(cards), "at": now},
    )


async def _asked(
    connection: AsyncConnection[Any], query: SQL | Composed, values: Mapping[str, Any]
) -> AsyncCursor[Row]:
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(query, values)
    return cursor


def _by_id(rows: Iterable[Row]) -> dict[UUID, Row]:
    return {row["card_id"]: row for row in rows}


def _parsed(span: str | None) -> Any:
    return None if span is None else orjson.loads(span)
