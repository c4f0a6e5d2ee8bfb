"""Concepts: what was learned under one or several names, and the title of each concept."""

import re
from collections.abc import Sequence

from events.language.chinese_script import to_simplified
from events.language.concepts import name_key
from events.types.cards import KnowledgeLearned
from events.types.naming import ConceptPinned, KnowledgeMerged
from projectors.cards.statement import Statement, connected, names_of
from projectors.cards.timeline import (
    Claims,
    Remarks,
    Timeline,
    TimelineEdge,
    ValidPeriod,
    retracting,
    verified_at,
)

_PIECE = re.compile(r"[\u2e80-\U0003134f]|[^\W\u2e80-\U0003134f]+")


def knowledge_timeline(statements: Sequence[Statement], remarks: Remarks | None = None) -> Timeline:
    """Returns one valid period for each concept: its first statement makes the card, later ones add to it.

    Two titles are one concept when one is an alias of the other, or when a person merged them. An alias that two
    concepts share joins nothing.
    """
    said = sorted(
        {one.event.event_id: one for one in statements}.values(),
        key=lambda one: (one.said_at, _words(one), one.event.event_id),
    )
    about = remarks or {}
    return retracting(lambda said, wrong: _knowledge_timeline(said, wrong, about), said, about)


def _knowledge_timeline(said: Sequence[Statement], wrong: Sequence[Claims], remarks: Remarks) -> Timeline:
    taken_back = {one.event.event_id for claims in wrong for one in claims}
    periods = [_retracted(claims) for claims in wrong]
    edges: list[TimelineEdge] = []
    for concept in _concepts([one for one in said if one.event.event_id not in taken_back]):
        learned = [one for one in concept if isinstance(one.event.payload, KnowledgeLearned)]
        if not learned:
            continue
        period = ValidPeriod(
            learned[0], learned[0].said_at, agreeing=learned[1:], names=_names(concept, learned)
        )
        period.revisions = _deepened(learned)
        period.verified_at = verified_at(learned, remarks)
        period.pinned = _pinned(learned, remarks)
        periods.append(period)
        seen = {learned[0].value_key}
        for one in learned:
            if one.value_key not in seen:
                # The title had its own card before it became an alias.
                seen.add(one.value_key)
                edges.append(
                    TimelineEdge(one, learned[0], "same_as", f"{_title(one)} is {period.names[0]}", one)
                )
    return Timeline(tuple(periods), tuple(edges))


def _retracted(claims: Claims) -> ValidPeriod:
    first = claims[0]
    names = _names((), claims)
    return ValidPeriod(first, first.said_at, retracted=True, agreeing=list(claims[1:]), names=names)


def _words(statement: Statement) -> str:
    payload = statement.event.payload
    return payload.content if isinstance(payload, KnowledgeLearned) else ""


def _title(statement: Statement) -> str:
    payload = statement.event.payload
    assert isinstance(payload, KnowledgeLearned)
    return names_of(payload)[0]


def _concepts(said: Sequence[Statement]) -> list[list[Statement]]:
    """Groups the statements by concept. Each group keeps the given order."""
    titles = dict.fromkeys(one.value_key for one in said)
    links = ((name_key(name), one.value_key) for one in said for name in _other_names(one))
    groups = connected(titles, (pair for pair in links if pair[0] in titles))
    return [[one for one in said if one.value_key in group] for group in map(set, groups)]


def _other_names(statement: Statement) -> Sequence[str]:
    payload = statement.event.payload
    return [payload.from_title] if isinstance(payload, KnowledgeMerged) else names_of(payload)[1:]


def _names(concept: Sequence[Statement], learned: Sequence[Statement]) -> tuple[str, ...]:
    """The title, then every other name. The last merge sets the title; without a merge, the first statement does."""
    names: list[str] = []
    for one in learned:
        assert isinstance(one.event.payload, KnowledgeLearned)
        names += names_of(one.event.payload)
    for one in concept:
        if isinstance(payload := one.event.payload, KnowledgeMerged):
            names = [payload.into_title, *names, payload.from_title]
    return tuple(dict.fromkeys(names))


def _pinned(learned: Sequence[Statement], remarks: Remarks) -> bool:
    """Returns what the last remark on any of the statements says of the pin."""
    pins = [
        (remark.position, remark.payload.pinned)
        for one in learned
        for remark in remarks.get(one.event.event_id, ())
        if isinstance(remark.payload, ConceptPinned)
    ]
    return max(pins)[1] if pins else False


def _deepened(learned: Sequence[Statement]) -> list[Statement]:
    """The statements that replaced the definition. A definition adds nothing if the current one holds all its words.

    A definition that comes from no turn was written as such, and always counts.
    """
    best = _definition(learned[0])
    known = _pieces(best)
    deeper: list[Statement] = []
    for one in learned[1:]:
        definition = _definition(one)
        pieces = _pieces(definition)
        written = not one.event.payload.origin.turn_ids
        if definition != best and (written or not pieces <= known):
            deeper.append(one)
            best, known = definition, pieces
    return deeper


def _definition(statement: Statement) -> str:
    payload = statement.event.payload
    assert isinstance(payload, KnowledgeLearned)
    return payload.definition


def _pieces(text: str) -> frozenset[str]:
    """The words of a text. A Chinese, Japanese or Korean character counts as a word."""
    folded = to_simplified(text).casefold()
    return frozenset(_PIECE.findall(folded))
