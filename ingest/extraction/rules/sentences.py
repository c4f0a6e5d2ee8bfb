"""Splits a turn into sentences, and finds the words that keep a sentence from being a statement of fact.

Every text here keeps the length of the turn's text. An offset in a sentence plus the sentence's ``begin`` is therefore
an offset in the turn.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from events.language.chinese_script import has_cjk, to_simplified
from events.language.quoted import HIDDEN, without_code, without_quotations
from events.language.values import word_set
from ingest.extraction.rules.pasted import OWN_HEAD, pasted
from ingest.extraction.rules.words import either, pattern

# The rules skip longer sentences. A longer sentence is usually pasted text and not the statement of one fact.
MAX_SENTENCE = 500
MAX_SENTENCES = 120

# A run of marks is tried once, from its first mark, so the time is linear. A correction is a sentence of its own:
# "I live in Rome, sorry, I meant Milan".
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"”’')\]]*+(?=\s|$)|[。！？；\n…]+[」』”]?|;(?=\s)|[!?](?=[\u3400-\u9fff「])|(?<=\s)[-–—](?=\s)"
    r"|,(?=\s(?:[Ss]orry|[Oo]ops|typo|correction|no,? wait|scratch that|my mistake|I meant)\b)"
    r"|[，,](?=(?:不[对對]|(?:打|[说說]|[讲講]|[写寫])[错錯]|口[误誤]|更正))"
)
# The characters at which a sentence may end. This class runs first, because it is six times as fast as _END.
_MAY_END = re.compile(r"[.!?…。！？；;,，\n–—-]")
_ABBREVIATION = pattern("sentences_ABBREVIATION")
_NOT_NEWLINE = re.compile(r"[^\n]")
_WORD = re.compile(r"[a-z][a-z'-]*|(?<!\d)\d")
_APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "＇": "'", "\xa0": " ", "\t": " ", "　": " "})

_TASK = re.compile(
    r"\s*(?:(?:please|pls|hey|hi|now|ok|okay|also|can you|could you|would you|help me)[, ]+){0,4}"
    r"(?P<verb>translate|replace|rewrite|rephrase|reword|proofread|summari[sz]e|paraphrase|classify|extract|"
    r"convert|edit|"
    r"correct|polish|improve|write|draft|compose|generate|pretend|imagine|suppose|role-?play|act as|act like|"
    r"complete|continue|say|repeat|explain|analy[sz]e|remind me|create|make up|tell (?:me|him|her|them|us)|"
    r"make (?:this|it|the following)|turn (?:this|the following)|shorten|simplify|refine|"
    r"(?:fix|check) (?:the|this|my)(?: following)? (?:grammar|spelling|sentence|text|wording|"
    r"english|paragraph|e-?mail))"
    r"\b",
    re.IGNORECASE,
)
# The first words of a task. "role-play", "act-like" and the other forms begin with one of them too.
_TASK_WORDS = word_set(
    "translate replace rewrite rephrase reword proofread summarize summarise paraphrase classify extract convert edit "
    "correct polish improve write draft compose generate pretend imagine suppose roleplay role-play role act complete "
    "continue say repeat explain analyze analyse remind create make tell turn shorten simplify refine fix check"
)
_TASK_ZH = re.compile(
    r"\s*(?:请|麻烦|帮我|帮忙|帮|你|可以|能不能|可不可以|能否|能|给我|替我|把|将|，| ){0,6}"
    r"(?P<verb>翻译|改写|润色|总结|摘要|概括|校对|修改|写一|写封|写个|写篇|扮演|假装|假设|想象|续写|生成|编一|分析|提醒我|"
    r"(?:以下|下面|这段|这句)[^，。]{0,8}(?:翻译|改写|润色|总结|校对))"
)
_PASTING = word_set(
    "translate rewrite rephrase reword proofread summarize summarise paraphrase classify extract "
    "convert edit correct polish improve complete continue repeat analyze analyse make turn shorten simplify refine "
    "fix check 翻译 改写 润色 总结 摘要 "
    "概括 校对 修改 续写 分析"
)
_PASTE = re.compile(r"[:：\n]")
_FOLLOWING = re.compile(r"\b(?:following|below)\b|以下|下面")

_QUESTION = pattern("sentences_QUESTION")
_QUESTION_ZH = re.compile(
    r"[吗嘛]\W*$|(?<!什)么\W*$|(?<!没)(?<!没有)什么(?![都也])|哪[里儿个家些种位一年天]|哪$|住哪|在哪|去哪|谁(?![都也])|怎么[样办会能]?|为什么|为何|多少|几[点号岁个月]|是不是|"
    r"有没有|要不要|能不能|会不会|可不可以|好不好|对不对|是否|何时|何地|多久|多大"
)
_IRREALIS = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|hypothetically|what if|as if|as though|in case|"
    r"whether|"
    r"wish|wished|let's say|would have|could have|should have|"
    r"dream(?:ed|t|ing)? (?:of|about|that|i|we|they|he|she|my|our|the)|in "
    r"(?:my|an?|the|this|that|our|your) (?:dream|novel|story|game|screenplay|script|movie|book(?! club)|film|example|"
    r"scenario|exercise|quiz|simulation|sketch|fable|chapter|episode|case study)|my character|for example|"
    r"for instance|e\.g\.|or something|an example|fictional|imaginary|made-up|hypothetical|"
    r"assum(?:e|ing) (?:that )?(?:I|we|he|she|they|my|the|you)(?:'m|'re|'s)?|"
    r"(?:take|picture) (?:an?|the|this) [\w ]{2,30}:)(?!\w)|"
    r"(?:^|\b(?:and|then|please|just) )(?:say|repeat|output|print|(?:respond|reply|answer) with)\b",
    re.IGNORECASE,
)
_IN_FICTION = re.compile(
    r"\bin (?:my|an?|the|this|that|our|your) (?:dream|novel|story|game|screenplay|script|movie|film|example|scenario|"
    r"exercise|quiz|simulation|sketch|play|code|sample|snippet|template|test data)\b"
)
_IRREALIS_ZH = re.compile(
    r"如果|假如|假设|要是|倘若|若是|万一|的话|除非|梦到|梦见|做梦|梦里|小说里|故事里|游戏里|剧本里|例如|比如说|譬如|即使|就算|哪怕|"
    r"本来想|差点|差一点|举例|举个例|比方|例子|案例|情境|设想|虚构"
)
# "The customer wrote: I'm allergic to nuts": the words after a colon are those of another, of a form or of a sample,
# unless the words before it only announce news of the speaker.
_COLON = re.compile(
    r":\s|：|:(?=[\u4e00-\u9fff])|(?<!\bI )(?<!\bwe )\b(?:says?|said|told (?:me|us)|wrote|texted), |"
    rf"(?:[他她A-Za-z]|{either('亲')}) ?(?:[跟对]我)?(?:说|告诉我)，"
)
_HEDGE = pattern("sentences_HEDGE")
_HEDGE_ZH = re.compile(
    r"可能|也许|或许|大概|好像|似乎|应该|考虑|想要|想去|想|希望|打算|准备|计[划画]|将来|以后要|要是|会不会|说不定|不一定|没准|恐怕|估计|"
    r"听说|据说|犹豫|考虑中|差点|羡慕|假装|愿意|不知道|不确定|还没|没有|没|不|别|未必|快要|将要|即将|面试|应征|投了|申请"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a turn. ``raw`` and ``plain`` have the same length.

    ``raw`` is the text as said. ``plain`` is the text for patterns: straight apostrophes, hidden quotations, Chinese in
    simplified script. ``words`` are the Latin words and the first digit of each number. They decide cheaply which
    rules to try.
    """

    begin: int
    raw: str
    plain: str
    chinese: bool
    question: bool
    words: frozenset[str]


@lru_cache(maxsize=16)
def simplified(text: str) -> str:
    """Returns ``text`` in simplified script. A cache serves the second use, the episode of the same turn."""
    return to_simplified(text)


def readable(text: str, *, by_user: bool = True) -> str:
    """Returns ``text`` with code, quoted lines and longer quotations hidden, and what a user pasted.

    The length stays the same.
    """
    plain = text.translate(_APOSTROPHE) if not text.isascii() else text.replace("\t", " ")
    plain = without_code(plain)
    spans = pasted(plain) if by_user else ()
    return without_quotations(_without(plain, spans) if spans else plain)


def _without(plain: str, spans: Iterable[tuple[int, int]]) -> str:
    """Returns ``plain`` with the spans hidden. They may overlap."""
    pieces: list[str] = []
    reached = 0
    for begin, stop in sorted(spans):
        pieces.append(plain[reached:begin])
        pieces.append(_NOT_NEWLINE.sub(HIDDEN, plain[max(begin, reached) : stop]))
        reached = max(reached, stop)
    return "".join((*pieces, plain[reached:]))


def sentences(text: str, *, by_user: bool = True) -> Iterator[Sentence]:
    """Yields the sentences of ``text`` for the rules, in order. Skips text that a request pastes ("Translate: …")."""
    plain = readable(text, by_user=by_user)
    in_simplified = plain if plain.isascii() else simplified(plain)
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
        if chinese:
            piece = in_simplified[start : start + len(piece)]
        words = frozenset(_WORD.findall(piece.lower()))
        if not chinese:
            piece = _LOWER_I.sub("I", piece) if "i" in piece and not words.isdisjoint(_SAYS_I) else piece
        task = (
            _TASK_ZH.match(piece)
            if chinese
            else None
            if words.isdisjoint(_TASK_WORDS)
            else _TASK.match(piece)
        )
        if task is not None:
            pasting = task["verb"].casefold().partition(" ")[0] in _PASTING
            if pasting and (_PASTE.search(plain, start + task.end("verb")) or _FOLLOWING.search(piece)):
                return
            continue
        raw = text[start : start + len(piece)]
        asks = _asks(piece, chinese)
        cut = _told_before(piece, chinese, words) if asks else 0
        if cut:
            told = piece[:cut]
            yield Sentence(start, raw[:cut], told, chinese, False, frozenset(_WORD.findall(told.lower())))
        yield Sentence(start + cut, raw[cut:], piece[cut:], chinese, asks, words)


# "I live in Ghent, so which trains go to Paris?": the clauses before the question tell something.
_FIRST_PERSON = frozenset(("i", "i'm", "i've", "my", "we", "we're", "we've", "our"))
_TELLS = pattern("sentences_TELLS")
_THEN_ASKS = pattern("sentences_THEN_ASKS")
_CHECKING_WORD = pattern("sentences_CHECKING_WORD")
_TAG = re.compile(r"\W*(?:(?:and|but|so|or) )?\w+(?:'t)?(?: (?:I|you|we|he|she|it|they))?\W*$", re.IGNORECASE)
_TELLS_ZH = pattern("sentences_TELLS_ZH")
_CHECKS_ZH = re.compile(
    r"(?:对|是|没错|好|行|可以)(?:不对|不是|不好|不行|不可以)?[吗嘛吧呢]?\W*$|对吗|是吗|记得|正确|真的"
)


def _is_asked(rest: str) -> bool:
    return _CHECKING_WORD.search(rest) is None and _TAG.match(rest) is None


def _told_before(piece: str, chinese: bool, words: frozenset[str]) -> int:
    """Returns the length of the clauses before a question that tell something about the speaker, or 0.

    A question that only checks these clauses ("I live in Ghent, right?") makes them a question too.
    """
    if chinese:
        asked = _QUESTION_ZH.search(piece)
        if asked is None or _TELLS_ZH.match(piece) is None:
            return 0
        cut = piece.rfind("，", 0, asked.start()) + 1
        return cut if cut and _CHECKS_ZH.match(piece, cut) is None else 0
    if words.isdisjoint(_FIRST_PERSON) or _QUESTION.match(piece) or _TELLS.match(piece) is None:
        return 0
    border = _THEN_ASKS.search(piece)
    if border is None:
        return 0
    return border.start() if _is_asked(piece[border.start() :]) else 0


_LOWER_I = re.compile(r"i(?<![\w']i)(?=$|['\s,.!]|m\b)")
_SAYS_I = frozenset(("i", "i'm", "im", "i've", "i'll", "i'd"))


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

    "In the game" after them counts too. In Chinese the rest of the clause counts too (…的話).
    """
    if sentence.chinese:
        return _IRREALIS_ZH.search(sentence.plain, 0, clause(sentence, stop, stop)[1]) is not None
    plain = sentence.plain
    return _IRREALIS.search(plain, 0, stop) is not None or _IN_FICTION.search(plain, stop) is not None


def dictated(sentence: Sentence, begin: int) -> bool:
    """Returns True when a colon or "she said," before ``begin`` introduces words of another, of a sample or a draft."""
    for colon in _COLON.finditer(sentence.plain, 0, begin + 2):
        if OWN_HEAD.fullmatch(sentence.plain, 0, colon.start()) is None:
            return True
    return False


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


def hedged(sentence: Sentence, begin: int, stop: int) -> bool:
    """Returns True when a hedge or a negation stands before ``stop`` in the clause of ``begin``."""
    first, _ = clause(sentence, begin, stop)
    return (_HEDGE_ZH if sentence.chinese else _HEDGE).search(sentence.plain, first, stop) is not None
