"""What the form of a question tells: its parts, and if it asks for the assistant's words, for all, or for pasted texts.

People ask two things at once ("…? Also, where …?"), and think aloud before they ask ("… but what I really want to know
is …"). Recall searches for each part by itself. Terms before the actual question weigh little.

What the assistant answered is asked for by the ordinary verbs and nouns of answering. A request for something new
("what would you recommend?") is no question about an earlier answer.

A question for all that is known about the asker ("what do you know about me?", 你知道我什么) shares no word with the
facts that answer it. It puts the asker in the place of a topic, and all its other words belong to asking and
remembering. So "what do you know about my sister?" and "… about me and Rust" are ordinary questions.
"""

import re
from dataclasses import dataclass
from itertools import islice

from events.language.chinese_script import has_cjk, to_simplified
from events.language.terms import question_terms

_NEXT_PART = re.compile(
    r"(?:(?<=[.!?;。！？；])|(?<=[.!?;] ))(?:另外|此外|还有|以及)[，,、:：]?"
    r"|(?<=[.!?;] )(?:also|additionally|and also|one more thing|another question)[,:]",
    re.IGNORECASE,
)
_COMES_TO_IT = re.compile(
    r"(?:想要?|要)(?:问|说|了解|知道|搞清楚|弄清楚|确认|请教)的?(?:问题)?(?:其实)?是?(?:这个)?[：:，,]"
    r"|问题(?:其实)?是(?:这个)?[：:，,]"
    r"|(?:^|(?<=[.!?。！？]))(?:对了|等等|不对)[，,：:]"
    r"|what i (?:really |actually )?(?:want(?:ed)?|meant) to (?:ask|know)(?: is| was)?[:,]?"
    r"|my (?:real |actual )?question is[:,]?"
    r"|actually,? i (?:want(?:ed)?|meant) to (?:ask|know)[:,]?",
    re.IGNORECASE,
)
_THINKING_ALOUD = 0.2
_MOST_PARTS = 4
_LONE_CHARACTER = 0.5
"""The weight of a single Chinese character. The character is more often a piece of a word than a word, and recall finds
more with half the weight."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """One part of a question: ``text`` for an embedder, and ``terms`` with their weights for term search."""

    text: str
    terms: dict[str, float]


def parse_question(question: str) -> tuple[ParsedQuestion, ...]:
    """Returns the parts of a question in order, at least one and at most four. Nearly every question has one part.

    The best way to merge the hits of several parts is by their best rank in any part.
    """
    parts = [part for part in _split(question) if question_terms(part)]
    return tuple(map(_read, parts)) or (ParsedQuestion(question, {}),)


def _split(question: str) -> list[str]:
    seams = list(islice(_NEXT_PART.finditer(to_simplified(question)), _MOST_PARTS - 1))
    starts = [0, *(seam.end() for seam in seams)]
    stops = [*(seam.start() for seam in seams), len(question)]
    return [question[start:stop].strip() for start, stop in zip(starts, stops, strict=True)]


def _read(part: str) -> ParsedQuestion:
    weights: dict[str, float] = {}
    point = part
    # The last phrase such as "what I really want to know is" counts, if terms follow it.
    for match in list(_COMES_TO_IT.finditer(to_simplified(part)))[: -_MOST_PARTS - 1 : -1]:
        if question_terms(rest := part[match.end() :].strip()):
            point = rest
            break
    if point is not part:
        weights = dict.fromkeys(question_terms(part), _THINKING_ALOUD)
    weights.update(dict.fromkeys(question_terms(point), 1.0))
    for term in weights:
        if len(term) == 1 and not term.isascii():
            weights[term] *= _LONE_CHARACTER
    return ParsedQuestion(point, weights)


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
_OF_ASSISTANT = re.compile(
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
_YOU = re.compile(r"\bu\b(?!')")
_OF_ASSISTANT_CHINESE = re.compile(
    rf"[你您]{_WHEN}?(?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}(?:给我|我)?(?:了|过|的)"
    rf"|[你您]{_WHEN}(?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}"
    rf"|{_WHEN}[你您](?:都|也|还|有|是)?(?:给我|帮我|跟我|对我|向我|和我|为我|替我)?{_SAID}"
    rf"|[你您](?:{_WHEN})?的(?:建议|推荐|回答|解释|意见|答复|回复|说明|提议)"
    # Without a word of time: "what you told me", and no request for an opinion ("you say, should I …?").
    r"|[你您](?:都|也|还|有|是)?(?:教|提醒|劝)我(?!怎么)|[你您](?:让|叫|要)我(?![^，。？]*吗)|[你您][说讲话](?!我|咱|呢|说|话|的话|明|清)"
)


def asks_the_assistant(question: str) -> bool:
    """True when a question asks what the assistant answered, recommended or explained. Any text is allowed."""
    text = _YOU.sub("you", question[:_READ].casefold().replace("’", "'"))
    if _OF_ASSISTANT.search(text):
        return True
    return has_cjk(text) and _OF_ASSISTANT_CHINESE.search(to_simplified(text)) is not None


_LONGEST_OVERVIEW = 200
_SAME = str.maketrans({"’": "'", "您": "你", "妳": "你", "瞭": "了"})
_PUNCTUATION = re.compile(r"[\s,.!?;:…\"“”()，。！？；：、～~「」『』-]+")

_ASKER = re.compile(
    r"\b(?:(?:about|of|on|regarding|concerning|know|remember|understand|recogni[sz]e|describe|introduce|summari[sz]e|profile"
    r"|sum up|see|picture) (?:me|myself|the user)|who (?:am i|i am)|(?:my|your) (?:profile|memory|memories))\b"
)
_NO_TOPIC = re.compile(
    r"\b(?:a|about|actually|again|all|already|also|am|and|any|anything|are|as|at|bit|brief|can|collected|"
    r"complete|concerning|could|currently|describe|description|detail|details|did|discovered|do|else|even|"
    r"everything|exactly|explain|fact|facts|far|figured|file|first|for|found|from|full|gathered|general|"
    r"give|got|great|has|have|heard|hello|hey|hi|hold|how|i|id|in|info|information|introduce|is|ive|"
    r"just|keep|kept|know|knowledge|known|learn|learned|learnt|let|list|little|lot|me|memories|"
    r"memorised|memorized|memory|mind|more|much|my|myself|note|noted|notes|now|of|ok|okay|on|or|out|"
    r"overall|overview|person|personally|picked|picture|please|pls|point|presently|profile|quick|re|read|"
    r"really|recall|recap|recognise|recognize|record|recorded|records|regarding|remember|remembered|remind|"
    r"retain|right|s|said|saved|say|see|send|share|shared|short|show|so|some|something|still|store|"
    r"stored|stuff|sum|summarise|summarize|summary|talk|tell|thank|thanks|that|the|then|there|thing|"
    r"things|think|to|today|told|understand|understood|up|us|user|ve|was|well|what|whats|whatever|"
    r"which|who|with|wonder|write|would|you|your)\b"
)
_KNOW = (
    r"(?:知道|了解|记得|记住|记下|记录|晓得|掌握|清楚|明白|认识|储存|保存|收集|印象|记忆|"
    r"资料库|数据库|笔记|档案|存|记|留|懂)"
)
_SAY = r"(?:告诉|介绍|描述|总结|概括|列出|列举|形容|简述|归纳|整理|复述|聊|分享|说|讲|谈|提)"
_SELF = r"(?:自己|本人|这个人)"
_ASKER_CHINESE = re.compile(
    rf"(?:关于|有关|对于|对|{_KNOW}(?:了|着|得|到|过|下来)?|(?:介绍|描述|总结|概括|形容|归纳|整理|说|讲|谈|聊)(?:说|讲|谈|聊|一下)?"
    rf"|有|存了?|记了?)我(?!{_SAY})|(?:眼中|眼里|心中|心里|看来)的?我|我{_SELF}?是(?:谁|哪位)?(?![一-鿿])"
    r"|我是(?:一?个)?(?:什么|怎么?)样?的?人"
)
_NO_TOPIC_CHINESE = re.compile(
    rf"{_KNOW}|{_SAY}|{_SELF}|关于|有关|对于|什么|哪些|多少|怎么样|怎样|如何|几多|所有|一切|全部|事情|东西|信息|资讯|资料|内容|情况|细节|"
    r"方面|基本|个人|背景|状况|现在|目前|当前|到底|究竟|已经|至今|迄今|为止|一共|总共|大概|具体|请问|麻烦|拜托|你好|嗨|嘿|哈喽|那么|好的|帮|"
    r"可以|能不能|能否|可不可以|可否|知道|想|问|话说|对了|助理|小助手|一下|眼中|眼里|心中|心里|看来|里面|里头|当中|哪位|形象|出来|一遍|"
    r"谢谢|来着|还|都|会|能|又|些|了|过|着|得|到|的|有|是|谁|人|样|个|一|于|跟|对|向|给|把|将|请|先|再|那|所|就|多|深|事|儿|里|中|在|"
    r"听|吗|呢|啊|呀|吧|嘛|么|啦|喔|哦|没|我|你|嗯|喂|下|啥|咩|乜"
)


def asks_for_overview(question: str) -> bool:
    """True when a question asks what is known about the asker, and names no topic. Any text is allowed."""
    if len(question) > _LONGEST_OVERVIEW:
        return False
    text = _PUNCTUATION.sub(" ", question.casefold().translate(_SAME)).strip()
    if has_cjk(text):
        text = to_simplified(text).replace(" ", "")
        return _ASKER_CHINESE.search(text) is not None and not _NO_TOPIC_CHINESE.sub("", text)
    return _ASKER.search(text) is not None and not _NO_TOPIC.sub("", text).strip(" '")


_PASTED = re.compile(
    r"\b(?:code|json|yaml|toml|xml|html|csv|sql|scripts?|snippets?|configs?|configuration|settings?|logs?|"
    r"stack ?traces?|tracebacks?|errors?|exceptions?|commands?|queries|query|functions?|class(?:es)?|"
    r"past(?:e|ed)|payloads?|files?|tables?)\b"
)
_PASTED_CHINESE = re.compile(
    r"代码|程式|程序|脚本|配置|设定|设置|日志|报错|错误|异常|命令|指令|查询|函数|贴(?:上|过|给|的)|数据|资料|档案|文件|表格"
)


def asks_for_pasted(question: str) -> bool:
    """Returns True when a question names data or code. Any text is allowed."""
    text = question[:_READ].casefold()
    if _PASTED.search(text):
        return True
    return has_cjk(text) and _PASTED_CHINESE.search(to_simplified(text)) is not None
