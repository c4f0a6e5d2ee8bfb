"""Recognises small talk: greetings, farewells, thanks, cheering, assent and other words that keep a talk going.

A turn is small talk when each of its sentences is. The word lists of ``small_talk.txt`` are closed: a word outside
them makes a sentence content, so no unknown word is lost.
"""

import re

from events.language.chinese_script import has_cjk
from ingest.extraction.rules.sentences import simplified
from ingest.extraction.rules.words import rows, table

_LONGEST = 300  # Characters. Longer words are never only small talk.
_WORD = re.compile(r"[a-z0-9][a-z0-9'&@._/-]*[a-z0-9]|[a-z0-9]")
_LETTER = re.compile(r"[^\W\d_a-z]")
_CJK_RUN = re.compile("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
_END = re.compile(r"(?:[.!?~…]+|:[)D(P])(?=\s|$)|!+|, (?=I )|[。！？～；;\n—]+|\s[-–]\s")
# "hahaha", "yessss", "awww", "sooo": laughter and drawn-out assent.
_DRAWN_OUT = re.compile(r"[hae]{3,}|lo+l|a+w+|h+m+|w+o+w+|y+a+y+|y+e+s+|y+e+a+h*|n+o+|s+o+|o+h+|o+k+")
_DATE = r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|June|July|August|\w+ember|October)"
# A name that is spoken to: "Sam, …" and "…, Sam". Days and months are no such names.
_ADDRESSED = re.compile(rf"^\s*{_DATE}[A-Z][\w'-]+,\s+|,\s+{_DATE}[A-Z][\w'-]+\s*(?=,|$)")
# A name after words that greet, thank or part: "Hey Sam", "Thanks so much Sam". An assent may be followed by an answer.
_GREETED = re.compile(
    r"\b(?i:hi|hello|hey|heya|thanks|thank you|thx|bye|goodbye|morning|night|wow|welcome|congrats|congratulations|"
    rf"cheers|later|care|so much|a lot|again|everyone|for you|of you)[ ,]+({_DATE}[A-Z][\w'-]+)(?=\s*(?:,|$|and\b))"
)
_SPEAKER = frozenset(
    ("i", "i'm", "im", "i've", "i'll", "i'd", "my", "me", "mine", "we", "we're", "we've", "we'll", "us")
)
_SUBJECT = re.compile(
    r"^(?:(?:well|oh|and|but|yeah|yes|ok|okay|so|haha|aw+|wow)[, ]+)*(?:i'm|im|i am|i'll be|we're|i've|i|we)\b ?"
)


def _sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    here: list[str] = []
    for line in rows(table("small_talk.txt")):
        if line.startswith("["):
            here = found.setdefault(line.strip("[]"), [])
        else:
            here.append(line)
    return found


_SECTIONS = _sections()
_WORDS = frozenset(" ".join(_SECTIONS["words"]).split())
_CHEERING = _WORDS | frozenset(" ".join(_SECTIONS["cheering"]).split())
_PHRASES = re.compile("|".join(f"(?:{line})" for line in _SECTIONS["phrases"]))
_LOWER_WORD = re.compile(r"(?<![\w'&@./-])[a-z](?:[a-z0-9'&@._/-]*[a-z0-9])?(?![\w'])")
_KNOWN = _CHEERING | frozenset(
    _LOWER_WORD.findall(" ".join(_SECTIONS["phrases"]).replace("(", " ").replace("|", " "))
)
# Atomic: the pattern takes what comes first and never goes back, so its time is linear.
_CHINESE = re.compile(f"(?>{'|'.join(_SECTIONS['chinese'])})++")


def is_small_talk(text: str) -> bool:
    """Returns True when every sentence of ``text`` only greets, parts, thanks, cheers, assents or asks back.

    A text without letters is small talk too. A text of more than 300 characters never is.
    """
    if len(text) > _LONGEST:
        return False
    text = text.replace("’", "'")
    # Most turns have a plain word that no list holds, so most turns end here.
    if any(_DRAWN_OUT.fullmatch(word) is None for word in set(_LOWER_WORD.findall(text)) - _KNOWN):
        return False
    return all(_is_small(sentence) for sentence in _END.split(text))


def _is_small(sentence: str) -> bool:
    if has_cjk(sentence):
        if any(_CHINESE.fullmatch(run[0]) is None for run in _CJK_RUN.finditer(simplified(sentence))):
            return False
        sentence = _CJK_RUN.sub(" ", sentence)
    plain = _ADDRESSED.sub(" ", sentence)
    plain = _GREETED.sub(lambda found: found[0][: found.start(1) - found.start()], plain).lower()
    words = _WORD.findall(plain)
    if _LETTER.search(plain):
        return False  # Another script, which the lists do not know.
    rest = {word for word in words if _DRAWN_OUT.fullmatch(word) is None}
    if not words:
        # Only names are left, for instance an answer to a question. Without any name, there is nothing.
        return not _WORD.search(sentence.lower())
    if rest <= _WORDS or (rest <= _CHEERING and not _SPEAKER & rest):
        return True
    said = " ".join(words)
    subject = _SUBJECT.match(said)
    return _PHRASES.fullmatch(said[subject.end() :] if subject else said) is not None
