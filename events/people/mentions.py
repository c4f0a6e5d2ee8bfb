"""Finds people in the words of a card: their names, what ties them to the user, and what is said of their identity.

A mention names a *handle*: a folded name with a tie, as in ``alex|sister`` and ``alex|work``. "Alex" alone is
``alex|``. Everything here reads one card alone, so the order in which cards arrive changes nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, get_args

from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import canonical_key
from events.language.names import canonical_name
from events.language.values import word_set
from events.people.patterns import (
    AFTER_PLACING,
    CALLERS,
    DOUBTFUL,
    HAN,
    NAME,
    bare,
    chinese_patterns,
    english_patterns,
    is_familiar,
    like_a_name,
    linking_patterns,
)
from events.people.ties import (
    HANDLE,
    alternatives,
    folded,
    general,
    is_animal,
    may_tie,
    own,
    tie_of,
)
from events.types.cards import FICTION, CardOrigin, EventNoted, StateAsserted, Utterance
from events.types.envelope import Payload

Role = Literal["author", "subject", "quoted", "named", "tied"]
Kind = Literal["stated", "identity", "answered", "apart"]
ROLES: tuple[Role, ...] = get_args(Role)
_READ = 4_000
_LONGEST = 120
_MOST = 40
SHORTEST = 3
"""The least letters of a short form of a name."""
_NOBODY = word_set("user assistant system unknown me i you")
_KIN_KEYS = word_set(
    "spouse partner child parent sibling relative friend neighbor acquaintance manager colleague roommate"
)
_PERSONAL = _KIN_KEYS | word_set("employer occupation school nationality relationship_status")


@dataclass(frozen=True, slots=True)
class Mention:
    """One naming of a person. ``certain`` is False for a word that only looks like a name.

    The role ``tied`` is that of the value of a card that says the tie itself, such as the sister of the user.
    """

    handle: str
    name: str
    role: Role
    certain: bool


@dataclass(frozen=True, slots=True)
class Link:
    """What is said of two handles: they are one person, or two (``apart``).

    ``stated``: a naming word says so. ``identity``: "is" says so. ``answered``: who was called so answers as the
    other.
    """

    one: str
    other: str
    kind: Kind
    quote: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The people that one card names."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()


def handle_of(name: str, tie: str = "") -> str:
    """Returns the handle of a name and a tie. The name is at most 120 characters of it."""
    return f"{folded(name)[:_LONGEST]}|{tie[:_LONGEST]}"


def name_in(handle: str) -> str:
    """Returns the folded name of a handle. It is empty for "my sister"."""
    return handle.rpartition("|")[0]


def tie_in(handle: str) -> str:
    """Returns the tie of a handle. It is empty for a name alone."""
    return handle.rpartition("|")[2]


def read_card(payload: Payload) -> Reading:
    """Returns the people that a card event names. Other events name nobody."""
    if isinstance(payload, StateAsserted):
        words = payload.content if payload.origin.source_span is None else payload.origin.source_span.text
        reading = read(f"{payload.content}\n{words}" if payload.concept_key != "name" else words)
        return _with_roles(reading, payload.origin, _subjects(payload))
    if isinstance(payload, EventNoted):
        before = "\n".join(said.text for said in payload.before)
        told = FICTION not in payload.tags
        reading = read(payload.content, before, payload.topics) if told else Reading()
        if told and payload.before and payload.origin.speaker is not None:
            reading = replace(
                reading, links=(*reading.links, *answered(payload.before[0], payload.origin.speaker))
            )
        named = [Mention(handle_of(each), each, "subject", True) for each in payload.participants]
        if payload.entity != "user":
            named.append(Mention(handle_of(payload.entity), payload.entity, "subject", False))
        return _with_roles(reading, payload.origin, named)
    return Reading()


def subject_of(card: StateAsserted) -> str:
    """Returns the handle of the one whom a state is about, with the tie that the words give to the name."""
    words = f"{card.content}\n{card.origin.source_span.text if card.origin.source_span else ''}"
    subject = _subjects(card)[0].handle
    if tie_in(subject) or not may_tie(words):
        return subject
    return next(each.handle for each in read_card(card).mentions if each.role == "subject")


def tie_to(name: str, words: str) -> str:
    """Returns the tie that ``words`` give to a name. It is empty when they give none, or several."""
    if not may_tie(words):
        return ""
    ties = {tie_in(each.handle) for each in read(words).mentions if name_in(each.handle) == folded(name)}
    return ties.pop() if len(ties) == 1 else ""


def ties_in(payload: Payload) -> frozenset[str]:
    """Returns the handles with a name and a tie that a card event names. Without words of ties this is cheap."""
    if not isinstance(payload, StateAsserted | EventNoted):
        return frozenset()
    span = payload.origin.source_span
    if not may_tie(payload.content) and (span is None or not may_tie(span.text)):
        return frozenset()
    handles = {each.handle for each in read_card(payload).mentions}
    return frozenset(each for each in handles if name_in(each) and tie_in(each))


def read(text: str, before: str = "", topics: tuple[str, ...] = ()) -> Reading:
    """Returns the people whom ``text`` names. ``before`` are the words said before it: they tell whom a name means.

    ``topics`` are words of a Chinese text that may be names. Raises on no text.
    """
    text = text[:_READ]
    spans: dict[tuple[int, int], Mention] = {}
    for start, end, mention in (*_english(text), *_chinese(text)):
        if not any(start < other_end and other < end for other, other_end in spans):
            spans[start, end] = mention
    found = [spans[place] for place in sorted(spans)]
    if has_cjk(text):
        known = {each.name for each in found}
        found += [
            Mention(handle_of(each), each, "named", False)
            for each in topics
            if has_cjk(each) and 2 <= len(each) <= 4 and each not in known
        ]
    found = _resolved(found, before[:_READ])
    return Reading(tuple(dict.fromkeys(found))[:_MOST], tuple(dict.fromkeys(_links(text)))[:_MOST])


def answered(called: Utterance, speaker: str) -> tuple[Link, ...]:
    """Returns the links of the short names in ``called`` to ``speaker``, who answers. Others name somebody else."""
    if called.speaker in (None, speaker):
        return ()
    first = folded(speaker).split(" ")[0]
    names = {name_in(each.handle) for each in read(called.text).mentions if not tie_in(each.handle)}
    return tuple(
        Link(handle_of(name), handle_of(speaker), "answered", called.text[:400])
        for name in sorted(names)
        if name != first and len(name) >= SHORTEST and first.startswith(name)
    )


def _resolved(found: list[Mention], before: str) -> list[Mention]:
    """Gives a name alone the tie that the same words, or the words before them, give to it, when they give only one."""
    tied: dict[str, set[str]] = {}
    for each in found:
        if tie_in(each.handle):
            tied.setdefault(name_in(each.handle), set()).add(each.handle)
    if before:
        for _, _, each in (*_english(before), *_chinese(before)):
            name = name_in(each.handle)
            if tie_in(each.handle) and name not in tied:
                tied[name] = {each.handle}
    return [
        replace(each, handle=next(iter(tied[name])))
        if not tie_in(each.handle) and len(tied.get(name := name_in(each.handle), ())) == 1
        else each
        for each in found
    ]


def _with_roles(reading: Reading, origin: CardOrigin, named: list[Mention]) -> Reading:
    """Adds the author and the subject of a card to its reading. They take the tie that the words give to the name."""
    if origin.speaker is not None:
        named = [Mention(handle_of(origin.speaker), origin.speaker, "author", True), *named]
    tied = {name_in(each.handle): each.handle for each in reading.mentions if tie_in(each.handle)}
    added = [
        replace(each, handle=tied.get(name_in(each.handle), each.handle))
        for each in named
        if name_in(each.handle) not in _NOBODY and (name_in(each.handle) or tie_in(each.handle))
    ]
    return replace(reading, mentions=tuple(dict.fromkeys((*added, *reading.mentions))))


def _subjects(card: StateAsserted) -> list[Mention]:
    """Returns the subject of a state, and the person that is its value."""
    key = canonical_key(card.concept_key)
    found: list[Mention] = []
    if card.entity != "user":
        tie = tie_of(card.entity)
        if is_animal(tie):
            found.append(Mention(handle_of(card.entity), card.entity, "subject", False))
        elif tie != folded(card.entity) or _is_kin(card.entity):
            found.append(Mention(handle_of("", tie), "", "subject", True))
        else:
            found.append(
                Mention(
                    handle_of(card.entity), card.entity, "subject", key in _PERSONAL and _cased(card.entity)
                )
            )
    if key in _KIN_KEYS and card.value and not _is_kin(card.value) and _cased(card.value):
        own = [each for each in read(card.content).mentions if name_in(each.handle) == folded(card.value)]
        handle = own[0].handle if own else handle_of(card.value)
        found.append(Mention(handle, card.value, "tied" if tie_in(handle) else "named", True))
    return found


def _is_kin(words: str) -> bool:
    return re.fullmatch(_kin(), folded(words)) is not None


def _cased(name: str) -> bool:
    return has_cjk(name) or re.fullmatch(NAME, name) is not None


@cache
def _kin() -> str:
    return f"(?:{alternatives(kin=True, chinese=False)}|{alternatives(kin=True, chinese=True)})"


def _english(text: str) -> Iterator[tuple[int, int, Mention]]:
    for pattern in english_patterns():
        for match in pattern.finditer(text):
            groups = match.groupdict()
            name = bare(groups.get("name") or "")
            words = groups.get("kin") or groups.get("circle") or ""
            if name and groups.get("title"):
                name = f"{groups['title']} {name}"
            elif not words and folded(name) in own(chinese=False):
                name, words = "", name
            if not (name or words):
                continue
            if groups.get("told") and not words and AFTER_PLACING.match(text, match.start()):
                continue
            told = groups.get("told") and canonical_name("organisation", folded(name)) is None
            certain = bool(words or told or groups.get("title"))
            role: Role = "quoted" if groups.get("told") else "named"
            yield *match.span(), Mention(handle_of(name, tie_of(words) if words else ""), name, role, certain)


def _chinese(text: str) -> Iterator[tuple[int, int, Mention]]:
    if not has_cjk(text):
        return
    plain = to_simplified(text)
    for pattern in chinese_patterns():
        for match in pattern.finditer(plain):
            groups = match.groupdict()
            start, end = match.span("name") if groups.get("name") else (0, 0)
            if groups.get("open") and not is_familiar(plain, match.start(), start):
                longer = HAN.match(plain, start) if groups.get("called") else None
                start, end = longer.span() if longer else (0, 0)
            if groups.get("name") and not end:
                continue
            name = text[start:end] if len(text) == len(plain) else plain[start:end]
            if name and not (groups.get("called") or like_a_name(plain[start:end])):
                continue
            words = groups.get("kin") or groups.get("circle") or ""
            role: Role = "quoted" if groups.get("told") else "named"
            yield (
                *match.span(),
                Mention(handle_of(name, tie_of(words) if words else ""), name, role, certain=True),
            )


def _links(text: str) -> Iterator[Link]:
    # "Everybody calls her Alex" belongs to the sentence before it.
    plain = re.sub(rf"[.!]\s+(?={CALLERS})", "; ", to_simplified(text))
    for sentence in re.findall(
        r"[^.!?。！？\n]+(?:[.!?。！？](?=\s|$)|$)?[?？]?|[^.!?。！？\n]+[.!?。！？]?", plain
    ):
        for kind, sign, pattern in linking_patterns():
            for match in pattern.finditer(sentence) if sign in sentence else ():
                link = _link(kind, match, sentence.strip())
                if link is not None and (kind == "apart" or not DOUBTFUL.search(sentence)):
                    yield link


def _link(kind: Kind, match: re.Match[str], quote: str) -> Link | None:
    groups = match.groupdict()
    handles = []
    for n in "12":
        name = bare(groups.get(f"name{n}") or "")
        words = groups.get(f"kin{n}") or groups.get(f"circle{n}") or ""
        if not name and not groups.get(f"kin{n}"):
            return None
        handles.append(handle_of(name, tie_of(words) if words else ""))
    one, other = handles
    if one == other or (
        kind == "identity" and not (name_in(one) and name_in(other)) and not _kin_pair(one, other)
    ):
        return None
    return Link(one, other, kind, quote[:400])


def _kin_pair(one: str, other: str) -> bool:
    """True when "my sister is Alex" names a kin without a name by a name."""
    return bool(general(tie_in(one))) and bool(name_in(one) or name_in(other))


def handles_of_alias(alias: str, kind: str) -> str:
    """Returns the handle of an alias: a name alone, or an address."""
    return handle_of(alias, HANDLE if kind == "handle" else "")
