"""Relates what was said apart: repetitions, details, conditions, opposites and changes that no timeline noticed.

Only a card of one sentence is compared: a relation is about the whole of both cards. Cards are compared within one
project and mode, about one subject. Two people of one name are nobody here. A pair that has a relation already, and a
pair that the timeline of a fact orders, stay as they are. A state ends by its timeline alone. Silence is the usual
answer.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from events.language.chinese_script import has_cjk
from events.language.names import canonical_name, rows
from events.language.terms import analyse
from events.people.ties import known_tie, tie_of
from events.types.cards import FICTION, INJECTED, PASTED
from events.types.relations import Predicate
from ingest.curator.memory import Memory, MemoryCard, Proposal, relation
from ingest.curator.statements import Statement, statement, words

LEAST = 0.9
"""The least confidence of a relation."""
_NEAREST = 64  # earlier statements that share a word and are looked at, the last first
_FIRST_PERSON = ("i", "we", "我", "我们")
_LEAVES: tuple[Predicate, ...] = ("update", "state_change")
_BOTH_TRUE: tuple[Predicate, ...] = ("expands", "qualifies")
_TWO_VALUES = "the two name different values, and no words announce a change"
_EMPTY = frozenset(("have", "be", "can", "live", "work", ""))
"""Verbs that say nothing without more words."""
_THINGS = frozenset(("会议室", "房租", "office", "rent", "密码"))


@dataclass(frozen=True, slots=True)
class _Said:
    card: MemoryCard
    statement: Statement


@dataclass(frozen=True, slots=True)
class Judgement:
    """``predicate`` leads from the later statement to the earlier one.

    ``reason`` is for a reader. It holds no words of a user, so an erasure of these words leaves nothing behind.
    """

    predicate: Predicate
    reason: str
    confidence: float


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
        if not (
            card.retracted
            or card.provenance == "assistant_stated"
            or {FICTION, INJECTED, PASTED} & {*card.tags}
        )
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
                for places in holding.values():
                    places.pop(at, None)
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


def judge(earlier: Statement, later: Statement) -> Judgement | None:
    """Returns how ``later`` stands to ``earlier``, or None."""
    if earlier.chinese != later.chinese or earlier.ends:
        return None
    if later.dies and later.subject in earlier.names and not (earlier.denied or later.denied):
        return Judgement("state_change", "the later words say that what was named is over", 0.95)
    if earlier.subject != later.subject:
        return None
    if later.ends:
        return _ended(earlier, later)
    if earlier.denied != later.denied:
        return _opposite(earlier, later)
    if earlier.denied:
        return _same(earlier, later)
    return (
        _same(earlier, later)
        or _qualified(earlier, later)
        or _finer(earlier, later)
        or _other(earlier, later)
    )


def _ended(earlier: Statement, later: Statement) -> Judgement | None:
    """The later words end what the earlier ones say: what they name is what was named. A denial names all of it."""
    if earlier.denied:
        return None
    again = (later.verb, later.terms) == (earlier.verb, earlier.terms)
    if not (again if later.denied else later.terms and later.terms <= earlier.terms):
        return None
    return Judgement("state_change", "the later words say that this is over", 0.9)


def _opposite(earlier: Statement, later: Statement) -> Judgement | None:
    if _said(earlier) != _said(later) or not (earlier.terms or earlier.verb):
        return None
    if later.changed:
        return Judgement("state_change", "the later words say that it is no longer so", 0.9)
    return Judgement("contradicts", "one says that it is so, the other that it is not", 0.95)


def _said(one: Statement) -> tuple[object, ...]:
    return one.verb, one.terms, one.values, one.names, one.conditions


def _same(earlier: Statement, later: Statement) -> Judgement | None:
    same = _said(earlier) == _said(later) and not later.changed and (earlier.terms or earlier.values)
    return Judgement("same_as", "both say the same", 0.98) if same else None


def _qualified(earlier: Statement, later: Statement) -> Judgement | None:
    more = later.conditions - earlier.conditions
    if not more or earlier.conditions - later.conditions or earlier.verb != later.verb or later.changed:
        return None
    if not earlier.terms <= later.terms or not earlier.values <= later.values:
        return None
    if len(later.names - earlier.names - later.values) > 1:
        return None  # a condition and other news
    return Judgement("qualifies", "the later words add a condition", 0.92)


def _finer(earlier: Statement, later: Statement) -> Judgement | None:
    if earlier.verb != later.verb or later.changed or later.conditions != earlier.conditions:
        return None
    if (not earlier.terms and earlier.verb in _EMPTY) or not earlier.values <= later.values:
        return None
    kept = {
        term
        for term in earlier.terms
        if term in (later.heads if term in earlier.heads else later.terms)
        or (kinds(term) - {term}) & later.heads
    }
    more = later.terms - earlier.terms
    if kept != earlier.terms or not (more or later.values - earlier.values):
        return None
    return Judgement("expands", "the later words say the same in more detail", 0.92)


def _other(earlier: Statement, later: Statement) -> Judgement | None:
    """Another value of what has one value."""
    if earlier.verb != later.verb or earlier.conditions or later.conditions:
        return None
    gone, come = earlier.terms - later.terms, later.terms - earlier.terms
    less, more = earlier.values - later.values, later.values - earlier.values
    if not (gone and come and not less and not more) and not (less and more and not gone and not come):
        return None
    if later.changed:
        if earlier.verb in ("live", "work", "status", "use") or _is_attribute(earlier) or less:
            return Judgement("update", "the later words announce another value", 0.9)
        return None
    if less:
        one = earlier.verb in ("close", "open") or _is_attribute(earlier)
        counted = earlier.verb == "have" and bool(earlier.terms) and earlier.terms <= kinds("child")
        opposed = (one or counted) and len(less) == len(more) == 1
    else:
        pair = (min(gone), min(come))
        opposed = len(gone) == len(come) == 1 and _exclusive(earlier, later, *pair)
    return Judgement("contradicts", _TWO_VALUES, 0.9) if opposed else None


def _exclusive(earlier: Statement, later: Statement, gone: str, come: str) -> bool:
    """True when only one of two terms can be true: two cities to live in, two colours of a car, two husbands."""
    pair = {gone, come}
    if earlier.verb == "live":
        return all(canonical_name("place", each) in _cities() for each in pair)
    if earlier.verb != "be" or not _is_attribute(earlier):
        return False
    named = gone in earlier.names and come in later.names
    coded = all(any(map(str.isdigit, each)) for each in pair)
    return named or coded or {gone, come} <= _colours()


@cache
def _colours() -> frozenset[str]:
    names = (
        name for row in rows("colours") for field in (row.english, row.chinese) for name in field.split("|")
    )
    return frozenset(term for name in names for term in analyse(name))


@cache
def _cities() -> frozenset[str]:
    return frozenset(row.english.split("|")[0] for row in rows("cities"))


def _is_attribute(one: Statement) -> bool:
    """True for a thing of somebody that has one value: a birthday, a password, a rent. People are none."""
    *owner, last = one.subject.split()
    tie = known_tie(tie_of(last))
    person = tie is not None and tie.kin and "'s" not in one.subject
    return one.subject in _THINGS or (("'s " in one.subject or bool(owner)) and not person)


@cache
def kinds(term: str) -> frozenset[str]:
    """Returns the terms of the things that are a ``term``: a dog is a pet. A thing of its own kind is one, too."""
    found: set[str] = set()
    for general, *special in words("kinds"):
        if term in analyse(general):
            found.update(each for word in (general, *special) for each in analyse(word))
    return frozenset(found)
