"""The pattern tables, compiled: ``tables/english.txt`` and ``tables/chinese.txt`` have one pattern a row.

The head of a table explains the form of a row. A row matches only when it explains its clause from the subject to an
end: words that are left over refuse the fact.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from ingest.extraction.rules.values import CHINESE, ENGLISH, TIME
from ingest.extraction.rules.words import either, rows, table

# No word of it may be read in two ways, because it repeats.
_FOR = (
    r"for (?:(?:about|almost|over|the (?:past|last)) )?"
    r"(?:(?!(?:about|almost|over|the|years?|months?|weeks?|days?|ages|now)\b)[\w-]+ )?"
    r"(?:years?|months?|weeks?|days?|ages|now)\b"
)
_TAIL = (
    rf"(?:,? ?(?:now|any ?more|any longer|too|again|as well|though|tho|actually|currently|at the moment|right now|"
    rf"these days|"
    rf"nowadays|already|"
    rf"btw|by the way|lol|haha|please|at last|then|finally|so much|a lot|daily|every day|once a day|twice a day|"
    rf"all day|very much|more than anything|for good|by trade|most weekends|on (?:Mon|Tues|Wednes|Thurs|Fri|"
    rf"Satur|Sun)days?|{_FOR}|"
    rf"(?:(?:in|on|at|since|from|until|till|by|back in|around|about|during|over|this|last) )?{TIME}++))*"
)
_END = (
    r"(?=\s*$|\s*[,;:!.)(—–~]+(?:\s|$)|\s[-–—(]|\s(?:and|but|so|because|since|'?cause|cuz|as|where|which|who|while|though|although|"
    r"with|near)\b)"
)
_TAIL_ZH = (
    rf"(?:了|啊|呀|的|哈|{TIME}| |现在|很久|"
    rf"(?:[一二两三四五六七八九十几好\d]+多?年多?))*\W*$"
)
_BE = rf"(?:'s|'re| is| are)(?: actually| {TIME}++)?"
# "{attribute}" and the others: words before a value that decide its key.
_NOUN = r"[a-z][\w-]*"
_KEYWORDS = {
    "kin": either("kin"), "animal": ENGLISH["animal"],
    "favourite": rf"{_NOUN}(?: "
    rf"{_NOUN}){{0,2}}", "attribute": rf"{_NOUN}(?: {_NOUN}){{0,2}}", "tooling": either("tooling"),
    "measure": rf"(?:{_NOUN} ){{0,2}}?(?:{either('measure')})", "occasion": rf"(?:{_NOUN} "
    rf"){{0,2}}?(?:{either('occasion')})",
    "亲": either("亲"), "宠物": either("宠物"), "属性": either("属性"), "用具": either("用具"),
    "喜欢": "[\u4e00-\u9fff]{1,4}?",
}  # fmt: skip
_SLOT = re.compile(r"\{(?P<ended>-?)(?P<listed>@?)(?P<key>\w+)(?::(?P<type>[^}]+))?\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """A value in a pattern. ``listed`` names the list whose word decides the key."""

    group: str
    key: str
    kind: str
    ended: bool
    listed: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A pattern. ``subject`` is "@", "I", "$", "%" or "*"."""

    subject: str
    pattern: str
    slots: tuple[Slot, ...]
    announced: bool
    timed: bool
    dated: bool = False

    def compiled(self) -> re.Pattern[str]:
        return compiled(self.pattern)


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Returns the compiled pattern. It is compiled at the first use, because most rows are seldom tried."""
    return re.compile(pattern)


Index = dict[tuple[str, str], list[Row]]
"""The rows of a subject and a first word (in Chinese: a first character; "" where any may come)."""


def _row(line: str, chinese: bool) -> tuple[str, list[str], Row]:
    source, _, marks = line.partition(" = ")
    subject, _, source = source.partition(" ")
    slots: list[Slot] = []
    types = CHINESE if chinese else ENGLISH

    def value(found: re.Match[str]) -> str:
        key, kind = found["key"], found["type"]
        if kind is None:
            return f"(?P<{group_of(key)}>{_KEYWORDS[key]})"
        group = f"g{len(slots)}"
        slots.append(Slot(group, key, kind, bool(found["ended"]), bool(found["listed"])))
        form = types.get(kind, kind)
        return f" ?(?P<{group}>{form}) ?" if chinese else f"(?P<{group}>{form})"

    heads = _heads(source, chinese)
    if heads and not chinese:
        first, _, rest = source.partition(" ")
        source = rest if first in ("be", "have") else f"(?:{first}) {rest}" if "|" in first else source
    pattern = _SLOT.sub(value, source.replace("<be>", _BE))
    end = _TAIL_ZH if chinese else rf"(?!\w){_TAIL}{_END}"
    if subject == "*":
        end = r"(?!['’]s?\b)(?! (?:and|or) [A-Z]\w)\b" if not source.startswith("^") else end
        heads = [""]
    row = Row(
        subject,
        pattern + end,
        tuple(slots),
        "announced" in marks,
        "timed" in marks,
        "dated" in marks,
    )
    return subject, heads or [""], row


def group_of(key: str) -> str:
    """Returns the name of the group of a keyword in a pattern."""
    return {"亲": "kin", "宠物": "animal", "属性": "attribute", "用具": "tooling", "喜欢": "favourite"}.get(
        key, key
    )


def _heads(source: str, chinese: bool) -> list[str]:
    """Returns the words (in Chinese, the characters) that the pattern may begin with; none when any may come."""
    if chinese:
        found = re.match(r"\(\?:([^()\[\]]+)\)(?!\?)|([\u4e00-\u9fff])(?!\?)", source)
        if found is None:
            return []
        return sorted({word[0] for word in (found[1] or found[2]).split("|") if word})
    found = re.match(r"([A-Za-z'|]+)(?= |<)", source)
    return found[1].split("|") if found is not None else []


def _index(name: str, chinese: bool) -> Index:
    index: Index = {}
    for line in rows(table(name)):
        subject, heads, row = _row(line, chinese)
        for head in heads:
            index.setdefault((subject, head), []).append(row)
    return index


@lru_cache(maxsize=2)
def index(chinese: bool) -> Index:
    """Returns the rows of a language by subject and first word."""
    return _index("chinese.txt" if chinese else "english.txt", chinese)


def warm() -> None:
    """Compiles every pattern, so that the first turn is as fast as the next."""
    for chinese in (False, True):
        for listed in index(chinese).values():
            for row in listed:
                row.compiled()
