"""Writes casual English out: "im moving to leeds sat" is read as "I'm moving to Leeds Saturday".

The rules know the spelling of books. People who chat leave out apostrophes and capitals, and shorten words. Only forms
with one reading are written out: "were" is "we're" before "going" at the start of a clause, and stays "were" elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from events.language.names import canonical_name
from events.language.stop_words import ENGLISH
from events.language.values import word_set

_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*|w/")
_LONGEST = 20_000  # characters: longer texts are pasted, and nobody chats so

_ROWS = [
    row.split("\t")
    for row in resources.files(__package__).joinpath("casual_words.txt").read_text("utf-8").splitlines()
]
_WORDS = {name: word_set(words) for name, words, *written in _ROWS if not written}
_ALWAYS = {word: written[0] for name, word, *written in _ROWS if written}
_AFTER_MY = {"sis": "sister", "bro": "brother"}
_DATES = _WORDS["dates"]
_BEFORE = {
    "ill": ("I'll", word_set("be go get have take try do see call make bring come need probably just never start move "
                             "meet visit pick let stay keep send also")),
    "id": ("I'd", word_set("like love rather prefer say be never")),
    "its": ("it's", word_set("a an the my not been so just at in on called gonna going actually")),
}  # fmt: skip
_RELATIVES = _WORDS["relatives"]
_OWNED = _WORDS["owned"]
_OWNERS = word_set("my our his her their your")
_SAYING_WHO = _WORDS["saying_who"]
_VERBS = _WORDS["verbs"]
_FAVORITES = word_set("favorite favourite fav fave")
_NAMING = word_set("named called nicknamed")
_NOT_NAMES = (
    ENGLISH | _VERBS | word_set("no not off out back home sick up down tomorrow today yesterday tonight")
)
_PLACING = word_set("in to from near around")
_DAYS = {"sat": "Saturday", "sun": "Sunday"}
_DAY_LED = word_set("on this next last every by until till coming")
_DAY_FOLLOWED = word_set("i we he she they my im ive night morning afternoon evening")
_IS = word_set("is was")
_ASKED = _OWNERS | word_set(
    "you they we i he she it there the a an this that these those any some all anyone people"
)
_FORMS = frozenset(("i", "were", *_DATES, *_ALWAYS, *_AFTER_MY, *_BEFORE, *_DAYS))
_OF_RELATIVES = frozenset(f"{word}s" for word in _RELATIVES)
_NEW_CLAUSE = word_set("im ive i'm i've")
_TAKES_A_CLAUSE = _WORDS["takes_a_clause"]
_LETTER = re.compile(r"[a-z]")
_CAPITAL = re.compile(r"(?!I\b)[A-Z]")  # the word "I" shows nothing
_FORM = re.compile(rf"(?<![\w'’])(?:{'|'.join(sorted(_FORMS | _OF_RELATIVES))})(?![\w'’])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A text, and for each of its changed words where that word was. ``text`` is the text as it was when none is."""

    text: str
    _places: Sequence[tuple[int, int, int, int]] = ()
    """(begin, end) of a changed word here, and (begin, end) in the text as it was, in order."""

    def original(self, begin: int, end: int) -> tuple[int, int]:
        """Returns the offsets of a span in the text as it was. A changed word counts as a whole."""
        return self._offset(begin, last=False), self._offset(end, last=True)

    def _offset(self, offset: int, *, last: bool) -> int:
        place = bisect_right(self._places, (offset, len(self.text), 0, 0)) - 1
        if place < 0:
            return offset
        begin, end, was_begin, was_end = self._places[place]
        if offset >= end:
            return was_end + offset - end
        return was_begin if not last or offset == begin else was_end


def written_out(text: str) -> WrittenOut:
    """Returns ``text`` with its casual English spellings written out. Any text is allowed; the cost is linear.

    Names get capitals only in a text without any, where nothing else shows that they are names.
    """
    bare = _CAPITAL.search(text) is None
    if len(text) > _LONGEST or (_LETTER if bare else _FORM).search(text) is None:
        return WrittenOut(text)
    found = list(_WORD.finditer(text))
    words = [each[0].replace("’", "'") for each in found]
    lower = [each.lower() for each in words]
    parts: list[str] = []
    places: list[tuple[int, int, int, int]] = []
    reached = length = 0
    for index, match in enumerate(found):
        word = _word(_WordContext(text, found, lower, index), bare=bare)
        if word is None or word == match[0]:
            continue
        between = text[reached : match.start()]
        length += len(between)
        places.append((length, length + len(word), match.start(), match.end()))
        length += len(word)
        parts += (between, word)
        reached = match.end()
    if not places:
        return WrittenOut(text)
    return WrittenOut("".join((*parts, text[reached:])), places)


def _word(near: _WordContext, *, bare: bool) -> str | None:
    """Returns the word as books write it, or None when it stays as it is."""
    if bare and near.runs_on:
        return f"{_spelled(near, bare=bare) or near.said}."
    return _spelled(near, bare=bare)


def _spelled(near: _WordContext, *, bare: bool) -> str | None:
    """Returns the word as books spell it, or None when it stays as it is."""
    word = near.word
    if not bare and word not in _FORMS and word not in _OF_RELATIVES:
        return None
    if near.said.isupper() and len(word) > 1:
        return None  # an abbreviation: "UR", "ID"
    if word == "i":
        return "I"
    if word in _DATES:
        return word.capitalize()
    if word in _ALWAYS:
        return _ALWAYS[word]
    if word in _AFTER_MY and near.before in _OWNERS:
        return _AFTER_MY[word]
    if word in _BEFORE and near.after in _BEFORE[word][1] and near.before not in _OWNERS:
        return _BEFORE[word][0]
    if word == "were" and near.is_we_are:
        return "we're"
    if word in _DAYS and (near.before in _DAY_LED or (near.starts_clause and near.tells_a_day(word))):
        return _DAYS[word]
    if word in _OF_RELATIVES and near.before in _OWNERS and near.after in _OWNED:
        return f"{word[:-1]}'s"
    return near.said.capitalize() if bare and near.is_name(word) else None


@dataclass(frozen=True, slots=True)
class _WordContext:
    """A word among its neighbours. ``before`` and ``after`` are empty across the end of a clause."""

    text: str
    found: Sequence[re.Match[str]]
    lower: Sequence[str]
    index: int

    @property
    def said(self) -> str:
        return self.found[self.index][0]

    @property
    def word(self) -> str:
        """The word in lower case, with a straight apostrophe."""
        return self.lower[self.index]

    @property
    def before(self) -> str:
        return self._beside(-1)

    @property
    def after(self) -> str:
        return self._beside(1)

    def _beside(self, step: int) -> str:
        at = self.index + step
        if not 0 <= at < len(self.found):
            return ""
        left, right = sorted((self.index, at))
        between = self.text[self.found[left].end() : self.found[right].start()]
        return self.lower[at] if between.isspace() and "\n" not in between else ""

    @property
    def starts_clause(self) -> bool:
        return self.before in ("", "and", "but", "so", "then", "ok", "yeah", "lol")

    @property
    def runs_on(self) -> bool:
        """True for the last word of a clause before another one without a mark: "i moved to leeds im working"."""
        return self.after in _NEW_CLAUSE and not (
            self.word in _TAKES_A_CLAUSE or self.word in _DATES or self.word in _DAYS
        )

    @property
    def is_we_are(self) -> bool:
        """True for "were meeting …" and "were vegetarian", but not for "were you there" or "the cats were fed"."""
        if not self.starts_clause:
            return False
        return self.after.endswith("ing") or (
            not self.before and bool(self.after) and self.after not in _ASKED
        )

    def tells_a_day(self, word: str) -> bool:
        """True for "sat i went", "sun night", and for "sat is", but not for "sun is out"."""
        return self.after in _DAY_FOLLOWED or (word == "sat" and self.after in _IS)

    def is_name(self, word: str) -> bool:
        """True for a word that the words beside it show as the name of somebody, something or a place."""
        if word in _NOT_NAMES or len(word) < 2 or "'" in word:
            return False
        before = self.before
        if before in _NAMING or (before in ("is", "name's") and self._names_before(before)):
            return True
        if before in _RELATIVES and self.index > 1 and self.lower[self.index - 2] in _OWNERS:
            return word not in _OWNED and self.after in _SAYING_WHO
        if before in _PLACING:
            return self._is_place(word, self.after)
        # "New York": the second word of a place
        return (
            self.index > 1
            and self.lower[self.index - 2] in _PLACING
            and canonical_name("place", f"{before} {word}") is not None
        )

    def _names_before(self, before: str) -> bool:
        """True after "my name is", "my dog's name's" and "my fav band is"."""
        earlier = self.lower[max(0, self.index - 3) : self.index - 1]
        return before == "name's" or (
            bool(earlier) and (earlier[-1] in ("name", "names") or earlier[0] in _FAVORITES)
        )

    @staticmethod
    def _is_place(word: str, after: str) -> bool:
        return canonical_name("place", word) is not None or (
            bool(after) and canonical_name("place", f"{word} {after}") is not None
        )
