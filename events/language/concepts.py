"""The registry of concept keys: one name for a fact, for every writer and every question.

The registry is ``concepts.json``. A row has the ``key``, ``one`` (true when a new value replaces the old one), the
``category``, the other names (``aliases``), and the cues of a question (``ask``). An English cue is a set of words
that must all occur, with ``|`` between alternatives. ``opposite`` is the key that denies the value. A Chinese cue is
a set of substrings in simplified script. All functions are pure, and no text makes them raise.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from importlib import resources
from itertools import combinations, pairwise, product

from events.language.chinese_script import to_simplified
from events.language.values import folded, normalise, word_set
from events.types.cards import Cardinality


@dataclass(frozen=True, slots=True)
class Concept:
    """A registered concept: its key, cardinality, category and other names.

    A value of the concept denies the same value of the ``opposite`` concept.
    """

    key: str
    cardinality: Cardinality
    category: str
    aliases: tuple[str, ...]
    opposite: str | None = None


_NOT_WORD = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNER_PREFIX = re.compile(r"^(?:我的|用户的?|目前的?|现在的?|当前的?)(?=.)")
_WORDS = re.compile(r"[a-z0-9]+")

# Words at the beginning or the end of a key that do not distinguish facts.
_PREFIXES = word_set(
    "my the user users his her their our your current currently present new latest primary main "
    "own personal profile info is has preferred default known"
)
_SUFFIXES = word_set("name names info information detail details current now fact key")
_SINGLE_SUFFIXES = (
    "_status",
    "_date",
    "_time",
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


# Words of very many questions. They hardly distinguish facts, so they weigh less in a cue.
_GENERIC = word_set(
    "what which who when where how did do does done use uses using name names plan plans work "
    "works 什么 哪 谁 叫什么 名字 姓名 怎么称呼 在哪 计划 安排 打算"
)


def _cues(key: str, text: str) -> Iterator[_Cue]:
    for parts in product(*(part.split("|") for part in to_simplified(text).split())):
        distinct = tuple(dict.fromkeys(parts))
        yield _Cue(distinct, key, sum(len(part) + (30 if part in _GENERIC else 100) for part in distinct))


_Cues = dict[str, list[_Cue]]


def _index() -> tuple[dict[str, Concept], dict[str, str], _Cues, _Cues, list[_Cue]]:
    rows = json.loads(
        resources.files("events.language").joinpath("concepts.json").read_text(encoding="utf-8")
    )
    registry: dict[str, Concept] = {}
    aliases: dict[str, str] = {}
    by_word: _Cues = {}
    by_character: _Cues = {}
    news: list[_Cue] = []
    for row in rows:
        key = row["key"]
        cardinality: Cardinality = "single_value" if row["one"] else "multi_value"
        registry[key] = Concept(key, cardinality, row["category"], tuple(row["aliases"]), row.get("opposite"))
        for alias in row["aliases"]:
            aliases[_mechanical(alias)] = key
        news += [cue for text in row.get("news", ()) for cue in _cues(key, text)]
        for text in row["ask"]:
            for cue in _cues(key, text.replace("'", "")):
                if cue.parts[0].isascii():
                    # The longest word of a cue is the rarest, so the index uses it.
                    by_word.setdefault(max(cue.parts, key=len), []).append(cue)
                else:
                    by_character.setdefault(cue.parts[0][:2], []).append(cue)
    aliases.update((_mechanical(key), key) for key in registry)
    return registry, aliases, by_word, by_character, news


_REGISTRY, _ALIASES, _BY_WORD, _BY_CHARACTER, _NEWS = _index()
# "Moved" is news of the one who moved, and "moved the sofa" and "moved on" are none. "Quit smoking" leaves no employer.
_WITHOUT_OBJECT = word_set(
    "move moved moving relocate relocated relocating quit quitting hired fired retired"
)
_OBJECT = re.compile(
    r" (?:(?:the|my|our|his|her|their|it|them|this|that|these|those|an?|me|us|you|on|forward|ahead|past)\b"
    r"(?! (?:\w*day|week|weekend|month|year|morning|afternoon|evening|night|spring|summer|autumn|fall|winter)\b)"
    r"|(?!during|following|starting|beginning)\w+ing\b)"
)
_FAVOURITE = re.compile(r"\bfavou?rite (?:kind of |type of |sort of )?([a-z]+)")


def all_concepts() -> tuple[Concept, ...]:
    """Returns every registered concept, in the order of the registry."""
    return tuple(_REGISTRY.values())


def concept(key: str) -> Concept | None:
    """Returns the concept with this key or alias; None when none is registered."""
    return _REGISTRY.get(canonical_key(key))


@lru_cache(maxsize=8192)
def canonical_key(name: str) -> str:
    """Returns the concept key for ``name``: the registered key when ``name`` is a key or an alias.

    Otherwise the key is ``name`` in snake_case without prefixes and suffixes such as ``current_``, ``my_`` and
    ``_name``. The key is never empty; the fallback is ``"fact"``.
    """
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
    """Returns the registered cardinality of ``key``. For an unknown key the prefix or suffix decides."""
    canonical = canonical_key(key)
    if (known := _REGISTRY.get(canonical)) is not None:
        return known.cardinality
    mechanical = _mechanical(key)
    if mechanical.startswith(("favourite_", "current_", "preferred_", "default_")):
        return "single_value"
    return "single_value" if mechanical.endswith(_SINGLE_SUFFIXES) else "multi_value"


def normalise_value(key: str, value: str) -> str:
    """Returns the identity of ``value`` under ``key``. Two values with equal identities are the same fact."""
    canonical = canonical_key(key)
    return normalise(canonical, value, several=default_cardinality(canonical) == "multi_value")


_HYPHEN = re.compile(r"(?<=\w)[-‐_](?=\w)")


def name_key(name: str) -> str:
    """Returns the normalised form of a concept name or of a tag.

    Width, case, script, articles and hyphens do not count.
    """
    return normalise_value("title", _HYPHEN.sub(" ", name))


_OWNER = word_set(
    "user me i my myself mine self owner the_user we us our ourselves 我 我们 本人 用户 使用者 自己 俺 咱 咱们"
)
_LEADING = re.compile(r"^(?:my|our|the|a|an|user's|users|his|her|their) |^(?:我的|我们的|我|用户的)(?=.)")
_PROJECT = re.compile(r"^project (?=\S)|(?<=\S) project$|(?<=..)(?:专案|项目|计划)$")


@lru_cache(maxsize=8192)
def normalise_entity(name: str) -> str:
    """Returns the identity of an entity. It is never empty.

    The identity is ``"user"`` for every word for oneself. Otherwise it is the name in lower case and simplified script,
    without articles and possessives.
    """
    entity = folded(name).strip(" .,;:!?\"'“”‘’「」『』。，；：！？")
    if not entity or entity.replace(" ", "_") in _OWNER:
        return "user"
    entity = _LEADING.sub("", entity)
    entity = _PROJECT.sub("", entity).strip()
    return entity or "user"


def concepts_asked(question: str) -> tuple[str, ...]:
    """Returns the concept keys that ``question`` asks for, the most specific cue first.

    The result is empty when no cue fits, and has several keys for a question about several facts. The cues are
    generous, because a wrong key costs recall little. Only the first 2,000 characters count.
    """
    text = unicodedata.normalize("NFKC", question[:2000]).casefold()
    best: dict[str, int] = {}
    plain = text.replace("'s", " ").replace("’s", " ").replace("'", "").replace("’", "")
    words = set(_WORDS.findall(plain))
    if not words.isdisjoint(_WITHOUT_OBJECT):
        words -= _WITHOUT_OBJECT - {word[0] for word in _without_object(plain)}
    for word in words & _BY_WORD.keys():
        for cue in _BY_WORD[word]:
            if words.issuperset(cue.parts) and cue.weight > best.get(cue.key, 0):
                best[cue.key] = cue.weight
    if not text.isascii():
        simplified = to_simplified(text)
        starts = {*simplified, *map("".join, pairwise(simplified))}
        for start in starts & _BY_CHARACTER.keys():
            for cue in _BY_CHARACTER[start]:
                if cue.weight > best.get(cue.key, 0) and all(part in simplified for part in cue.parts):
                    best[cue.key] = cue.weight
    if "favo" in text and (named := _FAVOURITE.search(text)) is not None:
        best[canonical_key(f"favourite_{named[1]}")] = 1000
    return tuple(sorted(best, key=lambda key: -best[key]))


def concepts_changed(text: str) -> dict[str, str]:
    """Returns the concept keys of which ``text`` has a word of news ("quit", "moved", 離職), even without the concept.

    Each key comes with the words before its news. A verb that has an object is news together with another word of its
    cue: "quit my job". Only the first 2,000 characters count.
    """
    told = unicodedata.normalize("NFKC", text[:2000]).casefold()
    places = {word[0]: word.start() for word in reversed([*_WORDS.finditer(told)])}
    alone = {word[0] for word in _without_object(told)}
    simplified = to_simplified(told)
    found: dict[str, str] = {}
    for cue in _NEWS:
        if not cue.parts[0].isascii():
            if (at := simplified.find(cue.parts[0])) >= 0:
                found.setdefault(cue.key, simplified[:at])
        elif places.keys() >= set(cue.parts) and (len(cue.parts) > 1 or cue.parts[0] in alone):
            found.setdefault(cue.key, told[: min(places[part] for part in cue.parts)])
    return found


def _without_object(text: str) -> Iterator[re.Match[str]]:
    """Yields the words of ``text``, but no verb of :data:`_WITHOUT_OBJECT` that has an object."""
    return (
        word
        for word in _WORDS.finditer(text)
        if not (word[0] in _WITHOUT_OBJECT and _OBJECT.match(text, word.end()))
    )


def drift(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Returns sorted pairs of different keys that look like one concept. Two registered concepts are never a pair."""
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
