"""Chinese states and events: what is made of a match, clause by clause."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from events.script import fold_script
from ingest.rules.chinese_grammar import actor, is_bare
from ingest.rules.chinese_words import ATTRIBUTES, CITIES, DEGREES, FIRMS, NOT_EMPLOYERS, NOT_HOMES, RELATIONS
from ingest.rules.drafts import Draft, EventDraft, StateDraft
from ingest.rules.english_life import tool
from ingest.rules.english_words import TOOLS
from ingest.rules.moments import TIME
from ingest.rules.scene import Make, Scene

Clean = Callable[[str], str | None]
_HOMELESS = re.compile(rf"(?:{NOT_HOMES})$")
_FIRMLESS = re.compile(rf"(?:{NOT_EMPLOYERS})$")
_CITY = re.compile(rf"(?:{CITIES})+(?:市|县|省|区|那边|这边)?$|[\u4e00-\u9fff]{{2,3}}[市县镇乡]$")


def _home(words: str) -> str | None:
    folded = fold_script(words)
    return None if not words or _HOMELESS.match(folded) or "我" in folded or "你" in folded else words


def _firm(words: str) -> str | None:
    folded = fold_script(words)
    if (
        not words
        or _FIRMLESS.match(folded)
        or re.search(
            r"[我你他她这那哪]|^(?:一个|新|更|别的?|其他|另|什么|同|大)(?!竹|光|北|东|加坡|浪|立|润|众|疆)|家里|面前|路上|群里|部门$|团队$",
            folded,
        )
    ):
        return None
    for head in ("一家叫", "一间叫", "一家", "一间", "1家"):
        if folded.startswith(head):
            return words[len(head) :]
    return words


def _states(
    key: str,
    clean: Clean,
    *,
    statement: str = "asserted",
    announced: bool = False,
    timed: bool = False,
    bare: bool = False,
) -> Make:
    """A builder of the state in group ``v``; ``o`` is what it replaced, ``r`` the role. Without a subject only
    ``bare`` rules speak: their verbs are the speaker's own ("搬到台中了")."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity, value = actor(scene), clean(scene.said(found, "v"))
        if entity is None or not value or (is_bare(scene) and not bare):
            return
        real_key = key
        if key == "employer" and _CITY.match(fold_script(value)):
            if announced or statement == "ended":
                return
            real_key = "work_location"
        groups = found.groupdict()
        if groups.get("o") and (old := clean(scene.said(found, "o"))):
            yield StateDraft(
                entity=entity,
                key=key,
                value=old,
                begin=found.start(),
                stop=found.end(),
                statement="ended",
                announced=True,
                timed=True,
            )
        yield StateDraft(
            entity=entity,
            key=real_key,
            value=value,
            begin=found.start(),
            stop=found.end(),
            timed=timed,
            announced=announced,
            statement="ended" if statement == "ended" else "asserted",
        )
        if groups.get("r"):
            yield StateDraft(
                entity=entity,
                key="occupation",
                value=scene.said(found, "r"),
                begin=found.start(),
                stop=found.end(),
                timed=timed,
                announced=announced,
                statement="ended" if statement == "ended" else "asserted",
            )

    return make


def _word(words: str) -> str | None:
    return words or None


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    attribute = fold_script(found["a"])
    key = ATTRIBUTES.get(attribute)
    value = scene.said(found, "v")
    if entity is None or key is None or not value or is_bare(scene):
        return
    if found["link"] in ("在", "也在") and key not in ("birthday", "residence", "hometown", "work_location"):
        return
    if re.match(
        r"(?:很|挺|非常|特别|太|不|比较|真|有点|越来越|这|那|什么|谁|让|要|想|把|被|我|你|他|她|因为|一样|为了|就在|最)",
        fold_script(value),
    ):
        if key != "goal" or not re.match(r"要|想|在", fold_script(value)):
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
        value = _TIME_EDGE.sub("", value)
    if key == "degree":
        level = re.search(DEGREES, fold_script(value))
        if level is None:
            return
        value = value[slice(*level.span())]
    if key in ("phone_model", "computer", "vehicle"):
        value = re.sub(r"^(?:一?[支台部辆款]|(?:的)|用的)", "", value)
        if len(value) < 2 or re.search(r"[了坏丢掉]|没电", fold_script(value)):
            return
    if key in ("browser", "editor") and tool(value) is None:
        return
    for tail in ("哦", "喔", "呢", "啦", "啊", "呀", "的", "噢", "哩", "耶"):
        value = value.removesuffix(tail)
    if not value or len(value) > 40:
        return
    values = [value]
    if key == "hobby":
        values = [one for one in re.split(r"[和跟与、及]|还有|以及", value) if 1 < len(one) <= 10]
    if key == "name":
        kin = RELATIONS.get(fold_script(entity.split("的")[-1]))
        if kin is not None and entity != scene.owner:
            yield StateDraft(
                entity=scene.owner, key=kin, value=value, begin=found.start(), stop=found.end(), kind=entity
            )
            return
        if entity == value:
            return
    for one in values:
        yield StateDraft(
            entity=entity,
            key=key,
            value=one,
            begin=found.start(),
            stop=found.end(),
            announced=found["link"] in ("改成", "换成", "变成", "改为"),
            timed=key in ("residence", "employer", "occupation"),
        )


def _is_kin(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "王磊是我的上司": the named one is the owner's superior."""
    entity = actor(scene)
    if entity is None or entity == scene.owner or is_bare(scene):
        return
    kin = scene.said(found, "kin")
    yield StateDraft(
        entity=scene.owner,
        key=RELATIONS[fold_script(kin)],
        value=entity,
        begin=found.start(),
        stop=found.end(),
        kind=kin,
        tags=(kin,),
    )


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "我太太叫小芳": the clause is about the relation; its name is the value."""
    entity = actor(scene)
    value = _given_name(scene.said(found, "v"))
    if entity is None or value is None or is_bare(scene):
        return
    if entity == scene.owner:
        yield StateDraft(entity=entity, key="name", value=value, begin=found.start(), stop=found.end())
        return
    kin = RELATIONS.get(fold_script(entity.split("的")[-1]))
    if kin is not None:
        yield StateDraft(
            entity=scene.owner,
            key=kin,
            value=value,
            begin=found.start(),
            stop=found.end(),
            kind=entity.split("的")[-1],
            tags=(entity.split("的")[-1],),
        )


def _given_name(words: str) -> str | None:
    value = words.removesuffix("哦").removesuffix("喔").removesuffix("啦")
    if not value or len(value) > 12 or re.search(r"[我你他她它什谁么这那醒救]|做$|作$", fold_script(value)):
        return None
    return value


def _pets(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or is_bare(scene):
        return
    kind = scene.said(found, "pet")
    groups = found.groupdict()
    names = (
        [one for part in re.split(r"[和跟与、]", scene.said(found, "v")) if (one := _given_name(part))]
        if groups.get("v")
        else []
    )
    for value in names or ([kind] if not groups.get("v") else []):
        yield StateDraft(
            entity=entity,
            key="pet",
            value=value,
            begin=found.start(),
            stop=found.end(),
            kind=kind if names else None,
            timed=bool(groups.get("got")),
            tags=(kind,),
        )


def _pet_named_later(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "……養了一隻貓，叫麻糬": the name in a clause of its own, right after the pet."""
    last = next(iter(scene.earlier()[-1:]), None)
    value = _given_name(scene.said(found, "v"))
    if last is None or last.key != "pet" or last.kind is not None or value is None:
        return
    yield StateDraft(
        entity=last.entity,
        key="pet",
        value=value,
        begin=found.start(),
        stop=found.end(),
        kind=last.value,
        tags=(last.value,),
    )


def _pet_died(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    groups = found.groupdict()
    said = scene.said(found, "v") if groups.get("v") else ""
    if groups.get("pet"):
        kind = scene.said(found, "pet")
        named = [one for one in scene.earlier() if one.key == "pet" and one.kind == kind]
        value, entity = said or (named[-1].value if named else kind), scene.owner
    else:
        known = [one for one in scene.earlier() if one.key == "pet" and one.value == said]
        if not known:
            return
        value, entity, kind = known[-1].value, known[-1].entity, known[-1].kind or ""
    verb = "過世了" if scene.traditional else "过世了"
    yield StateDraft(
        entity=entity,
        key="pet",
        value=value,
        begin=found.start(),
        stop=found.end(),
        statement="ended",
        announced=True,
        timed=True,
        kind=kind,
        content=f"{kind if kind != value else ''}{value}{verb}",
    )


_POINTING = re.compile(
    r"[我你他她它这那哪]|什么|自己|一下|一点|的时候|的话|过的?$|来$|去$|看到|听到|听你|你说|是$"
)


def _likes(key: str, *, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = actor(scene)
        if (
            entity is None
            or is_bare(scene)
            or re.search(r"[它这那]|^[打吃喝看听玩]的", fold_script(found["v"]))
        ):
            return
        for one in re.split(r"[和跟与及、]|还有|以及", scene.said(found, "v")):
            value = re.sub(r"(?:啦|喔|哦|呢|啊|呀|的|了)+$", "", one)
            if 1 < len(value) <= 12 and not _POINTING.search(fold_script(value)):
                yield StateDraft(
                    entity=entity,
                    key=key,
                    value=value,
                    begin=found.start(),
                    stop=found.end(),
                    confidence=0.85,
                    statement="ended" if ended else "asserted",
                )

    return make


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = actor(scene), scene.said(found, "v")
    folded = fold_script(value)
    if entity is None or is_bare(scene) or re.search(r"[我你他她]|一样|那种|这种|好|最|的$|大家", folded):
        return
    if (
        folded in ("设计", "业务", "前端", "后端", "老师", "师傅", "组长", "队长")
        and "是" in found[0]
        and "个" not in found[0]
        and folded not in ("老师", "队长")
    ):
        return
    yield StateDraft(
        entity=entity,
        key="occupation",
        value=value,
        begin=found.start(),
        stop=found.end(),
        timed=True,
        announced=bool(found.groupdict().get("new")),
    )


def _tools(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        subject = actor(scene)
        if groups.get("p"):
            subject = _project(scene.said(found, "p"))
        if subject is None or (is_bare(scene) and not groups.get("p") and not announced):
            return
        new = [one for part in re.split(r"[、和跟与]", scene.said(found, "v")) if (one := tool(part))]
        old = tool(scene.said(found, "o")) if groups.get("o") else None
        hint = next((key for _, key in new if key != "tool"), None)
        if old is not None and new:
            yield StateDraft(
                entity=subject,
                key=old[1] if old[1] != "tool" else hint or "tool",
                value=old[0],
                begin=found.start(),
                stop=found.end(),
                statement="ended",
                announced=True,
                timed=True,
            )
        for value, key in new:
            # An unlisted Latin word behind 用 is as often a size or a brand; a change says that it is a tool.
            if value.lower() not in TOOLS and not (announced or groups.get("p")):
                continue
            if key == "tool" and old is not None and old[1] != "tool":
                key = old[1]
            yield StateDraft(
                entity=subject,
                key=key,
                value=value,
                begin=found.start(),
                stop=found.end(),
                announced=announced or ended,
                timed=announced or ended,
                statement="ended" if ended else "asserted",
            )

    return make


def _project(words: str) -> str | None:
    name = re.sub(
        r"^(?:我们|我|这个|那个|的)+|(?:这个)?(?:专案|项目|计划|产品|系统|的)+$|[ ]+$", "", fold_script(words)
    )
    if not name:
        return "project"
    name = name.strip()
    begin = fold_script(words).find(name)
    return (
        words[begin : begin + len(name)]
        if begin >= 0 and len(name) <= 20 and not re.search(r"[我你他她它这那]", name)
        else None
    )


_TIME_EDGE = re.compile(r"^(?:在|到|于|至|是|定在|预计|大概|大约)+|(?:左右)$")


_MOVES = re.compile("延|推迟|改|提前|挪")


def _dated(key: str) -> Make:
    """A date that is the value itself: a release, a deadline. It may move, and then it is announced."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        said = scene.said(found, "p") if groups.get("p") else ""
        dated = [one for one in scene.earlier() if one.key == key]
        entity = _project(said) if said else (dated[-1].entity if dated else "project")
        if not said and not dated and groups.get("loose") is not None:
            return
        value = _TIME_EDGE.sub("", scene.said(found, "v"))
        if entity is not None and value:
            yield StateDraft(
                entity=entity,
                key=key,
                value=value,
                begin=found.start(),
                stop=found.end(),
                announced=_MOVES.search(found[0]) is not None,
            )

    return make


def _stage(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _project(scene.said(found, "p")) if found.groupdict().get("p") else "project"
    if entity is not None:
        yield StateDraft(
            entity=entity,
            key="project_stage",
            value=scene.said(found, "v"),
            begin=found.start(),
            stop=found.end(),
            timed=True,
            announced=bool(found.groupdict().get("new")),
        )


def _decided(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = scene.owner if actor(scene) in (None, scene.owner) else None
    rest = scene.said(found, "v")
    if entity is None or len(rest) < 2:
        return
    yield EventDraft(
        entity=entity,
        key="decision",
        begin=found.start(),
        stop=found.end(),
        content=scene.sentence.raw,
        value=rest,
        importance=7,
    )
    if re.match(r"不|先不|暂时不", fold_script(rest)):
        return
    chosen = re.search(
        r"(?:从(?P<o1>[A-Za-z][\w.+# -]*?)(?:换成|换到|改成|改用|转到|迁移到|改为))?(?:改用|使用|采用|选用|选择|选|用|换成|改成|"
        r"转用)?\s?(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?)"
        r"(?:[，,]?\s?(?:而不是|取代|代替|不用|而不用|不是)\s?(?P<o2>[A-Za-z][\w.+#-]*))?",
        fold_script(rest),
    )
    if chosen is None:
        return
    new = tool(chosen["v"])
    old = tool(chosen["o1"] or chosen["o2"]) if chosen["o1"] or chosen["o2"] else None
    if new is None or (new[1] == "tool" and (old is None or old[1] == "tool")):
        return
    if old is not None:
        yield StateDraft(
            entity=entity,
            key=old[1],
            value=old[0],
            begin=found.start(),
            stop=found.end(),
            statement="ended",
            announced=True,
            timed=True,
        )
    yield StateDraft(
        entity=entity,
        key=new[1] if new[1] != "tool" else (old[1] if old else new[1]),
        value=new[0],
        begin=found.start(),
        stop=found.end(),
        announced=True,
        timed=True,
    )


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene):
        yield StateDraft(
            entity=entity,
            key="relationship_status",
            value=scene.said(found, "v"),
            begin=found.start(),
            stop=found.end(),
            timed=True,
            announced="刚" in found[0] or "了" in found.string[found.end() : found.end() + 1],
        )


def _happening(key: str, when: str) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = actor(scene)
        said = scene.masked[found.start() : found.end()]
        if key == "plan" and re.search(r"了|过|按计划|计划[中的书内]", said):
            return
        if key == "activity" and re.search(
            rf"{TIME}的$|是{TIME}+的|(?:基于|关于|通过|希望|目标|需|待){TIME}", scene.masked
        ):
            return
        if entity is not None and not (is_bare(scene) and TIME not in scene.masked):
            yield EventDraft(
                entity=entity,
                key=key,
                begin=found.start(),
                stop=found.end(),
                content=scene.sentence.raw,
                when=when,
                importance=6 if key == "plan" else 5,
            )

    return make


def _settled(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    group = "v" if found["v"] else "w"
    value = _home(scene.said(found, group))
    if entity is not None and value and not is_bare(scene):
        yield StateDraft(
            entity=entity, key="residence", value=value, begin=found.start(), stop=found.end(), timed=True
        )


_FIRM_LIKE = re.compile(
    rf"(?:{FIRMS})|(?:公司|集团|科技|银行|电子|半导体|软件|软体|事务所|医院|大学|工作室|新创|电信|汽车|实业|证券|保险|传媒|设计院|研究院|研究所)$|^[A-Z]"
)


def _joins(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "加入 X": one joins clubs and chats too, so X must look like a firm or the words be about work."""
    value = fold_script(scene.said(found, "v"))
    known = tool(value)
    if known is not None and known[1] != "tool":
        return
    about_work = re.search(r"跳槽|入职|转职|上班|工作|任职|当|担任", found[0]) is not None
    if not about_work and (_FIRM_LIKE.search(value) is None or found[0].startswith("转到")):
        return
    yield from _states("employer", _firm, announced=True, timed=True, bare=True)(found, scene)


def _switches(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(r"跳槽|上班|工作|公司", scene.masked):
        return
    yield from _states("employer", _firm, announced=True, timed=True, bare=True)(found, scene)


def _quits(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    group = next(g for g in "vwxy" if found[g])
    value = _firm(scene.said(found, group))
    if entity is None or not value or _CITY.match(fold_script(value)):
        return
    yield StateDraft(
        entity=entity,
        key="employer",
        value=value,
        begin=found.start(),
        stop=found.end(),
        statement="ended",
        announced=True,
        timed=True,
    )


def _stops(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or is_bare(scene):
        return
    value = scene.said(found, "v") if found["v"] else scene.said(found, "w")
    habit = found["w"] is not None or value[:1] in "抽喝"
    yield StateDraft(
        entity=entity,
        key="habit" if habit else "hobby",
        value=("抽" if value in ("烟", "菸", "煙") else "喝" if found["w"] else "") + value,
        begin=found.start(),
        stop=found.end(),
        statement="ended",
        announced=True,
        timed=True,
    )


def _learning(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene) and re.match(r"正在|在|开始|最近|\x01", found[0]):
        yield StateDraft(
            entity=entity,
            key="learning",
            value=scene.said(found, "v"),
            begin=found.start(),
            stop=found.end(),
            timed=True,
        )


def _school(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = actor(scene), scene.said(found, "v")
    if (
        entity is None
        or is_bare(scene)
        or (found[0].startswith(("在", "从")) and not re.search(r"读|念|学|毕业", found[0][len(value) + 1 :]))
    ):
        return
    if fold_script(value) in ("大学", "高中", "国中") or re.search(r"[我你他她这那哪]", fold_script(value)):
        return
    yield StateDraft(
        entity=entity, key="school", value=value, begin=found.start(), stop=found.end(), timed=True
    )


def _degree(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or is_bare(scene) or not re.search(r"学历|学位|教育|读|念|毕业|博士|硕士", found[0]):
        return
    yield StateDraft(
        entity=entity, key="degree", value=scene.said(found, "v"), begin=found.start(), stop=found.end()
    )


MAKES: dict[str, Make] = {
    "residence": _states("residence", _home, timed=True),
    "residence_now": _states("residence", _home),
    "move": _states("residence", _home, announced=True, timed=True, bare=True),
    "settled": _settled,
    "residence_ended": _states("residence", _home, statement="ended", announced=True, timed=True),
    "residence_past": _states("residence", _home, statement="ended"),
    "employer": _states("employer", _firm, timed=True),
    "joined": _joins,
    "switched": _switches,
    "quit": _quits,
    "occupation": _occupation,
    "is_kin": _is_kin,
    "named": _kin_named,
    "pets": _pets,
    "pet_named": _pet_named_later,
    "pet_died": _pet_died,
    "likes": _likes("likes"),
    "dislikes": _likes("dislikes"),
    "likes_ended": _likes("likes", ended=True),
    "stopped": _stops,
    "language": _likes("language"),
    "hometown": _states("hometown", _word),
    "instrument": _states("instrument", _word),
    "learning": _learning,
    "allergy": _states("allergy", _word),
    "diet": _states("diet", _word, timed=True),
    "relationship": _relationship,
    "school": _school,
    "degree": _degree,
    "age": _states("age", _word),
    "height": _states("height", _word),
    "attribute": _attribute,
    "tools": _tools(),
    "tools_changed": _tools(announced=True),
    "tools_ended": _tools(ended=True),
    "release_date": _dated("release_date"),
    "release_moved": _dated("release_date"),
    "deadline": _dated("deadline"),
    "stage": _stage,
    "decision": _decided,
    "plan": _happening("plan", "future"),
    "activity": _happening("activity", "past"),
}
