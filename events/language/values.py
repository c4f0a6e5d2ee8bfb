"""The identity of a value. Two wordings with the same identity state the same fact."""

from __future__ import annotations

import re
import unicodedata

from events.language.chinese_script import to_simplified


def word_set(text: str) -> frozenset[str]:
    """Returns the set of the words in ``text``, which spaces separate."""
    return frozenset(text.split())


_SPACE = re.compile(r"\s+")
_EDGES = " \t.,;:!?…~*_\"'`“”‘’«»「」『』《》〈〉()[]{}。，、；：！？·-–—"
_ARTICLE = re.compile(
    r"^(?:(?:a|an|the|my|our|your|his|her|their|some|one of|called|named) |一[只个名位种台部辆条款支双匹](?=.))"
)
_YES = word_set("yes true y yeah yep correct 是 是的 有 对 会 可以")
_NO = word_set("no false n nope not none 否 不 不是 没有 没 无 不会")

_PLACES = frozenset(("residence", "hometown", "birthplace", "work_location", "travelled_to"))
_ORGANISATIONS = frozenset(("employer", "school", "business", "bank"))
_DATES = frozenset(("birthday", "release_date", "deadline", "milestone"))
_PLACE_EDGE = re.compile(
    r"^(?:in|at|to|near|from|around|city of|downtown|central) (?=\S)|^[在到于於](?=..)| city$|(?<=..)[市县縣]$"
)
_COMPANY_EDGE = re.compile(
    r"^(?:at|for|with) |[ ,]+(?:inc|ltd|llc|corp|corporation|co|company|gmbh|plc|limited)\.?$"
    r"|(?<=..)(?:股份有限公司|有限责任公司|有限公司|集团公司|公司)$"
)
_LIST = re.compile(r"\s*(?:,\s*and\s+|,\s*|、|，|；|;|\s+and\s+|\s*&\s*|(?<=.)[和与及跟](?=.))\s*")

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan 一月",
            "february feb 二月",
            "march mar 三月",
            "april apr 四月",
            "may 五月",
            "june jun 六月",
            "july jul 七月",
            "august aug 八月",
            "september sept sep 九月",
            "october oct 十月",
            "november nov 十一月",
            "december dec 十二月",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH_WORD = "|".join(sorted((m for m in _MONTHS if m.isascii()), key=len, reverse=True))
_ORDINAL = r"(?:st|nd|rd|th)?"
_DATE_FORMS = tuple(
    re.compile(form)
    for form in (
        r"^(?P<y>\d{4})[-/.年](?P<m>\d{1,2})(?:[-/.月](?P<d>\d{1,2})?[日号]?)?$",
        r"^(?P<m>\d{1,2})月(?:(?P<d>\d{1,2})[日号]?)?$",
        rf"^(?:the )?(?P<d>\d{{1,2}}){_ORDINAL} (?:of )?(?P<n>{_MONTH_WORD})\.?(?:,? (?P<y>\d{{4}}))?$",
        rf"^(?P<n>{_MONTH_WORD})\.?(?: (?:the )?(?P<d>\d{{1,2}}){_ORDINAL})?(?:,? (?P<y>\d{{4}}))?$",
        r"^(?:(?P<y>\d{4})年)?(?P<n>十[一二]|[一二三四五六七八九十])月(?:(?P<d>\d{1,2})[日号]?)?$",
    )
)


def normalise(key: str, value: str, *, several: bool) -> str:
    """Returns the identity of ``value`` under the canonical ``key``. Never raises.

    Script, case, width, articles and punctuation do not count. With ``several`` the order of a list does not count.
    The identity is empty only for a value of nothing but punctuation.
    """
    text = _SPACE.sub(" ", to_simplified(unicodedata.normalize("NFKC", value)).casefold().replace("’", "'"))
    text = text.strip(_EDGES)
    if text in _YES:
        return "yes"
    if text in _NO:
        return "no"
    if key == "phone":
        return _phone(text)
    if key in _DATES:
        return _date(text)
    text = _ARTICLE.sub("", text).strip(_EDGES)
    if key in _PLACES:
        return _strip(_PLACE_EDGE, text)
    if key in _ORGANISATIONS:
        return _strip(_COMPANY_EDGE, text)
    if several and len(parts := [p for p in _LIST.split(text) if p]) > 1:
        return ", ".join(sorted({_ARTICLE.sub("", part).strip(_EDGES) for part in parts}))
    return text


def _strip(edge: re.Pattern[str], text: str) -> str:
    while (shorter := edge.sub("", text).strip(_EDGES)) and shorter != text:
        text = shorter
    return text


def _phone(text: str) -> str:
    digits = "".join(c for c in text if c.isdecimal())
    return ("+" if text.startswith("+") else "") + digits if digits else text


def _date(text: str) -> str:
    text = re.sub(
        r"^(?:in|on|by|around|before|until|early|late|mid|在|于) ?|[ ]?(?:底|初|中旬)$", "", text
    ).strip()
    for form in _DATE_FORMS:
        if (found := form.match(text)) is not None:
            named = found.groupdict()
            month = _MONTHS[_month_name(named["n"])] if named.get("n") else int(named["m"])
            year, day = named.get("y"), named.get("d")
            return "-".join(
                part
                for part in (year, f"{month:02d}", f"{int(day):02d}" if day else None)
                if part is not None
            )
    return text


def _month_name(name: str) -> str:
    return name if name.isascii() else f"{name}月"
