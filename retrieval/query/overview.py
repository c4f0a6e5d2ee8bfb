"""Decides if a question asks for everything that is known about the asker ("what do you know about me?", 你知道我什么).

Such a question shares no word with the facts that answer it. It puts the asker in the place of a topic, and has no
other topic: all its other words belong to asking and remembering. So "what do you know about my sister?" and "… about
me and Rust" are ordinary questions.
"""

import re

from events.language.chinese_script import has_cjk, to_simplified

_LONGEST = 200
_SAME = str.maketrans({"’": "'", "您": "你", "妳": "你", "瞭": "了"})
_PUNCTUATION = re.compile(r"[\s,.!?;:…\"“”()，。！？；：、～~「」『』-]+")

_ASKER = re.compile(
    r"\b(?:(?:about|of|on|regarding|concerning|know|remember|understand|recogni[sz]e|describe|introduce|summari[sz]e|profile"
    r"|sum up|see|picture) (?:me|myself|the user)|who (?:am i|i am)|(?:my|your) (?:profile|memory|memories))\b"
)
_ENGLISH = re.compile(
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
_CHINESE = re.compile(
    rf"{_KNOW}|{_SAY}|{_SELF}|关于|有关|对于|什么|哪些|多少|怎么样|怎样|如何|几多|所有|一切|全部|事情|东西|信息|资讯|资料|内容|情况|细节|"
    r"方面|基本|个人|背景|状况|现在|目前|当前|到底|究竟|已经|至今|迄今|为止|一共|总共|大概|具体|请问|麻烦|拜托|你好|嗨|嘿|哈喽|那么|好的|帮|"
    r"可以|能不能|能否|可不可以|可否|知道|想|问|话说|对了|助理|小助手|一下|眼中|眼里|心中|心里|看来|里面|里头|当中|哪位|形象|出来|一遍|"
    r"谢谢|来着|还|都|会|能|又|些|了|过|着|得|到|的|有|是|谁|人|样|个|一|于|跟|对|向|给|把|将|请|先|再|那|所|就|多|深|事|儿|里|中|在|"
    r"听|吗|呢|啊|呀|吧|嘛|么|啦|喔|哦|没|我|你|嗯|喂|下|啥|咩|乜"
)


def asks_for_overview(question: str) -> bool:
    """True when a question asks what is known about the asker, and names no topic. Any text is allowed."""
    if len(question) > _LONGEST:
        return False
    text = _PUNCTUATION.sub(" ", question.casefold().translate(_SAME)).strip()
    if has_cjk(text):
        text = to_simplified(text).replace(" ", "")
        return _ASKER_CHINESE.search(text) is not None and not _CHINESE.sub("", text)
    return _ASKER.search(text) is not None and not _ENGLISH.sub("", text).strip(" '")
