"""The well-known concept keys: one name for a fact, whoever writes it and however it is asked for.

The registry itself is ``concepts.json``: a key, whether one value replaces the last (``one``), other
names, and the cues a question asks for it with. An English cue is a set of words that must all occur
(``|`` between interchangeable ones); a Chinese cue is a set of substrings, in simplified script.
Everything here is pure; nothing raises on any text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from importlib import resources
from itertools import combinations, product

from events.language.chinese_script import to_simplified
from events.language.values import normalise, word_set
from events.types.cards import Cardinality

__all__ = [
    "Concept",
    "all_concepts",
    "canonical_key",
    "concept",
    "concepts_asked",
    "default_cardinality",
    "drift",
    "normalise_entity",
    "normalise_value",
]


@dataclass(frozen=True, slots=True)
class Concept:
    """A registered concept key and what is known of it."""

    key: str
    cardinality: Cardinality
    category: str
    aliases: tuple[str, ...]


_NOT_WORD = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNER_PREFIX = re.compile(r"^(?:我的|用户的?|目前的?|现在的?|当前的?)(?=.)")
_WORDS = re.compile(r"[a-z0-9]+")

# Words that say nothing about which fact is meant, in front of a key and behind it.
_PREFIXES = word_set(
    "my the user users his her their our your current currently present new latest primary main "
    "own personal profile info is has preferred default known"
)
_SUFFIXES = word_set("name names info information detail details value current now fact key")
_SINGLE_SUFFIXES = (
    "_status",
    "_date",
    "_stage",
    "_version",
    "_address",
    "_number",
    "_count",
    "_level",
    "_size",
)


def _mechanical(name: str) -> str:
    spaced = _CAMEL.sub("_", unicodedata.normalize("NFKC", name).replace("'s ", " ").replace("’s ", " "))
    key = _NOT_WORD.sub("_", _OWNER_PREFIX.sub("", to_simplified(spaced).casefold())).strip("_")
    return key.replace("favorite", "favourite")


@dataclass(frozen=True, slots=True)
class _Cue:
    parts: tuple[str, ...]
    key: str
    weight: int


# Words of so many questions that they say little about which fact one asks for.
_GENERIC = word_set(
    "what which who when where how did do does done use uses using name names plan plans work "
    "works 什么 哪 谁 叫什么 名字 姓名 怎么称呼 在哪 计划 安排 打算"
)


def _cues(key: str, text: str) -> Iterator[_Cue]:
    for parts in product(*(part.split("|") for part in to_simplified(text).split())):
        distinct = tuple(dict.fromkeys(parts))
        yield _Cue(distinct, key, sum(len(part) + (30 if part in _GENERIC else 100) for part in distinct))


def _index() -> tuple[dict[str, Concept], dict[str, str], dict[str, list[_Cue]], dict[str, list[_Cue]]]:
    rows = json.loads(
        resources.files("events.language").joinpath("concepts.json").read_text(encoding="utf-8")
    )
    registry: dict[str, Concept] = {}
    aliases: dict[str, str] = {}
    by_word: dict[str, list[_Cue]] = {}
    by_character: dict[str, list[_Cue]] = {}
    for row in rows:
        key = row["key"]
        cardinality: Cardinality = "single_value" if row["one"] else "multi_value"
        registry[key] = Concept(key, cardinality, row["category"], tuple(row["aliases"]))
        for alias in row["aliases"]:
            aliases[_mechanical(alias)] = key
        for text in row["ask"]:
            for cue in _cues(key, text.replace("'", "")):
                if cue.parts[0].isascii():
                    # The longest word of a cue is met least often, so it is the one looked up.
                    by_word.setdefault(max(cue.parts, key=len), []).append(cue)
                else:
                    by_character.setdefault(cue.parts[0][:2], []).append(cue)
    aliases.update((_mechanical(key), key) for key in registry)
    return registry, aliases, by_word, by_character


_REGISTRY, _ALIASES, _BY_WORD, _BY_CHARACTER = _index()
_FAVOURITE = re.compile(r"\bfavou?rite (?:kind of |type of |sort of )?([a-z]+)")


def all_concepts() -> tuple[Concept, ...]:
    """Every registered concept, in the registry's order."""
    return tuple(_REGISTRY.values())


def concept(key: str) -> Concept | None:
    """The concept behind a key or one of its other names; None where it is not registered."""
    return _REGISTRY.get(canonical_key(key))


@lru_cache(maxsize=8192)
def canonical_key(name: str) -> str:
    """The one key for ``name``: the registered concept where it is a name of one, else the same words in
    snake_case without what says nothing (``current_``, ``my_``, ``_name``). Never empty: ``"fact"``."""
    key = _mechanical(name)
    if (found := _ALIASES.get(key)) is not None:
        return found
    words = key.split("_")
    while True:
        if len(words) > 1 and words[0] in _PREFIXES:
            words = words[1:]
        elif len(words) > 1 and words[-1] in _SUFFIXES:
            words = words[:-1]
        else:
            break
        if (found := _ALIASES.get("_".join(words))) is not None:
            return found
    key = "_".join(words)
    if len(key) > 3 and key.endswith("s") and (found := _ALIASES.get(key[:-1])) is not None:
        return found
    return key or "fact"


def default_cardinality(key: str) -> Cardinality:
    """The registry's word on ``key``; for an unknown key, one value where its form promises one."""
    canonical = canonical_key(key)
    if (known := _REGISTRY.get(canonical)) is not None:
        return known.cardinality
    mechanical = _mechanical(key)
    if mechanical.startswith(("favourite_", "current_", "preferred_", "default_")):
        return "single_value"
    return "single_value" if mechanical.endswith(_SINGLE_SUFFIXES) else "multi_value"


def normalise_value(key: str, value: str) -> str:
    """The identity of ``value`` as a value of ``key``: equal strings mean the same fact said again."""
    canonical = canonical_key(key)
    return normalise(canonical, value, several=default_cardinality(canonical) == "multi_value")


_OWNER = word_set(
    "user me i my myself mine self owner the_user we us our ourselves 我 我们 本人 用户 使用者 自己 俺 咱 咱们"
)
_LEADING = re.compile(r"^(?:my|our|the|a|an|user's|users|his|her|their) |^(?:我的|我们的|我|用户的)(?=.)")
_PROJECT = re.compile(r"^project (?=\S)|(?<=\S) project$|(?<=..)(?:专案|项目|计划)$")
_SPACE = re.compile(r"\s+")


@lru_cache(maxsize=8192)
def normalise_entity(name: str) -> str:
    """The identity of an entity: ``"user"`` for every way to say oneself, else the name without case,
    script, articles or possessives. Never empty."""
    entity = _SPACE.sub(
        " ", to_simplified(unicodedata.normalize("NFKC", name)).casefold().replace("’", "'")
    ).strip(" .,;:!?\"'“”‘’「」『』。，；：！？")
    if not entity or entity.replace(" ", "_") in _OWNER:
        return "user"
    entity = _LEADING.sub("", entity)
    entity = _PROJECT.sub("", entity).strip()
    return entity or "user"


def concepts_asked(question: str) -> tuple[str, ...]:
    """The concept keys ``question`` asks for, most specific cue first; empty where none is recognised.

    A question of several facts names several; a wrong one costs a reader little, so cues are generous.
    """
    text = unicodedata.normalize("NFKC", question[:2000]).casefold()
    best: dict[str, int] = {}
    words = set(_WORDS.findall(text.replace("'s", " ").replace("’s", " ").replace("'", "").replace("’", "")))
    for word in words & _BY_WORD.keys():
        for cue in _BY_WORD[word]:
            if words.issuperset(cue.parts) and cue.weight > best.get(cue.key, 0):
                best[cue.key] = cue.weight
    if not text.isascii():
        folded = to_simplified(text)
        for start in range(len(folded) - 1):
            for cue in _BY_CHARACTER.get(folded[start : start + 2], ()):
                if cue.weight > best.get(cue.key, 0) and all(part in folded for part in cue.parts):
                    best[cue.key] = cue.weight
        for single in _SINGLE_CHARACTERS.intersection(folded):
            for cue in _BY_CHARACTER[single]:
                if cue.weight > best.get(cue.key, 0) and all(part in folded for part in cue.parts):
                    best[cue.key] = cue.weight
    if "favo" in text and (named := _FAVOURITE.search(text)) is not None:
        best[canonical_key(f"favourite_{named[1]}")] = 1000
    return tuple(sorted(best, key=lambda key: -best[key]))


_SINGLE_CHARACTERS = frozenset(start for start in _BY_CHARACTER if len(start) == 1)


def drift(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different keys that look like one concept, sorted; registered concepts never pair."""
    distinct = sorted(set(keys))
    canonical = {key: canonical_key(key) for key in distinct}
    return [(a, b) for a, b in combinations(distinct, 2) if _alike(a, b, canonical[a], canonical[b])]


def _alike(a: str, b: str, canonical_a: str, canonical_b: str) -> bool:
    if canonical_a == canonical_b:
        return True
    if canonical_a in _REGISTRY and canonical_b in _REGISTRY:
        return False
    words_a = {_stem(word) for word in canonical_a.split("_")}
    words_b = {_stem(word) for word in canonical_b.split("_")}
    shared = words_a & words_b
    if words_a == words_b or (len(shared) >= 2 and len(shared) * 3 >= len(words_a | words_b) * 2):
        return True
    return len(a) > 5 and len(b) > 5 and SequenceMatcher(None, canonical_a, canonical_b).ratio() >= 0.88


def _stem(word: str) -> str:
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
