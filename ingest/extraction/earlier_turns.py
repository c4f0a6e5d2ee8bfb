"""Decides which earlier turns a reader needs to understand a session batch. The functions are pure."""

import re
import unicodedata

from events.language.chinese_script import has_cjk, to_simplified
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.memory_blocks import without_memory_blocks

MOST_TURNS = 3
"""The nearest earlier turns that are enough. A pronoun rarely points further back."""
_FEW_WORDS, _FEW_CHARACTERS = 3, 5
"""A turn of at most so many English words or Chinese characters says nothing by itself."""
_FIRST = 400  # Characters of a turn that are looked at.

_SENTENCE = re.compile(r"[.!?…]+(?=\s|$)|[。！？\n]")
_WORD = re.compile(r"[a-z0-9'’]+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]")
# What a sentence begins with when it goes on with the talk or answers a question.
_ANSWER = re.compile(
    r"\W*(?:(?:oh|well|hmm|um|ah|haha|ok|okay)\W+)*(?:yes|yeah|yep|yup|no|nope|nah|not really|of course|sure|exactly|"
    r"because|and|but|or|so|also|then|instead|me too|same|neither|maybe|both|only|just|still|almost)\b",
    re.IGNORECASE,
)
_ANSWER_ZH = re.compile(
    r"\W*(?:对|嗯|是的|是啊|是呀|不是|没有|还没|有啊|有的|没错|当然|因为|所以|但|可是|而且|也[是有会要想去在不没]|还是|或者|就是|不过|然后|那就|那我|好啊|好的|可以)"
)
_PRONOUN = re.compile(
    r"\b(?:he|him|his|she|her|hers|they|them|their|theirs|those|these|ones|"
    r"the (?:same|others?|first|second|last) one|(?:that|this|another) one|both of|neither|the former|the latter)\b"
    r"|\bit(?!['’]s (?:raining|snowing|cold|hot|late|early|been)\b| (?:rained|snowed|takes|took)\b)(?:['’]s|s)?\b"
    r"|\bthere\b(?!['’]s| (?:is|are|was|were|will|has|have)\b)"
    r"|(?:^\W*|\b(?:about|of|like|for|with|to|after|before|do|did|done|love|loved|hate|try|tried)\s+)(?:that|this)\b"
    r"(?!\s+(?:week|weekend|month|year|morning|afternoon|evening|summer|winter|spring|autumn|fall|time|\w+day)\b)",
    re.IGNORECASE,
)
# A word for somebody or something, before a pronoun in the same sentence.
_ANTECEDENT = re.compile(
    r"\b(?:my|our|the|a|an|your|some|two|three)\s+\w+|(?<=\s)[A-Z][a-z]+|^[A-Z][a-z]+(?= (?:is|was|has|and|said)\b)"
)
_PRONOUN_ZH = re.compile(
    r"(?<![其吉])他|她|它|牠|[那这]个(?!月|星期|礼拜|周|季|学期|夏|冬|时候)|[那这][里边儿间]|那[天次件家位本]|这[次件家位本]|其中|前者|后者|同一[个家天]"
)
_ANTECEDENT_ZH = re.compile(r"我[的家]?[\u3400-\u9fff]{1,4}|[一两三几][个只位家本条台件]")


def needed_turns(batch: SessionBatch) -> tuple[RecordedTurn, ...]:
    """Returns the turns of ``batch.preceding`` that its first turn leans on, oldest first, at most :data:`MOST_TURNS`.

    The result is empty when the first turn can be understood alone. Turns behind the first have it before them. The
    second turn is looked at too when the first says almost nothing.
    """
    texts = [without_memory_blocks(one.turn.text) for one in batch.turns[:2]]
    leaning = leans_back(texts[0]) or (len(texts) > 1 and _is_short(texts[0]) and leans_back(texts[1]))
    return batch.preceding[-MOST_TURNS:] if leaning and batch.preceding else ()


def leans_back(text: str) -> bool:
    """Returns True when the beginning of a turn needs the words before it: a pronoun, an ellipsis, a very short answer.

    English and Chinese are understood. Any other script counts as leaning back.
    """
    text = text.strip()[:_FIRST]
    if not text:
        return False
    if _in_other_script(text) or _is_short(text):
        return True
    plain = to_simplified(text) if has_cjk(text) else text
    end = _SENTENCE.search(plain)
    first = plain[: end.start()] if end is not None else plain
    if _is_short(first):
        # "Oh nice! She told me." The next sentence begins the talk.
        first = plain
    if _ANSWER.match(first) or _ANSWER_ZH.match(first):
        return True
    return _points_back(first, _PRONOUN, _ANTECEDENT) or _points_back(first, _PRONOUN_ZH, _ANTECEDENT_ZH)


def _points_back(text: str, pronoun: re.Pattern[str], antecedent: re.Pattern[str]) -> bool:
    found = pronoun.search(text)
    return found is not None and antecedent.search(text, 0, found.start()) is None


def _is_short(text: str) -> bool:
    han = len(_HAN.findall(text))
    words = len(_WORD.findall(text))
    return han <= _FEW_CHARACTERS if han > words else words + han <= _FEW_WORDS


def _in_other_script(text: str) -> bool:
    return any(
        not character.isascii()
        and unicodedata.category(character).startswith("L")
        and not _HAN.match(character)
        and not unicodedata.name(character, "").startswith(("LATIN", "CJK", "FULLWIDTH", "BOPOMOFO"))
        for character in text
    )
