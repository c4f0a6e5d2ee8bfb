"""Words of a text as search terms: cut, folded and stemmed the same way for cards and questions.

A term is a lower-case stem, a code or number, or a Chinese word in simplified characters, so "Moved"
finds "moving" and 資料庫 finds 资料库. Nothing here raises, whatever the text, and the
time is linear in its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from itertools import chain

from py_rust_stemmers import SnowballStemmer

from events.language import stop_words
from events.language.chinese_script import to_simplified
from events.language.segmentation import Dictionary, dictionary

_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
"""Vowel signs and accents, which the letters around them must not be parted by."""
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af"
"""Kana, Hangul, Thai, Lao, Burmese, Khmer: written without spaces, or with endings grown on."""

RUNS = re.compile(f"([{_HAN}]+)|([{_UNSPACED}]+)|([^{_HAN}{_UNSPACED}]+)")
"""A text as runs of one writing: Han, another without spaces, everything else."""

_TOKEN = re.compile(rf"[\w{_MARKS}]+(?:[-.'@&][\w{_MARKS}]+|,\d{{3}}(?!\d))*(?:\+\+|#)?")
_ASCII_TOKEN = re.compile(r"[a-z0-9_]+(?:[-.'@&][a-z0-9_]+|,[0-9]{3}(?![0-9]))*(?:\+\+|#)?")
_PIECE = re.compile(r"(?s).{1,255}(?:\s|\Z)|.{1,256}")
_JOINTS = re.compile(r"[-.'@&_]+")
_LOOSE_JOINTS = re.compile(r"[-_'&]|(?<!\d)\.|\.(?!\d)")
_CONTRACTIONS = frozenset(("s", "m", "re", "ve", "ll", "d"))
_LONGEST = 64
_REMEMBERED = 100_000
_APOSTROPHES = str.maketrans("\u2019\u02bc\uff07", "'''")


def _irregular_words() -> dict[str, str]:
    """Irregular forms to their base word: the stemmer leaves "bought" beside "buy"."""
    lines = resources.files("events.language").joinpath("irregular_words.txt").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {form: base for base, *forms in rows for form in forms}


_IRREGULAR = _irregular_words()
_snowball = SnowballStemmer("english").stem_word


def stem(word: str) -> str:
    """The term of a folded Latin word."""
    term: str = _snowball(_IRREGULAR.get(word, word))
    return term


_QUESTION_STOPS = frozenset(map(stem, stop_words.ENGLISH_QUESTION))


def fold(text: str) -> str:
    """The text in one spelling: NFKC, no case, straight apostrophes, simplified characters."""
    return text.lower() if text.isascii() else _folded(text)


# What is cut into words is cut into pairs right after.
@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    # Putting a run of combining marks in order is quadratic in the run: 64 KiB of them took 7 s.
    pieces = (text,) if len(text) <= 256 else _PIECE.findall(text)
    folded = "".join([unicodedata.normalize("NFKC", piece) for piece in pieces]).casefold()
    return to_simplified(folded.translate(_APOSTROPHES))


def analyse(text: str) -> list[str]:
    """The terms of a text in reading order, repeats kept.

    A compound gives its parts and the whole without its joints ("gpt-4": gpt, 4, gpt4), a long
    Chinese word the words inside it too (资料库: 资料, 资料库), and Chinese characters in no word
    themselves and their pairs, which is how names are found.
    """
    folded = fold(text)
    found: list[str] = []
    if folded.isascii():
        tokens = _ASCII_TOKEN.findall(folded)
        if len(max(tokens, key=len, default="")) <= _LONGEST:
            return list(chain.from_iterable(map(_word_terms, tokens)))
        for token in tokens:
            found += _word_terms(token) if len(token) <= _LONGEST else _long_terms(token)
        return found
    for han, unspaced, spaced in RUNS.findall(folded):
        if han:
            _add_chinese(found, han, dictionary())
        elif unspaced:
            found += _pairs(unspaced)
        else:
            for token in _TOKEN.findall(spaced):
                found += _word_terms(token) if len(token) <= _LONGEST else _long_terms(token)
    return found


def question_terms(text: str) -> list[str]:
    """The distinct terms worth looking for, in reading order: question words are no topic."""
    return [term for term in dict.fromkeys(analyse(text)) if term not in _QUESTION_STOPS]


def is_topic(word: str) -> bool:
    """Whether a folded, unstemmed word of a question is worth looking for; Chinese always is."""
    return word not in stop_words.ENGLISH and word not in stop_words.ENGLISH_QUESTION


@lru_cache(maxsize=32768)
def _word_terms(token: str) -> tuple[str, ...]:
    """The terms of one spaced token; an n't, and what is left of it, is no term."""
    word = token.strip("_")
    base, apostrophe, ending = word.rpartition("'")
    if apostrophe and ending == "t":
        return ()
    if apostrophe and ending in _CONTRACTIONS:
        word = base
    bare = word.rstrip("+#")
    if len(bare) > 1:
        word = bare
    word = word.replace(",", "")
    parts = [part for part in _JOINTS.split(word) if part]
    if len(parts) < 2:
        return _simple_terms(parts[0]) if parts else ()
    terms = [term for part in parts for term in _simple_terms(part)]
    whole = _plain(_LOOSE_JOINTS.sub("", word))
    if not whole:
        return tuple(terms)
    return (*terms, whole if any(map(str.isdigit, whole)) else stem(whole))


def _simple_terms(word: str) -> tuple[str, ...]:
    plain = _plain(word)
    return () if not plain or plain in stop_words.ENGLISH else (stem(plain),)


def _plain(word: str) -> str:
    """Latin without its accents, so that a café is found by cafe."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


def _long_terms(token: str) -> list[str]:
    """The parts of a token too long to be a word, each cut to a bearable length; not remembered."""
    plain = [_plain(part[:_LONGEST]) for part in _JOINTS.split(token)]
    return [stem(part) for part in plain if part]


def _add_chinese(found: list[str], run: str, words: Dictionary) -> None:
    stops = stop_words.CHINESE
    before = ""
    for word in words.cut(run):
        if word in stops:
            before = ""
        elif len(word) == 1:
            if before:
                found.append(before + word)
            found.append(word)
            before = word
        else:
            if len(word) > 2:
                found += words.parts(word)
            found.append(word)
            before = ""


def _pairs(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(len(run) - 1)] or [run]


def term_key(user_id: str, term: str) -> int:
    """A signed 32-bit key of a term among one user's cards, the same on every machine for ever.

    Two terms of a user share a key with probability 2**-32: of 20,000 words of one user, hardly ever any two.
    Keys of different users meet more often, which costs a look at a card that is then not theirs. Twice as many
    bits would make the tables a quarter larger and their indexes a fifth slower to build.
    """
    return USERS[user_id] ^ TERMS[term]


def term_keys(user_id: str, terms: Iterable[str]) -> list[int]:
    """The keys of the terms, in their order."""
    scope = USERS[user_id]
    return [scope ^ TERMS[term] for term in terms]


class Digests(dict[str, int]):
    """The digests of one kind of names, two of which are combined into a key; ``space`` keeps kinds apart.

    What was asked for is remembered, up to a bound. There are dozens to look up for every card, and a
    dictionary answers in a third of the time that a cached function takes.
    """

    def __init__(self, space: str) -> None:
        super().__init__()
        self._space = space

    def __missing__(self, name: str) -> int:
        if len(self) >= _REMEMBERED:
            self.clear()
        seed = f"{self._space}\0{name}".encode("utf-8", "surrogatepass")
        digest = self[name] = int.from_bytes(blake2b(seed, digest_size=4).digest(), "big", signed=True)
        return digest


USERS, TERMS, GRAMS = Digests("user"), Digests("term"), Digests("gram")
