"""Contradictions between cards, and cards that may be out of date."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations, islice

from events.language.chinese_script import has_cjk
from events.language.concepts import canonical_key, concept, normalise_value
from events.language.values import two_scripts
from events.people.mentions import tie_to
from events.resources.cards import Contradiction, Side
from projectors.cards.card import Card

AGING_AFTER = timedelta(days=180)
"""A single value that nobody verified for this long is aging: the user should be asked about it."""
OUTDATED_AFTER = timedelta(days=90)
"""Knowledge that nobody verified for this long is outdated: it should be checked before use."""

_COMPARED = 10
"""The values of one concept that are compared with each other. Only a hostile log has more at one time."""


def aging(card: Card, now: datetime) -> bool:
    """True when a current single value is so old that the user should be asked about it."""
    return (
        card.cardinality == "single_value"
        and (card.superseded_at is None or card.superseded_at > now)
        and now - card.last_verified > AGING_AFTER
    )


def outdated(card: Card, now: datetime) -> bool:
    """True when knowledge is so old that it should be checked before use."""
    return card.kind == "knowledge" and now - card.last_verified > OUTDATED_AFTER


def contradictions(cards: Sequence[Card]) -> list[Contradiction]:
    """Returns the groups of current single values that share concept, subject and project and differ in value.

    Two people of one name are two subjects, where the words of the cards tell them apart.

    Values that may be one value in two scripts do not differ. One value of two opposite concepts differs: liked tea and
    disliked tea.
    """
    groups: dict[tuple[str, str | None, str | None, str], list[Card]] = {}
    for card in cards:
        if card.cardinality == "single_value" and card.superseded_at is None:
            subject = (card.project_id, card.concept_key, card.entity, _tie(card))
            groups.setdefault(subject, []).append(card)
    return [
        Contradiction(
            concept_key=key,
            entity=entity,
            card_ids=[card.card_id for card in group],
            reason="different values stand side by side: " + ", ".join(str(card.value) for card in group),
        )
        for (_, key, entity, _), group in groups.items()
        if len(group) > 1 and _differ(canonical_key(key or ""), group)
    ] + _opposites(cards)


def _tie(card: Card) -> str:
    if card.entity in (None, "user"):
        return ""
    span = card.source_span
    return tie_to(card.entity, card.content if span is None else f"{card.content}\n{span.text}")


def _opposites(cards: Sequence[Card]) -> list[Contradiction]:
    told: dict[tuple[str, str | None, str, str], Card] = {}
    found: list[Contradiction] = []
    for card in sorted(cards, key=lambda card: (card.said_at, card.card_id)):
        known = concept(card.concept_key or "")
        if known is None or known.opposite is None or not _open_statement(card):
            continue
        value = normalise_value(known.key, card.value or "")
        other = told.get((card.project_id, card.entity, known.opposite, value))
        if other is not None:
            found.append(
                Contradiction(
                    concept_key=other.concept_key,
                    entity=card.entity,
                    card_ids=[other.card_id, card.card_id],
                    reason=(
                        f"two statements differ, and that of {card.said_at.date().isoformat()} is newer than that of "
                        f"{other.said_at.date().isoformat()}"
                    ),
                    cards=[Side.made_from(other), Side.made_from(card)],
                )
            )
        told[card.project_id, card.entity, known.key, value] = card
    return found


def _differ(key: str, cards: Sequence[Card]) -> bool:
    first: dict[str, Card] = {}
    for card in cards:
        first.setdefault(normalise_value(key, card.value or ""), card)
    return any(
        not two_scripts(
            key, one, other, languages=has_cjk(first[one].content) != has_cjk(first[other].content)
        )
        for one, other in combinations(islice(first, _COMPARED), 2)
    )


def _open_statement(card: Card) -> bool:
    """True for words of the user that no later event replaced and whose fact has no single value."""
    return (
        card.provenance == "user_stated"
        and card.kind != "knowledge"
        and card.cardinality != "single_value"
        and card.superseded_at is None
        and not (card.retracted or card.contested or card.ended)
        and card.event_status not in {"cancelled", "corrected"}
    )
