"""Rows of the card tables, made from a span of statements or from a noted event, with the words in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from events.language.concepts import canonical_key, normalise_entity
from events.language.ngrams import pairs
from events.language.terms import GRAMS, TERMS, USERS, analyse
from events.store.bounds import as_real
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.envelope import Event
from events.types.naming import KnowledgeMerged
from projectors.cards.statement import name_key
from projectors.cards.timeline import ValidPeriod

Row = dict[str, Any]

CONCEPT_TERM = "concept:"
_SHORT = 48


def event_row(event: Event, payload: EventNoted) -> tuple[Row, list[str]]:
    """The card of something that happened, and the terms in it; it never changes."""
    row = _base(
        "event", event, payload.origin, payload.content, payload.tags, payload.confidence, payload.weight
    )
    concept_key = canonical_key(payload.concept_key) if payload.concept_key else None
    row["occurred_at"] = payload.occurred_at
    row["occurred_until"] = payload.occurred_until
    row["entity"] = normalise_entity(payload.entity)
    row["concept_key"] = concept_key
    row["value"] = payload.value
    row["episode"] = payload.episode
    row["topics"] = list(payload.topics)
    row["importance"] = min(10, max(1, payload.importance))
    row["sentiment"] = payload.sentiment
    terms = _index(row, payload.topics, () if concept_key is None else (concept_key,))
    if payload.before:
        scope = USERS[row["user_id"]]
        for said in payload.before:
            row["term_keys"] += [scope ^ digest for digest in _said_digests(said.text)]
    return row, terms


def state_row(span: ValidPeriod) -> Row:
    """The card of a state, over the whole of its span, in the words that hold now."""
    event, latest = span.first.event, span.latest
    payload = latest.state
    row = _base(
        "state", event, payload.origin, payload.content, payload.tags, payload.confidence, payload.weight
    )
    concept_key = canonical_key(payload.concept_key)
    row.update(
        occurred_at=span.effective_at if span.first.state.time_resolved else None,
        effective_at=span.effective_at,
        superseded_at=span.superseded_at,
        concept_key=concept_key,
        entity=normalise_entity(payload.entity),
        value=payload.value,
        cardinality=payload.cardinality,
        retracted=span.retracted,
        contested=span.contested,
        ended=span.ended,
    )
    _merge(row, span)
    _index(row, [payload.value, payload.entity], [concept_key])
    return row


def knowledge_row(span: ValidPeriod) -> Row:
    """The card of a concept, with the best definition and every name it was given."""
    event, latest = span.first.event, span.latest.event.payload
    payload = event.payload
    assert isinstance(payload, KnowledgeLearned)
    assert isinstance(latest, KnowledgeLearned)
    row = _base(
        "knowledge", event, payload.origin, latest.content, latest.tags, latest.confidence, latest.weight
    )
    title, *aliases = span.names
    related: dict[str, None] = {}
    for statement in span.statements:
        other = statement.event.payload
        assert isinstance(other, KnowledgeLearned)
        related.update(dict.fromkeys(map(name_key, other.related_titles)))
    keys = sorted({key for name in span.names if (key := name_key(name))})
    row.update(
        effective_at=span.effective_at,
        title=title,
        aliases=aliases,
        definition=latest.definition,
        name_keys=keys,
        related_keys=sorted(related.keys() - {*keys, ""}),
        concept_key=canonical_key(title),
        entity=title,
    )
    _merge(row, span)
    _index(row, [*span.names, latest.definition], [])
    return row


def spoken_terms(event: Event) -> list[str]:
    """The terms in a statement, its names and tags: those of the card it makes or deepens."""
    payload = event.payload
    if isinstance(payload, KnowledgeMerged):
        return _terms("", (), [payload.into_title, payload.from_title], None, [])
    if isinstance(payload, StateAsserted):
        names, concepts = [payload.value, payload.entity], [canonical_key(payload.concept_key)]
    else:
        assert isinstance(payload, KnowledgeLearned)
        names, concepts = [payload.title, *payload.aliases, payload.definition], []
    return _terms(payload.content, payload.tags, names, payload.origin.speaker, concepts)


def _base(
    kind: str,
    event: Event,
    origin: CardOrigin,
    content: str,
    tags: Sequence[str],
    confidence: float,
    weight: float,
) -> Row:
    # In the order of sql/copy_cards.sql.
    return {
        "user_id": event.user_id,
        "kind": kind,
        "card_id": event.event_id,
        "project_id": origin.project_id,
        "context_layer": origin.context_layer,
        "created_at": event.recorded_at,
        "occurred_at": None,
        "occurred_until": None,
        "effective_at": None,
        "superseded_at": None,
        "last_verified": origin.said_at,
        "said_at": origin.said_at,
        "session_id": origin.session_id,
        "agent_id": origin.agent_id,
        "document_id": origin.document_id,
        "speaker": origin.speaker,
        "turn_ids": list(origin.turn_ids),
        "source_span": _span_json(origin.source_span),
        "caused_by": event.causation_id,
        "concept_key": None,
        "entity": None,
        "value": None,
        "cardinality": None,
        "tags": list(tags),
        "confidence": as_real(confidence),
        "weight": as_real(weight),
        "provenance": origin.provenance,
        "content": content,
        "mentions": 1,
        "retracted": False,
        "contested": False,
        "ended": False,
        "episode": None,
        "topics": None,
        "importance": None,
        "sentiment": None,
        "title": None,
        "aliases": None,
        "definition": None,
        "name_keys": None,
        "related_keys": None,
        "position": event.position,
        "mode": origin.mode,
        "term_keys": None,
        "own_terms": None,
        "pair_keys": None,
    }


def _span_json(span: SourceSpan | None) -> str | None:
    return None if span is None else orjson.dumps(span).decode()


def _merge(row: Row, span: ValidPeriod) -> None:
    """Add what everybody brings who said it: they verify, and their turns stand behind the card too."""
    turn_ids: dict[str, None] = {}
    verified: list[datetime] = [] if span.verified_at is None else [span.verified_at]
    for statement in span.statements:
        payload = statement.event.payload
        assert isinstance(payload, StateAsserted | KnowledgeLearned)
        turn_ids.update(dict.fromkeys(payload.origin.turn_ids))
        verified.append(payload.origin.said_at)
    row["said_at"] = span.first.said_at
    row["turn_ids"] = list(turn_ids)
    row["last_verified"] = max(verified)
    row["mentions"] = 1 + len(span.agreeing)


@lru_cache(maxsize=4096)
def _concept_terms(concept_key: str) -> tuple[str, ...]:
    return (CONCEPT_TERM + concept_key, *analyse(concept_key.replace("_", " ")))


def _index(row: Row, names: Sequence[str], concepts: Sequence[str]) -> list[str]:
    """Fill in what finds the card; returns its terms."""
    terms = _terms(row["content"], row["tags"], names, row["speaker"], concepts)
    scope = USERS[row["user_id"]]
    row["term_keys"] = [scope ^ TERMS[term] for term in terms]
    row["own_terms"] = len(terms)
    # Pairs of characters find Chinese that was cut otherwise or misspelt; Latin words have `words` for that.
    row["pair_keys"] = pair_keys(row["user_id"], row["content"], *names)
    return terms


def _terms(
    content: str, tags: Sequence[str], names: Sequence[str], speaker: str | None, concepts: Sequence[str]
) -> list[str]:
    terms = list(_said_terms(content))
    seen = set(terms)
    for text in (*tags, *names, *([speaker] if speaker else [])):
        # Names and tags add what the content does not say already; they must not count twice.
        for term in _name_terms(text):
            if term not in seen:
                seen.add(term)
                terms.append(term)
    for concept in concepts:
        terms.extend(term for term in _concept_terms(concept) if term not in seen)
    return terms


# Each turn is analysed as itself and as what came before the next two.
@lru_cache(maxsize=1024)
def _said_terms(text: str) -> tuple[str, ...]:
    return tuple(analyse(text))


@lru_cache(maxsize=1024)
def _said_digests(text: str) -> tuple[int, ...]:
    return tuple([TERMS[term] for term in _said_terms(text)])


def _name_terms(text: str) -> Sequence[str]:
    return _short_terms(text) if len(text) <= _SHORT else analyse(text)


@lru_cache(maxsize=16384)
def _short_terms(text: str) -> tuple[str, ...]:
    """Speakers, tags and values come again and again; whole sentences do not."""
    return tuple(analyse(text))


def pair_keys(user_id: str, *texts: str) -> list[int]:
    """The keys of the character pairs in texts, among one user's cards; Latin words have none."""
    found = set[str]().union(*[pairs(text) for text in texts if not text.isascii()])
    scope = USERS[user_id]
    return sorted([scope ^ GRAMS[gram] for gram in found])


def is_word(term: str) -> bool:
    """Whether a term is a Latin word, among which misspelt ones are looked for."""
    return 3 <= len(term) <= 40 and term.isascii() and not term.startswith(CONCEPT_TERM)
