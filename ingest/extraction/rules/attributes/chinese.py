"""Makes Chinese states of attributes: wifi 密碼是…, 讀書會改到圖書館, 專案截止日延到三月十五號."""

from __future__ import annotations

import re
from collections.abc import Iterator

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.attributes.known import last_known
from ingest.extraction.rules.attributes.nouns import Aspect, chinese_key, gathers, has_chinese_head
from ingest.extraction.rules.chinese.grammar import TIME_EDGE
from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN, Sentence

_OPEN = (
    r"(?:对了|所以|但是|不过|而且|然后|因为|其实|结果|后来|现在|目前|刚刚|最近|跟你说|顺便说|更新一下|原来|另外|"
    rf"听说|{TIME}+| )*"
)
_WHOSE = "(?P<whose>我们家?的?|我家的?|咱们的?|我的?|公司的?|学校的?|班上的?|社团的?)?"
_NOUN = rf"(?P<n>[^，,。；;！!？?、：:是在为改换调移搬延{TIME}{HIDDEN}]{{2,14}}?)"
_SO = f"(?:目前|现在|已经|都|就|又|还是|被|临时|决定|要|刚|{TIME}|，)*"
# 改造, 改善, 交换 and 切换 are other words.
_CHANGE = (
    "(?:(?<![修更整])改(?:成|到|在|为|去|(?![造善进良变动革正编组装掉]))|"
    "(?<![交切变更替兑转退轮])换(?:到|成|去|在|(?![取算句代位言气]))|移到|移至|搬到|延到|延后到|延至|推迟到|提前到|提早到|调到|调高到|调低到|调成|"
    "调涨到|涨到|涨成|升到|升成|降到|降成|减到|增加到|变成|设成|设为|更新成|更新为|延(?![伸续误])|提前|提早|延后|推迟)了?"
)
_END = rf"(?=$|[，,。；;！!？?、 {HIDDEN}]|了|啦|喔|哦|啊|呀|呢|吧|见|集合|举行|开会|碰面|上课)"
_VALUE = rf"(?P<v>[^，,。；;！!？?、{HIDDEN}]{{1,24}}?)"
_CHANGED = re.compile(
    rf"{_OPEN}(?:把)?{_WHOSE}(?:把)?{_NOUN}{_SO}(?:从(?P<o>[^，,。{HIDDEN}]{{1,14}}?))?{_SO}(?P<verb>{_CHANGE})(?P<link>在)?{_VALUE}{_END}"
)
_STATED = re.compile(rf"{_OPEN}{_WHOSE}{_NOUN}{_SO}(?P<link>是在|就是|是|在|为|：|:)\s?{_VALUE}{_END}")
_IT = re.compile(rf"{_OPEN}(?:它|时间|地点|地址)?{_SO}(?:把它)?(?P<verb>{_CHANGE}){_VALUE}{_END}")
_BEFORE = re.compile("原本|本来|一开始|起初|原先|之前|以前|最早|最初")
_CLAUSE = re.compile("[，,；;。]")
_TRIGGER = re.compile("[改换调移搬延推提涨升降减变设]")
_POSSESSED = re.compile(
    "[我们公司学校班社团]的?[^，。]{1,12}[是在为：:]|(?:密码|帐号|账号|会|课|班|社|团|预算|价|费|租|金|截止日期?|期限|目标|车位|座位|室|地点|时间|"
    "日期|号码?|版本|代号|暗号|会议|房|店|厅|馆|钥匙|医生?|师|方案|剂量|温度|费率|主题|颜色)[^，。]{0,3}[是在为：:]"
)
_DOUBT = re.compile(
    "可能|也许|或许|如果|要是|希望|打算|想|考虑|会不会|能不能|要不要|应该|没有?|不|别|吗|呢|建议"
)
_VERBAL = re.compile(
    "^(?:一[名位个首部本篇只条](?!数)|做|进行|开(?!幕)|讨论|看|吃|喝|跑|写|读|学|玩|打|等|找|想|说|一起|家|这|那|哪|什么|很|太|非常|挺|我|你|他|她)"
)
_MOVES = re.compile("到|去|在|至|搬|移")
# 把面条换成米粉 trades one thing for another. 把密码换成… changes a value.
_TRADED = re.compile("把.*[换改]成")
_AMOUNT = re.compile(
    r"[一二三四五六七八九十百千万两\d][\d.,一二三四五六七八九十百千万两]*(?:块|元|塊|万|千|百|人|个|次|倍|%|分|度|公|毫|kg|美|欧|台)?"
)


def may_hold(sentence: Sentence) -> bool:
    """Returns True when the words of the sentence may state or change an attribute."""
    return _TRIGGER.search(sentence.plain) is not None or _POSSESSED.search(sentence.plain) is not None


def attributes(scene: Scene) -> Iterator[StateDraft]:
    """Yields the attributes that the clauses state or change. 原本 and its like state nothing, but name the subject."""
    text = scene.masked
    begin = 0
    topic: tuple[str, Aspect] | None = None
    for end in [*(border.start() for border in _CLAUSE.finditer(text)), len(text)]:
        clause = (begin, end)
        begin = end + 1
        past = _BEFORE.search(text, *clause) is not None
        where = _BEFORE.search(text, *clause)
        start = where.end() if where is not None and where.start() - clause[0] <= 2 else clause[0]
        found = _CHANGED.match(text, start, end) or _STATED.match(text, start, end)
        if where is not None and start == clause[0]:
            # "讀書會原本在星巴克": the noun stands before the word.
            shorter = f"{text[: where.start()]}{text[where.end() :]}"
            named = _STATED.match(shorter, clause[0], end - len(where[0]))
            topic = _topic(named, scene) if named is not None else topic
            continue
        if (
            found is not None
            and (draft := _draft(found, scene)) is not None
            and not _DOUBT.search(text, *clause)
        ):
            topic = (draft.kind or "", _aspect_of(draft))
            if not past:
                yield draft
            continue
        if past:
            topic = _topic(found, scene) if found is not None else topic
            continue
        moved = _IT.match(text, start, end)
        if moved is not None and not _DOUBT.search(text, *clause):
            draft = _moved(moved, scene, topic)
            if draft is not None:
                yield draft


def _aspect_of(draft: StateDraft) -> Aspect:
    return "time" if draft.value_span is not None else "place" if draft.key.endswith("_place") else "value"


def _topic(found: re.Match[str] | None, scene: Scene) -> tuple[str, Aspect] | None:
    if found is None:
        return None
    value = _value(found, found["n"])
    return (scene.said(found, "n"), value[0]) if value is not None else None


def _value(found: re.Match[str], noun: str) -> tuple[Aspect, bool] | None:
    """Returns the aspect of the value, and whether the value is sure, or None when the words are no value."""
    words = found["v"]
    groups = found.groupdict()
    if TIME in words:
        return ("time", True) if len(words.replace(TIME, "")) <= 2 else None
    if _VERBAL.match(words):
        return None
    exact = re.search(r"[A-Za-z0-9]", words) is not None or _AMOUNT.match(words) is not None
    link, verb = groups.get("link") or "", groups.get("verb") or ""
    if link.endswith("在"):
        return "place", exact
    if re.search("(?:地点|位置|会场|场地|地址)$", noun):
        return "place", True
    if gathers(noun, chinese=True):
        if not verb and link != "是":
            return None
        return "place", exact
    if (
        verb
        and _MOVES.search(verb)
        and not _AMOUNT.match(words)
        and not re.search("[调涨升降减增]", verb)
        and verb[:1] in "移搬"
    ):
        return "place", True
    return "value", exact or bool(verb)


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
    if (
        not changed
        and not exact
        and aspect == "value"
        and not re.search("密码|暗号|代号|品牌|颜色|主题$", folded)
    ):
        return None
    # 我今天换灯泡: somebody replaces a thing. 我们的密码换成… changes a value.
    bare = (groups.get("verb") or "").removesuffix("了") in ("改", "换")
    if bare and aspect == "value" and not exact and (groups["whose"] or "").endswith(("我", "们")):
        return None
    possessed = owned and not (groups["whose"] or "").endswith(("我", "们"))
    if (
        changed
        and not possessed
        and not has_chinese_head(folded)
        and _TRADED.search(scene.masked, 0, found.start("v"))
    ):
        return None
    key = chinese_key(folded, aspect, sure=changed or (owned and exact))
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


def _registered(scene: Scene, key: str) -> tuple[str, str]:
    """Returns the entity and the concept key of an attribute. A bare deadline is that of the project."""
    return ("project", "deadline") if key in ("截止日", "专案截止日", "项目截止日") else (scene.owner, key)


def _moved(found: re.Match[str], scene: Scene, topic: tuple[str, Aspect] | None) -> StateDraft | None:
    """Returns the change of a clause without a subject, about the topic of the sentence or of the conversation."""
    words = _words(found, scene)
    value = _value(found, topic[0] if topic is not None else "")
    if not words or value is None:
        return None
    aspect: Aspect = value[0]
    span = found.span("v") if aspect == "time" else None
    if topic is not None:
        aspect = topic[1] if aspect != "time" else "time"
        key = chinese_key(to_simplified(topic[0]), aspect, sure=True)
        if key is None:
            return None
        entity, key = _registered(scene, key)
        noun = topic[0]
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
        value_span=span,
        content=_content(noun, words, aspect, scene),
        confidence=0.85,
    )


def _words(found: re.Match[str], scene: Scene) -> str:
    words = re.sub("(?:了|啦|喔|哦|的|那边|这边|那邊|這邊)+$", "", scene.said(found, "v"))
    return TIME_EDGE.sub("", words) if TIME in found["v"] else words


def _content(noun: str, words: str, aspect: Aspect, scene: Scene) -> str:
    whose = "" if scene.owner == "user" else f"{scene.owner}的"
    return f"{whose}{noun}{'在' if aspect == 'place' else '是'}{words}"
