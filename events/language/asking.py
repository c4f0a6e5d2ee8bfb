"""Decides how much of a text only asks: questions, with or without their mark, and requests.

The words are closed classes: question words, auxiliary verbs before a subject, and the verbs that ask somebody to say
something. Any text is allowed, and at most its first :data:`READ` characters are read.
"""

import re

from events.language.chinese_script import has_cjk, to_simplified

READ = 600
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_OPENING = (
    r"(?:(?:well|so|hmm|ok|okay|yes|yeah|and|but|also|hi|hello|hey|btw|by the way|quick question|then|now|thanks|"
    r"please|pls)\b[\s,:]*)*"
)
_ENGLISH = re.compile(
    rf"\W*{_OPENING}(?:"
    r"(?:who|whom|whose|what|which|when|where|why|how)(?:'?s|'?re|'?d|'?ll)?\b(?! (?:a|an)\b)"
    r"|(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|have|has|had|isn't|aren't|"
    r"don't|doesn't|didn't|can't|won't|wouldn't|shouldn't) (?:i|you|we|he|she|it|they|there|this|that|my|your|our|"
    r"the|a|an|any|some|anyone|anybody|someone|somebody)\b"
    r"|(?:tell|give|show|help|remind|teach|send|find|get|let) me\b|(?:any|some) (?:ideas|suggestions|tips|advice|"
    r"recommendations)\b|(?:suggest|recommend|explain|summari[sz]e|translate|list|describe|write|draft|compare|"
    r"calculate|generate|rewrite)\b|i (?:wonder|was wondering)\b)"
)
_CHINESE = re.compile(
    r"[吗呢][。！!～~\s]*$|^\W*(?:那|那么|请问|话说|对了|所以)?[，,]?(?:请|麻烦|帮我|给我|告诉我|推荐|建议|教我|翻译|解释|总结|列出)"
    r"|什么|怎么|怎样|如何|为何|谁|哪[里儿个些位天年种]|几[点时号月]|多少|多久|多大|是不是|有没有|能不能|要不要|可不可以|会不会|该不该|能否|是否"
)
_ASKS = ("?", "？")
_TELLS_FIRST = re.compile(rf"{_OPENING}(?:i|my|we|our)\b|[^，,]{{0,12}}我[^，,]{{4,}}[，,]", re.IGNORECASE)
# "What should I pack now that the trip is a week longer?" asks, and gives its reason as a fact.
_TELLS_WHY = re.compile(
    r"\b(?:since(?! when\b)|now that|given|considering|because|seeing (?:as|that))(?: \w+\W*){4}"
    r"|(?:既然|因为|由于|考虑到)[^，,。]{4}"
)


def asking(text: str) -> float:
    """Returns the part of the sentences of ``text`` that ask or request, from 0 to 1. An empty text asks nothing."""
    sentences = [each.strip() for each in _SENTENCE.findall(text[:READ]) if each.strip()]
    return sum(map(_asks, sentences)) / len(sentences) if sentences else 0.0


def _asks(sentence: str) -> bool:
    folded = sentence.casefold().replace("’", "'")
    if sentence.endswith(_ASKS):
        # "I moved to the third floor, is that too high?"
        return _TELLS_FIRST.match(folded) is None and _TELLS_WHY.search(to_simplified(folded)) is None
    if _ENGLISH.match(folded):
        return _TELLS_WHY.search(folded) is None
    return has_cjk(sentence) and _CHINESE.search(to_simplified(sentence)) is not None
