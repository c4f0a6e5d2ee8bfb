"""Finds prompt injection: words of a turn that give orders to the model. No card rests on such words.

The patterns know the usual orders in English and Chinese. The rest of the turn after an order is not trusted either,
because such an order rarely ends with its sentence. A request to remember ("save to memory that I am vegetarian") is
no prompt injection. It is the purpose of a memory.
"""

from __future__ import annotations

import re

from events.language.chinese_script import to_simplified

# An order begins a clause or follows a request. "I ignored all the instructions" is a story and no order.
_ORDER = r"(?:^|[.!?:;,\n\"'“‘(\]>*#-]|\bplease\b|\bmust\b|\bshould\b|\bto\b|\band\b|\bthen\b)[ \t]*"
_SIGNS = re.compile(
    rf"""
    {_ORDER}(?:ignore|disregard|forget|override|bypass|discard)\b[^.!?\n]{{0,30}}
        \b(?:instructions?|prompts?|guidelines|directives|(?:above|before|previous|prior|earlier)\b(?=[^\w]*(?:$|[.!?,;\n])))
    | {_ORDER}(?:store|save|record|write|add|insert|create|emit|extract|output|make)\b[^.!?\n]{{0,20}}
        \b(?:(?:state|event|knowledge)[ ]cards?|cards?[ ](?:that|saying)\b)
    | \bcall[ ]the[ ](?:tool|function)\b | \b(?:record_cards|tool_use|tool_result|tool_choice|function_call)\b
    | \byou[ ]are[ ]now[ ](?:in[ ]|an?[ ]|the[ ])?[^.!?\n]{{0,20}}
        \b(?:mode|ai|dan|admin|root|model|bot|unrestricted|jailbroken)\b
    | \b(?:new|real|updated)[ ](?:system[ ])?(?:instructions?|prompt)[ ]*: | \bsystem[ ]override\b
    | {_ORDER}(?:act|behave|respond|answer|pretend)[ ](?:as[ ](?:if|though)|that|like)\b
    | </?(?:system|assistant|human|instructions?|turns?|earlier_turns|tool|function|invoke|extraction_prompt)\b
    | \[/?(?:INST|SYS|SYSTEM)\] | <\|[^|<>]{{1,30}}\|> | ^[ \t]*(?:system|assistant|human)[ \t]*:
    | (?<![我他她們们])(?:忽略|无视|忘掉|忘记|不要理会|不用管)[^。！？\n]{{0,12}}(?:指令|指示|提示词?|规则|设定)
    | 系统(?:提示词|指令|覆写) | 你现在是[^。！？\n]{{0,12}}(?:模式|助手|机器人|管理员) | 新的?(?:指令|指示)[ ]*[:：]
    | (?:写入|输出|新增|产生|记录|建立|存)[^。！？\n]{{0,8}}卡片 | 呼叫[^。！？\n]{{0,8}}(?:工具|函数|函式)
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
# Every order contains one of these. Most turns contain none, and this search costs a tenth of the full pattern.
_ORDER_WORDS = re.compile(
    r"ignor|disreg|forget|overrid|bypass|discard|card|call the|tool|function|you are now|instruc|prompt|"
    r"(?:act|behave|respond|answer|pretend) |</?[a-z]|\[/?(?:inst|sys)|<\||system|assistant|human|"
    r"忽略|[无無][视視]|忘[掉记記]|不要理[会會]|不用管|[系][统統]|你[现現]在是|新的?指|卡片|呼叫",
    re.IGNORECASE,
)
# The same words for lower-case ASCII text, where substring searches are eight times as fast as the pattern.
_ORDER_WORDS_ASCII = (
    "ignor", "disreg", "forget", "overrid", "bypass", "discard", "card", "call the", "tool", "function",
    "you are now", "instruc", "prompt", "act ", "behave ", "respond ", "answer ", "pretend ", "<", "[inst",
    "[/inst", "[sys", "[/sys", "system", "assistant", "human",
)  # fmt: skip
_ENDS = re.compile(r"[.!?。！？\n]")


def _may_give_orders(text: str) -> bool:
    if text.isascii():
        lowered = text.lower()
        return any(word in lowered for word in _ORDER_WORDS_ASCII)
    return _ORDER_WORDS.search(text) is not None


def trusted_length(text: str) -> int:
    """Returns the number of characters of ``text`` before the first sentence with a prompt injection."""
    if not _may_give_orders(text):
        return len(text)
    found = _SIGNS.search(text if text.isascii() else to_simplified(text))
    if found is None:
        return len(text)
    begin, sign = 0, found.start() + len(found[0]) - len(found[0].lstrip(".!?\n \t"))
    for end in _ENDS.finditer(text, 0, sign):
        begin = end.end()
    return begin
