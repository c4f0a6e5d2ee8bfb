"""The concept key of a state: canonical for a person, its own for a thing."""

from __future__ import annotations

import re

from events.language.chinese_script import to_simplified
from events.language.concepts import all_concepts, canonical_key, concept, normalise_entity
from events.language.values import word_set

_PERSONAL = frozenset(("person", "home", "body", "work", "education", "family", "preference", "tools"))
"""Categories whose aliases are common words. "location" of a person is the residence, of a shop it is no residence."""
_THING = word_set(
    "store shop company business restaurant cafe bar bakery studio house apartment flat building room office school "
    "factory farm garden car bike van truck boat phone laptop computer app website project product book film movie "
    "song album show game team club band class course event meeting party wedding trip report paper thesis cake dish "
    "recipe ticket hotel museum park beach city town village country gym"
)
_THING_CJK = re.compile(
    r"(?:店|铺|公司|餐厅|咖啡馆|酒吧|工作室|房子|房屋|公寓|套房|大楼|办公室|工厂|农场|花园|车|船|手机|电脑|网站|项目|专案|产品"
    r"|书|电影|歌|专辑|节目|游戏|团队|球队|社团|乐团|课|班|活动|会议|派对|婚礼|旅行|报告|论文|蛋糕|菜|食谱|票|饭店|酒店|民宿|博物馆"
    r"|公园|海滩|学校|健身房)$"
)
_PEOPLE = frozenset(
    word
    for one in all_concepts()
    if one.category in ("family", "social") or one.key in ("manager", "colleague", "subordinate")
    for name in (one.key, *one.aliases)
    for word in name.casefold().split("_")
) | word_set("man woman guy lady girl boy person people parents sisters brothers student nurse user")
_WORD = re.compile(r"[a-z0-9]+")
_NOT_WORD = re.compile(r"[\W_]+")


def key_of(name: str, entity: str) -> str:
    """Returns the concept key of a state about ``entity``, in snake_case and never empty.

    A key that is a common word for a fact of persons keeps its own meaning when ``entity`` is a thing: the location of
    a shop is its ``shop_location`` and not a residence.
    """
    key = canonical_key(name)
    known = concept(key)
    own = _NOT_WORD.sub("_", to_simplified(name.strip()).casefold()).strip("_")
    if known is None or own == key or known.category not in _PERSONAL:
        return key
    thing = _thing(entity)
    if thing is None:
        return key
    made = own if own.startswith(f"{thing}_") else f"{thing}_{own}"
    return made if canonical_key(made) == made else key


def _thing(entity: str) -> str | None:
    """Returns the noun for a thing, or None for a person and for a bare name."""
    plain = normalise_entity(entity)
    if plain == "user":
        return None
    if not plain.isascii():
        noun = plain.rsplit("的", 1)[-1]
        return noun if _THING_CJK.search(noun) else None
    words = _WORD.findall(plain)
    head = words[-1] if words else ""
    if head in _THING:
        return head
    # A common noun is written small. A name is written with a capital.
    written = re.findall(r"[^\W_]+", entity)[-1:]
    common = (
        bool(written)
        and written[0].islower()
        and head not in _PEOPLE
        and head.removesuffix("s") not in _PEOPLE
    )
    return (
        head
        if common and re.match(r"(?:the|my|our|an?|this|that)\b|.*['’]s\b", entity, re.IGNORECASE)
        else None
    )
