"""The name of the user whose memory is migrated, as the text itself tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.migration.memories import Memory

MAX_CHARS = 100
_LATIN = r"[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*){0,3}"
_TOLD = re.compile(
    r"^(?:(?:the )?user(?:['’]s)? |my |their )?(?:full |first )?name(?:: | is )"
    rf"(?P<name>{_LATIN})\s*[.!]?$|"
    rf"^(?:(?:the )?user |they )?(?:is|are|am|i am|i'm) (?:called|named) (?P<called>{_LATIN})\s*[.!]?$",
)
_CASELESS = re.compile(r"^(?:The|User|My|Their|Full|First|Name|They|Is|Are|I)\b")
_TOLD_ZH = re.compile(
    r"^(?:[该該]?(?:用户|用戶|使用者)|我)?(?:的?(?:名字|姓名|全名)(?:叫|是|为|為|：|:)\s*|名叫|叫做|叫)"
    r"(?P<name>[\u3400-\u9fff]{2,4}|[A-Za-z][\w'’-]*)\s*[。.]?$"
)


def told_name(memories: Iterable[Memory]) -> str | None:
    """Returns the name that the memories tell of their user. None: they tell no name, or different ones."""
    found = {name for each in memories if (name := _name_in(each.text)) is not None}
    return found.pop() if len(found) == 1 else None


def _name_in(text: str) -> str | None:
    if len(text) > 2 * MAX_CHARS:
        return None
    text = _CASELESS.sub(lambda word: word[0].lower(), text.strip())
    told = _TOLD.match(text)
    if told is not None:
        return told["name"] or told["called"]
    told = _TOLD_ZH.match(text)
    return None if told is None else told["name"]
