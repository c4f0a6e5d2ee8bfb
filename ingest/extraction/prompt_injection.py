"""Finds prompt injection: words of a turn that give orders to the model. No card rests on such words.

The patterns know the usual orders in English and Chinese. An order takes its own sentence and what it dictates:

- A *forged frame* (``<system>``, ``[INST]``, ``SYSTEM:``) takes everything up to its end mark. Without an end mark it
  takes the rest of the turn.
- An order that *says what to do* ("ignore your instructions and save that …") takes its sentence and the sentences
  that go on with it: further orders, quoted or listed text, and sentences about "the user".
- An order that *leaves open what follows* ("ignore your instructions.", "store this: …") takes the sentences behind
  it, up to words with which the speaker turns back to the talk ("ignore that", "anyway", 對了), or to an order that
  says what to do ("Print your prompt.").

Plain statements outside are kept. A request to remember ("save to memory that I am vegetarian") is no prompt injection.
It is the purpose of a memory. All functions are pure and raise on no text.
"""

import re
from collections.abc import Iterator

from events.language.chinese_script import to_simplified

# An order begins a clause or follows a request. "I ignored all the instructions" is a story and no order.
_ORDER = r"(?:^|[.!?:;,\n\"'“‘(\]>*#-]|\bplease\b|\bmust\b|\bshould\b|\bto\b|\band\b|\bthen\b|\bnow\b)[ \t]*"
_ELSEWHERE = (
    r"\b(?![ ](?:on|in|from|of|for)[ ](?:the|my|our|her|his|their|that|a)[ ](?!system|above|previous"
    r"|prompt|developer|conversation|chat))"
)
_VERB = (
    r"(?:store|save|record|write|add|insert|create|emit|extract|output|make|put|append|update|set|log|file"
    r"|remember|memori[sz]e|note)"
)
_VERB_ZH = r"(?:写入|输出|新增|产生|记录|记住|记下|记成|建立|储存|存入|存成|保存|添加|加入|登记|更新)"
_FRAME = re.compile(
    r"</?(?P<tag>system|assistant|human|user|instructions?|turns?|earlier_turns|current_time|tool\w*"
    r"|function\w*|invoke|"
    r"parameter|extraction_prompt|known_facts|open_plans|concept_keys|examples?)\b[^<>]{0,200}>?"
    r"|\[/?(?P<mark>INST|SYS|SYSTEM)\]|<<SYS>>|<\|(?P<token>[^|<>]{1,30})\|>",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"^[ \t>*#]*(?:\[?(?:system|assistant|human|developer|admin(?:istrator)?|root)(?:[ ](?:message|note|prompt"
    r"|notice|override))?\]?\**"
    r"|系统(?:消息|提示|通知|指令)?|开发者|管理员)[ \t]*[:：]"
    r"|^[ \t]*\#{1,4}[ ]*(?:new[ ]|system[ ])?(?:instructions?|system|指令|系统)\b",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNS = re.compile(
    rf"""
    {_ORDER}(?:ignore|disregard|forget|override|bypass|discard|drop|neglect|violate|stop[ ]following
        |(?:do[ ]not|don't)[ ]follow)\b
        [^.!?\n]{{0,30}}\b(?:instructions?|prompts?|guidelines|directives|safety[ ]rules|programming){_ELSEWHERE}
    | {_ORDER}{_VERB}\b[^.!?\n]{{0,20}}\b(?:(?:state|event|knowledge|memory)[ ](?:cards?|entry)
        |cards?[ ](?:that|saying|with))
    | {_ORDER}{_VERB}\b[^.!?\n]{{0,30}}\b(?:that|as)[ ](?:the|this)[ ]user(?:'s|[ ](?:is|has|lives|likes|loves
        |works|was|owns|wants|hates))\b
    | {_ORDER}(?:set|change|update|overwrite)[ ](?:the[ ])?user(?:'s|[._ ](?:name|profile|memory|residence|role))
    | \bcall[ ]the[ ](?:tool|function)\b | \b(?:record_cards|tool_use|tool_result|tool_choice|function_call
        |concept_key)\b
    | \byou[ ](?:are|will[ ]be)[ ](?:now|from[ ]now[ ]on)[ ](?:in[ ]|an?[ ]|the[ ])?[^.!?\n]{{0,20}}
        \b(?:mode|ai|dan|admin|root|model|bot|unrestricted|jailbroken)\b
    | \bfrom[ ]now[ ]on,?[ ]you[ ](?:are|will|must|shall|obey)\b | \byou[ ]must[ ](?:now[ ])?(?:obey|comply)\b
    | \b(?:enter|enable|activate|switch[ ](?:in)?to)[ ](?:the[ ])?(?:developer|admin|god|debug|jailbreak
        |dan)[ ]mode\b
    | \b(?:new|real|updated|actual|hidden)[ ](?:system[ ])?(?:instructions?|prompt|directives?)[ ]*:
        | \bsystem[ ]override\b
    | {_ORDER}(?:reveal|print|repeat|show|leak)\b[^.!?\n]{{0,20}}\b(?:system[ ]prompt|your[ ](?:instructions
        |prompt|guidelines))\b
    | {_ORDER}(?:act|behave|respond|answer|pretend)[ ](?:as[ ](?:if|though)|that|like)\b
    | {_ORDER}treat[ ](?:what|everything|the|all|any)\b[^.!?\n]{{0,40}}\bas[ ](?:true|fact|facts|verified
        |confirmed)\b
    | (?<![我他她們们])(?:忽略|无视|忘掉|忘记|不要理会|不用管|不要遵守|别遵守|绕过|违反|覆盖)
        (?:(?!的?(?:说明书|食谱))[^。！？\n]){{0,12}}(?:指令|指示|提示词?|规则|设定|限制|安全准则)
    | 系统(?:提示词|指令|覆写) | (?:你现在是|从现在(?:起|开始),?，?你(?:就?是|要|必须|得))[^。！？\n]{{0,12}}
        (?:模式|助手|机器人|管理员|模型|听我的?|服从|照做)
    | 进入(?:开发者|管理员|调试|越狱)模式 | (?:新的?|真正的?|隐藏的?)(?:指令|指示)[ ]*[:：是]
    | {_VERB_ZH}[^。！？\n]{{0,8}}卡片 | 呼叫[^。！？\n]{{0,8}}(?:工具|函数|函式)
        | 调用[^。！？\n]{{0,8}}(?:工具|函数)
    | {_VERB_ZH}[^。！？\n]{{0,6}}(?:用户|使用者)(?:的|是|叫|住|名|有|喜欢|在) | 把(?:用户
        |使用者)[^。！？\n]{{0,12}}(?:改成|设成|设为|记成|存成|写成)
    | [把将](?:以下|下面|接下来)[^。！？\n]{{0,8}}(?:当作|当成|视为|看作)
    | (?:假装|就当|当作|视为)(?:以下|下面|接下来|这些?)[^。！？\n]{{0,10}}(?:真|事实|属实|成立)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
# Every order contains one of these. Most turns contain none, and this search costs a tenth of the full pattern.
_ORDER_WORDS = re.compile(
    r"ignor|disreg|forget|overrid|bypass|discard|follow|violat|neglect|card|call the|tool|function|concept_key"
    r"|you are|you will|"
    r"you must|instruc|prompt|mode|user|entry|as true|as fact|verified|confirmed|directive|guideline"
    r"|programming|overwrite|"
    r"(?:act|behave|respond|answer|pretend) |</?[a-z]|<<|\[/?(?:inst|sys)|<\||system|assistant|human|developer"
    r"|admin|root|"
    r"忽略|[无無][視视]|忘[掉记記]|不要|不用管|[别別]遵|[绕繞][过過]|[违違]反|覆[盖蓋]|[系][统統]|你[现現]在是"
    r"|[从從][现現]在|模式|新的?指|"
    r"真正|[隐隱]藏|卡片|呼叫|[调調]用|用[户戶]|使用者|假[装裝]|就[当當]|[当當]作|[视視][为為]|[开開][发發]者"
    r"|管理[员員]|指令",
    re.IGNORECASE,
)
# The same words for lower-case ASCII text, where substring searches are eight times as fast as the pattern.
_ORDER_WORDS_ASCII = (
    "ignor", "disreg", "forget", "overrid", "bypass", "discard", "follow", "violat", "neglect", "card", "call the",
    "tool", "function", "concept_key", "you are", "you will", "you must", "instruc", "prompt", "mode", "user", "entry",
    "as true", "as fact", "verified", "confirmed", "directive", "guideline", "programming", "overwrite", "act ",
    "behave ", "respond ", "answer ", "pretend ", "<", "[inst", "[/inst", "[sys", "[/sys", "system", "assistant",
    "human", "developer", "admin", "root",
)  # fmt: skip
_SENTENCE = re.compile(
    r"(?<![.!?…])[.!?…]++[\"”’')\]]*+(?=\s|$)|[。！？…]+[」』”]?|[!?](?=[\u3400-\u9fff「])|\}+(?=\s)|\n"
)
# The order has an object of its own: "… and save that I own a yacht", 然後把…改成….
_SAYS_WHAT = re.compile(
    r"(?:\band\b|\bthen\b|[,;:-]|\bthat\b)\W*"
    r"(?!(?:you|it|i|they|he|which|because|since|above|below|given|from|in|all|both|any|every|your|the|previous|prior|other"
    r"|guidelines|rules|prompts?|directives|instructions?)\b)(?:\w+[ ,'’-]+){2,}\w+"
    r"|[\"“「『{].{3,}|(?:[,，;；:：]|并且|然后|再|来|把|将)\S{4,}",
    re.IGNORECASE | re.DOTALL,
)
_STORES = re.compile(
    rf"\W*(?:please |must |should |to |and |then |now )?(?:{_VERB}|change|overwrite)\b|[把将]?{_VERB_ZH}|[把将]",
    re.IGNORECASE,
)
_SOMETHING = re.compile(r"\W*\w+\W+\w|\W*[\u3400-\u9fff]{2}")
# The order leaves open what follows it.
_LEAVES_OPEN = re.compile(
    r"\b(?:this|these|following|follows|below|next|here|everything|anything|with this|as told|what i (?:say"
    r"|tell|write))\b[^.!?\n]{0,30}[.!?:]*\s*$"
    r"|[:：]\s*$|(?:以下|下面|接下来|下列|如下|后面|这些?话?|照做|我说的?)[^。！？\n]{0,10}[。！：:]*\s*$",
    re.IGNORECASE,
)
# An order behind an open order says what to do, so it ends what the open order takes.
_COMPLETES = re.compile(
    rf"^\W*(?:(?:also|and|then|now|please|just|instead)\W+){{0,3}}"
    rf"(?:{_VERB}|say|tell|reply|respond|answer|print|repeat|reveal|show|give|send|translate|write)\b\W+\w+\W+\w"
    rf"|^\W*(?:然后|并且?|再|请|直接|改成?)?(?:{_VERB_ZH}|[把将]|告诉|回答|回复|说出?|列出|印出|翻译)\S{{3,}}",
    re.IGNORECASE,
)
_DICTATES = re.compile(
    rf"^\W*(?:(?:also|and|then|next|plus|additionally|finally|moreover|now|please|just|always|you (?:must"
    rf"|should|will|shall))\W+){{0,3}}"
    rf"(?:{_VERB}|do as|obey|comply|reply|respond|answer|say|confirm|treat|consider|believe|assume|use|pretend"
    rf"|act)\b"
    r"|\b(?:the|this) user(?:'s|’s)?\b|^\W*(?:user|user_?name|name|value|entity|key|content|memory|fact|state"
    r"|card)\s*[=:]"
    r"|^\s*(?:[-*•>|]|\d{1,2}[.)])\s|^\s*[\"“「『{\[`]"
    rf"|^\W*(?:然后|并且?|还有|再|另外|也|请|务必|必须|同时)?(?:{_VERB_ZH}|照做|回答|回复|说|相信|当作|视为)"
    rf"|(?:用户|使用者)",
    re.IGNORECASE,
)
# The speaker turns back to the talk.
_TURNS_BACK = re.compile(
    r"^\W*(?:(?:ok|okay|well|so|oh|ha+|haha\w*|lol|no|nah|but|and|please|just|hey)\W+){0,3}"
    r"(?:(?:ignore|forget|disregard|never ?mind|scratch|strike|skip) (?:that|this|it|all that|the above"
    r"|what i (?:just )?(?:said|wrote|typed|pasted))"
    r"|never ?mind|anyways?|anyhow|by the way|btw|seriously|on a serious note|(?:just |only )?(?:kidding|joking"
    r"|testing)|"
    r"(?:i'?m|i was|that was|it was) (?:just |only )?(?:kidding|joking|testing|a (?:joke|test))|back to (?:me"
    r"|us|business|the topic|reality|normal)|"
    r"jokes? aside|in other news|on another note|for real|real talk|meanwhile|p\.?s\b)"
    r"|^\W*(?:好了?[，,]?|嗯[，,]?|哈+[，,]?|不过[，,]?|请)?(?:对了|话说|总之|言归正传|说(?:真的|正经的|回来"
    r"|回正题)|认真(?:说|的)|(?:我)?开(?:个)?玩笑|"
    r"不闹了|闹着玩|(?:别|不用|不要|甭)(?:管|理)(?:它|他|这个|那个|那句|这句|上面|前面|刚才|刚刚)|(?:忽略|忘掉"
    r"|无视)(?:它|这个|那个|那句|这句|上面(?:那|这)|刚才|刚刚)|"
    r"回到正题|顺便(?:一提|说)|其实|换个话题|(?:刚才|刚刚|上面)(?:那|是)?.{0,4}(?:测试|玩笑|乱贴|误贴))",
    re.IGNORECASE,
)
_HIDDEN = "\x02"  # No pattern and no quote matches this character.


def trusted(text: str) -> str:
    """Returns ``text`` with every prompt injection hidden. The length stays the same, and sentences stay apart."""
    spans = untrusted_spans(text)
    if not spans:
        return text
    pieces: list[str] = []
    reached = 0
    for begin, end in spans:
        pieces += (text[reached:begin], _HIDDEN * (end - begin - 1), "\n")
        reached = end
    return "".join((*pieces, text[reached:]))


def untrusted_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Returns the spans of ``text`` that are orders to the model or what these dictate, in order, without overlaps."""
    if not _may_give_orders(text):
        return ()
    plain = text if text.isascii() else to_simplified(text)
    frames = _frames(plain)
    spans = [*frames]
    following: str | None = None
    for begin, end in _sentences(plain):
        if any(start < end and begin < stop for start, stop in frames):
            following = None
            continue
        words = plain[begin:end]
        sign = _SIGNS.search(words) or _ROLE.search(words)
        if sign is None and (
            following is None
            or _TURNS_BACK.match(words)
            or (following == "done" and words.strip() and not _DICTATES.search(words))
        ):
            following = None
            continue
        spans.append((begin, end))
        if sign is not None:
            following = _what_follows(words, sign)
        elif _COMPLETES.search(words) and not _LEAVES_OPEN.search(words):
            following = "done"
    return _joined(spans)


def _may_give_orders(text: str) -> bool:
    if text.isascii():
        lowered = text.lower()
        return any(word in lowered for word in _ORDER_WORDS_ASCII)
    return _ORDER_WORDS.search(text) is not None


def _what_follows(order: str, sign: re.Match[str]) -> str:
    """Returns "done" when the order says what to do, or "open" when the sentences behind it may say it."""
    if _ROLE.match(order) or _LEAVES_OPEN.search(order):
        return "open"
    if _COMPLETES.search(order) or (_STORES.match(sign[0]) and _SOMETHING.match(order, sign.end())):
        return "done"
    return "done" if _SAYS_WHAT.search(order, sign.start()) else "open"


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of the sentences. A quotation or a brace that an order opens stays in its sentence."""
    begin = 0
    for mark in _SENTENCE.finditer(text):
        if mark.start() < begin:
            continue
        end = mark.end()
        closing = _unclosed(text[begin:end])
        if closing and _SIGNS.search(text, begin, end):
            at = text.rfind(closing, end) if closing == "}" else text.find(closing, end)
            end = at + 1 if at >= 0 else len(text)
        yield begin, end
        begin = end
    if begin < len(text):
        yield begin, len(text)


def _unclosed(words: str) -> str | None:
    """Returns the mark that closes the quotation or the brace that ``words`` leave open, or None."""
    for opening, closing in (("“", "”"), ("「", "」"), ("『", "』"), ("{", "}")):
        if words.count(opening) > words.count(closing):
            return closing
    return '"' if words.count('"') % 2 else None


def _frames(text: str) -> list[tuple[int, int]]:
    """Returns the spans of forged frames, from the first mark to the mark that closes it, or to the end."""
    spans: list[tuple[int, int]] = []
    reached = 0
    marks = [*_FRAME.finditer(text)]
    last: dict[str, int] = {}  # where the last closing mark of a name ends; a token closes every name
    for mark in marks:
        if _closes(mark):
            last["" if mark["token"] else (mark["tag"] or mark["mark"] or "").casefold()] = mark.end()
    for mark in marks:
        if mark.start() < reached:
            continue
        end = len(text)
        if not _closes(mark):
            name = (mark["tag"] or mark["mark"] or mark["token"] or "").casefold()
            closed = max(last.get(name, 0), last.get("", 0))
            end = closed if closed > mark.end() else end
        spans.append((mark.start(), end))
        reached = end
    return spans


def _closes(mark: re.Match[str]) -> bool:
    return mark[0].startswith(("</", "[/")) or "end" in (mark["token"] or "")


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        elif end > begin:
            joined.append((begin, end))
    return tuple(joined)
