"""Proposals to retract: what a turn asks to forget waits for an answer. Nothing is retracted without one.

An approved proposal withdraws the statements of one card, the episodes of their turns, which hold the words, and what
else was read from the same words. The events stay in the log: `cardlog reextract` reads the turns again, and an
erasure removes them.
"""

from collections.abc import Sequence
from uuid import UUID

from events.http.errors import ProblemError
from events.language.concepts import concepts_asked, normalise_value
from events.language.forget_requests import requests_to_forget
from events.language.terms import question_terms, term_keys
from events.platform.database import Connection, Row, rows_if_folded, rows_of, statement
from events.problems.problem_log import entries
from events.resources.references import RetractedCard
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import Event, partition_of
from events.types.extraction import CardsWithdrawn
from events.types.json_values import JsonObject
from events.types.problems import PROBLEM_EVENTS
from events.types.references import ReferenceName, ReferenceProposed
from events.types.turns import TurnRecorded
from ingest.decider import Command

KIND = "card"
"""The kind of a proposal that is about a card and not about a reference. No reference kind has this name."""
STREAM = "proposals"
MOST = 3
"""The most cards that one request may mean. A request that fits more cards is not certain enough for a proposal."""
_PACKAGE = "ingest.references"
_CONCEPT, _FURTHER_CONCEPT, _TERM = 3.0, 1.0, 1.0
_OF_MANY_THINGS = frozenset(("name", "名字", "姓名"))
"""Words that tell what is meant of a thing, and not which thing."""
_SURE, _PERHAPS = 0.9, 0.6


def propose_retractions(connection: Connection, turn: Event) -> int:
    """Appends a proposal for each card that a turn of a user asks to forget. Returns the number of new proposals.

    Only facts that are cards already are proposed. The caller runs it in a transaction.
    """
    recorded = turn.payload
    if not isinstance(recorded, TurnRecorded) or recorded.role != "user" or recorded.by_contact:
        return 0
    wanted: dict[UUID, tuple[Row, str, float]] = {}
    for request in requests_to_forget(recorded.text):
        cards = _meant(connection, turn.user_id, recorded, request.about)
        quote = recorded.text[request.begin : request.end].strip()
        for card in cards:
            wanted.setdefault(card["card_id"], (card, quote, _SURE if len(cards) == 1 else _PERHAPS))
    command = Command(owner=turn.user_id, actor="extractor", at=recorded.said_at)
    proposed = [
        command.event(
            STREAM,
            ReferenceProposed(
                name=ReferenceName(kind=KIND, key=card["concept_key"], project_id=recorded.project_id),
                op={"op": "retract", "card_id": str(card_id), "content": card["content"]},
                confidence=confidence,
                quote=quote,
                turn_ids=(recorded.turn_id,),
            ),
            dedupe_key=f"retraction/{recorded.turn_id}/{card_id}",
            causation_id=turn.event_id,
        )
        for card_id, (card, quote, confidence) in wanted.items()
    ]
    if proposed:
        log.append(connection, proposed)
    return len(proposed)


def retract(connection: Connection, proposal_id: UUID, op: JsonObject, command: Command) -> RetractedCard:
    """Withdraws the statements of the card that a proposal names.

    Raises a 409 problem when the user has no such card any more. The caller runs it in a transaction.
    """
    owner, card_id = command.owner, UUID(op["card_id"])
    values: dict[str, object] = {"user_id": owner, "card_id": card_id}
    card = next(iter(rows_of(connection, statement(_PACKAGE, "retracted_card"), values)), None)
    if card is None:
        raise ProblemError(
            409, "Card gone", "the card of the proposal is gone; refuse the proposal", field="proposal_id"
        )
    rows = rows_of(connection, statement(_PACKAGE, "retracted_statements"), values)
    stated = [each for each in map(log.event_of, rows) if _states(each, card)]
    values = {"user_id": owner, "partition": partition_of(owner), "turn_ids": card["turn_ids"]}
    noted = map(log.event_of, rows_of(connection, statement(_PACKAGE, "retracted_events"), values))
    read = (each for each in (*noted, *entries(connection, owner)) if _is_of_words(each, stated, card))
    places = {each.event_id: each.position for each in (*stated, *read)}
    ordered = sorted(places.items(), key=lambda place: place[1])
    withdrawn = CardsWithdrawn(
        event_ids=tuple(event_id for event_id, _ in ordered),
        positions=tuple(position for _, position in ordered),
        reason="the user asked to forget it",
    )
    log.append(connection, [command.event(STREAM, withdrawn, dedupe_key=f"retracted/{proposal_id}")])
    return RetractedCard(
        proposal_id=proposal_id,
        status="approved",
        card_id=card_id,
        content=op["content"],
        events=len(ordered),
    )


def _meant(connection: Connection, owner: str, turn: TurnRecorded, about: str) -> list[Row]:
    """Returns the cards that fit the words best, or none when the words fit too many."""
    concepts = concepts_asked(about)
    terms = [term for term in question_terms(about) if term not in _OF_MANY_THINGS]
    if not concepts and not terms:
        return []
    keys = set(term_keys(owner, terms))
    values = {
        "user_id": owner,
        "project_id": turn.project_id,
        "at": turn.said_at,
        "concepts": list(concepts),
        "keys": sorted(keys),
    }
    rows = rows_if_folded(connection, statement(_PACKAGE, "retractable_cards"), values)

    def fit(card: Row) -> float:
        place = concepts.index(card["concept_key"]) if card["concept_key"] in concepts else None
        shared = len(keys.intersection(card["terms"]))
        if not shared and card["cardinality"] != "single_value":
            return 0.0  # another pet, another child
        concept = 0.0 if place is None else _FURTHER_CONCEPT if place else _CONCEPT
        return concept + _TERM * shared

    best = max(map(fit, rows), default=0.0)
    # Without a concept, a single shared word is too little.
    if best < (1.0 if concepts else min(2, len(keys))):
        return []
    found = [row for row in rows if fit(row) == best]
    return found if len(found) <= MOST else []


def _states(event: Event, card: Row) -> bool:
    """True when a statement of the card's fact states the value of the card, in one of the card's turns."""
    payload = event.payload
    return (
        isinstance(payload, StateAsserted)
        and set(payload.origin.turn_ids) <= set(card["turn_ids"])
        and normalise_value(card["concept_key"], payload.value)
        == normalise_value(card["concept_key"], card["value"])
    )


def _is_of_words(event: Event, stated: Sequence[Event], card: Row) -> bool:
    """True for an episode of the card's turns, and for an event that was read from words of a statement."""
    payload = event.payload
    if isinstance(payload, EventNoted) and payload.episode:
        return True
    if not isinstance(payload, (EventNoted, *PROBLEM_EVENTS)):
        return False
    spans = [each.payload.origin.source_span for each in stated]
    own = payload.origin.source_span
    return not set(payload.origin.turn_ids).isdisjoint(card["turn_ids"]) and any(
        own is None
        or span is None
        or (own.turn_id == span.turn_id and own.start < span.end and span.start < own.end)
        for span in spans
    )
