"""Splits a turn into sentences, and finds the words that keep a sentence from being a statement of fact.

Every text here keeps the length of the turn's text. An offset in a sentence plus the sentence's ``begin`` is therefore
an offset in the turn.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from events.language.chinese_script import from_cantonese, has_cjk, to_simplified
from events.language.quoted import without_code, without_quotations
from ingest.extraction.rules.words import pattern

# The rules skip longer sentences. A longer sentence is usually pasted text and not the statement of one fact.
MAX_SENTENCE = 500
MAX_SENTENCES = 120

# A run of marks is tried once, from its first mark, so the time is linear. A correction is a sentence of its own:
# "I live in Rome, sorry, I meant Milan".
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"”’')\]]*+(?=\s|$)|[。！？；\n…]+[」』”]?|;(?=\s)|[!?](?=[\u3400-\u9fff「])|(?<=\s)[-–—](?=\s)"
    r"|,(?=\s(?:(?:no|oh|actually)[, ]+)*(?:[Ss]orry|[Oo]ops|typo|correction|wait|scratch that|my mistake|I meant?)\b)"
    r"|[，,](?=(?:不[对對]|(?:打|[说說]|[讲講]|[写寫])[错錯]|口[误誤]|更正))"
)
# The characters at which a sentence may end. This class runs first, because it is six times as fast as _END.
_MAY_END = re.compile(r"[.!?…。！？；;,，\n–—-]")
_ABBREVIATION = pattern("sentences_ABBREVIATION")
_LOWER_I = re.compile(r"\bi(?=$|[ ,.!]|'(?:m|ve|ll|d)\b|(?:m|ve) )(?<!['.]i)")
_APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "\xa0": " ", "\t": " ", "　": " "})

_QUESTION = pattern("sentences_QUESTION")
_QUESTION_ZH = re.compile(
    r"[吗嘛]\W*$|(?<!什)么\W*$|(?<!没)(?<!没有)什么(?![都也])|哪[里儿个家些种位一年天]|哪$|住哪|在哪|去哪|谁(?![都也])|怎么[样办会能]?|为什么|为何|多少|几[点号岁个月]|是不是|"
    r"有没有|要不要|能不能|会不会|可不可以|好不好|对不对|是否|何时|何地|多久|多大"
)
_IRREALIS = re.compile(
    r"\b(?:if|unless|suppose|imagine|pretend|hypothetically|in case|whether|wish|wished|let's say|would have|"
    r"could have|should have|dream(?:ed|t|ing)? (?:of|about|that|i|we|my|the)|in "
    r"(?:my|an?|the|this|that|our|your) (?:dream|game|movie|book(?! club)|film|example|scenario|exercise)|"
    r"for example|for instance|e\.g\.|an example|assuming)(?!\w)|"
    r"(?:^|\b(?:and|then|please|just) )(?:say|repeat|output|print|(?:respond|reply|answer) with)\b",
    re.IGNORECASE,
)
_IRREALIS_ZH = re.compile(
    r"如果|假如|假设|要是|倘若|若是|万一|的话|除非|梦到|梦见|做梦|梦里|游戏里|例如|比如说|譬如|即使|就算|哪怕|"
    r"本来想|差点|差一点|举例|举个例|比方|例子|案例|情境|设想|虚构"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn. ``raw`` and ``plain`` have the same length.

    ``raw`` is the text as said. ``plain`` is the text for patterns: straight apostrophes, hidden quotations, Chinese in
    simplified script.
    """

    begin: int
    raw: str
    plain: str
    chinese: bool
    question: bool


@lru_cache(maxsize=16)
def simplified(text: str) -> str:
    """Returns ``text`` in simplified script. A cache serves the second use, the episode of the same turn."""
    return to_simplified(text)


def sentences(text: str) -> Iterator[Sentence]:
    """Yields the sentences of ``text`` for the rules, in order. Code, quoted lines and longer quotations are hidden."""
    plain = text.translate(_APOSTROPHE) if not text.isascii() else text.replace("\t", " ")
    plain = without_quotations(without_code(plain))
    in_simplified = plain if plain.isascii() else from_cantonese(simplified(plain))
    begin = 0
    count = 0
    for end in _boundaries(plain):
        if count >= MAX_SENTENCES:
            return
        piece = plain[begin:end]
        lead = len(piece) - len(piece.lstrip())
        start, begin = begin + lead, end
        piece = piece.strip()
        if not piece or len(piece) > MAX_SENTENCE:
            continue
        count += 1
        chinese = not piece.isascii() and has_cjk(piece)
        piece = in_simplified[start : start + len(piece)] if chinese else _LOWER_I.sub("I", piece)
        raw = text[start : start + len(piece)]
        asks = _asks(piece, chinese)
        cut = _told_before(piece, chinese) if asks else 0
        if cut:
            yield Sentence(start, raw[:cut], piece[:cut], chinese, False)
        yield Sentence(start + cut, raw[cut:], piece[cut:], chinese, asks)


# "I live in Ghent, so which trains go to Paris?": the clauses before the question tell something.
_THEN_ASKS = pattern("sentences_THEN_ASKS")
_TAG_WORDS, _TAG_CHARACTERS = 3, 5


def _told_before(piece: str, chinese: bool) -> int:
    """Returns the length of the clauses before a question that tell something, or 0.

    A short question only checks these clauses ("I live in Ghent, right?"), which makes them a question too.
    """
    if chinese:
        asked = _QUESTION_ZH.search(piece)
        cut = piece.rfind("，", 0, asked.start()) + 1 if asked is not None else 0
        return cut if len(piece) - cut > _TAG_CHARACTERS else 0
    border = _THEN_ASKS.search(piece) if _QUESTION.match(piece) is None else None
    asks = border is not None and len(piece[border.start() :].split()) > _TAG_WORDS
    return border.start() if border is not None and asks else 0


def _boundaries(plain: str) -> Iterator[int]:
    reached = 0
    while (candidate := _MAY_END.search(plain, reached)) is not None:
        end = _END.match(plain, candidate.start())
        reached = candidate.end() if end is None else end.end()
        if end is None:
            continue
        if end[0] == "." and _ABBREVIATION.search(plain, max(0, end.start() - 6), end.start()):
            continue
        yield end.end()
    yield len(plain)


def _asks(piece: str, chinese: bool) -> bool:
    if "?" in piece[-4:] or "？" in piece[-3:]:
        return True
    return (_QUESTION_ZH.search(piece) if chinese else _QUESTION.match(piece)) is not None


def irrealis(sentence: Sentence, stop: int) -> bool:
    """Returns True when the words up to ``stop`` state no fact but a condition, a wish, a dream or an example.

    In Chinese the rest of the clause counts too (…的話).
    """
    if sentence.chinese:
        return _IRREALIS_ZH.search(sentence.plain, 0, clause(sentence, stop, stop)[1]) is not None
    return _IRREALIS.search(sentence.plain, 0, stop) is not None


_CLAUSE = pattern("sentences_CLAUSE")


def clause(sentence: Sentence, begin: int, stop: int) -> tuple[int, int]:
    """Returns the bounds of the clauses that ``begin``..``stop`` touch, as offsets in the sentence."""
    first, last = 0, len(sentence.plain)
    for border in _CLAUSE.finditer(sentence.plain):
        if border.end() <= begin:
            first = border.end()
        elif border.start() >= stop:
            last = border.start()
            break
    return first, last
