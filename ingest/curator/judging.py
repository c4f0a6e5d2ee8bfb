"""Judges how a later statement stands to an earlier one. Silence is the usual answer."""

from dataclasses import dataclass
from functools import cache

from events.language.names import canonical_name, rows
from events.language.terms import analyse
from events.people.ties import known_tie, tie_of
from events.types.relations import Predicate
from ingest.curator.statements import Statement, words

_TWO_VALUES = "the two name different values, and no words announce a change"
_EMPTY = frozenset(("have", "be", "can", "live", "work", ""))
"""Verbs that say nothing without more words."""
_THINGS = frozenset(("会议室", "房租", "office", "rent", "密码"))


@dataclass(frozen=True, slots=True)
class Judgement:
    """``predicate`` leads from the later statement to the earlier one.

    ``reason`` is for a reader. It holds no words of a user, so an erasure of these words leaves nothing behind.
    """

    predicate: Predicate
    reason: str
    confidence: float


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
