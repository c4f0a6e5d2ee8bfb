"""The types of values: how a value looks in a pattern, and which values are refused.

A value is refused when in doubt: the turn keeps its words anyway. ``split`` checks a value in plain text (Chinese in
simplified script) and returns the spans of its parts.
"""

import re
from collections.abc import Callable, Iterator

from events.language.names import canonical_name
from events.language.timex.english.words import MONTHS, WEEKDAYS
from events.language.values import word_set
from ingest.extraction.rules.words import KEYS, SETS, either, rows, table

# Stands for every character of a time expression.
TIME = "\x01"


def _verbs(row: str) -> list[str]:
    """Returns the words that a pattern row of English may begin with, when it tells of the user or of somebody."""
    words = re.match(r"[@I] ([a-z'|]+)(?= )", row)
    return words[1].split("|") if words is not None else []


# The full stop of "St. Gallen" ends no name.
SHORT = r"(?:Dr|Mr|Mrs|Ms|Prof|St|Mt|[A-Z])\."
_BIG = rf"(?:{SHORT} )?(?!{SHORT})[A-ZÀ-Þ]"
_CAP = rf"{_BIG}[\w&-]*(?:['’][A-Z]?\w{{2,}})?"
_FIRM = rf"{_BIG}[\w'’&-]*"
_CAPS = rf"{_CAP}(?: {_CAP}){{0,2}}"
# The verb of another clause begins no member of a list: "allergic to nuts and lives in York".
_VERBS = "|".join(sorted({word for row in rows(table("english.txt")) for word in _verbs(row)}))
_SAME = rf"(?!(?:and|or) (?:{_VERBS}) )"
_WORD = rf"(?!any ?(?:more|longer)\b){_SAME}[A-Za-zÀ-ÿ][\w'’+#/-]*"
_PHRASE = rf"{_WORD}(?: {_WORD}){{0,3}}"
# Two phrases with a comma alone are no list: "no coffee, doctor's orders".
_LIST = rf"{_PHRASE}(?:(?:, {_PHRASE}){{0,4}},? {_SAME}(?:and|or) {_PHRASE}|(?:, {_PHRASE}){{2,4}})?"
_WORKPLACE = f"(?:{either('workplace')})"
_ORG = (
    rf"(?:the )?{_FIRM}(?:(?: | & | of |\.){_FIRM}){{0,4}}(?: {_WORKPLACE})?|"
    rf"(?:an?|the) (?:[\w-]+ ){{0,2}}?{_WORKPLACE}"
)
_AMOUNT = (
    r"(?:(?:about |around |roughly |USD |EUR |NT)?[$€£¥]? ?\d(?:[\d,]*\d)?(?:\.\d+)?"
    r"(?: ?(?:k|K|m|M|million|billion|thousand|%|percent|dollars|euros|pounds|USD|EUR|kg|lbs|cm|ms|minutes|"
    r"hours|days))?"
    r"(?:(?: per |/| an? )(?:hour|hr|day|week|month|mo|year|yr|person|seat|user))?)"
)
_CODE = r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+|\+?\d[\d -]{6,18}\d|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{4,40}"
_DATE = rf"(?:the |at |on |in )?{TIME}++(?:(?:,? (?:at |of |in )?|-){TIME}++){{0,2}}"
_DIETS = (
    "vegetarian|vegan|pescatarian|keto|paleo|gluten[- ]free|dairy[- ]free|lactose[- ]free|plant[- ]based|"
    "halal|kosher"
)
_MEDICINE = r"[A-Za-z][a-z]{3,20}"
_STEMS = re.compile(
    r"(?:formin|statin|pril|sartan|olol|azole|oxetine|aline|zepam|zolam|mycin|cycline|cillin|profen|gliptin|glutide|"
    r"thyroxine|triptan|lukast|tadine|warfarin|insulin|aspirin|paracetamol|prednisone|methotrexate)\b|\d ?m?c?g\b",
    re.IGNORECASE,
)
_ILLNESS = r"(?:type (?:1|2|one|two) )?[A-Za-z][\w'’-]+(?: [a-z][\w'’-]+){0,2}"
ENGLISH: dict[str, str] = {
    "name": _CAPS,
    "called": rf"(?:{_CAPS}|[a-z][\w'-]+)",
    "place": rf"(?:{_CAP}(?:(?: | of | de | la | upon ){_CAP}){{0,3}}|[a-z]+(?: [a-z]+)?)",
    "org": rf"(?:{_ORG})",
    "role": r"(?:[A-Za-z/&-]+ ){0,3}?[A-Za-z-]+",
    "animal": rf"(?:[a-z]+ ){{0,2}}?(?:{either('pet')})",
    "food": _PHRASE, "food*": _LIST, "thing": _PHRASE, "thing*": _LIST, "liked": _PHRASE,
    "routine": r"(?:(?:walk|jog|run|swim|cycle|exercise|meditate)s?|do(?:es)? (?:yoga|pilates)) (?:daily|regularly|"
    r"every (?:other )?(?:day|morning|evening)|(?:once|twice|[a-z]+ times) (?:a|per) week)",
    "diet": _DIETS, "illness": _ILLNESS, "condition": either("condition"), "medicine": _MEDICINE, "drug": _MEDICINE,
    "instrument": rf"(?:{either('instrument')})",
    "skill": rf"(?:{either('language')}|{either('instrument')}|Rust|Python|Java|Go|Kotlin|Swift|JavaScript|"
    rf"TypeScript|Haskell)",
    "tool": rf"(?i:{either('tool')})", "tool*": rf"(?i:{either('tool')})(?:,? and (?i:{either('tool')}))?",
    "tooled": rf"(?:(?i:{either('tool')})|{_CAP}(?: {_CAP}| \d+){{0,2}})",
    "sport": rf"(?:{either('sport')})", "hobby": _PHRASE, "hobby*": _LIST,
    "car": rf"(?i:{either('car')})(?: [A-Z\d][\w-]*){{0,3}}",
    "date": _DATE, "exact": rf"(?:{_AMOUNT}|{_CODE}|{_CAPS})",
}  # fmt: skip

_ZH = "[\u4e00-\u9fffA-Za-z0-9·'&. -]"
_DIETS_ZH = "吃(?:全|奶蛋|蛋奶|锅边)?素|素食者?|生酮饮食|无麸质饮食|清真饮食"
CHINESE: dict[str, str] = {
    "name": "[\u4e00-\u9fff]{2,4}|[A-Z][a-z]+(?: [A-Z][a-z]+)?", "fullname": "[\u4e00-\u9fff]{2,3}",
    "called": "[\u4e00-\u9fffA-Za-z]{1,8}",
    "place": _ZH + "{2,12}?", "origin": "[\u4e00-\u9fff]{2,6}?", "org": _ZH + "{2,16}?",
    "role": f"[\u4e00-\u9fffA-Za-z]{{0,8}}?(?:{either('职业')})",
    "animal": f"(?:{either('宠物')})", "food": "[\u4e00-\u9fff]{1,6}?",
    "food*": "[\u4e00-\u9fff]{1,6}?(?:[、和跟与及][\u4e00-\u9fff]{1,6}?){0,4}",
    "thing": _ZH + "{1,10}?", "thing*": _ZH + "{1,10}?(?:[、和跟与]" + _ZH + "{1,10}?){0,4}", "liked": _ZH + "{1,12}?",
    "diet": _DIETS_ZH, "illness": "[\u4e00-\u9fff]{2,10}?", "condition": "[\u4e00-\u9fff]{0,4}?(?:高血压|糖尿病|"
    "气喘|哮喘|忧郁症|抑郁症|焦虑症|癫痫|痛风|甲亢|甲状腺低下|近视|偏头痛|过敏性鼻炎|湿疹|失眠症|贫血)",
    "medicine": "[\u4e00-\u9fff]{2,8}(?:药|胍|汀|林|素|酮|片|胶囊)", "age": r"\d{1,3}|[一二三四五六七八九十]{1,3}",
    "degree": f"(?:{either('学历')})",
    "tool": f"(?i:{either('tool')})", "tool*": f"(?i:{either('tool')})(?: ?[、和跟与] ?(?i:{either('tool')})){{0,3}}",
    "tooled": "[A-Za-z][A-Za-z0-9 .+-]{1,24}",
    "sport": f"(?:{either('运动')})", "hobby": _ZH + "{2,8}?",
    "hobby*": _ZH + "{2,8}?(?:[、和跟与]" + _ZH + "{2,8}?){0,4}",
    "car": "[A-Z][A-Za-z0-9 -]{2,24}|特斯拉",
    "date": f"(?:农历)?{TIME}++(?: ?{TIME}++)?",
    "exact": r"[A-Za-z0-9+][A-Za-z0-9_@.+ -]{2,40}|(?:约|大约)?[$¥]? ?\d[\d,.]*\d?(?: ?[万亿]?(?:元|块|块钱|美元|欧元|"
    r"公分|厘米|公斤|斤|岁|%)?)",
}  # fmt: skip

# Words that no noun phrase of this kind holds: pronouns, verbs, conjunctions, adverbs.
_NO_THING = SETS["no_thing"]
_NO_FIRST = word_set(
    "the a an these those this that my your our his her their its of in on with for up out off"
)
_NO_PLACE = SETS["no_place"]
_NO_CALLED = _NO_THING | _NO_FIRST | word_set("after in for out him her off back named called like sometimes")
_BAD_ZH = re.compile(
    "[我你您他她它牠这那哪谁啥吗呢吧么的了着过很太更最就都也还又再不没别会能可想要把被让给对跟如若因但而且或"
    "和与及到来去]|什么|怎么|一起|一样|时候|觉得|知道|有点|一些|几个"
)
_NO_PLACE_ZH = re.compile(
    "^在|[我你他她它这那哪谁吗呢吧么的了很太就都也还不没会想要把被让给对跟]|饭店|酒店|旅馆|民宿|医院|宿舍|附近|一起|隔壁|楼|外面|"
    "家里|家$|公司|办公|学校|新房|房子|国外|乡下|市区|车上|帐篷|自己|一个|外地|同一|线上|床|桌|路上|网|群|心|年|月|忙|等|看|上班|"
    "工作|研究|准备|[上里下中内外边面前后间]$"
)
_NO_ORG_ZH = re.compile(
    "[我你他她它这那哪谁吗呢吧么了很太就都也还不没想要把被让给对跟的]|一[家间个起]|家里|家$|公司$|办公室|这里|那里|外面|线上|远端|"
    "远程|国外|国内|外地|单位|附近|楼[上下]|学校$|不同|[天晚年月点]$|忙|现场"
)
_NO_ROLE_ZH = re.compile("[我你他她它这那哪谁吗呢吧么的了很太就都也还不没会想要把被让给对跟在和与个位名做当]")
_NO_NAME_ZH = re.compile("[我你他她它这那哪谁什么啥吗呢吧的了很不没是在有和与一个人员生师家者座]")


def _is_name(value: str) -> bool:
    words = value.casefold().split()
    return not any(word.strip("'’") in SETS["not_name"] for word in words) and not _is_place(value)


def _is_place(value: str) -> bool:
    return canonical_name("place", value.casefold()) is not None


def _place(value: str) -> bool:
    if value[:1].islower():
        return _is_place(value)
    words = value.casefold().split()
    return not any(word in _NO_PLACE or word in MONTHS or word in WEEKDAYS for word in words[:1]) and (
        words[0] not in SETS["not_name"] or _is_place(value)
    )


def _org(value: str) -> bool:
    first = value.removeprefix("the ").removeprefix("The ").split(" ")[0].casefold()
    return not (first in SETS["not_name"] or first in MONTHS or first in WEEKDAYS) and not (
        _is_place(value) and not value.startswith(("a ", "the "))
    )


def _thing(value: str) -> bool:
    words = value.casefold().replace("’", "'").split()
    return (
        not any(word in _NO_THING or "'" in word.removesuffix("'s") for word in words)
        and words[0] not in _NO_FIRST
        and not words[-1].endswith("ly")
        and words[-1] not in _NO_FIRST
        and len(value) > 2
    )


def _liked(value: str) -> bool:
    words = value.casefold().removeprefix("the ").split()
    return not any(word in _NO_THING for word in words) and words[-1] not in _NO_FIRST


def _role(value: str) -> bool:
    words = re.split(r"[ /&-]", value.casefold())
    return words[-1] in SETS["occupation"] and not any(
        word in SETS["not_role"] or word in _NO_THING or word in _NO_FIRST for word in words
    )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "name": _is_name, "place": _place, "org": _org, "thing": _thing, "food": _thing, "liked": _liked,
    "called": lambda value: value.casefold() not in _NO_CALLED and not value.endswith(("ing", "ed")),
    "role": _role, "illness": _thing, "hobby": _thing,
    "medicine": lambda value: _STEMS.search(value) is not None,
    "exact": lambda value: not value[0].isupper() or _is_name(value) or _is_place(value),
    "tooled": lambda value: value.casefold() in SETS["tool"] or _is_name(value),
}  # fmt: skip
_CHECKS_ZH: dict[str, Callable[[str], bool]] = {
    "name": lambda value: value.isascii() or not (_NO_NAME_ZH.search(value) or value in SETS["亲"]),
    "fullname": lambda value: value[0] in SETS["姓"] and not _NO_NAME_ZH.search(value) and value not in SETS["城市"],
    "called": lambda value: not _NO_NAME_ZH.search(value),
    "place": lambda value: value in SETS["城市"] or _is_place(value) or _NO_PLACE_ZH.search(value) is None,
    "origin": lambda value: _is_place(value) or value in SETS["城市"] or value[-1] in "省市县",
    "org": lambda value: _NO_ORG_ZH.search(value) is None and value not in SETS["城市"] and not _is_place(value),
    "role": lambda value: _NO_ROLE_ZH.search(value) is None,
    "thing": lambda value: _BAD_ZH.search(value) is None and len(value) > 1,
    "food": lambda value: _BAD_ZH.search(value) is None and value not in ("素", "饭", "东西", "药"),
    **dict.fromkeys(("liked", "illness", "hobby"), lambda value: _BAD_ZH.search(value) is None),
}  # fmt: skip

_SEPARATOR = re.compile(r",? (?:and|or) |, ")
_SEPARATOR_ZH = re.compile(r" ?[、和跟与及] ?")


def split(kind: str, text: str, chinese: bool) -> Iterator[tuple[int, int]]:
    """Yields the spans of the values in ``text``: of the items of a list up to the first item that is refused."""
    several = kind.endswith("*")
    check = (_CHECKS_ZH if chinese else _CHECKS).get(kind.rstrip("*"))
    begin = 0
    separator = _SEPARATOR_ZH if chinese else _SEPARATOR
    borders: list[re.Match[str] | None] = [*separator.finditer(text), None] if several else [None]
    for border in borders:
        stop = border.start() if border is not None else len(text)
        value = text[begin:stop]
        if several and not chinese and _shares_head(value, text, borders):
            begin = border.end() if border is not None else stop
            continue
        if not value.strip() or (check is not None and not check(value)):
            return
        yield begin, stop
        begin = border.end() if border is not None else stop


def named(kind: str, value: str) -> str:
    """Returns a value as it is named: "walk daily" is "walking daily", and "do yoga daily" is "yoga daily"."""
    if kind != "routine":
        return value
    verb, _, rest = value.partition(" ")
    if verb in ("do", "does"):
        return rest
    stem = verb.removesuffix("s").removesuffix("e")
    return f"{stem}{stem[-1] * (stem in ('jog', 'run', 'swim'))}ing {rest}"


def _shares_head(value: str, text: str, borders: list[re.Match[str] | None]) -> bool:
    """Returns True for an item that may be half of a name: "action" in "action and crime films"."""
    if " " in value or value.endswith(("s", "ing")) or len(borders) < 2 or borders[-2] is None:
        return False
    return " " in text[borders[-2].end() :]


def key_of(words: str, listed: str) -> str | None:
    """Returns the concept key that the word of a list decides, or None."""
    return KEYS[listed].get(words.casefold())
