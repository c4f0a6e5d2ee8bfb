"""Topics that recur in the uncategorized part and the dynamic categories of a document.

Nothing here asks a model, a clock or a database: the same document gives the same candidates.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files

from events.core.contributions import description_of
from events.core.patches import texts_in
from events.core.places import camel
from events.core.pointers import Tokens, join, value_at
from events.core.schema import DYNAMIC, META, UNCATEGORIZED, evolution_log, promoted_schemas
from events.core.state import CoreState, mark_of
from events.language.terms import analyse, fold, is_topic
from events.types.json_values import Json

LEAST_OCCURRENCES = 3
LEAST_IN_TEXTS = 4
"""A topic that no key names is a weaker sign, so it must occur more often."""
LEAST_WITH_OTHERS = 2
LEAST_OTHERS = 3
"""A topic that this many other users of the tenant have needs fewer occurrences."""
AUTO_OCCURRENCES = 5
AUTO_DAYS = 2
AUTO_SCORE = 12
MOST_CANDIDATES = 20
MOST_INSTANCES = 100
_RECENT = timedelta(days=30)
_LATELY = timedelta(days=90)
_SINGLE = ("value", "values")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[A-Z]")
_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reason:
    """A part of a score."""

    reason: str
    count: int
    points: int


@dataclass(frozen=True, slots=True)
class Unit:
    """An uncategorized value or a dynamic category. ``terms`` are of its key, ``text_terms`` of its words."""

    place: Tokens
    words: tuple[str, ...]
    terms: tuple[str, ...]
    text_terms: frozenset[str]
    uses: int

    def is_about(self, topic: str) -> bool:
        if self.place[0] == DYNAMIC:
            return self.terms[:1] == (topic,)
        return topic in self.terms or topic in self.text_terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A topic that may become a category.

    ``candidate`` is the topic, ``name`` the proposed name. ``instances`` are pointers; ``days`` are the days on which
    they changed. ``keyed``: a key names the topic. ``topic`` is its term, and ``group`` what is about it.
    """

    candidate: str
    name: str
    instances: Sequence[str]
    occurrences: int
    days: int
    last: datetime | None
    links: Sequence[str]
    users: int
    keyed: bool
    reasons: Sequence[Reason]
    topic: str
    group: Sequence[Unit]

    @property
    def score(self) -> int:
        return sum(each.points for each in self.reasons)

    @property
    def above_thresholds(self) -> bool:
        """True when the promotion is justified without anybody who looks at it."""
        return (
            self.keyed
            and self.occurrences >= AUTO_OCCURRENCES
            and self.days >= AUTO_DAYS
            and self.score >= AUTO_SCORE
        )


def candidates(
    state: CoreState,
    taken: Collection[str],
    dates: Mapping[int, datetime] | None = None,
    others: Iterable[Collection[str]] = (),
) -> list[Candidate]:
    """Returns the candidates of a document, those with the highest score first.

    ``taken`` are the names that a category cannot have. ``dates`` gives the time of each version, and ``others`` the
    keys that each other user of the tenant has.
    """
    units = list(_units(state.document))
    spellings: dict[str, str] = {}
    for unit in units:
        for word, term in zip(unit.words, unit.terms, strict=True):
            spellings.setdefault(term, word)
    known = [{term for key in keys for _, term in _key_terms(key)} for keys in others]
    found = []
    for topic, group in _groups(units):
        users = sum(1 for terms in known if topic in terms)
        keyed = any(topic in unit.terms for unit in group)
        uses = sum(unit.uses for unit in group)
        least = LEAST_OCCURRENCES if keyed else LEAST_IN_TEXTS
        if uses < least and not (keyed and uses >= LEAST_WITH_OTHERS and users >= LEAST_OTHERS):
            continue
        word = spellings.get(topic) or _spelling(topic, state.document, group)
        found.append(_candidate(state, topic, word, group, taken, dates or {}, users, keyed=keyed))
    found.sort(key=lambda each: (-each.score, each.candidate))
    return found[:MOST_CANDIDATES]


def _units(document: Json) -> Iterable[Unit]:
    for key, value in sorted(document.get(UNCATEGORIZED, {}).items()):
        text_terms = frozenset(term for text in texts_in(value) for term in _topics(text))
        yield _unit((UNCATEGORIZED, key), key, text_terms, 1)
    for name, category in sorted(document.get(DYNAMIC, {}).items()):
        data = category.get("data")
        of_somebody = category.get("description") == description_of(name) and not (
            isinstance(data, dict) and set(data) <= set(_SINGLE)
        )
        if not of_somebody:  # what was said about another person is no category
            count = category.get("usageCount")
            yield _unit((DYNAMIC, name), name, frozenset(), count if isinstance(count, int) else 1)


def _unit(place: Tokens, key: str, text_terms: frozenset[str], uses: int) -> Unit:
    pairs = _key_terms(key)
    words, terms = tuple(word for word, _ in pairs), tuple(term for _, term in pairs)
    return Unit(place, words, terms, text_terms, max(1, uses))


def _key_terms(key: str) -> Sequence[tuple[str, str]]:
    """Returns the words of a key that have a topic, with their terms."""
    found: dict[str, str] = {}
    for word in _WORD.findall(key[:256]):
        terms = _topics(word)
        if terms:
            found.setdefault(terms[-1], word.lower())
    return [(word, term) for term, word in found.items()]


@cache
def _says_nothing() -> frozenset[str]:
    """Returns the words of keys and texts that are no topic, in addition to the stop words."""
    return frozenset(files("events.core.evolution").joinpath("no_topics.txt").read_text("utf-8").split())


@lru_cache(maxsize=4096)
def _topics(text: str) -> Sequence[str]:
    """Returns the distinct terms of a text that can be a topic."""
    found: dict[str, None] = {}
    for token in _TOKEN.findall(fold(text[:4000])):
        if token in _says_nothing() or not is_topic(token):
            continue
        for term in analyse(token):
            if len(term) > 1 and not term.isdigit():
                found[term] = None
    return tuple(found)


def _groups(units: Sequence[Unit]) -> Iterable[tuple[str, list[Unit]]]:
    """Yields topics with their units, the strongest first. No unit is in two groups."""
    left = list(units)
    while left:
        named: Counter[str] = Counter()
        used: Counter[str] = Counter()
        for unit in left:
            own = unit.terms[:1] if unit.place[0] == DYNAMIC else unit.terms
            named.update(own)
            used.update(dict.fromkeys((*own, *unit.text_terms), unit.uses))
        if not used:
            return
        topic = min(used, key=lambda term: (-min(named[term], 1), -used[term], -named[term], term))
        group = [unit for unit in left if unit.is_about(topic)]
        yield topic, group[:MOST_INSTANCES]
        left = [unit for unit in left if unit not in group]


def _spelling(topic: str, document: Json, group: Sequence[Unit]) -> str:
    """Returns the shortest word of the texts that has the term ``topic``."""
    texts = [text for unit in group for text in texts_in(value_at(document, unit.place))]
    words = {
        token for text in texts for token in _TOKEN.findall(fold(text[:4000])) if topic in analyse(token)
    }
    return min(words, key=lambda word: (len(word), word)) if words and topic.isascii() else topic


def _candidate(
    state: CoreState,
    topic: str,
    word: str,
    group: Sequence[Unit],
    taken: Collection[str],
    dates: Mapping[int, datetime],
    users: int,
    *,
    keyed: bool,
) -> Candidate:
    categories = [unit.place[1] for unit in group if unit.place[0] == DYNAMIC]
    promoted = _promoted_as(state.document, word)
    name = promoted or (
        categories[0] if len(categories) == 1 else camel("_".join(_WORD.findall(word)) or word)
    )
    if name in taken:
        name += "Details"
    versions = {version for unit in group for version in versions_in(value_at(state.marks, unit.place))}
    times = sorted(dates[version] for version in versions if version in dates)
    days = len({each.date() for each in times})
    last = times[-1] if times else None
    links = _links(state.document, topic, group)
    occurrences = sum(unit.uses for unit in group)
    idle = timedelta.max if last is None else max(dates.values()) - last
    fresh = 3 if idle <= _RECENT else 1 if idle <= _LATELY else 0
    return Candidate(
        candidate=name if len(group) == 1 and categories else word,
        name=name,
        instances=[join(unit.place) for unit in group],
        occurrences=occurrences,
        days=days,
        last=last,
        links=links,
        users=users,
        keyed=keyed,
        reasons=[
            Reason("occurrences", occurrences, min(occurrences, 10)),
            Reason("days", days, min(2 * days, 10)),
            Reason("recency", 0 if idle == timedelta.max else idle.days, fresh),
            Reason("links", len(links), min(len(links), 5)),
            Reason("users", users, min(users, 5)),
        ],
        topic=topic,
        group=group,
    )


def _promoted_as(document: Json, word: str) -> str | None:
    """Returns the category that a topic became before, if the document still has it."""
    named = {
        entry["candidate"]: entry["newCategory"]
        for entry in evolution_log(document)
        if entry["change"] == "promoted"
    }
    name: str | None = named.get(word)
    return name if name in promoted_schemas(document) else None


def versions_in(marks: Json) -> Iterable[int]:
    """Yields the version of every value in a tree of marks."""
    if isinstance(marks, dict):
        for each in marks.values():
            yield from versions_in(each)
    elif isinstance(marks, list):
        for each in marks:
            yield from versions_in(each)
    elif isinstance(marks, str):
        yield mark_of(marks).version


def _links(document: Json, topic: str, group: Sequence[Unit]) -> list[str]:
    """Returns the pointers of categories and values elsewhere in the document that name the topic."""
    own = {unit.place for unit in group}
    found = []
    for name in sorted(document):
        if name == META or not isinstance(document[name], dict):
            continue
        for member in sorted(document[name]):
            place = (name, member)
            if place not in own and any(topic in _topics(text) for text in texts_in(document[name][member])):
                found.append(join(place))
    return found


def places(document: Json, candidate: Candidate, name: str) -> dict[str, str]:
    """Returns the pointer in the category ``name`` of each value that the candidate would move, by its pointer now."""
    topic, group = candidate.topic, candidate.group
    moved: dict[str, str] = {}
    used: set[str] = set(document[name]) if isinstance(document.get(name), dict) else set()
    whole = None if name in document else _whole(document, topic, group)
    if whole is not None:
        data = (*whole.place, "data")
        moved[join(data)] = join((name,))
        used |= set(value_at(document, data))
    for unit in group:
        if unit is whole:
            continue
        place = unit.place
        if place[0] == DYNAMIC:
            data = value_at(document, (*place, "data"))
            alone = next((each for each in _SINGLE if isinstance(data, dict) and set(data) == {each}), None)
            place = (*place, "data") if alone is None else (*place, "data", alone)
        moved[join(place)] = join((name, _member(unit, topic, used)))
    return moved


def _whole(document: Json, topic: str, group: Sequence[Unit]) -> Unit | None:
    """Returns the dynamic category that becomes the new one as it is: the only one, or the one with just the topic."""
    found = [unit for unit in group if unit.place[0] == DYNAMIC]
    if len(found) != 1:
        found = [unit for unit in found if unit.terms == (topic,)]
    fits = [unit for unit in found if isinstance(value_at(document, (*unit.place, "data")), dict)]
    return fits[0] if len(fits) == 1 else None


def _member(unit: Unit, topic: str, used: set[str]) -> str:
    """Returns the member of a value: its key without the topic, in camel case, and no other value's member."""
    key = unit.place[1]
    kept = [word for word in _WORD.findall(key) if topic not in _topics(word)]
    named = "_".join(word.lower() for word in kept)
    member = camel(named) if kept and not kept[0].isdigit() and not key.startswith("fact_") else camel(key)
    found, number = member, 2
    while found in used:
        found, number = f"{member}{number}", number + 1
    used.add(found)
    return found
