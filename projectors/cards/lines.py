"""What a fold changes, as lines to copy into the card tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from projectors.cards.card import Row, is_word
from projectors.cards.fold import Changes
from projectors.copying import as_array, line
from projectors.text.grams import grams
from projectors.text.terms import key_of


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


def word_lines(user_id: str, terms: Iterable[str]) -> Iterator[str]:
    """Lines of the words among one user's terms; they are of letters and digits, and need no escaping."""
    user = line((user_id,))[:-1]
    for word in words_among(terms):
        key, grams = word_keys(user_id, word)
        yield f"{user}\t{word}\t{key}\t{as_array(grams)}\n"


def word_keys(user_id: str, word: str) -> tuple[int, list[int]]:
    """The keys of a word and of its trigrams among one user's cards."""
    scope = key_of("user", user_id)
    return scope ^ key_of("term", word), [scope ^ key for key in _gram_digests(word)]


@lru_cache(maxsize=32768)
def _gram_digests(word: str) -> tuple[int, ...]:
    return tuple(sorted({key_of("gram", gram) for gram in grams(word)}))
