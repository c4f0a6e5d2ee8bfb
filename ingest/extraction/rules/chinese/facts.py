"""Makes Chinese states and events of people: where they live, what they like, do and plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.grammar import CITY, TIME_EDGE, actor, is_bare
from ingest.extraction.rules.chinese.words import (
    ATTRIBUTES,
    CAR_MAKERS,
    CITIES,
    DEGREES,
    NOT_HOMES,
    RELATIONS,
    SPORTS,
)
from ingest.extraction.rules.drafts import Draft, EventDraft, StateDraft
from ingest.extraction.rules.english.life import is_car
from ingest.extraction.rules.english.projects import tool
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Make, Scene
from ingest.extraction.rules.sentences import clause

Clean = Callable[[str], str | None]
_HOMELESS = re.compile(
    rf"(?:{NOT_HOMES}|.*(?:医院|病房|荣总|北荣|中荣|高荣|三总|长庚|马偕|饭店|酒店|旅馆|民宿|宾馆|月子中心|话题))$"
)


def _home(words: str) -> str | None:
    folded = to_simplified(words)
    return None if not words or _HOMELESS.match(folded) or "我" in folded or "你" in folded else words


_WHERE = re.compile(rf"^(?:(?:{CITIES})(?:市|县|省|区)?的(?=..))?")
_SPORTING = re.compile(rf"^[打踢](?=(?:{SPORTS})$)")


def _pastime(words: str) -> str:
    """Returns the sport without its verb ("網球" for "打網球"), so that the start and the end have the same value.

    Returns other pastimes unchanged.
    """
    return words[1:] if _SPORTING.match(to_simplified(words)) else words


def states(
    key: str,
    clean: Clean,
    *,
    statement: str = "asserted",
    announced: bool = False,
    timed: bool = False,
    bare: bool = False,
) -> Make:
    """Returns a function that makes the state in group ``v``.

    Group ``o`` is the replaced value, group ``r`` the role. In a clause without a subject only ``bare`` rules apply:
    their verbs imply the speaker ("搬到台中了").
    """

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity, value = actor(scene), clean(scene.said(found, "v"))
        if entity is None or not value or (is_bare(scene) and not bare):
            return
        if key == "employer":
            # "台北的聯發科" names the city and the employer. The employer is the value.
            value = value[len(_WHERE.findall(to_simplified(value))[0]) :]
        real_key = key
        if key == "employer" and CITY.match(to_simplified(value)):
            if announced or statement == "ended":
                return
            real_key = "work_location"
        groups = found.groupdict()
        if groups.get("o") and (old := clean(scene.said(found, "o"))):
            yield StateDraft(
                entity=entity,
                key=key,
                value=old,
                span=found.span(),
                statement="ended",
                announced=True,
                timed=True,
            )
        yield StateDraft(
            entity=entity,
            key=real_key,
            value=value,
            span=found.span(),
            timed=timed,
            announced=announced,
            statement="ended" if statement == "ended" else "asserted",
        )
        if groups.get("r"):
            yield StateDraft(
                entity=entity,
                key="occupation",
                value=scene.said(found, "r"),
                span=found.span(),
                timed=timed,
                announced=announced,
                statement="ended" if statement == "ended" else "asserted",
            )

    return make


def _word(words: str) -> str | None:
    return words or None


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    attribute = to_simplified(found["a"])
    key = ATTRIBUTES.get(attribute)
    value = scene.said(found, "v")
    if entity is None or key is None or not value or is_bare(scene):
        return
    changed = found["link"] in ("改成", "换成", "变成", "改为")
    if found["link"] in ("在", "也在") and key not in ("birthday", "residence", "hometown", "work_location"):
        return
    if re.match(
        r"(?:很|挺|非常|特别|太|不|比较|真|有点|越来越|这|那|什么|谁|让|要|想|把|被|我|你|他|她|因为|一样|为了|就在|最)",
        to_simplified(value),
    ) and not (key == "goal" and re.match(r"要|想|在", to_simplified(value))):
        return
    if (
        key == "residence"
        and attribute in ("家", "新家")
        and (found["link"] not in ("在", "就在", "也在") or _home(value) is None)
    ):
        return
    if key == "email":
        address = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", scene.sentence.raw[found.start("v") :])
        if address is None:
            return
        value = address[0]
    if key == "phone":
        number = re.match(r"[+\d][\d -]{5,18}\d", value)
        if number is None:
            return
        value = number[0]
    if key == "birthday":
        if TIME not in found["v"]:
            return
        value = TIME_EDGE.sub("", value)
    if key == "degree":
        level = re.search(DEGREES, to_simplified(value))
        if level is None:
            return
        value = value[slice(*level.span())]
    if key in ("phone_model", "computer", "vehicle"):
        value = re.sub(r"^(?:一?[支台部辆款]|(?:的)|用的)", "", value)
        if len(value) < 2 or re.search(r"[了坏丢掉]|没电", to_simplified(value)):
            return
    if key in ("browser", "editor") and tool(value) is None:
        return
    for tail in ("哦", "喔", "呢", "啦", "啊", "呀", "的", "噢", "哩", "耶", "了"):
        value = value.removesuffix(tail)
    if not value or len(value) > 40:
        return
    values = [value]
    if key == "hobby":
        values = [_pastime(one) for one in re.split(r"[和跟与、及]|还有|以及", value) if 1 < len(one) <= 10]
    if key == "name":
        kin = RELATIONS.get(to_simplified(entity.split("的")[-1]))
        if kin is not None and entity != scene.owner:
            yield StateDraft(entity=scene.owner, key=kin, value=value, span=found.span(), kind=entity)
            return
        if entity == value:
            return
    if found["o"]:
        yield StateDraft(
            entity=entity,
            key=key,
            value=_pastime(scene.said(found, "o")) if key == "hobby" else scene.said(found, "o"),
            span=found.span(),
            statement="ended",
            announced=True,
        )
    for one in values:
        yield StateDraft(
            entity=entity,
            key=key,
            value=one,
            span=found.span(),
            announced=changed or found["new"] is not None,
            timed=key in ("residence", "employer", "occupation"),
        )


_HABITUAL = re.compile("每|常|平时|平日|固定|一直|习惯|现在|开始|改|都打|都踢")


def _plays(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a hobby of a sport that somebody plays regularly ("我每週都打網球")."""
    entity = actor(scene)
    first, last = clause(scene.sentence, *found.span())
    said = scene.sentence.plain[first:last]
    if entity is None or is_bare(scene) or not _HABITUAL.search(said):
        return
    yield StateDraft(
        entity=entity,
        key="hobby",
        value=scene.said(found, "v"),
        span=found.span(),
        announced="改" in said or "现在" in said,
        timed="开始" in said,
    )


def _car(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a vehicle where a car maker is named ("我開一台 Mazda 3", "把 Mazda 賣了，換了一台 Volvo")."""
    entity = actor(scene)
    groups = found.groupdict()
    if entity is None or is_bare(scene):
        return
    for group, ended in (("o", True), ("v", False)):
        value = scene.said(found, group) if groups.get(group) else ""
        if value and (is_car(value) or _MAKER.match(to_simplified(value))):
            yield StateDraft(
                entity=entity,
                key="vehicle",
                value=value,
                span=found.span(),
                statement="ended" if ended else "asserted",
                announced="o" in groups,
                timed="o" in groups,
            )


_MAKER = re.compile(CAR_MAKERS)
_NO_LONGER = re.compile("以前|之前|曾|当时|那时|小时候|后来|搬走|搬离")


def _lasting_home(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a residence of "我在高雄住了兩年多", unless the sentence is about the past."""
    if not _NO_LONGER.search(scene.sentence.plain):
        yield from states("residence", _home, timed=True)(found, scene)


_POINTING = re.compile(
    r"第[一二三四五六七八九十\d]|^(?:方案|选项|选择|版本|步骤|标题|段落|题目|建议|回答|答案|文案|开头|结尾|格式|语气|排版)|"
    r"^[把被让给用从为]|\w[._/@]\w|#|_|^[A-Za-z\d]{1,2}$|\d号|"
    r"[我你他她它这那哪]|什么|自己|一下|一点|的时候|的话|过的?$|来$|去$|看到|听到|听你|你说|是$"
)


_QUOTE = re.compile("[「」“”‘’『』《》]")


def _likes(key: str, *, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = actor(scene)
        if (
            entity is None
            or is_bare(scene)
            or re.search(r"[它这那是]|^[打吃喝看听玩]?的", to_simplified(found["v"]))
        ):
            return
        parts = re.split(r"[和跟与及、]|还有|以及", scene.said(found, "v"))
        # "瓶子的「料」和「色」": parts that are cut inside a quotation or between two quotations have no meaning.
        if len(parts) > 1 and any(_QUOTE.search(part) for part in parts):
            return
        for one in parts:
            value = re.sub(r"(?:啦|喔|哦|呢|啊|呀|的|了|也|很)+$", "", one)
            # "酒", "蛋": one character is enough for food.
            if (
                (key == "avoids" or len(value) > 1)
                and 0 < len(value) <= 12
                and not _POINTING.search(to_simplified(value))
            ):
                yield StateDraft(
                    entity=entity,
                    key=key,
                    value=value,
                    span=found.span(),
                    confidence=0.85,
                    statement="ended" if ended else "asserted",
                )

    return make


def _happening(key: str, when: str) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = actor(scene)
        said = scene.masked[found.start() : found.end()]
        if key == "plan" and re.search(r"了|过|按计[划画]|计划[中的书内]", said):
            return
        if key == "plan" and re.search("也许|或许|可能|说不定|不一定|看看要不要", scene.masked):
            return
        if key == "activity" and re.search(
            rf"{TIME}的$|是{TIME}+的|(?:基于|关于|通过|希望|目标|需|待){TIME}", scene.masked
        ):
            return
        if entity is not None and not (is_bare(scene) and TIME not in scene.masked):
            yield EventDraft(
                entity=entity,
                key=key,
                span=found.span(),
                content=scene.sentence.raw,
                when=when,
                importance=6 if key == "plan" else 5,
                status="planned" if key == "plan" else "happened",
            )

    return make


def _settled(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    group = "v" if found["v"] else "w"
    value = _home(scene.said(found, group))
    if entity is not None and value and not is_bare(scene):
        yield StateDraft(entity=entity, key="residence", value=value, span=found.span(), timed=True)


def _stops(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or is_bare(scene):
        return
    value = scene.said(found, "v") if found["v"] else scene.said(found, "w")
    habit = found["w"] is not None or value[:1] in "抽喝"
    yield StateDraft(
        entity=entity,
        key="habit" if habit else "hobby",
        value=("抽" if value in ("烟", "菸", "煙") else "喝" if found["w"] else "") + _pastime(value),
        span=found.span(),
        statement="ended",
        announced=True,
        timed=True,
    )


def _learning(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene) and re.search(r"^(?:正在|在|开始|最近)|\x01", found[0]):
        yield StateDraft(
            entity=entity, key="learning", value=scene.said(found, "v"), span=found.span(), timed=True
        )


MAKES: dict[str, Make] = {
    "residence": states("residence", _home, timed=True),
    "residence_now": states("residence", _home),
    "residence_lasting": _lasting_home,
    "plays": _plays,
    "vehicle": _car,
    "vehicle_changed": _car,
    "move": states("residence", _home, announced=True, timed=True, bare=True),
    "settled": _settled,
    "residence_ended": states("residence", _home, statement="ended", announced=True, timed=True),
    "residence_past": states("residence", _home, statement="ended"),
    "likes": _likes("likes"),
    "dislikes": _likes("dislikes"),
    "avoids": _likes("avoids"),
    "likes_ended": _likes("likes", ended=True),
    "stopped": _stops,
    "language": _likes("language"),
    "hometown": states("hometown", _word),
    "instrument": states("instrument", _word),
    "learning": _learning,
    "allergy": states("allergy", _word),
    "diet": states("diet", _word, timed=True),
    "diet_ended": states("diet", _word, statement="ended", announced=True, timed=True),
    "medication": states("medication", _word, timed=True),
    "medication_ended": states("medication", _word, statement="ended", announced=True, timed=True),
    "age": states("age", _word),
    "height": states("height", _word),
    "attribute": _attribute,
    "weight": states("weight", _word, timed=True),
    "business": states("business", _word),
    "salary": states("salary", _word, timed=True),
    "condition": states("medical_condition", _word),
    "child": states("child", _word),
    "standing": states("occupation", _word, timed=True),
    "major": states("major", _word),
    "interest": _likes("likes"),
    "plan": _happening("plan", "future"),
    "activity": _happening("activity", "past"),
}
