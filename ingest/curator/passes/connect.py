"""Relates what was said apart: repetitions, details, conditions, opposites and changes that no timeline noticed.

Only a card of one sentence is compared: a relation is about the whole of both cards. Cards are compared within one
project and mode, about one subject. Two people of one name are nobody here. A pair that has a relation already, and a
pair that the timeline of a fact orders, stay as they are. A state ends by its timeline alone.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from events.language.chinese_script import has_cjk
from events.types.cards import INJECTED, PASTED
from events.types.relations import Predicate
from ingest.curator.judging import Judgement, judge, kinds
from ingest.curator.memory import Memory, MemoryCard, Proposal, relation
from ingest.curator.statements import Statement, statement

LEAST = 0.9
"""The least confidence of a relation."""
_NEAREST = 64  # earlier statements that share a word and are looked at, the last first
_FIRST_PERSON = ("i", "we", "我", "我们")
_LEAVES: tuple[Predicate, ...] = ("update", "state_change")
_BOTH_TRUE: tuple[Predicate, ...] = ("expands", "qualifies")


@dataclass(frozen=True, slots=True)
class _Said:
    card: MemoryCard
    statement: Statement


def connect(memory: Memory) -> list[Proposal]:
    """Returns the relations that the words of two cards give, at most one of each predicate for a later card."""
    found: list[Proposal] = []
    subjects: dict[tuple[object, ...], list[_Said]] = defaultdict(list)
    for said in _spoken(memory):
        for key in _keys(said):
            subjects[key].append(said)
    for group in subjects.values():
        found += _related(memory, group)
    unique = {proposal.key: proposal for proposal in found}
    return [unique[key] for key in sorted(unique)]


def _spoken(memory: Memory) -> list[_Said]:
    """Returns what the cards state, in the order of saying. Of a card and its own turn, only the card speaks."""
    found: list[_Said] = []
    of_turn: dict[str, list[_Said]] = defaultdict(list)
    for card in speaking(memory):
        read = _of_card(memory, card)
        if read is None:
            continue
        said = _Said(card, read)
        if any(_echoes(said, other) for turn in card.turn_ids for other in of_turn[turn]):
            continue
        found.append(said)
        for turn in card.turn_ids:
            of_turn[turn].append(said)
    return found


def speaking(memory: Memory) -> list[MemoryCard]:
    """Returns the cards that tell something of the user's life in the user's words, in the order of saying."""
    cards = sorted(memory.cards, key=lambda each: (each.said_at, each.episode, each.kind, each.position))
    return [
        card
        for card in cards
        if not (card.retracted or card.provenance == "assistant_stated" or {INJECTED, PASTED} & {*card.tags})
        and card.kind != "knowledge"
        and card.event_status in (None, "happened")
    ]


def _of_card(memory: Memory, card: MemoryCard) -> Statement | None:
    text = card.content
    if card.kind == "state" and card.entity == "user":
        text = f"我{text}" if has_cjk(text) else f"I {text[:1].lower()}{text[1:]}"
    read = statement(text)
    if read is None or read.subject in memory.people.shared:
        return None  # nothing, or two people of one name
    person = memory.people.of_handle.get(f"{read.subject}|")
    # The name itself stays: "Rex died" is about what "a dog named Rex" names.
    names = set() if person is None else {each.casefold() for each in (person.name, *person.aliases)}
    return replace(read, subject=min(names)) if read.subject in names else read


def _echoes(said: _Said, other: _Said) -> bool:
    """True when a card of the same turn says the same, or an ending that its turn tells in more words."""
    one, two = other.statement, said.statement
    if one.ends and two.ends:
        return one.subject == two.subject
    judged = judge(one, two)
    return one == two or (judged is not None and judged.predicate == "same_as")


def _keys(said: _Said) -> Iterator[tuple[object, ...]]:
    """Yields the groups in which a statement is compared: its subject, and the names that it may end."""
    statement, card = said.statement, said.card
    own = statement.subject.startswith(("my ", "our ", "我")) or statement.subject in _FIRST_PERSON
    yield (*card.wall, card.speaker if own else None, statement.subject)
    for name in sorted(statement.names - {statement.subject}):
        yield (*card.wall, None, name)


def _related(memory: Memory, group: list[_Said]) -> Iterator[Proposal]:
    """Yields the relations of statements about one subject, each to the nearest earlier one that still holds."""
    holding: dict[str, dict[int, _Said]] = defaultdict(dict)  # by word, then by place in the group
    for place, later in enumerate(group):
        near: dict[int, _Said] = {}
        for word in _words(later.statement):
            near.update(list(holding[word].items())[-_NEAREST:])
        judged: dict[Predicate, tuple[int, Judgement]] = {}
        for at in sorted(near, reverse=True):
            verdict = _verdict(memory, near[at], later)
            if verdict is not None:
                judged.setdefault(verdict.predicate, (at, verdict))
        if "same_as" in judged:
            judged = {"same_as": judged["same_as"]}
        for predicate, (at, verdict) in judged.items():
            yield relation(later.card, near[at].card, predicate, verdict.reason, verdict.confidence)
            if predicate in _LEAVES:
                for words in holding.values():
                    words.pop(at, None)
        if "same_as" not in judged:
            for word in _words(later.statement):
                holding[word][place] = later


def _words(statement: Statement) -> frozenset[str]:
    """Returns the words by which statements meet: what they say, its kind, and their verb for what has one value."""
    broader = {f"kind {each}" for term in statement.terms for each in sorted(kinds(term))[:1]}
    meeting = {*statement.terms, *statement.names, *broader, statement.subject}
    return frozenset({*meeting, f"verb {statement.verb}"})


def is_open(memory: Memory, one: MemoryCard, two: MemoryCard) -> bool:
    """True when a relation of ``two`` to the earlier ``one`` may be found: nothing relates or orders the two."""
    if one.card_id == two.card_id or frozenset((one.card_id, two.card_id)) in memory.related:
        return False
    if one.kind == two.kind == "state" and memory.ordered(one, two):
        return False
    if one.superseded_at is not None and one.superseded_at <= two.said_at:
        return False
    return not ({*one.turn_ids} <= {*two.turn_ids} or ({*two.turn_ids} <= {*one.turn_ids} and one.episode))


def _verdict(memory: Memory, earlier: _Said, later: _Said) -> Judgement | None:
    one, two = earlier.card, later.card
    if not is_open(memory, one, two):
        return None
    verdict = judge(earlier.statement, later.statement)
    if verdict is None or verdict.confidence < LEAST:
        return None
    if verdict.predicate in _LEAVES and (one.kind == "state" or one.said_at == two.said_at):
        return None
    return verdict if verdict.predicate in _BOTH_TRUE or not memory.ordered(one, two) else None
