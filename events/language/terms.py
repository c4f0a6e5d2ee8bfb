"""Search terms of a text. Cards and questions are cut, folded and stemmed in the same way.

A term is a lower-case stem, a code, a number, or a Chinese word in simplified characters. "Moved" therefore finds
"moving", and 資料庫 finds 资料库. No text makes these functions raise, and their time is linear in its length.
"""

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
from events.language.names import latin
from events.language.segmentation import Dictionary, dictionary

_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff"
"""Vowel signs and accents. They must not separate the letters around them."""
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af"
"""Kana, Hangul, Thai, Lao, Burmese, Khmer: writing without spaces, or with suffixes on the words."""

RUNS = re.compile(f"([{_HAN}]+)|([{_UNSPACED}]+)|([^{_HAN}{_UNSPACED}]+)")
"""Splits a text into runs: Han, other writing without spaces, everything else."""

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
    """Returns the base word of each irregular form. The stemmer alone does not reduce "bought" to "buy"."""
    lines = resources.files("events.language").joinpath("irregular_words.txt").read_text("utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {form: base for base, *forms in rows for form in forms}


IRREGULAR = _irregular_words()
"""The base word of each irregular form."""
_snowball = SnowballStemmer("english").stem_word


def stem(word: str) -> str:
    """Returns the term of a folded Latin word."""
    term: str = _snowball(IRREGULAR.get(word, word))
    return term


_QUESTION_STOPS = frozenset(map(stem, stop_words.ENGLISH_QUESTION))


def fold(text: str) -> str:
    """Returns the text in NFKC, in lower case, with straight apostrophes and simplified characters."""
    return text.lower() if text.isascii() else _folded(text)


# The callers fold the same text twice in a row: once for terms, once for n-grams.
@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    # The normalisation of a run of combining marks is quadratic: 64 KiB of marks took 7 s. Pieces bound the run.
    pieces = (text,) if len(text) <= 256 else _PIECE.findall(text)
    folded = "".join([unicodedata.normalize("NFKC", piece) for piece in pieces]).casefold()
    return to_simplified(folded.translate(_APOSTROPHES))


def analyse(text: str) -> list[str]:
    """Returns the terms of a text in reading order, with repeats.

    A compound gives its parts and the whole without joints ("gpt-4": gpt, 4, gpt4). A long Chinese word also gives the
    words inside it (资料库: 资料, 资料库). Chinese characters outside words give themselves and their pairs; names are
    found by these pairs.
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
    """Returns the distinct terms of a question in reading order, without the stop words of questions."""
    return [term for term in dict.fromkeys(analyse(text)) if term not in _QUESTION_STOPS]


def is_topic(word: str) -> bool:
    """True when a folded, unstemmed word of a question is not a stop word. True for every Chinese word."""
    return word not in stop_words.ENGLISH and word not in stop_words.ENGLISH_QUESTION


@lru_cache(maxsize=32768)
def _word_terms(token: str) -> tuple[str, ...]:
    """Returns the terms of one token. A contraction with n't gives no term."""
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
    whole = latin(_LOOSE_JOINTS.sub("", word))
    if not whole:
        return tuple(terms)
    return (*terms, whole if any(map(str.isdigit, whole)) else stem(whole))


def _simple_terms(word: str) -> tuple[str, ...]:
    plain = latin(word)
    return () if not plain or plain in stop_words.ENGLISH else (stem(plain),)


def _long_terms(token: str) -> list[str]:
    """Returns the parts of a token that is too long for a word, each truncated to 64 characters. Nothing is cached."""
    plain = [latin(part[:_LONGEST]) for part in _JOINTS.split(token)]
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


def term_keys(user_id: str, terms: Iterable[str]) -> list[int]:
    """Returns the keys of the terms for one user, in their order: signed 32-bit numbers. A key is the same on every
    machine and never changes.

    Two terms of a user share a key with probability 2**-32, so a collision among 20,000 words of one user is rare.
    Collisions between users are more frequent. They cost a read of a card that belongs to another user and that the
    owner filter then drops. 64 bits would make the tables a quarter larger and the build of their indexes a fifth
    slower.
    """
    scope = USERS[user_id]
    return [scope ^ TERMS[term] for term in terms]


class Digests(dict[str, int]):
    """32-bit digests of names of one kind. ``space`` separates the kinds. A key combines the digests of two names.

    The dictionary caches up to 100,000 digests and then starts again. A card needs dozens of look-ups, and a dictionary
    takes a third of the time of a cached function.
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
