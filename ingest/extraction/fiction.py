"""Finds role play and fiction: words that are said as somebody else, or of people who do not exist.

Fiction ("in my novel") holds to the end of its turn. A role play is a game of the two who talk: it holds for the next
turns of the session too, until somebody ends it.
"""

import re

from events.types.cards import FICTION
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.rules.sentences import simplified

# Where none of these stands, no border is searched. Each is part of every border in its script.
_SIGNS = (
    "play",
    "game",
    "pretend",
    "novel",
    "story",
    "character",
    "protagonist",
    "campaign",
    "scene",
    "reality",
    "real life",
)
_SIGNS_ZH = ("演", "玩", "戏", "戲", "小说", "小說", "故事", "剧", "劇", "主角", "角色", "现实", "現實")
_PLAY = r"role-?[ ]?play(?:ing)?"
_ASKED = (
    r"(?:(?:^|[.!?:;\n])\W*(?:(?:ok|okay|so|hey|hi|now|please|well|then|right|sure|and)\b[ ,!]+)*|"
    r"\b(?:let['’]?s|let us|(?:can|could|shall|should|will|would) (?:we|you|I)|wanna|want (?:you |us )?to|"
    r"['’]d (?:like|love) (?:you |us )?to|would (?:like|love) (?:you |us )?to|please)[ ,]+)"
    r"(?:(?:please|now|just|try|start|do|have|begin|continue|keep|to|a|an|some|another|the|our|quick|little) )*"
)
_BORDER = re.compile(
    # the end of a role play
    rf"(?P<left>(?:let['’]?s |let us |(?:can|shall) we )?\b(?:stop|end|quit|finish|leave|exit|done with|enough of|"
    rf"end of|out of)(?: (?:with|the|this|that|our|all|of))* "
    rf"(?:{_PLAY}|games?|pretending|scene|character|playing(?! \w))\b|"
    rf"\b(?:{_PLAY}|game|scene)(?: is|['’]s)? over\b|\bback to (?:reality|real life)\b|"
    rf"(?:结束|停止|停下|退出|不玩|不演|别玩|别演)[^，。！？\n]{{0,4}}(?:扮演|游戏|演戏|了)|(?:游戏|(?:角色)?扮演)(?:结束|到此为止)|回到现实)|"
    # its beginning: somebody asks for it, or tells who is to be whom
    rf"(?P<play>{_ASKED}(?:{_PLAY}\b(?! (?:is|was|are|games?)\b)|"
    rf"(?:play|act) (?:pretend|make-?believe|(?:[\w-]+ ){{1,3}}?(?:scene|scenario|characters?|adventure)\b|"
    rf"(?:an?|another|this|our) (?:(?!board|card|video)[\w-]+ )?"
    rf"game(?=\W*(?:$|[.,:!?\n])| (?:where|in|with|about|called)\b)))|"
    rf"\blet['’]?s pretend\b|"
    rf"\byou(?:['’]ll| will)? (?:be|play) (?:the|an?|my) [^.!?\n]{{1,60}}?"
    rf"\bI(?:['’]m| am|(?:['’]ll| will)? (?:be|play))\b|"
    rf"\bI(?:['’]ll| will)? (?:be|play) (?:the|an?|your) [^.!?\n]{{1,60}}?\byou(?:['’]ll| will)? (?:be|play)\b|"
    rf"(?:来|玩|做|进行|开始|继续|^|[。！？\n])[一个点场次下段]{{0,3}}角色扮演|"
    rf"(?:我们|咱们?|一起|陪我|[跟和]我|来)来?玩[一个场次]{{1,2}}[^，。！？\n了]{{0,4}}(?:游戏|过家家)|"
    rf"你来?(?:扮?演|当)[^。！？\n]{{1,20}}我[来就]?(?:扮?演|当|是|叫)|我来?(?:扮?演|当)[^。！？\n]{{1,20}}你来?(?:扮?演|当))|"
    # a work of fiction, and who is in it
    r"\bin (?:my|our|your|the) (?:[\w&'’-]+ ){0,2}?(?:novel|story|screenplay|campaign)\b|"
    r"\bmy (?!fav)(?:[\w&'’-]+ ){0,3}?(?:character|protagonist)\b|"
    r"(?:小说|故事|剧本)[里中]|我[^，。！？\n]{0,8}(?:主角|角色)的?(?:名字)?(?:叫|是|住)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?。！？\n]")


def spans(text: str, *, played: bool) -> tuple[list[tuple[int, int]], bool]:
    """Returns the parts of a turn that are fiction, and True when a role play holds after it.

    ``played`` says that a role play holds before it. A part begins with the sentence that opens it.
    """
    plain = text if text.isascii() else simplified(text)
    found: list[tuple[int, int]] = []
    begin = 0 if played else None
    for border in _BORDER.finditer(plain) if _may_have_a_border(text) else ():
        if border["left"] and played and begin is not None:
            found.append((begin, border.end()))
            begin, played = None, False
        elif not border["left"]:
            # A match may begin with the end of the sentence before.
            begin = _sentence(text, border.start() + 1) if begin is None else begin
            played = played or border["play"] is not None
    return ([*found, (begin, len(text))] if begin is not None else found), played


def played(batch: SessionBatch) -> frozenset[str]:
    """Returns the ids of the turns before which a role play holds, at most :data:`CONTEXT_TURNS` turns after its
    beginning. A role play begins and ends in turns of the user."""
    found: set[str] = set()
    since = None
    for number, recorded in enumerate((*batch.preceding, *batch.turns)):
        turn = recorded.turn
        holds = since is not None and number - since <= CONTEXT_TURNS
        if holds:
            found.add(turn.turn_id)
        if turn.role != "user":
            continue
        if spans(turn.text, played=False)[1]:
            since = number
        elif not (holds and spans(turn.text, played=True)[1]):
            since = None
    return frozenset(found)


def tags(found: list[tuple[int, int]]) -> tuple[str, ...]:
    """Returns the tags of the episode of a turn with these parts."""
    return (FICTION,) if found else ()


def _sentence(text: str, at: int) -> int:
    return max((end.end() for end in _SENTENCE_END.finditer(text, 0, at)), default=0)


def _may_have_a_border(text: str) -> bool:
    lower = text.casefold()
    return any(sign in lower for sign in (_SIGNS if text.isascii() else (*_SIGNS, *_SIGNS_ZH)))
