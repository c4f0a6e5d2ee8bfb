"""Decides if a question asks for what the assistant answered, and not for what the user said.

The words are the ordinary verbs and nouns of answering in both languages. A request for something new ("what would you
recommend?") is no question about an earlier answer.
"""

import re

from events.language.casual import written_out
from events.language.chinese_script import has_cjk, to_simplified

_READ = 2000
_VERBS = (
    r"suggest|recommend|advise|propose|say|tell|explain|mention|answer|reply|respond|give|write|draft|list|describe|"
    r"offer|outline|point out|warn|provide|show|share|teach|summari[sz]e|calculate|translate|come up with|like|"
    r"prefer|pick|choose|ask me|count|reckon"
)
_PAST = (
    r"suggested|recommended|advised|proposed|said|told|explained|mentioned|answered|replied|responded|gave|given|wrote|"
    r"written|drafted|listed|described|offered|outlined|pointed out|warned|provided|showed|shown|shared|taught|"
    r"summari[sz]ed|calculated|translated|came up with|liked|preferred|picked|chose|chosen|asked me|counted"
)
_NOUNS = (
    r"suggestions?|recommendations?|advice|answers?|explanations?|tips?|proposals?|repl(?:y|ies)|responses?|"
    r"instructions?|summary|draft|outline"
)
_ADVERBS = r"(?:(?:just|already|once|first|last|earlier|previously|originally|then|also|ever)\s+)?"
_ENGLISH = re.compile(
    rf"\bdid (?:you|the assistant) {_ADVERBS}(?:{_VERBS})\b"
    rf"|\b(?:you|you've|you had|you have|the assistant) {_ADVERBS}(?:{_PAST})\b"
    rf"|\b(?:have|had) (?:you|the assistant) {_ADVERBS}(?:{_PAST})\b"
    rf"|\bwere you (?:suggest|recommend|say|tell|explain)ing\b"
    rf"|\b(?:your|the assistant's) (?:\w+ )?(?:{_NOUNS})\b"
    r"|\baccording to you\b"
)
_WHEN = r"(?:之前|以前|上次|上回|上周|上个月|刚才|刚刚|昨天|前天|那天|当时|曾经?|先前|最早|一开始|早上|前面)"
_SAID = (
    r"(?:推荐|建议|提议|提到|提过|提出|提|要我|叫我|让我|请我|"
    r"说明|说|讲解|讲|解释|回答|回复|答复|告诉|列出|列|写|介绍|教|总结|翻译|给)"
)
_CHINESE = re.compile(
    rf"[你您]{_WHEN}?(?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}(?:给我|我)?(?:了|过|的)"
    rf"|[你您]{_WHEN}(?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}"
    rf"|{_WHEN}[你您](?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}"
    rf"|[你您](?:{_WHEN})?的(?:建议|推荐|回答|解释|意见|答复|回复|说明|提议)"
    # Without a word of time: "what you told me", and no request for an opinion ("you say, should I …?").
    r"|[你您](?:都|也|还|有|是)?(?:教|提醒|劝)我(?!怎么)|[你您](?:让|叫|要)我(?![^，。？]*吗)|[你您][说讲话](?!我|咱|呢|说|话|的话|明|清)"
)


def asks_the_assistant(question: str) -> bool:
    """True when a question asks what the assistant answered, recommended or explained. Any text is allowed."""
    text = written_out(question[:_READ]).text.casefold().replace("’", "'")
    if _ENGLISH.search(text):
        return True
    return has_cjk(text) and _CHINESE.search(to_simplified(text)) is not None
