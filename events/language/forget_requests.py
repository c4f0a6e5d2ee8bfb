"""Finds requests to forget: "please forget my wife's name", 忘掉我说的地址. No card rests on such a request.

Only a request to the assistant counts. A story ("I forgot my umbrella"), a warning ("don't forget my birthday") and a
change of plans ("forget the trip") are ordinary words. All functions are pure and raise on no text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from events.language.chinese_script import to_simplified

_LONGEST = 300
"""Characters of a sentence. A longer one is no request."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
# No word of a repeated list is made of others of it: the time would double with each such word.
_POLITE = (
    r"\s*(?:(?:ok(?:ay)?|hey|hi|oh|and|also|so|then|now|actually|sorry|well|wait|thanks)[, ]+)*"
    r"(?:(?:please|kindly|just|(?:can|could|would|will) you|you (?:can|should|may|must)|"
    r"i(?:'d| would) like you to|i want you to|i need you to)[, ]+)*"
)
_POLITE_END = (
    r"(?:,? (?:please|thanks|thank you|for me|now|again|ok(?:ay)?|(?:can|could|would|will) you))*[\s.!?]*"
)
_SAID = (
    r"(?:i|we)(?:'ve| have|'d| had)?(?: just| already| once| earlier)? "
    r"(?:said|say|told|tell|gave|given|mentioned|wrote|written|shared|shown|showed|typed|sent|asked)\b"
)
_MINE = (
    rf"(?:about )?(?:(?:all |everything |anything )?(?:about )?(?:my|our)\b|me\b|us\b|what {_SAID}|"
    rf"(?:that|where|what|who|when|how old) (?:i|we|my|our)\b|"
    rf"(?:everything|anything|all)(?: that)? (?:{_SAID}|"
    r"you(?:'ve| have)? (?:know|remember|stored|saved|learned|learnt))|"
    rf"the [\w' -]{{1,60}}? (?:that |which )?{_SAID})"
)
_ERASE = r"(?:erase|delete|remove|wipe|scrub)(?: out)?"
_KEEP = r"(?:save|store|keep|record|note down|note|write down|memori[sz]e)"
_ABOUT_ME = r"(?:about|on|of|regarding|concerning) (?:me|us|my|our)\b"
_NOTES = (
    r"(?:notes?|memory|memories|records?|entry|entries|cards?|information|info|data|facts?|details?|things?)"
)
_PRIVATE = (
    r"(?:(?:full|first|last|middle|real|home|e-?mail|phone|mobile|cell|postal|street|work|office|bank|credit card|"
    r"social security|passport|tax|medical|health|personal|private|date of|old|new|current) )*"
    r"(?:names?|nickname|address(?:es)?|e-?mails?|phone|numbers?|birthday|birth ?date|birth|age|weight|height|salary|"
    r"income|diagnos[ie]s|illness(?:es)?|allerg(?:y|ies)|medications?|history|details|data|information|religion|"
    r"passwords?|account number|iban|debts?)"
)
_MEMORY = r"(?:your |the )?(?:memory|memories|records?|profile|notes|database|files?)"
_ENGLISH = (
    rf"{_POLITE}(?:"
    rf"(?:(?:do you mind|would you mind) forgetting|forget|unlearn|erase from {_MEMORY}) (?P<thing>{_MINE}.*)"
    rf"|{_ERASE} (?P<kept>.+?) from {_MEMORY}"
    rf"|{_ERASE} (?P<told>what {_SAID}.*|(?:everything|anything|all)(?: that)? {_SAID}.*)"
    rf"|{_ERASE} (?P<held>(?:everything|anything|all)(?: that)? you(?:'ve| have)? [\w' ]{{0,30}}{_ABOUT_ME}.*)"
    rf"|{_ERASE} (?P<notes>(?:the|your|any|all|every|those)(?: the| your| of your)? {_NOTES} "
    rf"(?:you have |you keep )?{_ABOUT_ME}.*)"
    rf"|{_ERASE} (?P<private>(?:my|our) {_PRIVATE}){_POLITE_END}"
    r"|(?:please |kindly )?stop (?:remembering|storing|keeping|saving|recording|memori[sz]ing) "
    rf"(?P<stopped>(?!me\b|us\b){_MINE}.*)"
    r"|i (?:do not|don't|would rather not|never) want you to (?:ever )?"
    rf"(?:remember|know|{_KEEP}) (?P<unwanted>{_MINE}.*)"
    rf"|(?:do not|don't|never|stop) (?:ever |again )?{_KEEP}(?:ing)? "
    rf"(?P<unkept>(?:this|that|it|these)\b|(?!me\b|us\b){_MINE}.*)"
    rf")(?:{_POLITE_END})"
    r"|\s*(?:please (?:forget|disregard) (?:about )?(?:that|this)|"
    r"(?:forget|disregard) (?:about )?(?:that|this),? please)"
    r"[\s.!?]*"
)
_ASKED_REMEMBER = (
    rf"(?=.*\bplease\b){_POLITE}(?:do not|don't) remember (?P<thing>{_MINE}.*|(?:this|that)\b.*)"
)
_ASKS = (
    r"(?:好[,，]?|那[,，]?|嗯[,，]?|对了[,，]?|不好意思[,，]?)*"
    r"(?:请|麻烦|拜托|帮我|替我|可以|能不能|可不可以|能否|你能|你|就|都|先)*"
)
_OURS = (
    r"(?:关于|有关)?(?:我|我们|咱)(?:刚才|刚刚|之前|以前|上次|昨天|先前)?"
    r"(?:跟你|和你|对你|向你|给你)?(?:说过的|说的|讲过的|讲的|提过的|提到的|告诉你的|给你的|给过的|告诉过你的|写的|的)?"
)
_PRIVATE_CHINESE = (
    r"(?:[^，,。！？的]{0,6}的)?(?:家庭|家里|公司|手机|电子|个人|银行|身份证|护照|真实|全部|所有)*(?:的)?"
    r"(?:地址|住址|电话|电话号码|手机号|手机号码|号码|邮箱|电邮|邮件地址|生日|出生日期|名字|姓名|年龄|岁数|体重|身高|薪水|工资|收入|"
    r"病史|病情|病历|诊断|过敏|身份证|身份证号|账号|账户|卡号|密码|资料|信息|隐私|信仰|宗教)"
)
_KEPT_CHINESE = r"(?:记忆|记录|资料|信息|资讯|内容|印象|笔记|档案|数据|事情|事|话|东西)"
_ERASE_CHINESE = r"(?:删掉|删除|删去|删了|清除|清掉|抹掉|抹去|移除|去掉)"
_SOFT_END = r"[\s,，]*(?:吧|好吗|好嘛|可以吗|行吗|谢谢|谢谢你|了)*[\s。！!?？.]*"
_CHINESE = (
    rf"\s*(?:{_ASKS}(?:"
    rf"(?:我(?:想|要|希望|想要)(?:让|请|叫|要)?你)?(?:忘掉|忘记|忘却|忘记掉)(?P<thing>{_OURS}[^。！？]*?)"
    rf"|我(?:想|要|希望|想要)(?:让|请|叫|要)?你(?:把)?忘了(?P<lost>{_OURS}[^。！？]*?)"
    rf"|(?:把|将)(?P<private>我{_PRIVATE_CHINESE})(?:都|全部|全|给)?{_ERASE_CHINESE}"
    rf"|{_ERASE_CHINESE}(?P<erased>我{_PRIVATE_CHINESE})"
    rf"|{_ERASE_CHINESE}(?:你)?(?:所有|全部|一切)?(?P<notes>(?:我)?(?:所有|全部|一切)?(?:关于|有关)(?:我|我们|[^，,。！？]{{1,10}})[^，,。！？]*的"
    rf"{_KEPT_CHINESE})"
    rf"|{_ERASE_CHINESE}你(?:对|关于|有关|脑中)(?P<known>我[^，,。！？]*的{_KEPT_CHINESE})"
    rf"|{_ERASE_CHINESE}(?P<held>你(?:所)?(?:记住|记下|记录|保存|储存|知道|记得|记|存)(?:的|过的|下来的)?(?:所有|全部|一切)?(?:关于|有关)?我[^，,。！？]*)"
    rf"|(?P<topic>(?:关于|有关)我[^，,。！？]{{1,20}})[，,]\s*(?:请|麻烦|拜托|就|都|你|把它|把这些|全部|可以|帮我)+(?:忘掉|忘了|忘记|{_ERASE_CHINESE})"
    rf"|(?:把|将)(?P<put>{_OURS}[^。！？]+?)(?:都|全部|全)?(?:忘掉|忘了|忘记|抹掉|抹去|从(?:你的)?(?:记忆|记录|资料|档案)(?:里|中|里面)?"
    r"(?:删掉|删除|移除|清除|抹去|抹掉|去掉))"
    rf"|(?:从(?:你的)?(?:记忆|记录|资料|档案)(?:里|中|里面)?)?(?:删掉|删除|清除|抹掉|抹去)(?P<told>(?:关于|有关)?(?:我|我们)"
    r"(?:刚才|刚刚|之前|以前|上次)?(?:跟你|对你|给你)?(?:说过的|说的|讲过的|讲的|提过的|提到的|告诉你的|告诉过你的)[^。！？]*?)"
    rf"|(?:别|不要)再(?:记得|记着)(?P<past_kept>{_OURS}[^。！？]*?)"
    rf"|(?:别|不要|请勿|勿|不用|不必|不许)(?:再)?(?:记住|记下来|记下|记录|保存|储存|存储|存下|记|存)(?!得)"
    rf"(?P<unkept>{_OURS}[^。！？]*?|(?:这|那)(?:个|些|件事|句话|段话)?)"
    rf"){_SOFT_END}|(?:请|麻烦你?|拜托)忘了(?P<past>{_OURS}[^。！？]*?){_SOFT_END})"
)
_TRIGGERS = re.compile(
    r"forget|unlearn|disregard|erase|delete|remove|wipe|scrub|n't |not |never |stop |[忘删刪抹清移去记記存]",
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


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Returns the patterns of a sentence. The first call compiles them, which takes 75 ms."""
    return (
        re.compile(_ENGLISH, re.IGNORECASE), re.compile(_ASKED_REMEMBER, re.IGNORECASE), re.compile(_CHINESE)
    )  # fmt: skip


def _requests(text: str) -> Iterator[ForgetRequest]:
    plain = to_simplified(text).replace("’", "'")
    if len(plain) != len(text):
        return
    for sentence in _SENTENCE.finditer(plain):
        words = sentence[0]
        if len(words) > _LONGEST or _TRIGGERS.search(words) is None:
            continue
        found = next((found for each in _patterns() if (found := each.fullmatch(words))), None)
        if found is not None:
            span = next((found.span(name) for name, said in found.groupdict().items() if said), None)
            about = "" if span is None else text[sentence.start() + span[0] : sentence.start() + span[1]]
            yield ForgetRequest(sentence.start(), sentence.end(), about.strip(" .!?。！？"))
