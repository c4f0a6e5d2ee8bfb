"""Checks that words bear out a card: its values, names and numbers must have been spoken.

A quote proves only that the quoted words were spoken, not the rest of the card. So the words of a value, and every name
and number of a content, must occur in the sentences that the quote touches. The check accepts every form of a word:
case, width, script, accents, inflection, numbers in digits or words. A sentence that points back ("there", "she", 那邊)
is read together with the words before it. All functions here are pure and raise on no text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache
from typing import Literal

from py_rust_stemmers import SnowballStemmer

from events.language import stop_words
from events.language.chinese_script import to_simplified
from events.language.terms import IRREGULAR, stem
from ingest.extraction.claude.grounding.evidence_words import (
    ALIKE,
    ALIKE_CJK,
    ATTRIBUTES,
    BACK,
    BACK_CJK,
    COMMON,
    COMMON_WORD,
    KIN,
    LINKING,
    MEANINGS,
    NOUGHT,
    ORDINARY,
    claimed,
    is_number_word,
    month_of,
    offered,
)
from ingest.extraction.rules.words import SETS

Verdict = Literal["borne", "loose", "refused"]

_CJK = "\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_WORD = re.compile(rf"[^\W_{_CJK}]+(?:'[^\W_{_CJK}]+)*")
_WORD_OR_JOINT = re.compile(rf"{_WORD.pattern}|[,&]")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_PUNCTUATION = re.compile(r"[\u2e80-\u2fff\u3000-\u303f\u30fb]+")
_QUOTES = str.maketrans("‘’“”ʼ", "''\"\"'")
_STEMMER = SnowballStemmer("english")
_GROUPS: dict[str, frozenset[int]] = {
    word: frozenset(index for index, group in enumerate(ALIKE) if word in group)
    for group in ALIKE
    for word in group
}
_GROUPS_CJK = {
    word: frozenset().union(*(group for group in ALIKE_CJK if word in group))
    for group in ALIKE_CJK
    for word in group
}
_NAME_AFTER = frozenset("在到去叫姓给欠跟和与往于自是住回对")
_HIRAGANA = re.compile("[\u3040-\u309f]")
_ADVERB = re.compile(r"also|always|even|just|longer|never|no|not|now|often|only|sometimes|still|\w{4,}ly")
_AUXILIARY = re.compile(r"(?:is|was|has|had|does|did|will|would|can|could|should|might|must)(?:n't)?")
_JOINTS = ("and", "&", ",", "")
# "Sells", "moved" and "moving". Few names end like a verb in the third person: "Lucas", "Iris" and "Ross" do not.
_VERB = re.compile(r"\w+[^\Waiosu]s|\w{2,}(?:ed|ing)|beat|bet|cost|cut|hit|hurt|let|put|quit|read|set")


def plain(text: str) -> str:
    """Returns ``text`` in one width, case and script, without accents."""
    folded = unicodedata.normalize("NFKC", text.translate(_QUOTES))
    bare = "".join(
        character
        for character in unicodedata.normalize("NFD", folded)
        if not "\u0300" <= character <= "\u036f"
    )
    return to_simplified(unicodedata.normalize("NFC", bare)).casefold()


def points_back(sentence: str) -> bool:
    """Returns True when a sentence needs context: it has a word that refers to another, or very few words."""
    text = plain(sentence)
    words = _WORD.findall(text)
    characters = sum(map(len, _CJK_RUN.findall(text)))
    if any(word in BACK for word in words) or BACK_CJK.search(text):
        return True
    return len(words) <= 2 and characters <= 4


class Evidence:
    """The words a card may rest on. Values must occur in ``near``, names and numbers in ``near`` or ``context``.

    ``near`` are the sentences of the quote. When they point back, ``near`` includes the words before them. ``context``
    are the words that resolve a pronoun or complete an answer: the turns shortly before, the speakers, what is known.
    ``far`` is everything a name may come from. A name or a number that is only in ``far`` makes a content loose.
    """

    def __init__(self, near: str, far: str = "", context: str = "") -> None:
        self._near = _words_of(near)
        self._context = _words_of(f"{near}\n{context}")
        self._far = _words_of(f"{near}\n{context}\n{far}")

    def says(self, value: str) -> bool:
        """Returns True when the words of ``value`` occur in ``near``, in any form."""
        return _says(self._near, value)

    def completes(self, value: str) -> bool:
        """Returns True when ``near`` says at least half of the words of ``value`` and ``context`` says all of them.

        Numbers must be in ``near``.
        """
        text = plain(value)
        if not _says(self._context, value, LINKING) or not _numbers_in(self._near, text):
            return False
        words = [word for word in _content_words(text) if word not in LINKING]
        runs = _CJK_RUN.findall(_PUNCTUATION.sub(" ", text))
        total = len(words) + sum(map(len, runs))
        said = sum(map(self._near.has, words)) + sum(sum(_covered(run, self._near, None)) for run in runs)
        return total > 0 and said * 2 >= total

    def knows(self, name: str) -> bool:
        """Returns True when the words of ``name`` occur in ``near`` or ``far``, in any form."""
        return _says(self._far, name)

    def means(self, value: str) -> bool:
        """Returns True when ``near`` says ``value`` in other words ("I don't eat meat": vegetarian)."""
        wanted = set(_WORD.findall(plain(value))) - NOUGHT or {plain(value).strip()}
        return any(wanted <= values and said.search(self._near.text) for values, said in MEANINGS)

    def verdict(self, content: str, *, known: str = "", share: float = 0.0) -> Verdict:
        """Returns how far the words bear out ``content``. Names in ``known`` need not have been spoken.

        "refused": ``content`` states a number or a name that nobody said, or shares no word with ``near``, or shares
        less than the fraction ``share`` of its words. "loose": a name occurs only in ``far``, or ``content`` is a
        paraphrase, perhaps one that shares no more than its verb. The speaker's own words are then better. "borne": the
        words bear out ``content``.
        """
        near, known_words = self._near, _Words(known)
        text = plain(content)
        if not _numbers_in(self._context, text):
            return "loose" if _numbers_in(self._far, text) else "refused"
        verdict: Verdict = "borne"
        for name in _names(content):
            if self._context.has(name) or known_words.has(name):
                continue
            if not self._far.has(name):
                return "refused"
            verdict = "loose"
        cjk = self._cjk_verdict(text, known_words)
        if cjk == "refused":
            return "refused"
        words = [word for word in _content_words(text) if not known_words.has(word)]
        # "Likes" and "went" tell little of what a content is about.
        told = words[1:] if len(words) > 1 and _is_verb(words[0]) else words
        shared = sum(near.has(word) for word in told) + len(claimed(text))
        if told and (shared == 0 or shared < share * len(told)) and not _CJK_RUN.search(text):
            return "loose" if told is not words and not share and near.has(words[0]) else "refused"
        return "loose" if cjk == "loose" else verdict

    def _cjk_verdict(self, text: str, known: _Words) -> Verdict:
        verdict: Verdict = "borne"
        total = covered = 0
        for run in _CJK_RUN.findall(_PUNCTUATION.sub(" ", text)):
            total += len(run)
            covered += sum(_covered(run, self._near, known))
            for begin, end in _gaps(run, _covered(run, self._context, known)):
                strange = run[begin:end]
                if self._far.holds(strange):
                    verdict = "loose"
                elif _may_be_name(strange, run[:begin]):
                    return "refused"
                else:
                    verdict = "loose"
        return "refused" if total and covered * 5 < total and verdict != "borne" else verdict


class _Words:
    """A text as a set of words that finds a word in any of its forms."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)

    @cached_property
    def _all(self) -> frozenset[str]:
        found = _WORD.findall(self.text)
        return frozenset((*found, *(word.removesuffix("'s") for word in found)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(_stem, self._all))

    @cached_property
    def _bases(self) -> frozenset[str]:
        """The words without irregular inflection: "swam" as "swim"."""
        return frozenset(map(stem, self._all))

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self._all:
            found.setdefault(word[:4], []).append(word)
        return found

    @cached_property
    def _groups(self) -> frozenset[int]:
        return frozenset(index for word in self._all for index in _GROUPS.get(word, ()))

    @cached_property
    def _squeezed(self) -> str:
        return re.sub(r"[\W_]+", "", self.text)

    @cached_property
    def _digits(self) -> str:
        return re.sub(r"\D+", "", self.text)

    @cached_property
    def numbers(self) -> frozenset[float]:
        return offered(self.text)

    def has(self, word: str) -> bool:
        """Returns True when ``word``, or another form of it, occurs in the text."""
        word = word.removesuffix("'s")
        if word in self._all or _stem(word) in self._stems or stem(word) in self._bases:
            return True
        if _GROUPS.get(word, frozenset()) & self._groups or month_of(word) in self.numbers:
            return True
        if any(one in self.text for one in KIN.get(word, ())):
            return True
        if not word.isascii() and len(word) > 2 and word in self.text:
            return True
        shortest = 5 if word.isascii() else 4
        return any(_share_beginning(word, other, shortest) for other in self._by_beginning.get(word[:4], ()))

    def holds(self, characters: str) -> bool:
        """Returns True when ``characters`` or a synonym of them occur in the text. 妹妹 is 妹."""
        if characters in self.text:
            return True
        if len(characters) == 2 and characters[0] == characters[1] and characters[0] in self.text:
            return True
        return any(one in self.text for one in _GROUPS_CJK.get(characters, ()))

    def has_digits(self, number: float) -> bool:
        """Returns True when the digits of a number of seven or more digits occur in a row, in any grouping."""
        return 10**6 <= number < 10**15 and number.is_integer() and str(int(number)) in self._digits

    def squeezed_has(self, text: str) -> bool:
        """Returns True when the letters of ``text``, five or more, occur in a row. Separators do not count."""
        squeezed = re.sub(r"[\W_]+", "", text)
        return len(squeezed) >= 5 and squeezed in self._squeezed


@lru_cache(maxsize=64)
def _words_of(text: str) -> _Words:
    return _Words(text)


def _says(words: _Words, value: str, free: frozenset[str] = frozenset()) -> bool:
    text = plain(value)
    spoken = _WORD.findall(text)
    runs = _CJK_RUN.findall(_PUNCTUATION.sub(" ", text))
    if not spoken and not runs:
        return bool(text.strip()) and "".join(text.split()) in "".join(words.text.split())
    if not runs and words.squeezed_has(text):
        return True
    if not _numbers_in(words, text):
        return False
    wanted = [word for word in spoken if word not in NOUGHT | free and not _is_numeric(word)]
    if not wanted and not runs and not claimed(text):
        wanted = spoken
    if not all(words.has(word) for word in wanted):
        return False
    for run in runs:
        spoken_run = _covered(run, words, None)
        letters = [
            covered
            for character, covered in zip(run, spoken_run, strict=True)
            if character not in "的了和与及在"
        ]
        if letters and (sum(letters) * 4 < len(letters) * 3 or (len(letters) <= 3 and not all(letters))):
            return False
    return True


def _numbers_in(words: _Words, text: str) -> bool:
    return all(
        meant & words.numbers or meant <= {0.0, 1.0} or any(words.has_digits(number) for number in meant)
        for meant in claimed(text)
    )


def _is_numeric(word: str) -> bool:
    return any(character.isdigit() for character in word) or is_number_word(word)


def _names(content: str) -> list[str]:
    """Returns the words of a content that are written as names. A capital that only begins a sentence is no name.

    In Chinese no capital begins a sentence.
    """
    found: list[str] = []
    for sentence in re.split(r"(?<=[.!?;:])\s+", unicodedata.normalize("NFKC", content.translate(_QUOTES))):
        words = _WORD_OR_JOINT.findall(sentence)
        plain_words = list(map(plain, words))
        for index, (written, word) in enumerate(zip(words, plain_words, strict=True)):
            if not written[:1].isupper() or word in NOUGHT or _is_numeric(word):
                continue
            if index > 0 or _CJK_RUN.search(sentence) or _is_subject(word, plain_words[1:]):
                found.append(word)
    return found


def _is_subject(first: str, others: list[str]) -> bool:
    """Returns True when the first word of a sentence may be a name: a predicate, another name or nothing follows it.

    "Marco moved" has a name, "Sells the tent" and "Only talks Dutch" leave out their subject. What somebody owns
    follows a name too. A word with the ending of a verb is a name only before an auxiliary.
    """
    if first in ATTRIBUTES or first in stop_words.ENGLISH or _ADVERB.fullmatch(first):
        return False
    if first.endswith("'s"):
        return True
    follows = next((word for word in others if not _ADVERB.fullmatch(word)), "")
    if _AUXILIARY.fullmatch(follows):
        return True
    return not _is_verb(first) and (follows in _JOINTS or _is_verb(follows))


def _is_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None or word in IRREGULAR


def _content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word not in NOUGHT and not _is_numeric(word)]


def _covered(run: str, words: _Words, known: _Words | None) -> list[bool]:
    """Returns for each character of a run whether the text covers it.

    A character is covered when it occurs in a row of at least two characters. One character is enough when the run has
    one character or when the character is common.
    """
    spoken = [False] * len(run)
    begin = 0
    while begin < len(run):
        end = begin
        while end < len(run) and end - begin < 12 and _occurs(run[begin : end + 1], words, known):
            end += 1
        if end - begin >= 2 or (end - begin == 1 and (len(run) == 1 or run[begin] in COMMON)):
            for place in range(begin, end):
                spoken[place] = True
        begin = max(end, begin + 1)
    return spoken


def _occurs(part: str, words: _Words, known: _Words | None) -> bool:
    return words.holds(part) or (known is not None and known.holds(part))


def _gaps(run: str, spoken: list[bool]) -> list[tuple[int, int]]:
    """Returns the spans of a run that nobody said, without common words. Each has at least two characters."""
    gaps: list[tuple[int, int]] = []
    begin: int | None = None
    common = [character in COMMON or _HIRAGANA.match(character) is not None for character in run]
    for word in COMMON_WORD.finditer(run):
        if len(word[0]) > 1:
            common[word.start() : word.end()] = [True] * len(word[0])
    for place in range(len(run) + 1):
        strange = place < len(run) and not spoken[place] and not common[place]
        if strange and begin is None:
            begin = place
        elif not strange and begin is not None:
            if place - begin >= 2:
                gaps.append((begin, place))
            begin = None
    return gaps


def _may_be_name(strange: str, before: str) -> bool:
    return bool(
        before[-1:] in _NAME_AFTER
        or (before[-1:] in {"了", "过"} and before[-2:-1] in _NAME_AFTER)
        or (strange[0] in SETS["姓"] and len(strange) <= 4 and not ORDINARY.match(strange))
        or (strange[0] in "小阿老" and not ORDINARY.match(strange))
        or strange[-1] in "市县省国州镇村区岛城港"
    )


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    stemmed: str = _STEMMER.stem_word(word) if word.isascii() and len(word) <= 64 else word
    return stemmed


def _share_beginning(one: str, other: str, shortest: int) -> bool:
    """Returns True when two words differ in their endings only."""
    if min(len(one), len(other)) < shortest or abs(len(one) - len(other)) > 3:
        return False
    common = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        common += 1
    return common >= shortest and len(one) - common <= 3 and len(other) - common <= 3
