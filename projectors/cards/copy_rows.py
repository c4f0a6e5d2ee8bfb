"""The rows that a fold adds, as lines that COPY reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from uuid import UUID

from events.language.ngrams import grams
from events.language.terms import GRAMS, TERMS, USERS
from events.types.envelope import Event
from projectors.cards.card import STORED_FIELDS
from projectors.cards.card_rows import is_word
from projectors.cards.fold import Changes
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate
from projectors.generations.copy_format import as_arrays, line

_Values = Callable[[object], tuple[object, ...]]

_card_values: _Values = attrgetter(
    *(f"{name}_json" if name in ("source_span", "metadata") else name for name in STORED_FIELDS)
)


COLUMNS: Mapping[str, tuple[str, ...]] = {
    "cards": STORED_FIELDS,
    "relations": tuple(field.name for field in fields(StoredRelation)),
    "arbitrations": tuple(field.name for field in fields(StoredArbitration)),
    "updates": tuple(field.name for field in fields(StoredUpdate)),
}
"""The columns of the tables whose rows are stored as they are."""
_relation_values: _Values = attrgetter(*COLUMNS["relations"])
_arbitration_values: _Values = attrgetter(*COLUMNS["arbitrations"])
_update_values: _Values = attrgetter(*COLUMNS["updates"])


def lines_of(changes: Changes) -> tuple[tuple[str, Iterator[str]], ...]:
    """Returns the lines to copy into each table whose rows are added and deleted, never updated."""
    return (
        ("cards", map(line, map(_card_values, changes.cards_put.values()))),
        ("statements", (_place_line(each.event, each.identity, each.person) for each in changes.statements)),
        ("relations", relation_lines(changes)),
        ("remarks", (_place_line(event, target) for target, event in changes.remarks)),
        ("person_events", (_place_line(event, one, other) for event, one, other in changes.person_events)),
        ("arbitrations", map(line, map(_arbitration_values, changes.arbitrations_put.values()))),
        ("updates", map(line, map(_update_values, changes.updates_put.values()))),
    )


def relation_lines(changes: Changes) -> Iterator[str]:
    """Returns the lines of the relations alone."""
    return map(line, map(_relation_values, changes.relations_put.values()))


def _place_line(event: Event, about: str | UUID, *more: UUID | None) -> str:
    """Returns the line that says where the log has ``event``, which is about an identity, a statement or a person."""
    return line((event.user_id, about, event.event_id, event.partition, event.position, *more))


def words_among(terms: Iterable[str]) -> list[str]:
    """Returns the Latin words among terms, sorted."""
    return sorted(filter(is_word, terms))


def word_lines(user_id: str, terms: Iterable[str]) -> str:
    """Returns the lines of the words among one user's terms. Words are letters and digits and need no escaping."""
    user = line((user_id,))[:-1]
    scope = USERS[user_id]
    words = words_among(terms)
    digests = [_word_digests(word) for word in words]
    arrays = as_arrays([[scope ^ gram for gram in grams] for _, grams in digests])
    rows = zip(words, digests, arrays, strict=True)
    return "".join([f"{user}\t{word}\t{scope ^ own}\t{array}\n" for word, (own, _), array in rows])


def word_keys(user_id: str, word: str) -> tuple[int, list[int]]:
    """Returns the key of a word and the keys of its trigrams among one user's cards."""
    scope = USERS[user_id]
    own, grams = _word_digests(word)
    return scope ^ own, [scope ^ gram for gram in grams]


@lru_cache(maxsize=32768)
def _word_digests(word: str) -> tuple[int, tuple[int, ...]]:
    return TERMS[word], tuple(sorted({GRAMS[gram] for gram in grams(word)}))
