"""Reads statements: who or what a sentence is about, and what it says of it.

The reader prefers silence. A question, a wish, a doubt, hearsay and what is over make no statement.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

from events.language.asking import asking
from events.language.changes import values as values_in
from events.language.chinese_script import has_cjk, to_simplified
from events.language.names import canonical_name
from events.language.stop_words import CHINESE, ENGLISH
from events.language.terms import analyse
from events.language.values import word_set

_READ = 400
_MOST = 4
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;\n])")
_TOKEN = re.compile(r"[a-z0-9][\w.:@#+-]*(?:'[a-z]+)?|'[a-z]+", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^(?P<s>[Ii]|[Ww]e|(?:[Mm]y|[Oo]ur|[Tt]he) [\w-]+(?:'s [\w-]+)*(?: (?:password|number|address|room|code))?"
    r"|[A-Z][\w-]*(?: [A-Z][\w-]*)*(?:'s (?:favou?rite )?[\w-]+)*)(?= )"
)
_CONTRACTED = (
    (re.compile(r"\bcan't stand\b"), "hate"),
    (re.compile(r"\bcan't\b|\bcannot\b"), "can not"),
    (re.compile(r"(?<=[a-z])n't\b"), " not"),
    (re.compile(r"\bI'm\b"), "I am"),
    (re.compile(r"'(?:ve|s)? (?:got)\b|\b(?:has|have) got\b"), " have"),
    (re.compile(r"'s (?=(?:an?|the|not|very|in|at|afraid|scared)\b)"), " is "),
    (re.compile(r"\bworks? as (?=an?\b)"), "is "),
    (re.compile(r"\b(?:has |have )?moved to\b"), "now lives in"),
    (re.compile(r"\bnever (?:had|owned)\b"), "does not have"),
    (re.compile(r"\bpassed away\b"), "died"),
    (re.compile(r"^From now on,? (\w)"), r"\1"),
)
_CHINESE_SUBJECT = re.compile(
    r"^(?P<s>会议室|(?:我们?|他们?|她们?)(?:家)?(?:的)?(?:妈妈?|爸爸?|哥哥?|姊姊|姐姐|弟弟?|妹妹?|先生|太太|老公|老婆|狗|猫|车|房租)?"
    r"|[^，,。 是有没不住在会喜怕吃喝养搭抽叫把改结单上开搬换]{1,6})"
)
_HAN_NUMBERS = str.maketrans("一二两三四五六七八九", "1223456789")
_MAX_WORDS = 24
_PAST = word_set("had was were met flew ran took bought lent came went made did saw got")


@dataclass(frozen=True, slots=True)
class Statement:
    """``subject`` has the property that ``verb``, ``terms``, ``values`` and ``conditions`` tell, or has it not.

    ``heads`` are the terms that end a phrase: a beard trimmer is a trimmer. ``names`` are proper names in it.
    ``changed`` is True when the words announce a change, ``ends`` when they say that something is over, ``dies`` when
    they say so of the subject itself.
    """

    subject: str
    verb: str
    terms: frozenset[str]
    heads: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]
    conditions: frozenset[str]
    denied: bool
    changed: bool
    ends: bool
    chinese: bool
    dies: bool


@cache
def words(section: str) -> tuple[tuple[str, ...], ...]:
    """Returns the lines of a section of ``statement_words.txt``."""
    table = files("ingest.curator").joinpath("statement_words.txt").read_text("utf-8")
    body = table.partition(f"[{section}]\n")[2].partition("\n[")[0]
    return tuple(tuple(line.split()) for line in body.splitlines() if line and not line.startswith("#"))


@cache
def _set(section: str) -> frozenset[str]:
    return frozenset(word for line in words(section) for word in line)


@cache
def _verbs() -> dict[str, str]:
    return {word: line[0] for line in words("verbs") for word in line}


@lru_cache(maxsize=16_384)
def statement(text: str) -> Statement | None:
    """Returns the statement of a text of one sentence. Never raises."""
    plain = text.strip()
    if (
        len(plain) > _READ
        or len(list(filter(None, _SENTENCE.split(plain)))) > 1
        or plain.endswith(("?", "？"))
    ):
        return None
    return _chinese(plain) if has_cjk(plain) else _english(plain)


def sentences(text: str) -> list[str]:
    """Returns the first whole sentences of a text without their spaces and full stops."""
    found = [each.strip().rstrip(".。") for each in _SENTENCE.split(text[:_READ])]
    whole = found if len(text) <= _READ else found[:-1]
    return [each for each in whole[:_MOST] if each]


def happened(text: str) -> bool:
    """True when a text neither asks nor denies, wishes, plans or doubts, as far as its words show."""
    plain = to_simplified(text.casefold().replace("’", "'"))
    words_of_it = _TOKEN.findall(plain)
    unreal = any(each in _set("unreal") or each.endswith(("n't", "'ll", "'d")) for each in words_of_it)
    return (
        not unreal and not _found(plain, "unreal") and not asking(text) and not plain.rstrip().endswith("?")
    )


def _english(sentence: str) -> Statement | None:
    plain = sentence.replace("’", "'").rstrip(".!")
    now = plain.startswith("From now on")
    for pattern, full in _CONTRACTED:
        plain = pattern.sub(full, plain)
    match = _SUBJECT.match(plain)
    if match is None:
        return None
    rest = plain[match.end() :]
    tokens = [token.casefold().strip(".:") for token in _TOKEN.findall(rest)]
    if not tokens or len(tokens) > _MAX_WORDS or not (_set("doubt") - _set("condition")).isdisjoint(tokens):
        return None
    over = re.search(r"\b(?:no longer|any ?more)\b", rest) is not None
    ends = over or not _set("ends").isdisjoint(tokens)
    verbs = [_verbs()[token] for token in tokens if token in _verbs()]
    if not verbs and not ends:
        return None
    verb = next((each for each in verbs if each not in ("be", "have", "can")), "")
    if not verb or _first(tokens) in ("have", "has", "own", "owns") or _is_noun(tokens):
        verb = verbs[0] if verbs else ""
    if _is_past(tokens) and not ends:
        return None
    head = re.split(r",|\b(?:but|except|unless|if|when)\b", rest)[0].casefold().split()
    denied = not _set("not").isdisjoint(head)
    conditions = _set("condition").intersection(tokens)
    if not (denied or over or conditions or _set("not").isdisjoint(tokens)):
        return None  # one thing is said and another denied
    found = values_in(rest)
    content = [token for token in tokens if _says(token, verb) and token not in found]
    return Statement(
        subject=match["s"].casefold().removeprefix("the "),
        verb=verb,
        terms=frozenset(term for token in content for term in analyse(token)),
        heads=frozenset(_heads(rest, content)),
        values=found - {"one"},
        names=frozenset(word.casefold() for word in re.findall(r"\b(?!I\b)[A-Z][\w-]*", rest)) - found,
        conditions=conditions,
        denied=over or denied,
        changed=now or ends or not _set("change").isdisjoint(tokens),
        ends=ends,
        chinese=False,
        dies=not _set("dies").isdisjoint(tokens),
    )


def _heads(rest: str, content: list[str]) -> Iterator[str]:
    """Yields the terms of the words of the content that no other such word follows."""
    for phrase in re.split(r"[,;:]", rest.casefold()):
        parts = [part.strip(".!") for part in phrase.split()]
        for part, following in pairwise((*parts, "")):
            if part in content and following not in content and not part.endswith("'s"):
                yield from analyse(part)


def _first(tokens: list[str]) -> str:
    """Returns the first word after the subject that is no adverb."""
    return next((each for each in tokens if each not in _set("light") and each not in _set("condition")), "")


def _is_noun(tokens: list[str]) -> bool:
    """True when "be" is the verb, and another word that is like a verb is a part of what follows: "is a work"."""
    return _first(tokens) in ("is", "are", "am") and not any(
        each.endswith("ing") and each in _verbs() for each in tokens[1:3]
    )


def _is_past(tokens: list[str]) -> bool:
    """True when the first word after the subject tells of the past."""
    first = _first(tokens)
    return first not in _verbs() and (first in _PAST or first.endswith("ed"))


def _says(token: str, verb: str) -> bool:
    """True for a word of the content: no verb, no stop word, no condition, no change."""
    return (
        token not in ENGLISH
        and not any(token in _set(section) for section in ("light", "not", "change", "condition", "ends"))
        and _verbs().get(token) != verb
    )


def _chinese(sentence: str) -> Statement | None:
    plain = to_simplified(sentence).rstrip("。！!.")
    if any(word in plain for word in _set("doubt") - _set("condition") if not word.isascii()):
        return None
    conditions, plain = _without(plain, "condition")
    if any(each in ("除非", "如果") for each in conditions) and "," in plain.replace("，", ","):
        plain = plain.replace("，", ",").partition(",")[2] or plain
    changed = bool(_found(plain, "change")) or plain.endswith("了")
    _, plain = _without(plain, "light")
    plain = plain.replace("搬到", "住在").replace("现在", "")
    match = _CHINESE_SUBJECT.match(plain)
    if match is None or "跟" in plain:
        return None
    subject, rest = match["s"].replace("的", "").replace("妈妈", "妈"), plain[match.end() :]
    verbs = sorted(_found(rest, "verbs"), key=lambda word: (rest.index(word), -len(word)))
    ends = bool(_found(rest, "ends")) or "不再" in rest
    if not verbs and not ends:
        return None
    if len(verbs) > 1 and _verbs()[verbs[0]] == "can":
        verbs = verbs[1:]
    body = _without(_without(rest, "ends")[1], "not")[1]
    for word in (*verbs[:1], "的", "了", "在", "把", "对", "就是"):
        body = body.replace(word, " ")
    found = values_in(rest)
    body = re.sub(r"[\d一二三两四五六七八九十]+[只隻台个位条名]?|[只隻个位条]", " ", body)
    terms = frozenset(term for chunk in re.split(r"[\s，,、]+", body) for term in _chinese_terms(chunk))
    return Statement(
        subject=subject,
        verb=_verbs()[verbs[0]] if verbs else "",
        terms=terms,
        heads=terms,
        values=frozenset(value.translate(_HAN_NUMBERS) for value in found) - {"1"},
        names=frozenset(re.findall(r"叫([^，,。 ]{1,6})", to_simplified(sentence).rstrip("。！!."))),
        conditions=conditions,
        denied=re.search(r"[不没无未]", rest) is not None,
        changed=changed or ends,
        ends=ends,
        chinese=True,
        dies=bool(_found(rest, "dies")),
    )


def _chinese_terms(chunk: str) -> list[str]:
    place = canonical_name("place", chunk) if len(chunk) > 1 else None
    if place:
        return [place]
    found = [term for term in analyse(chunk) if term not in CHINESE]
    # A word inside a longer word is another thing: 会议 and 会议室.
    return [term for term in found if not any(term != other and term in other for other in found)]


def _found(text: str, section: str) -> frozenset[str]:
    return frozenset(
        word
        for word in (_verbs() if section == "verbs" else _set(section))
        if not word.isascii() and word in text
    )


def _without(text: str, section: str) -> tuple[frozenset[str], str]:
    """Returns the words of a section in Chinese text, and the text without them."""
    found: set[str] = set()
    for word in sorted(_found(text, section), key=len, reverse=True):
        if word in text:
            found.add(word)
            text = text.replace(word, "")
    return frozenset(found), text
