"""The pieces of English patterns: subjects, gaps and names, and the functions that resolve them."""

from __future__ import annotations

import re

from events.language.values import word_set
from ingest.extraction.rules.english.words import (
    EVALUATIVE,
    FIRMS,
    FIRST_WORD_SUFFIXES,
    GIVEN_NAMES,
    LANGUAGES,
    NOT_NAMES,
    OCCUPATIONS,
    ORGANISATION_HEADS,
    PLACES,
    RELATIONS,
    STAGE_WORDS,
    TOOLS,
    VAGUE_OCCUPATIONS,
)
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN

_REL = "|".join(sorted(map(re.escape, RELATIONS), key=len, reverse=True))
_ADJ = (
    r"(?:(?:older|younger|elder|eldest|youngest|oldest|little|big|twin|best|late|new|dear|closest|close|"
    r"former|old) )?"
)
# A capitalised word, also a brand with inner capitals and digits.
_C = r"[A-Z][\w'&+#.-]*[\w+#]|[A-Z]"
_CAPS = rf"(?:{_C})(?: (?:(?:of|de|la|del|da|do|upon|for|the|&) )?(?:{_C})){{0,3}}"
_GAP_WORD = (
    r"(?:just|now|currently|recently|actually|already|also|still|finally|presently|officially|lately|both|"
    r"all|really|"
    r"temporarily|permanently|originally|mostly|mainly|usually|even|since|happily|sadly|been|both|only|"
    r"simply|always|"
    r"absolutely|totally|truly|definitely|especially|particularly|personally|kinda|kind of|so|very|much|"
    r"super|quite|"
    rf"{TIME}{{1,60}})"
)
_NOT_ROLE = r"(?:at|for|with|in|and|who|on|but|so|from|by|to|of|here|as|or)\b"
PIECES = {
    "<I>": r"(?<![\w'])(?P<s>I|[Ww]e)",
    "<S>": rf"(?<![\w'])(?P<s>I|[Ww]e|[Hh]e|[Ss]he|[Mm]y {_ADJ}(?:{_REL})(?:,? [A-Z][a-z]+,?)?|"
    rf"[A-Z][a-z]+'s {_ADJ}(?:{_REL})|[A-Z][a-z]+)",
    # Chat leaves out the subject: "Moved to Lisbon!", "Just lost my job".
    "<SUBJ>": r"(?:(?<![\w'])(?:I|[Ww]e)(?:'ve| have)?(?: just| finally)? (?:quit|left|resigned|moved|graduated|"
    r"sold|finished|retired|packed|got)[^,.;!?]{1,40}? and (?:then |just |also )?|"
    r"^(?:(?:just|finally|also|recently|so|yes|yeah|well|ok|btw|oh|and|then|officially|Just|"
    r"Finally|Also|Recently|So|Yes|Yeah|"
    rf"Well|Ok|BTW|Btw|Oh|And|{TIME}{{1,60}}),? ){{0,3}}|<S>(?:'ve| have|'s| has|'d)?(?:[ ,]{{1,"
    rf"2}}{_GAP_WORD}){{0,4}}[ ,]{{1,2}})",
    "<BE>": r"(?:'m|(?<=\bI)m\b| am|'re| are|'s| is)",
    "<HAVE>": r"(?:'ve| have|'s| has|'d)",
    "<ADV>": rf"(?:[ ,]{{1,2}}{_GAP_WORD}){{0,4}}[ ,]{{1,2}}",
    "<T>": rf"{TIME}{{1,60}}",
    "<PLACE>": rf"(?:the |\d{{1,5}}[a-zA-Z]? )?{_CAPS}(?:, (?:{_C})(?: (?:{_C}))?)?",
    "<ORG>": rf"(?:(?:an?|the|my|our|this|some) (?:[\w'-]+ ){{0,3}}?(?:{ORGANISATION_HEADS})\b(?: "
    rf"(?:called|named) {_CAPS})?|(?:the )?{_CAPS})",
    "<NAME>": r"[\"“']?(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?:[A-Z][\w'-]*\w)(?: (?:[A-Z][\w-]*\w))?[\"”']?",
    "<ROLE>": rf"(?:(?!{_NOT_ROLE})[\w/&+-]+ ){{0,4}}(?!{_NOT_ROLE})[\w/-]+",
    "<REL>": rf"(?:{_REL})",
    "<ADJ>": _ADJ,
    "<CAPS>": _CAPS,
    "<THING>": rf"[^\s,.;:!?()\"“”{TIME}{HIDDEN}][^,.;:!?()\"“”{TIME}{HIDDEN}\n]{{0,70}}",
    "<REST>": rf"[^.;!?{HIDDEN}\n]{{2,160}}",
    "<LANG>": rf"(?:{LANGUAGES})",
    "<STAGE>": rf"(?:[\w-]+ ){{0,2}}?(?:{STAGE_WORDS})(?: up)?(?: (?:acceptance|testing|prototype))?",
}
_PIECE = re.compile("<[A-Z]+>")


def expand(source: str) -> str:
    """Returns a pattern with its ``<PIECES>`` replaced. Of a piece used twice, only the first keeps its groups."""
    source = source.replace("<SUBJ>", PIECES["<SUBJ>"])
    seen: set[str] = set()

    def piece(found: re.Match[str]) -> str:
        text = PIECES[found[0]]
        if found[0] in seen:
            text = re.sub(r"\(\?P<\w+>", "(?:", text)
        seen.add(found[0])
        return text

    return _PIECE.sub(piece, source)


_REPORTED = re.compile(
    rf"(?:\b(?P<r>[Mm]y {_ADJ}(?:{_REL}))(?:,? (?P<rn>[A-Z][a-z]+),?)?|\b(?P<n>[A-Z][a-z]+))"
    r" (?:just |recently |also )?(?:said|says|told|tells|mentioned|texted|wrote|announced|confirmed|shared|"
    r"found out|explained|"
    rf"informed)(?: (?:me|us))?(?: {TIME}+)?(?: that)? ?(?:{TIME}+ )?$"
)
_REPORT_BEFORE_I = re.compile(
    r"\b(?:said|says|told|thinks?|thought|claims?|asked|asks|believes?|assumed?|wrote|written|mentioned|states?)"
    r"(?: (?:me|him|her|us|them|people))?(?: that)? ?$|\b(?:[Ss]entence|[Pp]hrase|[Ww]ords|[Ll]ine|[Rr]eplace) $|"
    r"\b(?:[Rr]easons (?:why |that )?|until |till |once |by the time )$"
)
_KINDRED = re.compile(
    rf"(?P<of>[Mm]y|[A-Z][a-z]+'s) (?P<kin>{_ADJ}(?:{_REL}))(?:,? (?P<name>[A-Z][a-z]+),?)?$"
)


def subject(found: re.Match[str], scene: Scene) -> str | None:
    """Returns the entity of a rule's subject: the owner, a person's name or a relation. Returns None when unsure."""
    said = found["s"] if "s" in found.re.groupindex else None
    if said is None:
        return scene.owner
    begin = found.start("s")
    before = scene.masked[:begin]
    if said in ("I", "We", "we"):
        return None if _REPORT_BEFORE_I.search(before) else scene.owner
    if said.lower() in ("he", "she"):
        report = _REPORTED.search(before)
        if report is None:
            return None
        if report["r"]:
            return report["rn"] or _kin(report["r"][3:], scene.owner)
        return report["n"] if is_name(report["n"]) else None
    if (kin := _KINDRED.match(said)) is not None:
        if kin["name"]:
            return kin["name"] if is_name(kin["name"]) else None
        if kin["of"].lower() == "my":
            return _kin(kin["kin"], scene.owner)
        return f"{kin['of']} {kin['kin']}"
    if said in _BY_RELATION:
        return _kin(said.lower(), scene.owner)
    # "Alice and Bob are married" says nothing of Bob alone.
    joined = _JOINED_NAME.search(before) or scene.masked.startswith((" are ", " have "), found.end("s"))
    if joined or not is_name(said, first=begin == 0):
        return None
    # "Harbor Logistics is …": the last word of a longer name is nobody. "Anna Meyer" is a person.
    named = _NAME_BEFORE.search(before)
    if named is None or named[1].lower() in NOT_NAMES or named[1].lower() in RELATIONS:
        return said
    return f"{named[1]} {said}" if named[1].lower() in GIVEN_NAMES else None


# "Dad retired": a relation at the place of a name is that of the speaker.
_BY_RELATION = frozenset(("Dad", "Mom", "Mum", "Grandma", "Grandpa", "Granny", "Nana"))
_JOINED_NAME = re.compile(r"\b[A-Z]\w+ (?:and|&) $")
_NAME_BEFORE = re.compile(r"(?<![\w'])([A-Z][\w'&.-]*) $")


def _kin(kin: str, owner: str) -> str:
    return kin if owner == "user" else f"{owner}'s {kin}"


def is_name(word: str, *, first: bool = False) -> bool:
    """Returns True when a capitalised word is likely a name. ``first``, at the start of a sentence, is stricter."""
    plain = word.split(" ", maxsplit=1)[0].strip("\"“”'").lower()
    if plain in GIVEN_NAMES:
        return True
    if not plain or plain in NOT_NAMES or plain in PLACES or plain in TOOLS or plain in FIRMS:
        return False
    return not (first and plain.endswith(FIRST_WORD_SUFFIXES))


def name(words: str) -> str | None:
    """Returns the name of a person or a pet at the start of ``words``, as spoken, or None."""
    kept: list[str] = []
    for word in words.strip("\"“”' ").split(" "):
        if word.lower().strip("'\".") in NOT_NAMES or not word[:1].isupper():
            break
        kept.append(word.rstrip(",").removesuffix("'s"))
        if word.endswith(","):
            break
    return " ".join(kept) or None


def place(words: str) -> str | None:
    """Returns a place as spoken, without words that only follow it ("Boston, Tim" is Boston), or None."""
    head, _, tail = words.partition(", ")
    kept = head.split(" ")
    while kept and kept[-1].lower() in NOT_NAMES | {"of", "the"}:
        kept.pop()
    head = " ".join(kept)
    if not head or head.lower() in NOT_NAMES or head == "I":
        return None
    known = (
        tail.lower() in PLACES
        or tail.split(" ")[0].lower() in PLACES
        or (tail.isupper() and 2 <= len(tail) <= 3)
    )
    return f"{head}, {tail}" if tail and known else head


_ARTICLE = re.compile(r"^(?:the|a|an|my|our|this|some) (?=[a-z0-9])")
_CALLED = re.compile(r"\b(?:called|named) (.+)$")
# "The company" and "a company" name no employer. "D.R" is the beginning of a name.
_UNNAMED = re.compile(
    r"(?:the|an?|this|my|our|some) (?:company|firm|business|organi[sz]ation|place)|(?:[A-Z]\.)+[A-Z]?"
)


def organisation(words: str) -> str | None:
    """Returns an employer as spoken, or None: its name, or the kind of the place when it has no name."""
    if _UNNAMED.fullmatch(words):
        return None
    if (called := _CALLED.search(words)) is not None:
        return called[1]
    if words[:1].islower() and not words.removeprefix("the ")[:1].isupper():
        return words.removeprefix("my ").removeprefix("our ") if words.startswith(("my ", "our ")) else words
    kept = words.split(" ")
    while kept and kept[-1].lower() in NOT_NAMES | {"of", "for", "the", "&"}:
        kept.pop()
    return (
        " ".join(kept)
        if kept and kept[0].lower() not in NOT_NAMES - {"the", "next", "apple", "target", "gap"}
        else None
    )


def role(words: str) -> str | None:
    """Returns an occupation as spoken up to its head ("senior data engineer"), or None."""
    kept: list[str] = []
    for word in words.rstrip("-").split(" ")[:6]:
        if word.lower() in (
            "at",
            "for",
            "in",
            "with",
            "and",
            "who",
            "on",
            "here",
            "by",
            "so",
            "but",
            "to",
            "of",
            "from",
        ):
            break
        kept.append(word)
    while kept and kept[-1].lower().strip("'") not in OCCUPATIONS:
        kept.pop()
    if not kept or any(word.lower() in EVALUATIVE for word in kept) or "'s" in " ".join(kept):
        return None
    if len(kept) == 1 and kept[0].lower() in VAGUE_OCCUPATIONS:
        return None
    return " ".join(kept)


_FILLER_END = re.compile(
    r"(?:[ ,]+(?:now|too|as well|also|again|anymore|any more|though|actually|currently|instead|together|a "
    r"lot|so much|very much|"
    r"lately|recently|nowadays|more|most|best|the most|myself|here|there|these|already|then|or something|"
    r"and stuff|"
    r"as a hobby|for fun|in my free time|in my spare time|on the side|lol|haha|tbh|by the way|btw|if you "
    r"must know|yet|still|"
    r"honestly|personally|unfortunately|sadly|luckily|tho|ngl|atm|please|pls|since forever|"
    r"ever since|since|for|in|on|at|during|and|or|with|of|to|a|the|as|just))++$",
    re.IGNORECASE,
)
_JOIN = re.compile(
    r"\s+(?:because|since|so|but|which|that|who|when|where|while|and (?:i|we|my|he|she|it|they|that|the|"
    r"then|have|has|am|it's|also|love|hate|"
    r"would|will|want|was|were|do|don't|got|find|need|think|so)\b|as (?:it|they|i)|it's|they're|for (?:the|"
    r"my|its|their|work|a|me)\b|"
    r"due to|thanks to|after|before|until|if|than|at (?:the|my|home|work)|with (?:my|the|him|her|them|"
    r"friends|family)|in (?:my|the|general)|"
    r"on (?:my|the|weekends)|every|whenever|even|especially|like|to (?:relax|unwind|keep|help|get|make))"
    r"(?:\s.*|$)",
    re.IGNORECASE | re.DOTALL,
)
# "Food that uses fresh ingredients": the words before the clause say too little.
_RELATIVE = re.compile(r"\s(?:that|which|who)\b", re.IGNORECASE)
_NO_THING = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|you|your|yours|how|when|what|who|where|why|if|whether|me|"
    r"us|my|his|their|our|its|one|"
    r"everything|nothing|something|just|different|various|certain|stories|things|stuff|ideas|moments|"
    r"makes?|pushing|experimenting|discovering|exploring|anything|every|all|each|some|any|more|being|"
    r"having|seeing|hearing|knowing|getting|the|to|both|"
    r"doing|going|watching (?:you|him|her|them)|spending|giving|making|working (?:with|on)|helping|meeting|"
    r"taking|talking|sharing|"
    r"no|not|such|so|too|much|many|I|we|he|she|they|there|a lot|finding|using|keeping|trying|putting|"
    r"bringing|letting|an?|"
    r"feeling|looking|thinking|like|from|about|as|up|down|with|new|people)\b",
    re.IGNORECASE,
)


LEISURE = word_set(
    "painting drawing reading writing hiking camping swimming running jogging cycling biking "
    "climbing cooking baking gardening dancing singing traveling travelling fishing sailing "
    "surfing skiing snowboarding skating skateboarding knitting sewing gaming photographing "
    "volunteering kayaking rowing boxing fencing bowling woodworking blogging journaling "
    "meditating performing birdwatching bouldering diving acting"
)


# Identifiers, numbers of a list, versions, paths and code name no thing: "#7", "option B", "v2", "snake_case".
_LABEL = re.compile(
    r"^[A-Za-z\d]$|\bnr\b|^\d+(?: (?:and|or|&) \d+)*$|#\d|[_/\\<>{}\[\]=@|]|\b(?-i:[a-z]+[A-Z])|\bv\d|:|"
    r"\b(?:options?|versions?|choices?|steps?|sections?|chapters?|parts?|numbers?|paragraphs?|slides?|pages?|figures?|tables?|"
    r"items?|plans?|drafts?|variants?|rows?|columns?|lines?|questions?|points?|answers?|ideas?|examples?|methods?|concepts?|"
    r"templates?|titles?|levels?|tiers?|models?|scenarios?|sentences?|bullets?|prompts?|names?|no)[ .]"
    r"(?:\d+|[A-Za-z]|one|two|three|four|five|six|[ivx]+)\b|"
    r"^(?:first|second|third|fourth|fifth|last|former|latter|option|version|choice|answer|response|suggestion|suggestions|"
    r"idea|draft|title|heading|headings|format|wording|phrasing|tone|structure|plan|layout|paragraph)$|"
    r"\b(?:options|versions?|choices|answers?|suggestions?|responses?|drafts?|titles?|examples?|comments?|wording)$",
    re.IGNORECASE,
)
# "I like Serenity for the brand": a choice and no taste.
_CHOSEN_FOR = re.compile(r"['\"”]? (?:for (?:the|my|our|this)|as (?:an?|the|my|our))\b")


def thing(words: str, *, longest: int = 4) -> str | None:
    """Returns a thing that somebody likes, plays or uses, as spoken, in at most ``longest`` words.

    Returns None when the words point elsewhere ("that", "how you …") or continue like a sentence.
    """
    whole = words.strip(" ,'\"“”-")
    join = _JOIN.search(whole)
    if join is not None and _RELATIVE.match(join[0]):
        return None
    words = whole[: join.start() if join is not None else None].strip(" ,'\"“”-")
    words = _FILLER_END.sub("", words).strip(" ,'\"“”-")
    if _LABEL.search(words) or _CHOSEN_FOR.match(whole, len(words)):
        return None
    if not words or _NO_THING.match(words) or len(words.split(" ")) > longest or len(words) < 2:
        return None
    if words in ("playing", "learning", "trying", "talking", "hearing", "studying", "chatting"):
        return None
    if re.search(
        r"\b(?:you|your|it|this|that|these|those|them|is|are|was|were|i|my)\b", words, re.IGNORECASE
    ):
        return None
    # "Escaping" of "escaping to that world" is no liked thing. "Painting" of "painting with friends" is one.
    if words != whole and words.endswith("ing") and " " not in words and words not in LEISURE:
        return None
    return words


def many(words: str) -> list[str]:
    """Returns the members of a list such as "a, b and c"."""
    return [
        one.strip() for one in re.split(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+", words) if one.strip()
    ]
