"""Tells where a turn may state facts about its speaker, and whether its speaker speaks of themselves at all."""

import re
from functools import cached_property

from events.language.chinese_script import to_simplified
from events.language.forget_requests import requests_to_forget
from events.language.values import word_set
from ingest.extraction.prompt_injection import untrusted_spans
from ingest.extraction.rules.pasted import contains
from ingest.extraction.rules.words import SETS, WORDS, pattern

_ROLES = "|".join(
    sorted(
        SETS["occupation"]
        | word_set("ai bot assistant expert chatbot character model king queen wizard patient customer guide")
    )
)
_ASKED = (
    r"(?:^|[.!?:;,\n] ?|\b(?:please|you|must|should|will|and|now|"
    r"(?<!told )(?<!asked )(?<!had )(?<!have )(?<!got )(?<!used )to) )"
)
_ROLE_PLAY = re.compile(
    rf"\brole-?[ ]?play|\bpretend(?:ing)? (?:to be|you|I|we|that|it)\b|"
    r"\blet's play an? |\bgoing to play an? (?:game|quiz)\b|"
    r"\bplay(?:ing)? the (?:part|role) of\b|(?:^|[.!?\n] ?)(?:simulate\b|your name is \w)|"
    rf"{_ASKED}(?:act|speak|talk|write|reply|respond|answer) "
    rf"(?:as (?:if|though|an?|my|the|someone)|like (?:an?|my|the))\b|\bimagine (?:that|you|I|we|yourself)\b|"
    rf"\bsuppose (?:that|you|I|we)\b|\blet's (?:say|imagine|suppose|pretend)\b|"
    rf"(?:\A\s*|\n\s*|\bfrom now on,? )you(?:'re| are) (?:now )?(?:an?|the|my) [^.!?\n]{{0,40}}\b(?:{_ROLES})\b|"
    r"\byou(?:'ll|'re going to| will) (?:play|be) (?:an?|the|my)\b|\bI(?:'ll| will) (?:play|be) (?:an?|the|your)\b|"
    r"\b(?:in|out of) character\b|\bfrom the perspective of an?\b|"
    r"\b(?:a|the|this|your|my|our|her|his|user|buyer|target|customer|following) personas?\b",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"(?:^|[.!?:;\n] ?|\b(?:please|you|help me|to) )"
    r"(?:write|draft|compose|create|generate|make up|continue|finish|rewrite|tell me|give me|here's|here is|this is)\b"
    r"[^.!?\n]{0,60}\b(?:stor(?:y|ies)|poems?|songs?|lyrics|scenes?|dialogues?|monologues?|screenplays?|novels?|"
    r"chapters?|fiction|fanfic(?:tion)?|jokes?|characters?|templates?|fables?|tales?|diary entr(?:y|ies)|episodes?)\b"
    r"|\b(?:my|our) (?:main |side )?(?:characters?|protagonist|antagonist|villain|heroine|narrator|avatar|npc|oc)\b"
    r"|^[ \t]*(?:chapter|scene|act) (?:\d+|[ivx]+|one|two|three)\b",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = pattern("fiction_QUOTED")
# The patterns run only on a text with one of these. Substring searches are many times as fast as the patterns.
_ROLE_WORDS = WORDS["role_play"]
_FICTION_WORDS = WORDS["fiction"]
_QUOTED_WORDS = WORDS["quoted"]
_CHINESE = re.compile(
    r"角色扮演|扮演|假装|假设你|假设我|第一人称|你的名字[是叫]|(?:主角|主人公|男主|女主|反派)[是叫名]|"
    r"你(?:现在)?是我的[^，。]{0,6}(?:老师|医生|律师|助理|秘书|教练|面试官|客户|导师|顾问|女友|男友|女朋友|男朋友|老婆|老公|主人|妈妈|爸爸)|"
    r"想象(?:你|我|一下)|以.{1,12}的(?:口吻|身份|角度|语气|视角)|(?:你|你现在)是一?[个位名].{1,12}(?:[，,。]|$)|"
    r"(?:写|编|讲|续写|创作|生成|给我|来)(?:一|几|个|则|篇|首|段)[^。！？\n]{0,20}(?:故事|小说|诗|歌词|剧本|对话|独白|笑话|范例|范本|日记|童话)|"
    r"第[一二三四五六七八九十\d]+[章幕回]"
)
_END = re.compile(r"[.!?。！？\n]")
_CJK = re.compile("[\u3400-\u9fff]")


def factual_length(text: str) -> int:
    """Returns the number of characters of ``text`` before the first sentence that announces role play or fiction."""
    at = len(text)
    lowered = text.lower()
    for announced, words in ((_ROLE_PLAY, _ROLE_WORDS), (_FICTION, _FICTION_WORDS), (_QUOTED, _QUOTED_WORDS)):
        if contains(lowered, words):
            found = announced.search(text, 0, at)
            # A match may begin with the end of the sentence before.
            at = found.start() + (found[0][:1] in ".!?\n") if found is not None else at
    if not text.isascii() and _CJK.search(text):
        found = _CHINESE.search(to_simplified(text), 0, at)
        at = found.start() if found is not None else at
    if at == len(text):
        return at
    begin = 0
    for end in _END.finditer(text, 0, at):
        begin = end.end()
    return begin


# Kana, Hangul, Cyrillic, Arabic, Hebrew, Devanagari, Thai: four letters in a row.
_FOREIGN = re.compile(
    "(?:[\u3040-\u30ff\u3131-\u318e\uac00-\ud7af\u0400-\u06ff\u0900-\u097f\u0e00-\u0e7f] ?){4}"
)
_FIRST_PERSON = re.compile(r"\b(?:[Ii]|[Mm]y|[Ww]e|[Oo]ur|us|mine)\b(?!\.\w)|[我咱]|本人")
# Characters. Of 20 states from the middle of longer turns, in real chats with an assistant, 3 were right.
_TYPED, _OPENING, _CLOSING = 1000, 500, 200
_BRIEF = 300
_NEXT_SENTENCE = re.compile(r"[.!?]\s+\S|[。！？\n]\s*\S")


class FactualText:
    """The text of a turn. Each search runs at the first question, because few turns have a draft."""

    def __init__(self, text: str) -> None:
        self._text = text

    def holds(self, begin: int, stop: int) -> bool:
        """Returns False for words after an announced fiction, and for a sentence that gives orders to the reader.

        A request to forget is such an order.
        """
        return begin < self._length and not any(start < stop and begin < end for start, end in self._orders)

    def typed(self, at: int) -> bool:
        """Returns False for words that the speaker has likely pasted.

        These are the middle of a long turn, and the English words beside a request in a language the rules cannot read.
        """
        size = len(self._text)
        return (size <= _TYPED or at < _OPENING or at > size - _CLOSING) and not self._foreign

    @cached_property
    def personal(self) -> bool:
        """True when a short turn has a word of the first person, or is a single sentence.

        Without them, several sentences about others are an exercise, a story or a document.
        """
        if len(self._text) > _BRIEF:
            return False
        return _FIRST_PERSON.search(self._text) is not None or not _NEXT_SENTENCE.search(self._text.strip())

    @cached_property
    def _foreign(self) -> bool:
        """True when the turn has words in a script that the rules cannot read."""
        return not self._text.isascii() and _FOREIGN.search(self._text) is not None

    @cached_property
    def _length(self) -> int:
        return factual_length(self._text)

    @cached_property
    def _orders(self) -> tuple[tuple[int, int], ...]:
        asked = [(request.begin, request.end) for request in requests_to_forget(self._text)]
        return (*untrusted_spans(self._text), *asked)
