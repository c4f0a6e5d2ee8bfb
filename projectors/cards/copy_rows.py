"""What a fold changes, as lines to copy into the card tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from events.language.ngrams import grams
from events.language.terms import GRAMS, TERMS, USERS
from projectors.cards.card_rows import Row, is_word
from projectors.cards.fold import Changes
from projectors.generations.copy_format import as_arrays, line


def card_lines(changes: Changes) -> Iterator[str]:
    for row in changes.cards_put.values():
        yield line(row.values())


def statement_lines(changes: Changes) -> Iterator[str]:
    for said in changes.statements:
        event = said.event
        yield line((event.user_id, said.identity, event.event_id, event.partition, event.position))


def row_lines(rows: Mapping[tuple[Any, ...], Row]) -> Iterator[str]:
    """Rows that begin with their key."""
    for key, values in rows.items():
        yield line((*key, *values.values()))


def remark_lines(changes: Changes) -> Iterator[str]:
    for target, event in changes.remarks:
        yield line((event.user_id, target, event.event_id, event.partition, event.position))


def words_among(terms: Iterable[str]) -> list[str]:
    """The Latin words among terms, in one order whatever theirs."""
    return sorted(filter(is_word, terms))


def word_lines(user_id: str, terms: Iterable[str]) -> str:
    """Lines of the words among one user's terms; they are of letters and digits, and need no escaping."""
    user = line((user_id,))[:-1]
    scope = USERS[user_id]
    words = words_among(terms)
    digests = [_word_digests(word) for word in words]
    arrays = as_arrays([[scope ^ gram for gram in grams] for _, grams in digests])
    rows = zip(words, digests, arrays, strict=True)
    return "".join([f"{user}\t{word}\t{scope ^ own}\t{array}\n" for word, (own, _), array in rows])


def word_keys(user_id: str, word: str) -> tuple[int, list[int]]:
    """The keys of a word and of its trigrams among one user's cards."""
    scope = USERS[user_id]
    own, grams = _word_digests(word)
    return scope ^ own, [scope ^ gram for gram in grams]


@lru_cache(maxsize=32768)
def _word_digests(word: str) -> tuple[int, tuple[int, ...]]:
    return TERMS[word], tuple(sorted({GRAMS[gram] for gram in grams(word)}))
