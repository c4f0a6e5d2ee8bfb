"""The cards of valid periods, of noted events and of references, with their search keys."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TypedDict
from uuid import UUID

from events.language.concepts import canonical_key, name_key, normalise_entity
from events.language.continuation import continued
from events.language.ngrams import grams
from events.language.terms import GRAMS, TERMS, USERS, analyse, term_keys
from events.references.reference import Reference, folded
from events.store.bounds import as_real
from events.types.cards import (
    CardOrigin,
    EventNoted,
    KnowledgeLearned,
    Provenance,
    SourceSpan,
    StateAsserted,
    Utterance,
)
from events.types.envelope import Event
from events.types.json_values import Json
from events.types.metadata import metadata_of
from events.types.naming import KnowledgeMerged
from events.types.references import ReferenceChanged, ReferenceCreated
from events.types.turns import ContextLayer
from projectors.cards.card import StoredCard
from projectors.cards.timeline import ValidPeriod

CONCEPT_TERM = "concept:"
_SHORT = 48
_KIND_NAMES: Mapping[str, tuple[str, ...]] = {
    "todo_list": ("todo list", "待办清单", "待办事项"),
    "plan": ("plan", "计划"),
    "decision_log": ("decisions", "决定"),
    "variable": (),
}
"""What people call the kinds, in both languages. The words are tags of the card, so a question finds it by them."""


class _Source(TypedDict):
    """The fields that every kind of card takes from its event."""

    user_id: str
    card_id: UUID
    created_at: datetime
    caused_by: UUID | None
    position: int
    project_id: str
    context_layer: ContextLayer | None
    session_id: str
    agent_id: str | None
    document_id: str | None
    speaker: str | None
    source_span: SourceSpan | None
    metadata: dict[str, Json] | None
    provenance: Provenance
    mode: str | None
    time_zone: str | None


class _Support(TypedDict):
    """The fields that all statements of one valid period decide together."""

    said_at: datetime
    turn_ids: list[str]
    last_verified: datetime
    mentions: int


class _Keys(TypedDict):
    """The search keys of a card."""

    term_keys: list[int]
    own_terms: int
    pair_keys: list[int]


def event_card(event: Event, payload: EventNoted) -> tuple[StoredCard, list[str]]:
    """Returns the card of something that happened, and the terms in it. Only its standing can change."""
    origin, user_id = payload.origin, event.user_id
    concept_key = canonical_key(payload.concept_key) if payload.concept_key else None
    terms = _terms(
        payload.content,
        payload.tags,
        payload.topics,
        origin.speaker,
        () if concept_key is None else (concept_key,),
    )
    keys = _keys(user_id, terms, payload.content, payload.topics)
    if payload.before:
        scope = USERS[user_id]
        for utterance in continued(Utterance(payload.content, origin.speaker), payload.before):
            keys["term_keys"] += [scope ^ digest for digest in _said_digests(utterance.text)]
    card = StoredCard(
        kind="event",
        **_source(event, origin),
        **keys,
        content=payload.content,
        tags=list(payload.tags),
        confidence=as_real(payload.confidence),
        weight=as_real(payload.weight),
        said_at=origin.said_at,
        last_verified=origin.said_at,
        turn_ids=list(origin.turn_ids),
        occurred_at=payload.occurred_at,
        occurred_until=payload.occurred_until,
        entity=normalise_entity(payload.entity),
        concept_key=concept_key,
        value=payload.value,
        episode=payload.episode,
        topics=list(payload.topics),
        importance=min(10, max(1, payload.importance)),
        sentiment=payload.sentiment,
        time_grain=payload.time_grain,
        time_resolved=_time_resolved(payload),
        alternative_at=payload.alternative_at,
        event_status=payload.status,
        stated_status=payload.status,
        participants=list(payload.participants),
    )
    return card, terms


def state_card(period: ValidPeriod) -> StoredCard:
    """Returns the card of a state over its whole valid period, in the words of its latest revision."""
    event, payload = period.first.event, period.latest.state
    origin = payload.origin
    concept_key = canonical_key(payload.concept_key)
    names = (payload.value, payload.entity)
    terms = _terms(payload.content, payload.tags, names, origin.speaker, (concept_key,))
    return StoredCard(
        kind="state",
        **_source(event, origin, period.mode),
        **_support(period),
        **_keys(event.user_id, terms, payload.content, names),
        content=payload.content,
        tags=list(payload.tags),
        confidence=as_real(payload.confidence),
        weight=as_real(payload.weight),
        occurred_at=period.effective_at if period.first.state.time_resolved else None,
        effective_at=period.effective_at,
        superseded_at=period.superseded_at,
        concept_key=concept_key,
        entity=normalise_entity(payload.entity),
        value=payload.value,
        cardinality=payload.cardinality,
        retracted=period.retracted,
        contested=period.contested,
        ended=period.ended,
        time_grain=period.first.state.time_grain,
        time_resolved=_time_resolved(period.first.state),
        alternative_at=period.first.state.alternative_at,
        value_at=payload.value_at,
        value_until=payload.value_until,
        value_grain=payload.value_grain,
    )


def knowledge_card(period: ValidPeriod) -> StoredCard:
    """Returns the card of a concept, with its best definition and every name it was given."""
    event, latest = period.first.event, period.latest.event.payload
    payload = event.payload
    assert isinstance(payload, KnowledgeLearned)
    assert isinstance(latest, KnowledgeLearned)
    origin = payload.origin
    title, *aliases = period.names
    related: dict[str, None] = {}
    for statement in period.statements:
        other = statement.event.payload
        assert isinstance(other, KnowledgeLearned)
        related.update(dict.fromkeys(map(name_key, other.related_titles)))
    name_keys = sorted({key for name in period.names if (key := name_key(name))})
    texts = (*period.names, latest.definition)
    terms = _terms(latest.content, latest.tags, texts, origin.speaker, ())
    return StoredCard(
        kind="knowledge",
        **_source(event, origin, period.mode),
        **_support(period),
        **_keys(event.user_id, terms, latest.content, texts),
        content=latest.content,
        tags=list(latest.tags),
        confidence=as_real(latest.confidence),
        weight=as_real(latest.weight),
        effective_at=period.effective_at,
        title=title,
        aliases=aliases,
        definition=latest.definition,
        pinned=period.pinned,
        name_keys=name_keys,
        related_keys=sorted(related.keys() - {*name_keys, ""}),
        concept_key=canonical_key(title),
        entity=title,
        retracted=period.retracted,
    )


def spoken_terms(event: Event) -> list[str]:
    """Returns the terms of a statement with its names and tags. The card of the statement holds these terms."""
    payload = event.payload
    if isinstance(payload, KnowledgeMerged):
        return _terms("", (), [payload.into_title, payload.from_title], None, [])
    if isinstance(payload, StateAsserted):
        names, concepts = [payload.value, payload.entity], [canonical_key(payload.concept_key)]
    else:
        assert isinstance(payload, KnowledgeLearned)
        names, concepts = [payload.title, *payload.aliases, payload.definition], []
    return _terms(payload.content, payload.tags, names, payload.origin.speaker, concepts)


def _source(event: Event, origin: CardOrigin, mode: str | None = None) -> _Source:
    return {
        "user_id": event.user_id,
        "card_id": event.event_id,
        "created_at": event.recorded_at,
        "caused_by": event.causation_id,
        "position": event.position,
        "project_id": origin.project_id,
        "context_layer": origin.context_layer,
        "session_id": origin.session_id,
        "agent_id": origin.agent_id,
        "document_id": origin.document_id,
        "speaker": origin.speaker,
        "source_span": origin.source_span,
        "metadata": metadata_of(origin.metadata),
        "provenance": origin.provenance,
        "mode": mode or origin.mode,
        "time_zone": origin.time_zone,
    }


def _time_resolved(payload: StateAsserted | EventNoted) -> bool | None:
    """Returns None when the turn names no time, and False when it names a time that was not resolved."""
    return True if payload.time_resolved else False if payload.occurred_at_hint else None


def _support(period: ValidPeriod) -> _Support:
    """Returns the joint fields of a period. Every statement verifies the card and adds its turns."""
    turn_ids: dict[str, None] = {}
    verified: list[datetime] = [] if period.verified_at is None else [period.verified_at]
    for statement in period.statements:
        payload = statement.event.payload
        assert isinstance(payload, StateAsserted | KnowledgeLearned)
        turn_ids.update(dict.fromkeys(payload.origin.turn_ids))
        verified.append(payload.origin.said_at)
    return {
        "said_at": period.first.said_at,
        "turn_ids": list(turn_ids),
        "last_verified": max(verified),
        "mentions": 1 + len(period.agreeing),
    }


@lru_cache(maxsize=4096)
def _concept_terms(concept_key: str) -> tuple[str, ...]:
    return (CONCEPT_TERM + concept_key, *analyse(concept_key.replace("_", " ")))


def _keys(user_id: str, terms: Sequence[str], content: str, names: Sequence[str]) -> _Keys:
    return {
        "term_keys": term_keys(user_id, terms),
        "own_terms": len(terms),
        # Character pairs find Chinese words that are segmented differently or misspelt. The table `words` does the
        # same for Latin words.
        "pair_keys": pair_keys(user_id, content, *names),
    }


def _terms(
    content: str, tags: Sequence[str], names: Sequence[str], speaker: str | None, concepts: Sequence[str]
) -> list[str]:
    terms = list(_said_terms(content))
    seen = set(terms)
    for text in (*tags, *names, *([speaker] if speaker else [])):
        # A term counts once: names and tags add only terms that the content does not hold.
        for term in _short_terms(text) if len(text) <= _SHORT else analyse(text):
            if term not in seen:
                seen.add(term)
                terms.append(term)
    for concept in concepts:
        terms.extend(term for term in _concept_terms(concept) if term not in seen)
    return terms


# A turn is analysed once as itself and again as the context of the next two turns.
@lru_cache(maxsize=1024)
def _said_terms(text: str) -> tuple[str, ...]:
    return tuple(analyse(text))


@lru_cache(maxsize=1024)
def _said_digests(text: str) -> tuple[int, ...]:
    return tuple([TERMS[term] for term in _said_terms(text)])


@lru_cache(maxsize=16384)
def _short_terms(text: str) -> tuple[str, ...]:
    """Returns the terms of a short text, cached. Speakers, tags and values repeat. Whole sentences do not."""
    return tuple(analyse(text))


def pair_keys(user_id: str, *texts: str) -> list[int]:
    """Returns the sorted keys of the character pairs in ``texts`` for one user. ASCII texts have none."""
    found = set[str]().union(*[grams(text, spaced=False) for text in texts if not text.isascii()])
    scope = USERS[user_id]
    return sorted([scope ^ GRAMS[gram] for gram in found])


def is_word(term: str) -> bool:
    """True when a term is a Latin word. Misspelt words are looked up among such words."""
    return 3 <= len(term) <= 40 and term.isascii() and not term.startswith(CONCEPT_TERM)


def reference_card(event: Event) -> tuple[StoredCard, list[str]] | None:
    """Returns the card of a reference after ``event``, and its terms. None: the reference is put away or moved."""
    payload = event.payload
    if not isinstance(payload, ReferenceCreated | ReferenceChanged):
        return None
    reference = folded(event, None)
    assert reference is not None
    card, terms = card_of_reference(reference, event.user_id)
    changed = payload if isinstance(payload, ReferenceChanged) else None
    card = replace(
        card,
        effective_at=event.occurred_at,
        said_at=event.occurred_at,
        last_verified=event.occurred_at,
        turn_ids=[] if changed is None else list(changed.turn_ids),
        provenance="user_stated" if changed is None or not changed.derived else "agent_inferred",
        confidence=1.0 if changed is None or changed.confidence is None else changed.confidence,
    )
    return card, terms


def card_of_reference(reference: Reference, user_id: str) -> tuple[StoredCard, list[str]]:
    """Returns the card of a reference, and its terms. ``user_id`` may search it: the owner, or a member of its team."""
    name = reference.name
    names = _KIND_NAMES.get(name.kind, (name.kind.replace("_", " "),))
    terms = [term for text in (reference.rendering, *names) for term in analyse(text)]
    card = StoredCard(
        kind="reference",
        user_id=user_id,
        card_id=reference.reference_id,
        content=reference.rendering,
        title=name.key,
        tags=[name.kind, *names],
        effective_at=reference.updated_at,
        created_at=reference.updated_at,
        said_at=reference.updated_at,
        last_verified=reference.updated_at,
        project_id=name.project_id or "default",
        session_id="default",
        turn_ids=[],
        provenance="user_stated",
        confidence=1.0,
        weight=1.0,
        position=reference.position,
        caused_by=None,
        term_keys=term_keys(user_id, terms),
        own_terms=len(terms),
        pair_keys=pair_keys(user_id, reference.rendering, *names),
    )
    return card, terms
