"""Judges a turn as an episode: substance, topics, importance and sentiment."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from events.language.chinese_script import has_cjk
from events.language.forget_requests import without_requests
from events.language.terms import IRREGULAR
from events.language.timex.numerals import NUMBERS
from events.types.cards import INJECTED, PASTED, Sentiment
from ingest.extraction.prompt_injection import untrusted_spans
from ingest.extraction.rules.sentences import simplified
from ingest.extraction.rules.words import SETS
from ingest.extraction.small_talk import is_small_talk

_WORD = re.compile(r"[a-z0-9][a-z0-9'’&@._/-]*[a-z0-9]|[a-z0-9]", re.IGNORECASE)
_CJK_RUN = re.compile("[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")

_STOP = SETS["stop"]
_FUNCTION_ZH = re.compile(
    r"我们|你们|他们|她们|它们|咱们|什么|怎么|哪里|为什么|因为|所以|但是|不过|而且|然后|如果|虽然|可以|可能|应该|已经|现在|目前|最近|今天|昨天|明天|后来|终于|一起|一个|一些|"
    r"一下|有点|得(?=[很挺太不更最非比])|"
    r"真的|非常|特别|比较|这个|那个|这里|那里|这样|那样|时候|没有|不是|就是|还是|或者|以及|自己|大家|觉得|知道|喜欢|需要|打算|准备|开始|"
    r"[我你您他她它的了在是有和跟与及也都就很太最会要想能不没被把给对从到去来过着吗呢吧啊喔哦啦呀嘛这那哪谁又再还更让说做当用为而且个只次些点上下里中外前后一二三四五六七八九十两几多少年月日号点分]"
)
_POSITIVE = SETS["positive"]
_NEGATIVE = SETS["negative"]
_MOODS = _POSITIVE | _NEGATIVE
_NEGATION = SETS["negation"]
_POSITIVE_ZH = re.compile(
    r"开心|高兴|快乐|兴奋|期待|喜欢|太好了|太棒|真棒|满意|幸福|感动|幸运|顺利|成功|不错|舒服|惊喜|骄傲|享受|放松|好吃|漂亮"
)
_NEGATIVE_ZH = re.compile(
    r"难过|伤心|生气|讨厌|糟糕|失望|焦虑|压力|担心|害怕|累|痛|生病|受伤|失败|过世|去世|失业|分手|离婚|吵架|崩溃|烦|郁闷|孤单|后悔|倒霉|可惜|无聊"
)
_LIFE = SETS["life"]
_LIFE_ZH = re.compile(
    r"结婚|订婚|离婚|怀孕|出生|过世|去世|搬家|搬到|跳槽|离职|入职|升职|升迁|毕业|住院|手术|确诊|车祸|领养|退休|买房|过敏|决定|上线|发布|生日|考上|录取|分手"
)
_LONGEST = 4000
_DETAIL = re.compile(r"\d|[A-Z][a-z]+(?: [A-Z][a-z]+)+|\"|「|《")


# A line of code, markup, a log or another dump: nobody says it aloud.
_DATA_LINE = re.compile(
    r"\s*(?:[{}<>;@$\])]|\[[\"'{\[\d]|//|/\*|\*/|>>>|\"[^\"]*\"\s*:|'[^']*'\s*:|```)"
    r"|.*(?:[{};]|\\|</\w+>|=>|:=|==|!=|&&|\|\|)\s*,?$"
    r"|\s*(?:def|class|import|from|function|const|let|var|return|public|private|static|void|select|insert|update|"
    r"create table|traceback|at [\w.$]+\(|file \"|error:|warn|info|debug)\b.*[(){}=;:+*\"]"
    r"|\s*[\w.-]+\s*[=:]\s*\S+$|\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\b",
    re.IGNORECASE,
)
_LEAST_DATA_LINES = 2


def is_pasted(text: str) -> bool:
    """Returns True when at least half of the lines of ``text`` are data or code, and at least two are.

    One line that is a JSON object or array or an element of markup is data too.
    """
    lines = [line for line in text[:_LONGEST].splitlines() if line.strip()]
    if len(lines) == 1:
        line = lines[0].strip()
        return line[0] in "{[<" and (line[0], line[-1]) in _ENCLOSED and _PAIR.search(line) is not None
    data = sum(_DATA_LINE.match(line) is not None for line in lines)
    return data >= _LEAST_DATA_LINES and 2 * data >= len(lines)


_ENCLOSED = frozenset((("{", "}"), ("[", "]"), ("<", ">")))
_PAIR = re.compile(r"[\"'\w]\s*[:=]\s*[\"'\w\[{]|</\w+>|\",\s*\"")


@dataclass(frozen=True, slots=True)
class Episode:
    """The judgement of a whole text. ``pasted``: it is mostly data or code. ``injected``: mostly a prompt injection.

    ``topics`` are phrases, and ``words`` their single words.
    """

    substantive: bool
    topics: tuple[str, ...]
    words: tuple[str, ...]
    sentiment: Sentiment
    weight: int
    pasted: bool = False
    injected: bool = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the episode: :data:`PASTED`, :data:`INJECTED`, and its first words."""
        marks = ((PASTED, self.pasted), (INJECTED, self.injected))
        return (*(mark for mark, holds in marks if holds), *(word.lower() for word in self.words[:4]))

    def told(self, topics: Sequence[str], sentiments: Sequence[Sentiment]) -> Episode:
        """Returns the episode with the topics and the first sentiment, except a neutral one, that a reader gives it."""
        told = tuple(dict.fromkeys(topics))[:_MOST_TOPICS]
        return replace(
            self,
            topics=told or self.topics,
            words=told or self.words,
            sentiment=next((each for each in sentiments if each != "neutral"), self.sentiment),
        )

    def importance(self, *, cards: int, question: bool) -> int:
        """Returns the importance from 1 (chatter) to 10 (a change of life).

        Cards raise the importance. A question without cards lowers it. Pasted text has the least importance.
        """
        if self.pasted:
            return 1
        return max(1, min(10, self.weight + min(cards, 2) - (1 if question and not cards else 0)))


# A key, a token or an address: no topic, and longer than a tag may be.
_NO_WORD = re.compile(r"[^\s\u3400-\u9fff]{81,}")


def read(text: str) -> Episode:
    """Returns the episode of ``text``. Only the first 4,000 characters count."""
    text = text[:_LONGEST]
    spoken = _NO_WORD.sub(" ", text)
    words = _words(spoken)
    return Episode(
        not is_small_talk(without_requests(text)),
        _topics(spoken, words),
        _content_words(spoken, words),
        _sentiment(words.lowered, words.distinct, words.folded),
        _weight(text, words.distinct, words.folded),
        is_pasted(text),
        2 * sum(end - begin for begin, end in untrusted_spans(text)) > len(text.strip()),
    )


def gist(text: str) -> tuple[tuple[str, ...], Sentiment]:
    """Returns the words and the sentiment of ``text``, as :func:`read` finds them."""
    text = _NO_WORD.sub(" ", text[:_LONGEST])
    words = _words(text)
    return _content_words(text, words), _sentiment(words.lowered, words.distinct, words.folded)


class _Words(NamedTuple):
    """The Latin words of a text as spoken and in lower case, and the text in simplified script, if it is Chinese."""

    spoken: list[str]
    lowered: list[str]
    distinct: set[str]
    folded: str


def _words(text: str) -> _Words:
    spoken = _WORD.findall(text)
    # One lower() over the joined words is three times as fast as one lower() for each word.
    lowered = " ".join(spoken).lower().replace("’", "'").split(" ") if spoken else []
    folded = "" if text.isascii() or not has_cjk(text) else simplified(text)
    return _Words(spoken, lowered, set(lowered), folded)


_MOST_TOPICS = 8


_MOST_WORDS = 3
"""The most words of a phrase."""
_INFLECTED = re.compile(r"(?:ed|ing|ly)$")


def _stands_alone(word: str) -> bool:
    """True for a word that says what is done, how, or how many. It is a topic, and no part of a phrase."""
    return _INFLECTED.search(word) is not None or word in IRREGULAR or word in NUMBERS


def _topics(text: str, words: _Words) -> tuple[str, ...]:
    """Returns the topics as spoken, each once: those of names first, then the others.

    A topic is a phrase: content words that stand side by side, with the numbers between them.
    """
    content = _content(words)
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    for phrase in _phrases(text, content):
        plain = phrase.lower().replace("’", "'")
        (others if phrase[0].islower() else names).setdefault(plain, phrase)
    _add_chinese(others, text, words)
    return tuple(
        [*names.values(), *(phrase for key, phrase in others.items() if key not in names)][:_MOST_TOPICS]
    )


def _phrases(text: str, content: Collection[str]) -> Iterator[str]:
    """Yields the runs of content words, the longest ones in parts. A mark or another word ends a run."""
    run: list[re.Match[str]] = []
    for found in _WORD.finditer(text):
        plain = found[0].lower().replace("’", "'")
        if run and (text[run[-1].end() : found.start()] != " " or run[-1][0].endswith(("'s", "’s"))):
            yield from _parts(text, run)
            run = []
        if (plain in content and not _stands_alone(plain)) or (run and plain.isdigit()):
            run.append(found)
        else:
            yield from _parts(text, run)
            run = []
            if plain in content:
                yield found[0]
    yield from _parts(text, run)


def _parts(text: str, run: Sequence[re.Match[str]]) -> Iterator[str]:
    for at in range(0, len(run), _MOST_WORDS):
        part = [each.span() for each in run[at : at + _MOST_WORDS]]
        told = [span for span in part if not text[slice(*span)].isdigit()]
        if told:
            yield text[told[0][0] : told[-1][1]].removesuffix("'s").removesuffix("’s")


def _content(words: _Words) -> set[str]:
    return {word for word in words.distinct - _STOP if len(word) > 2 and not word.isdigit()}


def _content_words(text: str, words: _Words) -> tuple[str, ...]:
    """Returns the content words as spoken, each once: names first, then others."""
    names: dict[str, str] = {}
    others: dict[str, str] = {}
    content = _content(words)
    for word, plain in zip(words.spoken, words.lowered, strict=True):
        if plain not in content:
            continue
        (others if word[0].islower() else names).setdefault(plain.removesuffix("'s"), word.removesuffix("'s"))
    _add_chinese(others, text, words)
    return tuple(
        [*names.values(), *(word for key, word in others.items() if key not in names)][:_MOST_TOPICS]
    )


def _add_chinese(others: dict[str, str], text: str, words: _Words) -> None:
    """Adds the Chinese between function words, as spoken, by its simplified form."""
    for run in _CJK_RUN.finditer(words.folded):
        folded, at = run[0], 0
        for border in [*_FUNCTION_ZH.finditer(folded), None]:
            end = border.start() if border is not None else len(folded)
            if 2 <= end - at <= 8:
                others.setdefault(folded[at:end], text[run.start() + at : run.start() + end])
            at = border.end() if border is not None else at


def _sentiment(lowered: list[str], distinct: set[str], folded: str) -> Sentiment:
    """Returns the sentiment from the words for moods. A negation just before such a word inverts it."""
    score = 0
    if not _MOODS.isdisjoint(distinct):
        for at, word in enumerate(lowered):
            if word in _MOODS:
                tone = 1 if word in _POSITIVE else -1
                score += -tone if not _NEGATION.isdisjoint(lowered[max(0, at - 2) : at]) else tone
    if folded:
        for pattern, tone in ((_POSITIVE_ZH, 1), (_NEGATIVE_ZH, -1)):
            for found in pattern.finditer(folded):
                negated = folded[max(0, found.start() - 2) : found.start()].endswith(
                    ("不", "没", "不太", "没有")
                )
                score += -tone if negated else tone
    return "positive" if score > 0 else "negative" if score < 0 else "neutral"


def _weight(text: str, distinct: set[str], folded: str) -> int:
    """Returns the weight of a text. Life events, names, numbers and length raise it. A very short text lowers it."""
    score = 3
    if not _LIFE.isdisjoint(distinct) or (folded and _LIFE_ZH.search(folded)):
        score += 2
    if _DETAIL.search(text):
        score += 1
    if len(text) > 160 or (folded and len(text) > 50):
        score += 1
    if len(distinct) < 4 and (not folded or len(text) < 8):
        score -= 1
    return score
