"""Answers as JSON documents: the one place where the read service decides on names, order and rounding."""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import Any

from projectors.cards.card import Card
from retrieval.cards.alerts import Contradiction, aging, outdated
from retrieval.cards.card import ListedCard
from retrieval.cards.card_times import when_of
from retrieval.cards.event_time import as_it_stood, time_passed
from retrieval.context.context import Prompt
from retrieval.recall.answer import CardAnswer, RecallAnswer
from retrieval.recall.channel_executor import ChannelReport

_SHOWN = (
    "card_id", "kind", "content", "entity", "concept_key", "value", "cardinality", "tags", "occurred_at",
    "occurred_until", "effective_at", "superseded_at", "last_verified", "created_at", "project_id", "session_id",
    "agent_id", "document_id", "context_layer", "speaker", "turn_ids", "source_span", "provenance", "confidence",
    "weight", "mentions", "mode", "said_at", "time_zone", "time_grain", "time_resolved", "alternative_at", "metadata",
)  # fmt: skip
_FIELDS = {
    "state": (*_SHOWN, "ended", "value_at", "value_until", "value_grain"),
    "event": (*_SHOWN, "episode", "topics", "importance", "sentiment", "event_status", "participants"),
    "knowledge": (*_SHOWN, "title", "aliases", "definition"),
    "reference": (*_SHOWN, "title"),
}
_VALUES = {kind: attrgetter(*names) for kind, names in _FIELDS.items()}


def recall_document(answer: RecallAnswer) -> dict[str, Any]:
    """Returns the JSON document of a recall. ``explain`` is absent where nobody asked for it."""
    document = {
        "current_time": answer.current_time.isoformat(),
        "cards": [_answering(card) for card in answer.cards],
        "contradictions": [_contradiction(each) for each in answer.contradictions],
        "channels": {name: _channel(report) for name, report in answer.channels.items()},
        "warnings": answer.warnings,
    }
    if answer.explain is not None:
        document["explain"] = answer.explain
    return document


def prompt_document(prompt: Prompt) -> dict[str, Any]:
    """Returns the JSON document of a prompt."""
    answer = prompt.answer
    return {
        "blocks": prompt.blocks,
        "text": prompt.text,
        "tokens": prompt.tokens,
        "token_budget": prompt.token_budget,
        "guard_rules_version": prompt.guard_rules_version,
        "cards": prompt.cards,
        "left_out": prompt.left_out,
        "current_time": answer.current_time.isoformat(),
        "contradictions": [_contradiction(each) for each in answer.contradictions],
        "channels": {name: _channel(report) for name, report in answer.channels.items()},
        "warnings": answer.warnings,
    }


def listed_document(card: ListedCard, now: datetime) -> dict[str, Any]:
    """Returns the JSON document of a card of a slice. The status of an event and the flags are those at ``now``."""
    card = as_it_stood(card, now)
    flags = {"aging": aging(card, now), "outdated": outdated(card, now), "status": card.status}
    return _card(card) | _of_event(card, passed=time_passed(card, now)) | flags


def _answering(card: CardAnswer) -> dict[str, Any]:
    return (
        _card(card.card)
        | _of_event(card.card, passed=card.time_passed)
        | {
            "aging": card.aging,
            "outdated": card.outdated,
            "score": round(card.score, 6),
            "channels": {
                name: {"rank": place.rank, "score": round(place.score, 4)}
                for name, place in card.channels.items()
            },
            "pending": card.pending,
            "beside": card.beside,
        }
        | ({} if card.perhaps_no_longer is None else {"perhaps_no_longer": card.perhaps_no_longer})
    )


def _card(card: Card) -> dict[str, Any]:
    return dict(zip(_FIELDS[card.kind], _VALUES[card.kind](card), strict=True)) | {"when": when_of(card)}


def _of_event(card: Card, *, passed: bool) -> dict[str, Any]:
    """Returns the field that only event cards have, and that depends on the time of the question."""
    return {"time_passed": passed} if card.kind == "event" else {}


def _contradiction(found: Contradiction) -> dict[str, Any]:
    document: dict[str, Any] = {
        "concept_key": found.concept_key,
        "entity": found.entity,
        "card_ids": found.card_ids,
        "reason": found.reason,
    }
    if found.arbitration_id is not None:
        document["arbitration_id"] = found.arbitration_id
    if found.cards is not None:
        document["cards"] = found.cards
    return document


def _channel(report: ChannelReport) -> dict[str, Any]:
    document: dict[str, Any] = {
        "status": report.status,
        "ms": round(report.ms, 2),
        "hits": report.hits,
    }
    if report.detail:
        document["detail"] = report.detail
    return document
