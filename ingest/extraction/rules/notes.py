"""Turns notes about the user into clauses in the first person, which the rules can read. All functions are pure.

"User takes Metformin and likes tea." becomes "I take Metformin" and "I like tea". A note often names no subject at all
("Lives in Lisbon", 住在台北). A clause about somebody else stays as it is. The name of the user is the
user, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from events.language.chinese_script import has_cjk

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])|(?<=[。！？；])|;\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,3}[.)])\s+")
_IRREGULAR = {"is": "am", "has": "have", "does": "do", "goes": "go", "was": "was", "isn't": "am not",
              "doesn't": "don't", "hasn't": "haven't"}  # fmt: skip
# A note without a subject begins with one of these. Other words with an s at the end are more often nouns.
_VERBS = (
    "is|has|was|does|goes|lives|works|likes|dislikes|loves|hates|enjoys|prefers|takes|uses|drinks|eats|avoids|plays|"
    "speaks|studies|studied|teaches|owns|drives|wants|needs|hopes|plans|tries|runs|walks|swims|cycles|exercises|"
    "practices|practises|meditates|reads|writes|collects|listens|watches|travels|visits|moved|started|stopped|quit|"
    "lived|worked|grew|comes|sleeps|wakes|seems|appears|may|might|suffers|keeps|supports|manages|leads|believes|"
    "doesn't|isn't|hasn't|cooks|smokes|learns|majors|majored|graduated|married|switched|owned|bought"
)
_ADVERBS = (
    r"(?:(?:also|currently|now|still|often|usually|always|regularly|really|generally|recently|previously) )*"
)
_NAMED = re.compile(r"^(?:the )?user(?P<owns>['’]s)? +", re.IGNORECASE)
_THEY = re.compile(r"^they +", re.IGNORECASE)
_BARE = re.compile(rf"^{_ADVERBS}(?:{_VERBS})\b", re.IGNORECASE)
_OWNED = re.compile(
    r"^(?:full |first |last |nick)?(?:name|age|birthday|birthplace|hometown|job|occupation|employer|diet|pronouns|"
    r"goal|hobby|hobbies|(?:wife|husband|spouse|partner|girlfriend|boyfriend|mother|father|son|daughter|dog|cat)|"
    r"native language|blood type|email|phone number|favou?rite [a-z ]{2,30})(?:['’]s name)? (?:is|are)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    rf"^(?P<adverbs>{_ADVERBS})(?:(?:seems|appears|tries|is trying|is likely|is thought) to|may|might|could|"
    r"(?:probably|possibly|apparently|perhaps|likely|seemingly)) +(?P<rest>.+)$",
    re.IGNORECASE,
)
_WITH_ADVERBS = re.compile(rf"^(?P<adverbs>{_ADVERBS})(?P<verb>[A-Za-z']+)(?P<rest>.*)$", re.DOTALL)
_THEN = re.compile(rf",?\s+(?:and|but|while)\s+(?=(?:they\s+)?{_ADVERBS}(?:{_VERBS})\b)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"\b(?:their|his|her)\b(?= \w)", re.IGNORECASE)

_NAMED_ZH = re.compile(r"^(?:[该該这這]位?|此)?(?:用户|用戶|使用者)")
_BARE_ZH = re.compile(
    r"^(?:目前|现在|現在|也|还|還|最近)?(?:住在?|喜欢|喜歡|不喜|讨厌|討厭|爱|愛|[对對][^，。]{1,12}(?:过敏|過敏)|有|患有|是|"
    r"在[^，。]{1,20}(?:工作|上班)|名叫|叫|服用|养|養|会说|會說|不吃|吃素|每[天日周週])"
)
_HEDGE_ZH = re.compile(r"^(?P<before>[^，。]{0,4}?)(?:可能|似乎|好像|大概|也许|也許|应该|應該)(?P<rest>.+)$")
_THEN_ZH = re.compile(r"[，、](?=" + _BARE_ZH.pattern[1:] + ")")


HEDGED = 0.6
"""The confidence of what a note itself is not sure of."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause in the first person. ``hedged``: the note itself is not sure of it."""

    text: str
    hedged: bool = False


def clauses(note: str, user_name: str | None = None) -> Iterator[Clause]:
    """Yields the clauses of a note, in order. ``user_name`` is what the note calls the user."""
    named_en, named_zh = (_NAMED, _NAMED_ZH) if user_name is None else _named(user_name)
    for piece in _SENTENCE.split(note):
        sentence = _BULLET.sub("", piece).strip()
        if sentence:
            yield from _chinese(sentence, named_zh) if has_cjk(sentence) else _english(sentence, named_en)


@lru_cache(maxsize=256)
def _named(user_name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Returns the patterns of a subject that is the user: "user", the name, or its first word."""
    words = user_name.split()
    names = "|".join(re.escape(each) for each in dict.fromkeys((" ".join(words), *words[:1])))
    # "Alice and Bob" is not the user alone.
    alone = r"(?!(?:and|or|und|et)\b|[&,])"
    return (
        re.compile(rf"^(?:(?i:(?:the )?user)|{names})(?P<owns>['’]s)? +{alone}"),
        re.compile(rf"{_NAMED_ZH.pattern}|^(?:{names})(?![和跟与與、及])"),
    )


def _english(sentence: str, subject: re.Pattern[str]) -> Iterator[Clause]:
    named = subject.match(sentence)
    if named is not None and named["owns"]:
        yield Clause("My " + sentence[named.end() :])
        return
    rest = sentence[named.end() :] if named is not None else sentence
    if named is None and (they := _THEY.match(sentence)) is not None:
        rest = sentence[they.end() :]
    elif named is None and _OWNED.match(sentence) is not None:
        yield Clause("My " + sentence[0].lower() + sentence[1:])
        return
    elif named is None and _BARE.match(sentence) is None:
        yield Clause(sentence)
        return
    for part in _THEN.split(rest):
        yield _first_person(_THEY.sub("", part).strip())


def _first_person(predicate: str) -> Clause:
    hedge = _HEDGE.match(predicate)
    if hedge is not None:
        predicate = hedge["adverbs"] + hedge["rest"]
    found = _WITH_ADVERBS.match(predicate)
    if found is None:
        return Clause(predicate, hedge is not None)
    verb = found["verb"].lower()
    verb = "am" if verb == "be" else _base(verb)
    rest = _POSSESSIVE.sub("my", found["rest"])
    return Clause(f"I {found['adverbs'].lower()}{verb}{rest}", hedge is not None)


def _base(verb: str) -> str:
    """Returns the form of a verb after "I". A verb that is not in the third person stays."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


def _chinese(sentence: str, subject: re.Pattern[str]) -> Iterator[Clause]:
    named = subject.match(sentence)
    rest = sentence[named.end() :] if named is not None else sentence
    hedge = _HEDGE_ZH.match(rest)
    if hedge is not None:
        rest = hedge["before"] + hedge["rest"]
    if named is None and _BARE_ZH.match(rest) is None:
        yield Clause(sentence)
        return
    for part in _THEN_ZH.split(rest):
        yield Clause("我" + part, hedge is not None)
