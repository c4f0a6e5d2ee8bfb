"""Finds requests to change a list in the words of a user. Only words that ask for it count, never wishes or plans."""

import re
from dataclasses import dataclass
from typing import Literal

from events.language.chinese_script import has_cjk, to_simplified

ListOp = Literal["add", "mark_done", "remove"]

MOST_REQUESTS = 20
_LONGEST = 400
"""Characters of a sentence. A longer one is no request to change a list."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_POLITE = (
    r"^\s*(?:(?:ok(?:ay)?|hey|hi|thanks|oh|and|also|then|now)[, ]+)*"
    r"(?:(?:please|kindly) |(?:can|could|would|will) you (?:please )?)?"
)
_LIST = (
    r"(?P<whose>my|our|the)\s+(?P<name>[\w'’ -]{0,40}?\s*(?:to-?do(?:s| list)?|list|checklist))"
    r"(?:,? please)?\s*[.!?]*$"
)
_Patterns = tuple[tuple[ListOp, str], ...]
_ENGLISH: _Patterns = (
    ("add", rf"(?:add|put|append)\s+(?P<text>.+?)\s+(?:to|on|onto|in)\s+{_LIST}"),
    ("mark_done", rf"(?:cross|check|tick|strike)\s+(?P<text>.+?)\s+off\s+(?:of\s+)?{_LIST}"),
    ("mark_done", rf"(?:cross|check|tick|strike)\s+off\s+(?P<text>.+?)\s+(?:from|on)\s+{_LIST}"),
    ("mark_done", rf"mark\s+(?P<text>.+?)\s+(?:as\s+)?(?:done|complete|completed|finished)\s+(?:on|in)\s+{_LIST}"),
    ("remove", rf"(?:remove|delete|drop|take)\s+(?P<text>.+?)\s+(?:from|off)\s+(?:of\s+)?{_LIST}"),
)  # fmt: skip
# No word of a repeated list is made of others of it: the time would double with each such word.
_ASKED = r"^\s*(?:好[,，]?|那[,，]?)?(?:(?:请|麻烦|帮我|替我|可以|能不能|可不可以|你)\s*)*"
_OF = r"(?P<whose>我的|我们的|)(?P<name>[^,，。！？\s]{0,10}?(?:清单|列表|待办事项|待办))(?:里面|里|上|中)?"
_END = r"(?:吧|好吗|谢谢|了)?\s*[。！？!?]*$"
_CHINESE: _Patterns = (
    ("add", rf"把(?P<text>.+?)(?:加|添加|放|新增|写|列)(?:到|进|入|在)?{_OF}(?:去|里去)?{_END}"),
    ("add", rf"(?:在|往)?{_OF}(?:加上|添加|新增|加入|加)(?:一个|一项|一条)?(?P<text>[^。！？!?]+?){_END}"),
    ("mark_done", rf"把(?P<text>.+?)从{_OF}(?:划掉|勾掉|勾选掉|打勾){_END}"),
    ("mark_done", rf"把{_OF}的(?P<text>.+?)(?:划掉|勾掉|打勾|标记为完成|标成完成){_END}"),
    ("remove", rf"把(?P<text>.+?)从{_OF}(?:删掉|删除|移除|拿掉|去掉){_END}"),
)  # fmt: skip
_COMPILED = tuple(
    (op, re.compile(before + pattern, re.IGNORECASE))
    for before, patterns in ((_POLITE, _ENGLISH), (_ASKED, _CHINESE))
    for op, pattern in patterns
)
_TRIGGERS = ("list", "to-do", "todo", "清单", "列表", "待办")
_PARTS = re.compile(r"\s*(?:,\s*(?:and\s+)?|\s+and\s+|[、，]\s*(?:和|还有)?)\s*", re.IGNORECASE)
_LIST_WORD = re.compile(r"\s*(?:to-?do list|to-?dos?|checklist|list|清单|列表|待办事项|待办)$")
_TO_DO = re.compile(r"to-?do|待办")
_ARTICLE = re.compile(r"^(?:an?|the|some)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request in a sentence: the op, the items, and the list in the words of the speaker, which may name none.

    ``own`` is true when the speaker says whose list it is. ``quote`` are the words of the request.
    """

    op: ListOp
    items: tuple[str, ...]
    list_name: str
    own: bool
    quote: str


def requests_in(text: str) -> list[ListRequest]:
    """Returns the requests in a turn of a user, in order. Guarantees that every item is quoted from ``text``."""
    plain = to_simplified(text)
    if len(plain) != len(text) or not any(trigger in plain.casefold() for trigger in _TRIGGERS):
        return []
    found: list[ListRequest] = []
    for sentence in _SENTENCE.finditer(plain):
        if len(sentence[0]) > _LONGEST or len(found) == MOST_REQUESTS:
            continue
        original = text[sentence.start() : sentence.end()]
        for op, pattern in _COMPILED:
            match = pattern.match(sentence[0])
            if match is not None:
                items = _items(original[slice(*match.span("text"))])
                if items:
                    name = original[slice(*match.span("name"))].strip()
                    own = match["whose"] not in ("", "the", "The")
                    found.append(ListRequest(op, items, name, own, original.strip()))
                break
    return found


def list_key(key: str) -> str:
    """Returns the common form of a key and a spoken name: simplified, lower case, without the word for a list.

    A to-do list without another name is called so. A name that only says "list" is empty.
    """
    plain = to_simplified(key).casefold().replace("_", " ").strip()
    named = _LIST_WORD.sub("", plain).strip()
    return named or ("todo" if _TO_DO.match(plain) else "")


def new_key(spoken: str) -> str:
    """Returns the key of a new list: its spoken name in the script of the speaker, and "todo" without a name."""
    return spoken if has_cjk(spoken) else list_key(spoken) or "todo"


def _items(words: str) -> tuple[str, ...]:
    parts = (_ARTICLE.sub("", part.strip().strip("\"'“”「」")).strip() for part in _PARTS.split(words))
    return tuple(part for part in parts if part)[:MOST_REQUESTS]
