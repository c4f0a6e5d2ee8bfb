"""Finds requests to forget: "please forget my wife's name", 忘掉我说的地址. No card rests on such a request.

Only a request to the assistant counts. A story ("I forgot my umbrella"), a warning ("don't forget my birthday") and a
change of plans ("forget the trip") are ordinary words. All functions are pure and raise on no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from events.language.chinese_script import to_simplified

_LONGEST = 300
"""Characters of a sentence. A longer one is no request."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_POLITE = (
    r"\s*(?:(?:ok(?:ay)?|hey|hi|oh|and|also|so|then|now|actually|sorry|well|wait|thanks)[, ]+)*"
    r"(?:(?:please|kindly|just|(?:can|could|would|will) you(?: please)?|you (?:can|should|may|must)(?: please)?|"
    r"i(?:'d| would) like you to|i want you to|i need you to)[, ]+)*"
)
_SAID = (
    r"(?:i|we)(?:'ve| have|'d| had)?(?: just| already| once| earlier)? "
    r"(?:said|say|told|tell|gave|given|mentioned|wrote|written|shared|shown|showed|typed|sent|asked)\b"
)
_MINE = (
    rf"(?:about )?(?:(?:all |everything |anything )?(?:about )?(?:my|our)\b|me\b|us\b|what {_SAID}|"
    rf"that (?:i|we|my|our)\b|"
    rf"(?:everything|anything|all)(?: that)? (?:{_SAID}|"
    r"you(?:'ve| have)? (?:know|remember|stored|saved|learned|learnt))|"
    rf"the [\w' -]{{1,60}}? (?:that |which )?{_SAID})"
)
_KEEP = r"(?:save|store|keep|record|note down|note|write down|memori[sz]e)"
_MEMORY = r"(?:your |the )?(?:memory|memories|records?|profile|notes|database|files?)"
_ENGLISH = (
    rf"{_POLITE}(?:"
    rf"(?:forget|unlearn|erase from {_MEMORY}) (?P<thing>{_MINE}.*)"
    rf"|(?:erase|delete|remove|wipe|scrub) (?P<kept>.+?) from {_MEMORY}"
    rf"|(?:erase|delete|remove|wipe|scrub) (?P<told>what {_SAID}.*|(?:everything|anything|all)(?: that)? {_SAID}.*)"
    rf"|(?:do not|don't|never|stop) (?:ever |again )?{_KEEP}(?:ing)? (?P<unkept>(?:this|that|it|these)\b|{_MINE}.*)"
    rf"|(?:forget|disregard) (?:about )?(?:it|that|this)(?: again| please)?"
    r")[\s.!?]*"
)
_ASKED_REMEMBER = (
    rf"(?=.*\bplease\b){_POLITE}(?:do not|don't) remember (?P<thing>{_MINE}.*|(?:this|that)\b.*)"
)
_ASKS = (
    r"(?:好[,，]?|那[,，]?|嗯[,，]?|对了[,，]?|不好意思[,，]?)*"
    r"(?:请你|请|麻烦你|麻烦|拜托|帮我|替我|可以|能不能|可不可以|能否|你可以|你能|你|就|都|先)*"
)
_OURS = (
    r"(?:关于|有关)?(?:我|我们|咱)(?:刚才|刚刚|之前|以前|上次|昨天|先前)?"
    r"(?:跟你|和你|对你|向你|给你)?(?:说过的|说的|讲过的|讲的|提过的|提到的|告诉你的|给你的|给过的|告诉过你的|写的|的)?"
)
_SOFT_END = r"[\s,，]*(?:吧|好吗|好嘛|可以吗|行吗|谢谢|谢谢你|了)*[\s。！!?？.]*"
_CHINESE = (
    rf"\s*(?:{_ASKS}(?:"
    rf"(?:忘掉|忘记|忘却|忘记掉)(?P<thing>{_OURS}[^。！？]*?)"
    rf"|(?:把|将)(?P<put>{_OURS}[^。！？]+?)(?:都|全部|全)?(?:忘掉|忘了|忘记|抹掉|抹去|从(?:你的)?(?:记忆|记录|资料|档案)(?:里|中|里面)?"
    r"(?:删掉|删除|移除|清除|抹去|抹掉|去掉))"
    rf"|(?:从(?:你的)?(?:记忆|记录|资料|档案)(?:里|中|里面)?)?(?:删掉|删除|清除|抹掉|抹去)(?P<told>(?:关于|有关)?(?:我|我们)"
    r"(?:刚才|刚刚|之前|以前|上次)?(?:跟你|对你|给你)?(?:说过的|说的|讲过的|讲的|提过的|提到的|告诉你的|告诉过你的)[^。！？]*?)"
    rf"|(?:别|不要|请勿|勿|不用|不必|不许)(?:再)?(?:记住|记下来|记下|记录|保存|储存|存储|存下|记|存)"
    rf"(?P<unkept>{_OURS}[^。！？]*?|(?:这|那)(?:个|些|件事|句话|段话)?)"
    rf"){_SOFT_END}|(?:请|麻烦你?|拜托)忘了(?P<past>{_OURS}[^。！？]*?){_SOFT_END})"
)
_TRIGGERS = re.compile(
    r"forget|unlearn|disregard|erase|delete|remove|wipe|scrub|n't |not |never |stop |[忘删刪抹清记記存]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A request in a turn: its place in the text, and the words that say what to forget, which may be none."""

    begin: int
    end: int
    about: str


def requests_to_forget(text: str) -> tuple[ForgetRequest, ...]:
    """Returns the requests to forget in ``text``, in order. Each takes its sentence."""
    if _TRIGGERS.search(text) is None:
        return ()
    return tuple(_requests(text))


def without_requests(text: str) -> str:
    """Returns ``text`` without its requests to forget."""
    kept, reached = [], 0
    for request in requests_to_forget(text):
        kept.append(text[reached : request.begin])
        reached = request.end
    return "".join((*kept, text[reached:])) if reached else text


def hidden_requests(text: str) -> str:
    """Returns ``text`` with every request to forget hidden. The length stays the same, and sentences stay apart."""
    for request in requests_to_forget(text):
        text = f"{text[: request.begin]}{' ' * (request.end - request.begin - 1)}\n{text[request.end :]}"
    return text


class _Patterns(NamedTuple):
    english: re.Pattern[str]
    asked_remember: re.Pattern[str]
    chinese: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Returns the patterns of a sentence. The first call compiles them, which takes 75 ms."""
    return _Patterns(
        re.compile(_ENGLISH, re.IGNORECASE), re.compile(_ASKED_REMEMBER, re.IGNORECASE), re.compile(_CHINESE)
    )


def _requests(text: str) -> Iterator[ForgetRequest]:
    plain = to_simplified(text).replace("’", "'")
    if len(plain) != len(text):
        return
    patterns = _patterns()
    for sentence in _SENTENCE.finditer(plain):
        words = sentence[0]
        if len(words) > _LONGEST or _TRIGGERS.search(words) is None:
            continue
        found = (
            patterns.english.fullmatch(words)
            or patterns.asked_remember.match(words)
            or patterns.chinese.fullmatch(words)
        )
        if found is not None:
            span = next((found.span(name) for name, said in found.groupdict().items() if said), None)
            about = "" if span is None else text[sentence.start() + span[0] : sentence.start() + span[1]]
            yield ForgetRequest(sentence.start(), sentence.end(), about.strip(" .!?。！？"))
