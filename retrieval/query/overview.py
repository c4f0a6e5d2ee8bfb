"""Decides if a question asks for everything that is known about the asker ("what do you know about me?", 你知道我什么).

Such a question shares no word with the facts that answer it. The whole question must be of this kind: a question with a
topic ("what do you know about my sister?", "… about me and Rust") is an ordinary question.
"""

from __future__ import annotations

import re
from functools import cache

from events.language.chinese_script import has_cjk, to_simplified

_LONGEST = 200
_SAME = str.maketrans({"’": "", "'": "", "您": "你", "妳": "你", "瞭": "了"})
_PUNCTUATION = re.compile(r"[\s,.!?;:…\"“”()，。！？；：、～~「」『』-]+")

_ME = r"(?:me|myself|the user|your user)"
_ABOUT = rf"(?:about|of|on|regarding|concerning) {_ME}"
_HOLD = r"(?:know|remember|recall|have|store|keep|hold|understand|retain)"
_HELD = (
    r"(?:known|learn(?:ed|t)|remembered|stored|saved|noted|recorded|gathered|collected|kept|memori[sz]ed|found out|"
    r"figured out|picked up|heard|got|discovered|been told)"
)
_STORED = r"(?: (?:stored|saved|recorded|noted|written down|remembered|on file|on record|in (?:your |the )?memory))?"
_ADVERB = (
    r"(?:(?:already|currently|actually|really|still|even|just|so far|presently|personally|now|think you) )*"
)
_THINGS = (
    r"(?:(?:all |any |some )?(?:of )?(?:the |your |those )?(?:things|facts|details|information|info|data|stuff|"
    r"memories|notes|knowledge|records))"
)
_ALL = r"(?:everything|anything|something|all|all that|whatever|what|a (?:bit|little)|more|things|stuff|what all)"
_YOU_HOLD = (
    rf"(?:that |which )?(?:you {_ADVERB}{_HOLD}{_STORED}|(?:you have|youve|you) {_ADVERB}{_HELD}|is {_HELD})"
)
_OF_ME = r"(?:me|myself|my (?:profile|memory|memories|file|record))"
_ENGLISH = (
    r"(?:(?:hi|hey|hello|ok|okay|so|well|and|now|then|please|pls|right|great|thanks|first|quick question|"
    r"i (?:wonder|was wondering|want to know|would like to know)|id like to know|just|alright|all right|"
    r"(?:can|could|would|will) you|let me know|remind me|do you mind telling me) )*"
    r"(?:"
    rf"what(?: all| else| exactly| things| sorts? of things)? (?:do|can|does) (?:you|it|cardlog) {_ADVERB}"
    rf"(?:{_HOLD}{_STORED}|tell me|say|recall) {_ABOUT}"
    rf"|(?:what|which) {_THINGS} (?:do you {_ADVERB}{_HOLD}{_STORED}|(?:have you|youve) {_ADVERB}{_HELD}) {_ABOUT}"
    rf"|what(?: all| else| things)? (?:have you|did you|youve) {_ADVERB}"
    rf"(?:{_HELD}|learn|find out|remember|store) {_ABOUT}"
    rf"|what(?: all| else| things)? (?:have i|did i|ive) {_ADVERB}"
    rf"(?:told|tell|shared with|share with|said to|say to)(?: you)? (?:about|of) {_ME}"
    rf"|what(?: is|s|re| are)?(?: all)? {_THINGS} {_YOU_HOLD} {_ABOUT}"
    rf"|(?:what(?: is|s)|whats) (?:in|stored in|saved in|on) (?:your|the|my) "
    rf"(?:memory|memories|notes|records?|file|profile)(?: {_ABOUT})?"
    rf"|(?:do|did) you {_ADVERB}(?:know|remember|have|store) "
    rf"(?:anything|something|things|much|a lot|{_THINGS}){_STORED} {_ABOUT}"
    rf"|(?:is|are) there (?:anything|something|things) {_YOU_HOLD} {_ABOUT}"
    rf"|how (?:much|well) do you {_ADVERB}(?:know|remember|understand) (?:{_ME}|{_ABOUT})"
    rf"|do you {_ADVERB}(?:know|remember|recogni[sz]e) (?:me|who i am)"
    r"|who am i(?: to you)?|who do you think i am"
    r"|how (?:would|do|can) you (?:describe|see|picture|characteri[sz]e) me"
    rf"|(?:tell|show|give|list|send|read)(?: me| us)?(?: back)? (?:{_ALL}|{_THINGS})(?: {_YOU_HOLD})?(?: {_ABOUT})"
    rf"|(?:tell|show|give|list)(?: me)? {_ALL} {_YOU_HOLD} {_ABOUT}"
    rf"|(?:what is|whats) {_HELD} {_ABOUT}|tell me (?:{_ABOUT}|who i am)"
    rf"|(?:describe|introduce|summari[sz]e|sum up|profile) {_OF_ME}(?: to (?:me|myself))?"
    rf"|(?:summari[sz]e|sum up|recap|describe|explain) (?:{_ALL}|{_THINGS}) {_YOU_HOLD} {_ABOUT}"
    rf"|(?:give me |write |show me )?(?:a |an |the )?(?:short |brief |quick |full |complete )?"
    rf"(?:summary|overview|profile|description|picture|recap) of (?:{_OF_ME}|{_ALL} {_YOU_HOLD} {_ABOUT})"
    r"|(?:show|read|list)(?: me)? (?:my|all my) (?:profile|memory|memories|facts)"
    rf"|(?:{_ALL}|{_THINGS}|anything)(?: {_YOU_HOLD})? {_ABOUT}"
    rf"|your (?:knowledge|memory|memories|notes) {_ABOUT}"
    r")"
    r"(?: (?:so far|right now|now|currently|today|at the moment|at this point|by now|already|please|pls|in general|"
    r"overall|exactly|then|actually|as a person|personally|in your memory|from memory|again|thanks|thank you|"
    r"in (?:short|brief|a nutshell)|till now|until now|up to now|to date))*"
)

_KNOW = r"(?:知道|了解|记得|记住|晓得|掌握|清楚|明白|认识|存|保存|记录|储存|记下|记|留|收集|知|懂)"
_WHAT = (
    r"(?:些|了|过|着|到|有)?(?:什么|哪些|多少|啥|几多|咩|乜|一切|所有)(?:样)?(?:的)?"
    r"(?:事情|事儿|事|东西|信息|资讯|资料|内容|情况|细节|记忆|了解|印象|认识|方面)?"
)
_MY = r"我(?:本人|自己|这个人)?"
_THINGS_OF_ME = (
    rf"{_MY}(?:的)?(?:一切|所有|全部|事情|事儿|事|信息|资讯|资料|情况|基本情况|"
    r"基本资料|个人资料|档案|背景|状况)?"
)
_OF = r"(?:关于|有关|对于|对|跟|和)"
_ADVERBS = (
    r"(?:现在|目前|当前|到底|究竟|都|还|已经|已|到目前为止|至今|迄今|至今为止|一共|总共|大概|具体|会|能|又)*"
)
_TELL = (
    r"(?:告诉我|说说|讲讲|谈谈|聊聊|介绍一下|介绍|描述一下|描述|总结一下|总结|概括一下|概括|列出|列一下|列举|"
    r"说一下|讲一下|说|讲|形容一下|形容|简述|归纳|整理|复述)"
)
_CHINESE = (
    r"(?:请问|请|麻烦|拜托|你好|您好|嗨|嘿|哈喽|嗯|那么|那|所以|好的|好|喂|帮我|给我|跟我|向我|可以|能不能|能否|可不可以|"
    r"可否|能|我想知道|我想了解|想知道|想问|我想问|话说|对了|先|再|把|将|助理|小助手|一下)*"
    r"(?:"
    rf"你{_ADVERBS}{_KNOW}(?:了|着|得|到|过|下来|下)?(?:{_OF}{_THINGS_OF_ME}|{_MY})(?:的)?{_WHAT}"
    rf"|你{_ADVERBS}{_KNOW}(?:了|着|得|到|过|下来)?{_WHAT}(?:是)?(?:{_OF}){_THINGS_OF_ME}(?:的)?(?:事|事情|信息|资料|东西)?"
    rf"|你{_ADVERBS}(?:{_OF}){_THINGS_OF_ME}(?:的)?{_ADVERBS}(?:有)?(?:{_KNOW})?(?:了|着|得|到|过)?{_WHAT}"
    rf"|你{_ADVERBS}{_OF}{_MY}(?:的)?(?:了解|认识|印象|记忆)(?:有)?{_WHAT}"
    rf"|你{_ADVERBS}{_OF}{_MY}(?:的)?(?:了解|认识|印象|记忆)(?:有)?(?:是|怎么样|如何|多深|有多深)?"
    rf"|(?:{_OF}){_THINGS_OF_ME}(?:的)?你{_ADVERBS}{_KNOW}(?:了|着|得|到|过)?{_WHAT}"
    rf"|你{_ADVERBS}{_KNOW}(?:{_OF})?{_THINGS_OF_ME}"
    rf"|你{_ADVERBS}(?:知道|记得|晓得|清楚)我是(?:谁|什么人|哪位|什么样的人|怎样的人)"
    rf"|{_TELL}我是(?:谁|什么人|什么样的人|怎样的人|怎么样的人|个什么样的人)"
    rf"|我{_ADVERBS}(?:跟|和|对|向)?你?{_ADVERBS}(?:说|讲|提|告诉|聊|分享)(?:过|了|到过)?(?:你)?(?:过|了)?{_WHAT}(?:{_OF}){_THINGS_OF_ME}"
    rf"|我{_ADVERBS}(?:跟|和|对|向)?你?{_ADVERBS}(?:说|讲|提|告诉|聊|分享)(?:过|了|到过)?(?:你)?(?:过|了)?(?:{_OF}){_THINGS_OF_ME}(?:的)?{_WHAT}"
    rf"|你{_ADVERBS}有(?:{_OF})?{_MY}(?:的)?{_WHAT}"
    r"|(?:在)?你(?:眼中|眼里|心中|心里|看来|印象中)(?:的)?我(?:是|会是)?(?:怎样|怎么样|什么样|如何|一个怎样|一个什么样|个什么样)(?:的)?(?:人|形象)?"
    r"|我是(?:谁|什么人|什么样的人|怎样的人|怎么样的人|个什么样的人|一个什么样的人|一个怎样的人)"
    rf"|(?:你的|你)?(?:记忆|资料库|数据库|笔记|档案|记录)(?:里面|里头|里|中|当中)(?:{_ADVERBS})(?:有|存了|记了|保存了)(?:{_WHAT})?"
    rf"(?:{_OF})?{_THINGS_OF_ME}(?:的)?(?:{_WHAT}|事|事情|信息|资料)?"
    rf"|{_TELL}(?:你)?(?:(?:所)?(?:{_KNOW})(?:的|到的))?(?:所有|一切|全部)?(?:你)?(?:(?:所)?(?:{_KNOW})(?:的|到的))?"
    rf"(?:所有|一切|全部)?(?:{_OF})?{_THINGS_OF_ME}(?:的)?(?:一切|所有|全部|事|事情|信息|资料|了解|认识|印象|记忆|什么)?"
    rf"|{_TELL}你{_ADVERBS}{_OF}{_MY}(?:的)?(?:了解|认识|印象|记忆|所有了解)"
    rf"|你(?:所)?{_KNOW}(?:的)?(?:所有|一切|全部)?(?:{_OF}){_THINGS_OF_ME}(?:的)?(?:一切|所有|全部|事|事情|信息|资料|东西)?"
    r"(?:都)?(?:告诉我|说出来|列出来|讲出来|说给我听|讲给我听|说一遍|列一下|说说)?"
    rf"|{_OF}{_THINGS_OF_ME}(?:的)?(?:一切|所有|全部)"
    r")"
    r"(?:吗|呢|啊|呀|吧|嘛|么|了|啦|喔|哦|来着|没|没有|好吗|谢谢)*"
)


@cache
def _pattern(chinese: bool) -> re.Pattern[str]:
    """Returns the pattern of a whole question. The first call compiles it, which takes 50 ms."""
    return re.compile(_CHINESE if chinese else _ENGLISH)


def asks_for_overview(question: str) -> bool:
    """True when a question asks what is known about the asker, and names no topic. Any text is allowed."""
    if len(question) > _LONGEST:
        return False
    text = question.casefold().translate(_SAME)
    if has_cjk(text):
        return _pattern(True).fullmatch(_PUNCTUATION.sub("", to_simplified(text))) is not None
    return _pattern(False).fullmatch(_PUNCTUATION.sub(" ", text).strip()) is not None
