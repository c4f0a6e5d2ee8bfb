"""Makes Chinese states of attributes: wifi 密碼是…, 讀書會改到圖書館, 專案截止日延到三月十五號."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.attributes import chinese_phrases
from ingest.extraction.rules.attributes.chinese_patterns import (
    CHANGED,
    COSTS,
    IT,
    NAMED,
    NOW,
    RENEWED,
    STATED,
    TAKEN,
    WHEN,
)
from ingest.extraction.rules.attributes.known import last_known
from ingest.extraction.rules.attributes.nouns import (
    CHINESE_HEADS,
    Aspect,
    chinese_key,
    gathers,
    has_chinese_head,
    is_chinese_role,
    sums_up,
)
from ingest.extraction.rules.chinese.grammar import TIME_EDGE
from ingest.extraction.rules.chinese.words import GIVEN, RELATIONS, SURNAMES
from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import Sentence

_YEARS_AGO = re.compile("去年|前年|当年|那年|(?:电影|小说|故事|剧|书|漫画|动画|梦)[里中]")
_BEFORE = re.compile(
    "当时|那时候?|小时候|前公司|[国高]中的|上一[场次个]|原本|本来|一开始|起初|原先|之前|以前|最早|最初"
)
_CLAUSE = re.compile("[，,；;。]")
_TRIGGER = re.compile(
    "[改换调移搬延推提涨升降减变设挪砍掉顺携]|转[到至去]|加[到至]|[放停收]在|把.{1,8}[拿带收]"
)
_HOLDS = re.compile(
    rf"[我们公司学校班社团]的?[^，。]{{1,12}}[是在为：:]|(?:{CHINESE_HEADS}|[^，。]车)[^，。是在为叫：:]{{0,4}}(?:[是在为：:叫]|[约订定排设开办停放收摆用]|"
    r"[$\d一二三四五六七八九十两每])|^车"
)
# The last characters of the nouns. This class runs first, because it is ten times as fast as _HOLDS.
_NOUN_ENDS = "".join(sorted({*re.findall(r"(\w)(?=\w?\?|\]|\||$)", CHINESE_HEADS)}))
_MAY_HOLD = re.compile(
    rf"[们司校班社团{_NOUN_ENDS}]\??[^，。]{{0,12}}[是在为：:叫约订定排设开办停放收摆用$\d一二三四五六七八九十两每]|^车"
)
_DOUBT = re.compile(
    "可能|也许|或许|如果|要是|希望|打算|想|考虑|会不会|能不能|要不要|应该|没有?|不|别|吗|呢|建议"
)
_VERBAL = re.compile(
    "^(?:一[名位个首部本篇只条场种](?!数)|做|进行|开(?!幕)|讨论|看|吃|喝|跑|写|读|学|玩|打|等|找|想|说|一起|家|这|那|哪|什么|很|太|非常|挺|我|你|他|她)"
)
_MOVES = re.compile("到|去|在|至|搬|移")
# 把面条换成米粉 trades one thing for another. 把密码换成… changes a value.
_TRADED = re.compile("把.*[换改]成")
_AMOUNT = re.compile(
    r"[一二三四五六七八九十百千万两\d][\d.,一二三四五六七八九十百千万两]*(?:块|元|塊|万|千|百|人|个|次|倍|%|分|度|公|毫|kg|美|欧|台)?"
)


def may_hold(sentence: Sentence) -> bool:
    """Returns True when the words of the sentence may state or change an attribute."""
    plain = sentence.plain
    return (
        _TRIGGER.search(plain) is not None
        or (_MAY_HOLD.search(plain) is not None and _HOLDS.search(plain) is not None)
        or chinese_phrases.may_hold(plain)
    )


@dataclass(frozen=True, slots=True)
class _Topic:
    """The noun that a clause names. ``renewed`` is True when the clause says that its value changed."""

    noun: str
    aspect: Aspect
    renewed: bool = False


def attributes(scene: Scene) -> Iterator[StateDraft]:
    """Yields the attributes that the clauses state or change. 原本 and its like state nothing, but name the subject."""
    text = scene.masked
    begin = 0
    topic: _Topic | None = None
    phrased = chinese_phrases.may_hold(scene.sentence.plain)
    for end in [*(border.start() for border in _CLAUSE.finditer(text)), len(text)]:
        clause = (begin, end)
        begin = end + 1
        where = _BEFORE.search(text, *clause) or _YEARS_AGO.search(scene.sentence.plain, *clause)
        start = where.end() if where is not None and where.start() - clause[0] <= 2 else clause[0]
        if where is not None and start == clause[0]:
            # "讀書會原本在星巴克": the noun stands before the word.
            shorter = f"{text[: where.start()]}{text[where.end() :]}"
            named = STATED.match(shorter, clause[0], end - len(where[0]))
            topic = _topic(named, scene) if named is not None else topic
            continue
        doubtful = _DOUBT.search(text, *clause) is not None
        if (
            phrased
            and where is None
            and not doubtful
            and (phrase := chinese_phrases.stated(scene, start, end)) is not None
        ):
            yield phrase
            continue
        found, draft = (None, None) if doubtful else _read(scene, start, end)
        if draft is not None:
            topic = _Topic(draft.kind or "", _aspect_of(draft))
            if where is None:
                yield draft
            continue
        if where is not None:
            topic = (_topic(found, scene) if found is not None else None) or topic
            continue
        renewed = RENEWED.match(text, start, end)
        if renewed is not None and not doubtful and (noun := _renewed_noun(renewed, scene)) is not None:
            topic = _Topic(noun, "value", renewed=True)
            continue
        taken = TAKEN.match(text, start, end)
        if taken is not None and has_chinese_head(to_simplified(scene.said(taken, "n"))):
            topic = _Topic(scene.said(taken, "n"), "place", renewed=True)
            continue
        moved = IT.match(text, start, end)
        if moved is None and topic is not None and topic.renewed:
            moved = NOW.match(text, start, end)
        if moved is not None and not doubtful and (draft := _moved(moved, scene, topic)) is not None:
            yield draft
            topic = None
            continue
        named = NAMED.match(text, start, end)
        if named is not None and named.end() > start:
            topic = _Topic(scene.said(named, "n"), "place" if gathers(named["n"], chinese=True) else "value")


def _read(scene: Scene, start: int, end: int) -> tuple[re.Match[str] | None, StateDraft | None]:
    """Returns the first pattern's match that makes a state, with the state, or else the first match alone."""
    first = None
    for pattern in (CHANGED, STATED, COSTS, WHEN):
        found = pattern.match(scene.masked, start, end)
        if found is None:
            continue
        draft = _draft(found, scene)
        if draft is not None:
            return found, draft
        first = first or found
    return first, None


def _renewed_noun(found: re.Match[str], scene: Scene) -> str | None:
    """Returns the noun of 組長換人了, or None when the words before the change name no attribute."""
    if found["rise"]:
        return "房租"
    noun = scene.said(found, "n")
    return noun if has_chinese_head(to_simplified(noun)) else None


def _aspect_of(draft: StateDraft) -> Aspect:
    return "time" if draft.value_span is not None else "place" if draft.key.endswith("_place") else "value"


def _topic(found: re.Match[str] | None, scene: Scene) -> _Topic | None:
    if found is None:
        return None
    value = _value(found, found["n"])
    return _Topic(scene.said(found, "n"), value[0]) if value is not None else None


def _value(found: re.Match[str], noun: str) -> tuple[Aspect, bool] | None:
    """Returns the aspect of the value, and whether the value is sure, or None when the words are no value."""
    words = found["v"]
    groups = found.groupdict()
    if TIME in words and _SEATED.search(noun):
        # 停車位在B2的18號: the masked number is a place and no day.
        return ("place", True) if words.strip(TIME) else None
    if TIME in words:
        return ("time", True) if len(re.sub(f"{TIME}|^[在约订定]+|[的那班这点]+$", "", words)) <= 2 else None
    if _VERBAL.match(words) or _NO_VALUE.search(words):
        return None
    link, verb = groups.get("link") or "", groups.get("verb") or ""
    exact = re.search(r"[A-Za-z0-9]", words) is not None or _AMOUNT.match(words) is not None
    place = _PLACE.search(words) is not None
    if is_chinese_role(noun):
        if link.endswith("在"):
            return None
        return ("value", _PERSON.match(words) is not None) if len(words) <= 8 else None
    if _CLOCK.fullmatch(words) and gathers(noun, chinese=True):
        return "time", True
    if link.endswith("在"):
        return "place", exact or place or gathers(noun, chinese=True)
    if re.search("(?:地点|位置|会场|场地|地址)$", noun):
        return "place", True
    if gathers(noun, chinese=True):
        if not verb and link != "是":
            return None
        return "place", exact or place
    if verb and _MOVES.search(verb) and not _AMOUNT.fullmatch(words) and (verb[:1] in "移搬挪转" or place):
        return "place", True
    if place and _SEATED.search(noun):
        return "place", True
    return "value", exact or bool(verb)


# 座位 and 車 have places for values.
_SEATED = re.compile("(?:座位|车|车位|钥匙|护照|硬[碟盘])$")
_CLOCK = re.compile(
    "(?:上午|下午|早上|晚上|中午|凌晨)?[一二三四五六七八九十两\\d:：]{1,5}[点點时](?:半|整|\\d+分?|[一二三四五]?十?五?分)?|\\d{1,2}[:：]\\d\\d|中午|半夜"
)
_PLACE = re.compile(
    "(?:[楼层室厅店馆厦站园校院场堂所房区屋]|地下.{1,3}|中心|抽屉|[鞋衣书]?柜子?|保险箱|盒子?|箱子?|书架|桌上|我家|家里|公司|KTV|航厦|航站楼|"
    "靠窗|旁边?|隔壁|[^一二三四五六七八九十]号)$"
)
_PERSON = re.compile(
    rf"(?:[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[{SURNAMES}]?[小阿老大][\u4e00-\u9fff]|[{GIVEN}]{{2}}|[A-Z][a-"
    rf"z]+(?: [A-Z][a-z]+)?|"
    rf"[{SURNAMES}][\u4e00-\u9fff]?(?:老师|医师|医生|教授|总|经理|副理|阿姨|先生|小姐|律师|师傅|教练|主任|哥|姐|同学))$"
)
_NO_VALUE = re.compile(
    "^(?:人|新人|别人|新的?|旧的?|别[的家].*|[另其].*|[旁一]边|[上下外里]面|这里|那里|天上?|路上|隔壁|[个很][^，]*|下次|以后|这样|那样|好|什么.*|一样.*|现在.*|问题|关键|重点)$|话题|语气|[可能]以|可能|怎么|想法|心情|方式|的人$|就"
)


def _draft(found: re.Match[str], scene: Scene) -> StateDraft | None:
    groups = found.groupdict()
    noun = scene.said(found, "n")
    folded = to_simplified(noun)
    value = _value(found, folded)
    words = _words(found, scene)
    if value is None or not words:
        return None
    aspect, exact = value
    changed = groups.get("verb") is not None
    owned = groups.get("whose") is not None
    link = groups.get("link") or ""
    if not changed:
        if aspect == "value" and not exact and not (_FREE.search(folded) and link not in ("在", "为")):
            return None
        if aspect == "place" and (not exact or not (has_chinese_head(folded) or folded == "车")):
            return None
        if (found.re is COSTS and not sums_up(folded)) or (
            found.re is WHEN and not gathers(folded, chinese=True)
        ):
            return None
        if is_chinese_role(folded) and not exact:
            return None
        # 網路是中華電信的 names the provider. 網路是… says anything.
        if _PROVIDED.search(folded) and link == "是" and not scene.masked.startswith("的", found.end("v")):
            return None
    if folded == "车" and aspect != "place":
        return None
    # "把標題改成紅色" is an order to the assistant. 我把… and …了 tell of a change.
    if (
        groups.get("ba")
        and scene.masked[: found.start("ba")].strip("，, ") == ""
        and not _DONE.search(scene.masked)
    ):
        return None
    # 我今天换灯泡: somebody replaces a thing. 我们的密码换成… changes a value.
    bare = (groups.get("verb") or "").removesuffix("了") in ("改", "换", "延", "提前", "延后")
    if bare and aspect == "value" and not exact and (groups["whose"] or "").endswith(("我", "们")):
        return None
    possessed = owned and not (groups["whose"] or "").endswith(("我", "们"))
    if changed and not has_chinese_head(folded) and not possessed:
        # Any noun moves to a place or changes to a number. Only the noun of an attribute changes to any word.
        if _TRADED.search(scene.masked, 0, found.start("v")):
            return None
        if aspect == "value" and not _exact(found["v"]):
            return None
        if (
            aspect == "place"
            and not (groups.get("ba") and _BELONGING.search(folded))
            and not _PLACE.search(found["v"])
        ):
            return None
    if _PEOPLE.search(folded) or (is_chinese_role(folded) and words in ("人", "新人")):
        return None
    key = chinese_key(
        _full(found, folded, scene), aspect, sure=changed or (owned and exact) or folded == "车"
    )
    if key is None:
        return None
    entity, key = _registered(scene, key)
    return StateDraft(
        entity=entity,
        key=key,
        value=words,
        span=found.span(),
        announced=changed,
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        value_span=found.span("v") if aspect == "time" else None,
        content=_content(noun, words, aspect, scene),
        confidence=0.85,
    )


_DONE = re.compile("了")
_PEOPLE = re.compile(
    f"(?:{'|'.join(RELATIONS)}|(?<![责络办理])人|同事|同学|邻居|们|家人|总部)$(?<!老师)(?<!教练)(?<!房东)(?<!导师)"
)
_BELONGING = re.compile(
    "[车箱包机盘碟本册件书单卡照票药柜]$|钥匙|行李|文件|网站|系统|服务|数据|资料|档案|备份|工具|东西"
)
_EXACT = re.compile(
    "[A-Za-z0-9]|[一二三四五六七八九十百千万两半]{2,}|[一二三四五六七八九十两半][块元次天个点颗片粒毫公]"
)
# The values of these nouns may be any word.
_FREE = re.compile(
    "密码|暗号|代号|名称|品牌|颜色|主题$|(?:网路|网络|宽频|宽带|门号|信用卡|保险|饭店|酒店|旅馆|民宿|餐厅|资料库|数据库)$"
)
_PROVIDED = re.compile("(?:网路|网络|宽频|宽带|门号|信用卡|保险|饭店|酒店|旅馆|民宿|餐厅)$")
_SECRET = re.compile("密码|wifi|WiFi|Wifi|地址|电话|帐号|账号|号码")


def _exact(words: str) -> bool:
    return _EXACT.search(words) is not None


_WEEKDAY = re.compile("(?:周|星期|礼拜)[一二三四五六日天](?:早上|上午|中午|下午|晚上)?的$")


def _full(found: re.Match[str], noun: str, scene: Scene) -> str:
    """Returns the noun with what sets it apart from its like: 公司的 wifi, 禮拜二的會議."""
    weekday = _WEEKDAY.search(scene.sentence.plain, found.start(), found.start("n"))
    if weekday is not None and gathers(noun, chinese=True):
        return f"{weekday[0]}{noun}"
    whose = (found.groupdict().get("whose") or "").removesuffix("的")
    if whose in ("公司", "学校", "班上", "社团") and _SECRET.search(noun):
        return f"{whose}{noun}"
    return noun


def _registered(scene: Scene, key: str) -> tuple[str, str]:
    """Returns the entity and the concept key of an attribute. A bare deadline is that of the project."""
    return ("project", "deadline") if key in ("截止日", "专案截止日", "项目截止日") else (scene.owner, key)


def _moved(found: re.Match[str], scene: Scene, topic: _Topic | None) -> StateDraft | None:
    """Returns the change of a clause without a subject, about the topic of the sentence or of the conversation."""
    words = _words(found, scene)
    noun = topic.noun if topic is not None else ""
    value = _value(found, to_simplified(noun))
    if not words or value is None:
        return None
    aspect: Aspect = value[0]
    if topic is not None and topic.renewed and not (value[1] or _FREE.search(to_simplified(noun))):
        return None
    if topic is not None:
        if aspect == "value" and (not topic.renewed or topic.aspect == "place"):
            aspect = topic.aspect if topic.aspect != "time" else aspect
        key = chinese_key(to_simplified(topic.noun), aspect, sure=True)
        if key is None:
            return None
        entity, key = _registered(scene, key)
    else:
        options: tuple[Aspect, ...] = ("time",) if aspect == "time" else ("place", "value")
        known = next((one for each in options if (one := last_known(scene, each, words)) is not None), None)
        if known is None:
            return None
        entity, key, noun = known.entity, known.key, known.kind or known.key
        aspect = "place" if key.endswith("_place") else aspect
    return StateDraft(
        entity=entity,
        key=key,
        value=words,
        span=found.span(),
        announced=True,
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        value_span=found.span("v") if aspect == "time" else None,
        content=_content(noun, words, aspect, scene),
        confidence=0.85,
    )


def _words(found: re.Match[str], scene: Scene) -> str:
    words = re.sub(
        "(?:了|啦|喔|哦|的|那边|这边|那邊|這邊|那班|[^一二三四五六七八九十]的學生|办|辦)+$",
        "",
        scene.said(found, "v"),
    )
    return TIME_EDGE.sub("", words) if TIME in found["v"] else words


def _content(noun: str, words: str, aspect: Aspect, scene: Scene) -> str:
    whose = "" if scene.owner == "user" else f"{scene.owner}的"
    return f"{whose}{noun}{'在' if aspect == 'place' else '是'}{words}"
