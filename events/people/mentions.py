"""Finds people in the words of a card: their names, what ties them to the user, and what is said of their identity.

A mention names a *handle*: a folded name with a tie, as in ``alex|sister`` and ``alex|work``. "Alex" alone is
``alex|``. Everything here reads one card alone, so the order in which cards arrive changes nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from events.language import stop_words
from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import canonical_key
from events.language.names import canonical_name
from events.language.segmentation import dictionary
from events.language.values import word_set
from events.people.ties import (
    HANDLE,
    alternatives,
    begins_a_name,
    folded,
    general,
    has_surname,
    is_animal,
    may_tie,
    own,
    surnames,
    tie_of,
    titles,
)
from events.types.cards import CardOrigin, EventNoted, StateAsserted, Utterance
from events.types.envelope import Payload

Role = Literal["author", "subject", "quoted", "named"]
Kind = Literal["stated", "identity", "answered", "apart"]
ROLES: tuple[Role, ...] = ("author", "subject", "quoted", "named")
_READ = 4_000
_LONGEST = 120
_MOST = 40
SHORTEST = 3
"""The least letters of a short form of a name."""
_OPENERS = word_set(
    "maybe perhaps yesterday today tonight tomorrow then also apparently anyway finally later once sometimes actually "
    "unfortunately luckily hi hey hello dear thanks sorry ok okay so well oh yes no yeah wow good great last next my "
    "our monday tuesday wednesday thursday friday saturday sunday"
)
"""Words with a capital letter before a name, which are no part of it."""
_DAYS = re.compile(r"(?: (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?)+$")
_NOBODY = word_set("user assistant system unknown me i you")
_KIN_KEYS = word_set(
    "spouse partner child parent sibling relative friend neighbor acquaintance manager colleague roommate"
)
_PERSONAL = _KIN_KEYS | word_set("employer occupation school nationality relationship_status")

# A capital letter of any Latin alphabet, and a name of up to three words.
_CAPITAL = "[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪİĶĻŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽ]"
_WORD = rf"{_CAPITAL}[\w’'-]*\w"
_NAME = rf"(?:(?:Mrs?|Ms|Dr|Prof)\. )?{_WORD}(?:[ ](?:(?:van|von|de|da|del|bin|al)[ ])?{_WORD}){{0,2}}"
# The words after which a Chinese name ends. Names have no spaces around them. Before 了 stands a verb: 小红哭了.
_END = (
    r"(?=$|[\s，。！？、,.!?；：:（(）)]|今天|昨天|明天|现在|"
    r"[在是去说跟和也的想要叫刚上住从对告给很最有来搬换喜又就会])"
)
_PLACING = ("in", "at", "of", "from", "to", "near")
# The word before tells that a name is that of a place, or not that of who speaks.
_PLACED = "(?:" + "|".join(rf"(?<=\b{word} )" for word in _PLACING) + ")"
_AFTER_PLACING = re.compile(_PLACED)
_UNPLACED = "".join(rf"(?<!\b{word} )" for word in _PLACING)
_CALLERS = (
    r"(?i:every(?:one|body)|people|we|i|they|friends|family|(?:my|our|her|his|their) \w+) "
    r"(?:all |just |always )?calls? (?:him|her|them) "
)
_HAN = rf"[\u4e00-\u9fff]{{2,3}}?{_END}"
_FAMILIAR = r"[小阿老][\u4e00-\u9fff]"


@dataclass(frozen=True, slots=True)
class Mention:
    """One naming of a person. ``certain`` is False for a word that only looks like a name."""

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
        reading = read(payload.content, before, payload.topics)
        if payload.before and payload.origin.speaker is not None:
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
        found.append(Mention(handle, card.value, "named", True))
    return found


def _is_kin(words: str) -> bool:
    return re.fullmatch(_kin(), folded(words)) is not None


def _cased(name: str) -> bool:
    return has_cjk(name) or re.fullmatch(_NAME, name) is not None


@cache
def _kin() -> str:
    return f"(?:{alternatives(kin=True, chinese=False)}|{alternatives(kin=True, chinese=True)})"


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """The namings of English words, the most certain first. The groups are kin, circle, name, and told."""
    kin = rf"(?i:(?P<kin>{alternatives(kin=True, chinese=False)}))"
    circle = rf"(?i:(?:my |our )?(?P<circle>{alternatives(kin=False, chinese=False)}))\b"
    says = r"(?P<told>[ ](?:told|said|says|asked|mentioned|explained|thinks|tells|wrote|texted|promised|recommended)\b)"
    mine = r"\b(?:[Mm]y|[Oo]ur|MY)"
    return tuple(
        map(
            re.compile,
            (
                rf"{mine} (?:(?:best|old|new|good|dear|late|other) )?{kin}"
                rf"(?:(?:'s|’s) name is|,? (?:is |who is |was )?(?:called|named),?|,|) (?P<name>{_NAME}){says}?",
                rf"(?P<name>{_NAME}),? (?:(?:is|(?:who|that) is|(?:who|that)['’]s) )?(?:my|our) "
                rf"(?:(?:best|old|new|good) )?{kin}\b(?! of)",
                rf"\b(?=\S+ of (?:mine|ours)\b){kin} of (?:mine|ours)(?:,|,? (?:called|named))? (?P<name>{_NAME})",
                rf"\b[Aa]n? (?:\w+ )?{kin} (?:named|called) (?P<name>{_NAME})",
                rf"(?P<name>{_NAME}) from {circle}{says}?",
                rf"(?P<name>{_NAME}){says}",
                rf"\b(?P<title>(?i:{titles(chinese=False)})) (?P<name>{_NAME})",
                rf"{mine} {kin}\b{says}?(?! of)",
                rf"(?P<name>{_NAME})",
            ),
        )
    )


def _english(text: str) -> Iterator[tuple[int, int, Mention]]:
    for pattern in _patterns():
        for match in pattern.finditer(text):
            groups = match.groupdict()
            name = _bare(groups.get("name") or "")
            words = groups.get("kin") or groups.get("circle") or ""
            if name and groups.get("title"):
                name = f"{groups['title']} {name}"
            elif not words and folded(name) in own(chinese=False):
                name, words = "", name
            if not (name or words):
                continue
            if groups.get("told") and not words and _AFTER_PLACING.match(text, match.start()):
                continue
            told = groups.get("told") and canonical_name("organisation", folded(name)) is None
            certain = bool(words or told or groups.get("title"))
            role: Role = "quoted" if groups.get("told") else "named"
            yield *match.span(), Mention(handle_of(name, tie_of(words) if words else ""), name, role, certain)


def _bare(name: str) -> str:
    """Returns a name without words before it that only begin a sentence, a day after it, and a possessive ending."""
    words = _DAYS.sub("", re.sub(r"(?:'s|’s|'|’)$", "", name)).split(" ")
    while words and (first := words[0].casefold().replace("’", "'")) and _opens(first):
        words.pop(0)
    return " ".join(words)


def _opens(word: str) -> bool:
    """True for a word that begins a sentence and no name. "I've" and "couldn't" are such as "I" and "could" are."""
    parts = {word, word.replace("'", ""), word.partition("'")[0], word.partition("n't")[0]} - {""}
    return not parts.isdisjoint(stop_words.ENGLISH) or word in _OPENERS


@cache
def _chinese_patterns() -> tuple[re.Pattern[str], ...]:
    kin = rf"(?P<kin>{alternatives(kin=True, chinese=True)})"
    circle = rf"(?P<circle>{alternatives(kin=False, chinese=True)})"
    says = r"(?P<told>(?:昨天|今天|刚才|刚刚|上周|之前)?(?:[跟和对]我[说讲提]|告诉我|说过?|提到))"
    return tuple(
        map(
            re.compile,
            (
                rf"(?:我的?|咱|我们的?|(?<![他她你您])(?<![他她你您]的)){kin}(?:的名字)?(?P<called>名?叫做?)?[是，]?"
                rf"(?P<name>(?P<open>{_FAMILIAR}(?!{_END}))|{_HAN}){says}?",
                rf"{circle}的?(?:同事)?(?P<name>(?P<open>{_FAMILIAR}(?!{_END}))|{_HAN}){says}?",
                r"(?P<name>[\u4e00-\u9fff]{2,3}?)(?:昨天|今天|刚才|刚刚|上周|之前)?(?P<told>[跟和对]我[说讲提]|告诉我)",
                rf"我的?{kin}{says}?",
                rf"(?:^|(?<=[\s，。！？、；,.!?;是的和跟给找叫问请让到在把被了]))(?P<name>{surnames()}(?:{titles(chinese=True)}))",
                rf"(?:^|(?<=[\s，。！？；,.!?;]))(?P<kin>{'|'.join(sorted(own(chinese=True)))})(?![们的])",
            ),
        )
    )


def _chinese(text: str) -> Iterator[tuple[int, int, Mention]]:
    if not has_cjk(text):
        return
    plain = to_simplified(text)
    for pattern in _chinese_patterns():
        for match in pattern.finditer(plain):
            groups = match.groupdict()
            start, end = match.span("name") if groups.get("name") else (0, 0)
            if groups.get("open") and not _is_familiar(plain, match.start(), start):
                longer = re.compile(_HAN).match(plain, start) if groups.get("called") else None
                start, end = longer.span() if longer else (0, 0)
            if groups.get("name") and not end:
                continue
            name = text[start:end] if len(text) == len(plain) else plain[start:end]
            if name and not (groups.get("called") or _like_a_name(plain[start:end])):
                continue
            words = groups.get("kin") or groups.get("circle") or ""
            role: Role = "quoted" if groups.get("told") else "named"
            yield (
                *match.span(),
                Mention(handle_of(name, tie_of(words) if words else ""), name, role, certain=True),
            )


def _is_familiar(plain: str, begins: int, place: int) -> bool:
    """True when the words at ``place`` are a familiar name, whatever follows: 阿珍生了, 小王結婚了. 小时候 is none."""
    run = re.compile(r"[\u4e00-\u9fff]+").match(plain, begins)
    at, words = begins, dictionary().cut(run[0] if run else "")
    while words and at < place:
        at += len(words.pop(0))
    if at > place or not words:
        return False
    if len(words[0]) == 2:
        return has_surname(words[0][1])
    return (
        len("".join(words[:2])) == 2
        and words[1] not in stop_words.CHINESE
        and (words[0] != "老" or has_surname(words[1]))
    )


def _like_a_name(words: str) -> bool:
    """True for a surname with a given name, and for a familiar name, that is no kinship."""
    return begins_a_name(words) and tie_of(words) == words and words not in stop_words.CHINESE


@cache
def _linking() -> tuple[tuple[Kind, str, re.Pattern[str]], ...]:
    """Returns the kind of each pattern, and words without which it finds nothing. A search for words is cheap."""
    one, other = (
        rf"(?:(?:[Mm]y|[Oo]ur) (?i:(?P<kin{n}>{alternatives(kin=True, chinese=False)}))\b ?)?(?P<name{n}>{_NAME})?"
        rf"(?: from (?i:(?:my |our )?(?P<circle{n}>{alternatives(kin=False, chinese=False)}))\b)?"
        for n in (1, 2)
    )
    called = (
        r",? ?(?:\(?(?:also known as|aka|a\.k\.a\.|whose (?:full|real) name is|(?:'s|’s) (?:full|real) name is|goes by"
        r"|known as|short for|(?:'s|’s) nickname is"
        r"|is short for|is also called|also goes by|is the same person as)) "
    )
    # "Her" is the last one named before it.
    them = rf"(?:[^A-Z.!?]|{_PLACED}[A-Z]){{0,60}}\b{_CALLERS}(?:just )?"
    kin, circle = (alternatives(kin=each, chinese=True) for each in (True, False))
    han = rf"(?:(?P<kin1>{kin})|(?P<circle1>{circle}))?的?(?P<name1>[\u4e00-\u9fff]{{2,4}}?)"
    return (
        ("stated", " ", re.compile(one + called + other)),
        ("stated", "call", re.compile(rf"\b(?=[Mm]y |[Oo]ur |{_CAPITAL}){_UNPLACED}{one}{them}{other}")),
        ("stated", "call", re.compile(
            rf"\b(?:[Ww]e|[Ii]|[Ee]veryone|[Pp]eople) calls? (?P<name1>{_NAME}) (?P<name2>{_NAME})"
        )),
        ("identity", " is ", re.compile(rf"{one} is (?:actually |really )?{other}(?=[\s.,!;]|$)(?!'s|’s)")),
        ("apart", " ", re.compile(rf"(?P<name1>{_NAME})(?:,| and|, and) (?P<name2>{_NAME})")),
        ("stated", "", re.compile(
            rf"{han}的?(?:也叫|又叫|又名|本名是?叫?|全名是?叫?|外号是?叫?|小名是?叫?|绰号是?叫?|英文名是?叫?)"
            rf"(?P<name2>{_HAN}|{_NAME})"
        )),
        ("identity", "就是", re.compile(rf"{han}就是(?P<name2>{_HAN})")),
    )  # fmt: skip


_DOUBTFUL = re.compile(
    r"[?？]|\b(?:if|maybe|perhaps|might|probably|imagine|suppose|not|isn't|isn’t)\b|如果|也许|可能|大概|不是",
    re.IGNORECASE,
)


def _links(text: str) -> Iterator[Link]:
    # "Everybody calls her Alex" belongs to the sentence before it.
    plain = re.sub(rf"[.!]\s+(?={_CALLERS})", "; ", to_simplified(text))
    for sentence in re.findall(
        r"[^.!?。！？\n]+(?:[.!?。！？](?=\s|$)|$)?[?？]?|[^.!?。！？\n]+[.!?。！？]?", plain
    ):
        for kind, sign, pattern in _linking():
            for match in pattern.finditer(sentence) if sign in sentence else ():
                link = _link(kind, match, sentence.strip())
                if link is not None and (kind == "apart" or not _DOUBTFUL.search(sentence)):
                    yield link


def _link(kind: Kind, match: re.Match[str], quote: str) -> Link | None:
    groups = match.groupdict()
    handles = []
    for n in "12":
        name = _bare(groups.get(f"name{n}") or "")
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
