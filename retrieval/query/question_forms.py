"""Splits a question into its parts, and weighs the terms of each part.

People ask two things at once ("…? Also, where …?"), and think aloud before they ask ("… but what I really want to know
is …"). Recall searches for each part by itself. Terms before the actual question weigh little.
"""

import re
from dataclasses import dataclass
from itertools import islice

from events.language.chinese_script import to_simplified
from events.language.terms import question_terms

_NEXT_PART = re.compile(
    r"(?:(?<=[.!?;。！？；])|(?<=[.!?;] ))(?:另外|此外|还有|以及)[，,、:：]?"
    r"|(?<=[.!?;] )(?:also|additionally|and also|one more thing|another question)[,:]",
    re.IGNORECASE,
)
_COMES_TO_IT = re.compile(
    r"(?:想要?|要)(?:问|说|了解|知道|搞清楚|弄清楚|确认|请教)的?(?:问题)?(?:其实)?是?(?:这个)?[：:，,]"
    r"|问题(?:其实)?是(?:这个)?[：:，,]"
    r"|(?:^|(?<=[.!?。！？]))(?:对了|等等|不对)[，,：:]"
    r"|what i (?:really |actually )?(?:want(?:ed)?|meant) to (?:ask|know)(?: is| was)?[:,]?"
    r"|my (?:real |actual )?question is[:,]?"
    r"|actually,? i (?:want(?:ed)?|meant) to (?:ask|know)[:,]?",
    re.IGNORECASE,
)
_THINKING_ALOUD = 0.2
_MOST_PARTS = 4
_LONE_CHARACTER = 0.5
"""The weight of a single Chinese character. The character is more often a piece of a word than a word, and recall finds
more with half the weight."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """One part of a question: ``text`` for an embedder, and ``terms`` with their weights for term search."""

    text: str
    terms: dict[str, float]


def parse_question(question: str) -> tuple[ParsedQuestion, ...]:
    """Returns the parts of a question in order, at least one and at most four. Nearly every question has one part.

    The best way to merge the hits of several parts is by their best rank in any part.
    """
    parts = [part for part in _split(question) if question_terms(part)]
    return tuple(map(_read, parts)) or (ParsedQuestion(question, {}),)


def _split(question: str) -> list[str]:
    seams = list(islice(_NEXT_PART.finditer(to_simplified(question)), _MOST_PARTS - 1))
    starts = [0, *(seam.end() for seam in seams)]
    stops = [*(seam.start() for seam in seams), len(question)]
    return [question[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


def _read(part: str) -> ParsedQuestion:
    weights: dict[str, float] = {}
    point = part
    # The last phrase such as "what I really want to know is" counts, if terms follow it.
    for match in list(_COMES_TO_IT.finditer(to_simplified(part)))[: -_MOST_PARTS - 1 : -1]:
        if question_terms(rest := part[match.end() :].strip()):
            point = rest
            break
    if point is not part:
        weights = dict.fromkeys(question_terms(part), _THINKING_ALOUD)
    weights.update(dict.fromkeys(question_terms(point), 1.0))
    for term in weights:
        if len(term) == 1 and not term.isascii():
            weights[term] *= _LONE_CHARACTER
    return ParsedQuestion(point, weights)
