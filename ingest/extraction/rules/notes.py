"""Turns notes about the user into clauses in the first person, which the rules can read.

"User takes Metformin and likes tea." becomes "I takes Metformin and likes tea": the rows know both forms of a verb. A
note often names no subject at all ("Lives in Lisbon", 住在台北). A clause about somebody else stays as it is. The name
of the user is the user, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from events.language.chinese_script import has_cjk
from ingest.extraction.rules.patterns import index

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])|(?<=[。！？；])|;\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,3}[.)])\s+")
_ADVERBS = r"(?:(?:also|currently|now|still|often|usually|always|regularly|really|generally|recently) )*"
_HEDGE = re.compile(
    rf"^{_ADVERBS}(?:(?:seems|appears|tries|is likely) to (?:be )?|(?:may|might|could) (?:be )?|"
    r"(?:probably|possibly|apparently|perhaps|likely) )",
    re.IGNORECASE,
)
_HEDGE_ZH = re.compile(r"可能|似乎|好像|大概|也许|也許|应该|應該")
_FIRST_ZH = re.compile("[我咱]")


HEDGED = 0.6
"""The confidence of what a note itself is not sure of."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause in the first person. ``said`` is what the note says; ``hedged``: the note itself is not sure of it."""

    said: str
    text: str
    hedged: bool = False


def clauses(note: str, user_name: str | None = None) -> Iterator[Clause]:
    """Yields the clauses of a note, in order. ``user_name`` is what the note calls the user."""
    subject = _subject(user_name)
    for piece in _SENTENCE.split(note):
        sentence = _BULLET.sub("", piece).strip()
        if not sentence:
            continue
        named = subject.match(sentence)
        rest = sentence[named.end() :] if named is not None else sentence
        if has_cjk(sentence):
            hedge = _HEDGE_ZH.search(rest[:8])
            rest = rest[: hedge.start()] + rest[hedge.end() :] if hedge is not None else rest
            yield Clause(sentence, rest if _FIRST_ZH.match(rest) else f"我{rest}", hedge is not None)
        elif named is not None and named["owns"]:
            yield Clause(sentence, f"My {rest}")
        elif named is None and _owned().match(sentence):
            yield Clause(sentence, f"My {sentence[0].lower()}{sentence[1:]}")
        else:
            hedge = _HEDGE.match(rest)
            told = (
                rest if hedge is None else ("is " if hedge[0].endswith("be ") else "") + rest[hedge.end() :]
            )
            without = named is None and hedge is None and _verbs().match(rest) is None
            yield Clause(
                sentence, sentence if without else f"I {told[:1].lower()}{told[1:]}", hedge is not None
            )


@lru_cache(maxsize=256)
def _subject(user_name: str | None) -> re.Pattern[str]:
    """Returns the pattern of a subject that is the user: "user", "they", the name, or its first word."""
    words = (user_name or "").split()
    names = "".join(f"|{re.escape(each)}" for each in dict.fromkeys((" ".join(words), *words[:1])) if each)
    # "Alice and Bob" is not the user alone.
    alone = r"(?!(?:and|or|und|et)\b|[&,和跟与與、及])"
    return re.compile(
        rf"^(?:(?:(?i:(?:the )?user|they){names})(?P<owns>['’]s)?(?: +|(?=[\u4e00-\u9fff])){alone}|"
        r"(?:[该該这這]位?|此)?(?:用户|用戶|使用者))"
    )


@lru_cache(maxsize=1)
def _verbs() -> re.Pattern[str]:
    """Returns the pattern of a note without a subject: it begins with a verb of a row."""
    heads = {head for subject, head in index(False) if subject in ("@", "I") and head}
    return re.compile(rf"^{_ADVERBS}(?:{'|'.join(sorted({*heads, 'is', 'has', 'was'}))})\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def _owned() -> re.Pattern[str]:
    """Returns the pattern of a note that begins with a thing of the user: "Name is Ada"."""
    heads = {head for subject, head in index(False) if subject == "$" and head}
    return re.compile(rf"^(?:{'|'.join(sorted(heads))})\b.{{0,40}}? (?:is|are)\b", re.IGNORECASE)
