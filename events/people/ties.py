"""What tells a person from others of the same name: the kinship to the user, or the circle that they share.

The words are tables (:mod:`events.language.names`): ``kinship``, ``circles``, and ``animals`` for who is no person.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from events.language.chinese_script import has_cjk, to_simplified
from events.language.names import latin, rows

HANDLE = "@"
"""The tie of an address or an account, which belongs to one person."""
_WORDS = re.compile(r"[^\W\d_]+")
_OF_AGE = ("elder_", "younger_")


class Tie(NamedTuple):
    """A tie by its code. ``gender`` is f, m or -. ``one`` is True for a kinship that one person has to the user.

    ``circle``: the words tell where one knows a person from. ``animal``: "my dog Rex" names no person.
    """

    code: str
    gender: str
    one: bool
    circle: bool
    animal: bool

    @property
    def kin(self) -> bool:
        """True when the words tell what a person is to the user."""
        return not self.circle and not self.animal


class Ties(NamedTuple):
    """The ties by their folded words, and by their codes."""

    by_word: dict[str, Tie]
    by_code: dict[str, Tie]


@cache
def _ties() -> Ties:
    by_word: dict[str, Tie] = {}
    by_code: dict[str, Tie] = {}
    for table in ("kinship", "circles", "animals"):
        for code, english, chinese in rows(table):
            name, _, marks = code.partition(":")
            tie = Tie(name, marks[:1] or "-", marks.endswith("!"), table == "circles", table == "animals")
            by_code.setdefault(name, tie)
            for word in (*english.split("|"), *chinese.split("|")):
                if word:
                    by_word.setdefault(word, tie)
    return Ties(by_word, by_code)


def tie_of(words: str) -> str:
    """Returns the code of the tie that ``words`` name, or the folded words of an unknown one."""
    plain = folded(words).removeprefix("my ").removeprefix("the ").removeprefix("我的").removeprefix("我")
    tie = _ties().by_word.get(plain)
    return plain if tie is None else tie.code


def known_tie(code: str) -> Tie | None:
    """Returns the tie of a code. An unknown one has none."""
    return _ties().by_code.get(code)


def is_animal(code: str) -> bool:
    tie = known_tie(code)
    return tie is not None and tie.animal


def general(code: str) -> str:
    """Returns a kinship without the age: an elder sister is a sister."""
    for age in _OF_AGE:
        code = code.removeprefix(age)
    return code


def alternatives(*, kin: bool, chinese: bool) -> str:
    """Returns the words of kinships and animals, or of circles, as alternatives of a regular expression, longest first.

    A Chinese word of one character is a tie only after words that show it: 我妈, 我哥, 一只猫.
    """
    words = [
        word
        for word, tie in _ties().by_word.items()
        if tie.circle is not kin and word.isascii() is not chinese
    ]
    short = "".join(sorted(word for word in words if len(word) == 1))
    longer = sorted((word for word in words if len(word) > 1), key=lambda word: (-len(word), word))
    shown = [rf"(?:(?<=[我咱家只条])|(?<=我的))[{short}]"] if short else []
    return "|".join([*map(re.escape, longer), *shown])


@cache
def own(*, chinese: bool) -> frozenset[str]:
    """Returns the words of whom a speaker has only one and names without "my": Mum, 婆婆. Words of address are none."""
    after = _titles()[1]
    return frozenset(
        word
        for word, tie in _ties().by_word.items()
        if tie.one and len(word) > 1 and word.isascii() is not chinese and (not chinese or word not in after)
    )


def titles(*, chinese: bool) -> str:
    """Returns the words of address that stand before an English name, or after a Chinese one, as alternatives."""
    words = {word for row in rows("titles") for word in (row.chinese if chinese else row.english).split("|")}
    return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))


def surnames() -> str:
    """Returns the common Chinese surnames as a class of characters."""
    return "[" + "".join(sorted(_beginnings()["surname"])) + "]"


@cache
def _signs() -> tuple[frozenset[str], re.Pattern[str], re.Pattern[str]]:
    kin, circle = (alternatives(kin=each, chinese=False) for each in (True, False))
    english = (
        rf"\b(?:(?:my|our) (?:(?:best|old|new|good|dear|late|other) )?(?:{kin})|from (?:(?:my|our) )?(?:{circle})"
        rf"|an? (?:\w+ )?(?:{kin}) (?:named|called)|(?:{kin}) of (?:mine|ours))\b"
    )
    chinese = "|".join(alternatives(kin=each, chinese=True) for each in (True, False))
    last_words = frozenset(re.split(r"[ -]", word)[-1] for word in _ties().by_word)
    return last_words, re.compile(english, re.IGNORECASE), re.compile(chinese)


# The cards of a turn name the same words.
@lru_cache(maxsize=64)
def may_tie(text: str) -> bool:
    """False when no words of ``text`` can give a tie to a name. It takes some microseconds."""
    last_words, english, chinese = _signs()
    if not last_words.isdisjoint(_WORDS.findall(text.casefold())) and english.search(text):
        return True
    return has_cjk(text) and chinese.search(to_simplified(text)) is not None


def folded(text: str) -> str:
    """Returns ``text`` without differences of case, accents, Chinese script and white space."""
    return latin(" ".join(to_simplified(text).split())).strip(" .,'\"")


@cache
def _titles() -> tuple[dict[str, str], dict[str, str]]:
    """Returns the genders of the words before an English name, and of the words after a Chinese one."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for row in rows("titles"):
        gender = row.code.partition(":")[2]
        before |= dict.fromkeys(row.english.split("|"), gender)
        after |= dict.fromkeys(row.chinese.split("|"), gender)
    for word, tie in _ties().by_word.items():
        if tie.kin and word.isascii() and " " not in word:
            before.setdefault(word, tie.gender)
    return before, after


def without_title(name: str) -> tuple[str, str | None]:
    """Returns a folded name without the title or the kinship in it, and the gender that this tells. None: no title."""
    before, after = _titles()
    first, _, rest = name.partition(" ")
    if rest and first in before:
        return rest, before[first]
    for word, gender in after.items():
        if name.endswith(word) and len(name) > len(word):
            return name.removesuffix(word), gender
    return name, None


@cache
def _beginnings() -> dict[str, frozenset[str]]:
    return {row.code: frozenset(row.chinese.split("|")) for row in rows("surnames")}


def begins_a_name(words: str) -> bool:
    """True when Chinese words begin with a common surname, or as a familiar name does."""
    return any(words[:1] in each for each in _beginnings().values())


def has_surname(name: str) -> bool:
    """True when a Chinese name begins with a common surname."""
    return name[:1] in _beginnings()["surname"]
