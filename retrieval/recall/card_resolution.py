"""Card resolution: looks up the cards that the channels found, and what chains, conflicts and turns say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from psycopg import AsyncConnection, AsyncCursor
from psycopg.rows import AsyncRowFactory, class_row
from psycopg.sql import SQL, Composed, Identifier

from events.language.terms import analyse, term_keys
from events.platform.database import statement
from events.platform.failures import RETRY_S
from events.types.records import record
from projectors.cards.card import Card
from projectors.cards.connections import SUPERSEDING
from retrieval.cards.card import by_id, card_row
from retrieval.cards.chain import RelationEdge
from retrieval.cards.past import Fold, past
from retrieval.channels.channel import found_rows
from retrieval.pool import Pool
from retrieval.query.question import Question
from retrieval.query.scope import OWNER, Scope
from retrieval.recall.fusion import Evidence
from retrieval.recall.judging import CardResolution, Dispute, Judging, past_facts
from retrieval.recall.overview import registered
from retrieval.recall.ranking.features import is_asked_for

_PACKAGE = "retrieval.recall"
_PREDICATES = (*SUPERSEDING, "expands", "qualifies", "retracts", "contradicts", "same_as")
_TURNS = 30  # the best cards, of whose turns it is asked if their facts still hold
_FACTS = 5  # the facts whose values are looked up in later turns
_BEST = 2  # the best cards whose rare words are looked up there, too
_READ = 200  # characters of a value
_RARE = 4  # cards: a word that fewer hold names a thing
_BRIEF = 12  # words beside those of the question: a turn with no more tells one thing
_TERMS = 200  # the own terms of a card that are compared with those of others
_LATER = 10  # the latest turns that name such a value: one of them may have ended it
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


_COLUMNS = statement(_PACKAGE, "card_columns")
_CARDS = SQL(statement(_PACKAGE, "cards").format(columns=_COLUMNS).as_string())
_EPISODES = SQL(statement(_PACKAGE, "turn_episodes").format(columns=_COLUMNS).as_string())
_REACHABLE = SQL(
    statement("retrieval.cards", "reachable_relations")
    .format(relations=Identifier("cards", "relations"))
    .as_string()
)
_DISPUTE, _DISPUTES = class_row(Dispute), statement(_PACKAGE, "disputes")
_EDGE = class_row(RelationEdge)


class CardResolver:
    """Looks up the cards that the channels found, and has them judged (``judging.py``)."""

    def __init__(self, pool: Pool, fold: Fold) -> None:
        self._pool = pool
        self._fold = fold

    async def cards(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Card]:
        """Returns some cards by id, whatever their status. An unknown card and another user's card are absent."""
        async with self._pool.connected(scope.user_id, RETRY_S) as connection:
            return {card.card_id: card for card in await (await _cards(connection, scope, ids)).fetchall()}

    async def overview(self, scope: Scope, limit: int) -> list[UUID]:
        """Returns the most important cards of the scope, at most ``limit`` of each kind and context layer."""
        values = {"owner": OWNER, "registered": list(registered()), "looked_at": _LOOKED_AT, "limit": limit}
        async with self._pool.connected(scope.user_id, RETRY_S) as connection:
            return [card_id for (card_id,) in await found_rows(connection, "overview", scope, values)]

    async def episodes(self, scope: Scope, ids: Sequence[UUID]) -> dict[UUID, Card]:
        """Returns the episode of the turn of each of these cards, by the id of the card.

        A card without an episode is absent, and so is one whose episode is outside the scope.
        """
        if not ids:
            return {}
        values = {"user_id": scope.user_id, "cards": list(ids), "near": _NEAR, "most": _TERMS}
        async with self._pool.connected(scope.user_id, RETRY_S) as connection:
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
        async with self._pool.connected(scope.user_id, RETRY_S) as connection:
            # These queries need only the ids, so they are sent in one round trip.
            async with connection.pipeline():
                asked_cards = await _cards(connection, scope, best)
                asked_disputes = None
                if disputed and scope.known_at is None:
                    values = {"user_id": scope.user_id, "cards": list(best), "at": question.now}
                    asked_disputes = await _asked(connection, _DISPUTE, _DISPUTES, values)
                asked_edges = await _edges(connection, scope, best, history=history)
                turns = best[:_TURNS] if scope.known_at is None else ()
                asked_facts = await connection.execute(
                    statement(_PACKAGE, "turn_facts"),
                    {"user_id": scope.user_id, "cards": list(turns), "at": question.now},
                )
                looked_up = by_id(await asked_cards.fetchall())
                disputes = [] if asked_disputes is None else await asked_disputes.fetchall()
                edges = await asked_edges.fetchall()
                facts = await asked_facts.fetchall()
            terms = {card: frozenset(row.terms) for card, row in looked_up.items()}
            found: dict[UUID, Card] = dict(looked_up)
            marks = {card: evidence[card] for card in looked_up}
            if scope.known_at is not None:
                found, marks, disputes = await self._as_known(connection, scope, found, marks)
                edges = await (await _edges(connection, scope, list(found), history=history)).fetchall()
            # The chain of an event answers too when the event was replaced, and for a history.
            chained = [
                card
                for card, row in found.items()
                if scope.replaced(row) or (row.kind == "event" and history)
            ]
            of_turns: list[tuple[UUID, UUID, bool]] = []
            past_of: list[tuple[UUID, UUID]] = []
            for card, fact, retracted, superseded, own, past in facts:
                if past:
                    past_of.append((card, fact))
                if own and not history and card in found and found[card].episode:
                    of_turns.append((card, fact, retracted))
                    if superseded:  # a fact that no later one took the place of has no chain
                        chained.append(fact)
            gone = {fact for _, fact in past_of}
            of_facts: list[RelationEdge] = []
            if named_facts := [*dict.fromkeys((*chained, *sorted(gone)))]:
                implied = (False, True) if gone else (True,)
                asked_edges = await _edges(connection, scope, named_facts, history=history, implied=implied)
                of_facts = await asked_edges.fetchall()
                edges += [edge for edge in of_facts if edge.implied]
            named = {end for edge in edges for end in (edge.from_card, edge.to_card)}
            named |= {card for dispute in disputes for card in (dispute.old_card, dispute.new_card)}
            later, naming = await _later(connection, question, scope, found, marks, terms)
            named |= later.keys() | {state for _, state, retracted in of_turns if retracted}
            if gone:
                named |= gone | {edge.from_card for edge in of_facts}
            others: dict[UUID, _FoundCard] = {}
            if missing := sorted(named - found.keys()):
                others = by_id(await (await _cards(connection, scope, missing)).fetchall())
            marks |= {card: told for card, told in later.items() if card in found or card in others}
            for card in later.keys() & others.keys():
                found[card], terms[card] = others[card], frozenset(others[card].terms)
        resolution = Judging(question, scope, found, marks, others, edges).resolution(disputes, of_turns)
        return replace(
            resolution,
            found=looked_up,
            terms=terms,
            again=_again(naming, found),
            past=past_facts(past_of, {**others, **found}, of_facts, question, scope),
        )

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


async def _cards(connection: AsyncConnection, scope: Scope, ids: Sequence[UUID]) -> AsyncCursor[_FoundCard]:
    values = {"user_id": scope.user_id, "cards": list(ids), "most": _TERMS}
    return await _asked(connection, _CARD, _CARDS, values)


async def _edges(
    connection: AsyncConnection,
    scope: Scope,
    cards: Sequence[UUID],
    *,
    history: bool,
    implied: tuple[bool, ...] = (False,),
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
            "implied": list(implied),
            "known_at": scope.known_at,
            "older": history or True not in implied,
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
    terms: Mapping[UUID, frozenset[int]],
) -> tuple[dict[UUID, Evidence], dict[UUID, set[UUID]]]:
    """Returns the latest turns that name what the best cards answer, and for each of the cards those that name it.

    That is the value of a fact, or a rare word of a brief turn. A turn that only this finds gets the votes of the fact,
    so that it is compared with the fact, and no evidence to answer by.
    """
    if scope.known_at is not None or question.intent != "present":
        return {}, {}
    facts = [card for card in found.values() if is_asked_for(card, question)][:_FACTS]
    answers = {
        fact.card_id: frozenset(term_keys(scope.user_id, analyse((fact.value or "")[:_READ])))
        for fact in facts
    }
    keys = sorted({key for answer in answers.values() for key in answer})
    asked = set(term_keys(scope.user_id, question.weights))
    # Among very many cards, counting the cards of each word takes as long as a channel.
    most = 0 if scope.size.many else _BEST
    for card_id in sorted(found, key=lambda card: (-evidence[card].votes, card))[:most]:
        card, answer = found[card_id], terms.get(card_id, frozenset()) - asked
        if card.episode and card.provenance == "user_stated" and 0 < len(answer) <= _BRIEF:
            answers[card_id] = answer
    if not answers:
        return {}, {}
    values = {
        "keys": keys,
        "weights": [1.0] * len(keys),
        "rare_keys": sorted({key for answer in answers.values() for key in answer} - set(keys)),
        "rare": _RARE,
        "after": min(found[card].said_at for card in answers),
        "limit": _LATER,
    }
    rows = await found_rows(connection, "later_turns", scope, values)
    votes = max((evidence[fact.card_id].votes for fact in facts), default=0.0)
    told = {
        card: Evidence(votes=0.0 if set(named).isdisjoint(keys) else votes)
        for card, named in rows
        if card not in found
    }
    naming = {
        card: {turn for turn, named in rows if not answer.isdisjoint(named)}
        for card, answer in answers.items()
    }
    return told, naming


def _again(naming: Mapping[UUID, set[UUID]], found: Mapping[UUID, Card]) -> dict[UUID, UUID]:
    """Returns, for a card, the last later turn of its speaker that names what the card answers."""
    again = {}
    for card, turns in naming.items():
        own = found[card]
        later = [found[turn] for turn in turns if turn in found]
        told = [turn for turn in later if _says_again(turn, own)]
        if told:
            again[card] = max(told, key=lambda turn: (turn.said_at, turn.card_id)).card_id
    return again


def _says_again(turn: Card, own: Card) -> bool:
    """True for a later turn of the same speaker. What an assistant says is no word of its user."""
    by_assistant = [each.provenance == "assistant_stated" for each in (turn, own)]
    return turn.speaker == own.speaker and turn.said_at > own.said_at and by_assistant[0] is by_assistant[1]


async def _asked(
    connection: AsyncConnection,
    row_factory: AsyncRowFactory[_R],
    query: SQL | Composed,
    values: Mapping[str, object],
) -> AsyncCursor[_R]:
    cursor = connection.cursor(row_factory=row_factory)
    await cursor.execute(query, values)
    return cursor
