"""Finds role play and fiction. What a turn says after it announces them is no fact of its speaker."""

from __future__ import annotations

import re

from events.language.chinese_script import to_simplified
from events.language.values import word_set
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
