"""Chinese rules. A sentence is read clause by clause: who it is about, then what is said of them.

Patterns are in simplified script and anchored right behind the clause's subject, so that "我朋友搬到台中" is
never read as the speaker's own move.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from events.script import fold_script
from ingest.rules.chinese_words import (
    ATTRIBUTES,
    CITIES,
    DEGREES,
    FIRMS,
    LANGUAGES,
    NOT_EMPLOYERS,
    NOT_HOMES,
    OCCUPATIONS,
    PETS,
    RELATIONS,
    STAGES,
    SURNAMES,
)
from ingest.rules.drafts import Draft, EventDraft, StateDraft
from ingest.rules.english_life import tool
from ingest.rules.english_words import TOOLS
from ingest.rules.moments import TIME
from ingest.rules.scene import Make, Rule, Scene, compiled
from ingest.rules.sentences import HIDDEN

_REL = "|".join(sorted(RELATIONS, key=len, reverse=True))
_ATTR = "|".join(sorted(ATTRIBUTES, key=len, reverse=True))
_NAME = rf"(?:[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[小阿老][\u4e00-\u9fff]|[A-Z][a-z]+)"
_ADVERB = (
    rf"(?:{TIME}{{1,40}}|[ ]|已经|正式|刚刚|刚|才|又|终于|也|就|都|还|仍然?|其实|真的|一直|目前|现在|最近|后来|平常|平时|通常|主要|大多|"
    r"应该说|全家|一个人|一家人?|跟家人|和家人|跟老婆|跟老公|全都|，)"
)
_OPENING = (
    r"(?:[\s,，、~～]|所以|但是|但|不过|而且|然后|后来|因为|由于|其实|对了|顺便[说一提下]{1,3}|跟[你您]说|告诉[你您]|话说|嗯+|啊|好的?|是的|"
    rf"没错|原来|另外|还有|而|结果|总之|目前|现在|最近|记得|请记住|记住|记一下|记下来|更新一下|报告|哈哈+|嗨|你好|您好|大家好|{TIME}{{1,40}}|：|:|于是|终于)"
)
_SUBJECT = re.compile(
    rf"{_OPENING}{{0,6}}(?P<s>(?P<me>我们|咱们|我|咱|本人)(?:家)?(?:自己)?(?:的)?(?:那个|这个|有个|有一个|一个|有位)?(?P<rel>{_REL})(?![家们\u4e00-\u9fff]?说话)"
    rf"(?:(?P<reln>{_NAME})(?=[住在是搬养有换喜讨]))?(?:，?(?:他们|她们|他|她|其))?|"
    rf"(?P<i>我们|咱们|我|咱|本人)(?![家的]{{1,2}}(?:{_REL}))|(?P<he>他|她|其)(?!们)|(?P<rel2>{_REL})(?=[的在是住喜名今学身生电手特爱工干做])|"
    rf"(?P<name>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?|[小阿老][\u4e00-\u9fff]|[A-Z][a-z]+)(?=[ ]?(?:是|在|住|搬|养|的|今年|身高|喜欢|叫|{TIME})))"
    rf"{_ADVERB}{{0,6}}"
)
_BARE = re.compile(rf"{_OPENING}{{0,6}}{_ADVERB}{{0,4}}")
_CLAUSE_END = re.compile(r"[，,；;：:（）()—]|——")

_END = rf"(?=$|[，,。！!?？；;、\s~～（(\"”」{TIME}{HIDDEN}]|了|啦|呢|喔|哦|啊|呀|耶|吧)"
_V = rf"[^，,。！!?？；;、\s的了{TIME}{HIDDEN}]"
PIECES = {
    "<END>": _END,
    "<PL>": rf"[^，,。！!?？；;、\s的了在跟和与是有不还也就都去来到从着得{TIME}{HIDDEN}A-Za-z0-9]{{2,10}}?|[A-Z][A-Za-z]+(?: [A-Z][a-z]+){{0,2}}",
    "<ORG>": rf"[^，,。！!?？；;、\s了在{TIME}{HIDDEN}]{{2,20}}?|[A-Z][\w&.+-]*(?: [A-Z][\w&.+-]*){{0,3}}?",
    "<OCC>": rf"(?:[^，,。！!?？；;、\s是在有跟着过了和年时我你他她{TIME}]{{0,8}}?(?:{OCCUPATIONS}))",
    "<PET>": rf"(?:{PETS})",
    "<NM>": rf"[「“\"『]?(?:[\u4e00-\u9fff]{{1,4}}?|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)[」”\"』]?",
    "<DEG>": rf"(?:{DEGREES})",
    "<ATTR>": rf"(?:{_ATTR})",
    "<REL>": rf"(?:{_REL})",
    "<T>": rf"{TIME}{{1,40}}",
    "<V>": _V,
    "<TOOL>": r"[A-Za-z][\w.+#-]*(?: [A-Za-z0-9][\w.+#-]*){0,2}",
    "<LANG>": rf"(?:{LANGUAGES})",
    "<STAGE>": rf"(?:[\u4e00-\u9fffA-Za-z-]{{0,6}}?(?:{STAGES}))",
}  # fmt: skip
_PIECE = re.compile("<[A-Z]+>")


def rule(words: str, source: str, make: Make, *, free: bool = False) -> Rule:
    return Rule(tuple(words.split()), _PIECE.sub(lambda found: f"(?:{PIECES[found[0]]})", source), make, free)


@dataclass(frozen=True, slots=True)
class ClauseScene(Scene):
    """A clause and the entity it is about (None: nobody named, nobody to inherit)."""

    actor: str | None = None
    bare: bool = False


def _actor(scene: Scene) -> str | None:
    return scene.actor if isinstance(scene, ClauseScene) else scene.owner


def _bare(scene: Scene) -> bool:
    return isinstance(scene, ClauseScene) and scene.bare


Clean = Callable[[str], str | None]
_HOMELESS = re.compile(rf"(?:{NOT_HOMES})$")
_FIRMLESS = re.compile(rf"(?:{NOT_EMPLOYERS})$")
_CITY = re.compile(rf"(?:{CITIES})+(?:市|县|省|区|那边|这边)?$|[\u4e00-\u9fff]{{2,3}}[市县镇乡]$")


def _folded(words: str) -> str:
    return fold_script(words)


def _home(words: str) -> str | None:
    folded = _folded(words)
    return None if not words or _HOMELESS.match(folded) or "我" in folded or "你" in folded else words


def _firm(words: str) -> str | None:
    folded = _folded(words)
    if not words or _FIRMLESS.match(folded) or re.search(r"[我你他她这那哪]|^(?:一个|新|更|别的?|其他|另|什么|同|大)(?!竹|光|北|东|加坡|浪|立|润|众|疆)|家里|面前|路上|群里|部门$|团队$", folded):
        return None
    for head in ("一家叫", "一间叫", "一家", "一间", "1家"):
        if folded.startswith(head):
            return words[len(head) :]
    return words


def _states(
    key: str, clean: Clean, *, statement: str = "asserted", announced: bool = False, timed: bool = False, bare: bool = False
) -> Make:
    """A builder of the state in group ``v``; ``o`` is what it replaced, ``r`` the role. Without a subject only
    ``bare`` rules speak: their verbs are the speaker's own ("搬到台中了")."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity, value = _actor(scene), clean(scene.said(found, "v"))
        if entity is None or not value or (_bare(scene) and not bare):
            return
        real_key = key
        if key == "employer" and _CITY.match(_folded(value)):
            if announced or statement == "ended":
                return
            real_key = "work_location"
        groups = found.groupdict()
        if groups.get("o") and (old := clean(scene.said(found, "o"))):
            yield StateDraft(entity=entity, key=key, value=old, begin=found.start(), stop=found.end(), statement="ended",
                             announced=True, timed=True)  # fmt: skip
        yield StateDraft(
            entity=entity, key=real_key, value=value, begin=found.start(), stop=found.end(), timed=timed, announced=announced,
            statement="ended" if statement == "ended" else "asserted",
        )  # fmt: skip
        if groups.get("r"):
            yield StateDraft(entity=entity, key="occupation", value=scene.said(found, "r"), begin=found.start(), stop=found.end(),
                             timed=timed, announced=announced, statement="ended" if statement == "ended" else "asserted")  # fmt: skip

    return make


def _word(words: str) -> str | None:
    return words or None


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    attribute = _folded(found["a"])
    key = ATTRIBUTES.get(attribute)
    value = scene.said(found, "v")
    if entity is None or key is None or not value or _bare(scene):
        return
    if found["link"] in ("在", "也在") and key not in ("birthday", "residence", "hometown", "work_location"):
        return
    if re.match(r"(?:很|挺|非常|特别|太|不|比较|真|有点|越来越|这|那|什么|谁|让|要|想|把|被|我|你|他|她|因为|一样|为了|就在|最)", _folded(value)):
        if key != "goal" or not re.match(r"要|想|在", _folded(value)):
            return
    if key == "residence" and attribute in ("家", "新家") and (found["link"] not in ("在", "就在", "也在") or _home(value) is None):
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
        level = re.search(DEGREES, _folded(value))
        if level is None:
            return
        value = value[slice(*level.span())]
    if key in ("phone_model", "computer", "vehicle"):
        value = re.sub(r"^(?:一?[支台部辆款]|(?:的)|用的)", "", value)
        if len(value) < 2 or re.search(r"[了坏丢掉]|没电", _folded(value)):
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
        kin = RELATIONS.get(_folded(entity.split("的")[-1]))
        if kin is not None and entity != scene.owner:
            yield StateDraft(entity=scene.owner, key=kin, value=value, begin=found.start(), stop=found.end(), kind=entity)
            return
        if entity == value:
            return
    for one in values:
        yield StateDraft(entity=entity, key=key, value=one, begin=found.start(), stop=found.end(),
                         announced=found["link"] in ("改成", "换成", "变成", "改为"), timed=key in ("residence", "employer", "occupation"))  # fmt: skip


def _is_kin(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"王磊是我的上司": the named one is the owner's superior."""
    entity = _actor(scene)
    if entity is None or entity == scene.owner or _bare(scene):
        return
    kin = scene.said(found, "kin")
    yield StateDraft(entity=scene.owner, key=RELATIONS[_folded(kin)], value=entity, begin=found.start(), stop=found.end(), kind=kin, tags=(kin,))


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"我太太叫小芳": the clause is about the relation; its name is the value."""
    entity = _actor(scene)
    value = _given_name(scene.said(found, "v"))
    if entity is None or value is None or _bare(scene):
        return
    if entity == scene.owner:
        yield StateDraft(entity=entity, key="name", value=value, begin=found.start(), stop=found.end())
        return
    kin = RELATIONS.get(_folded(entity.split("的")[-1]))
    if kin is not None:
        yield StateDraft(entity=scene.owner, key=kin, value=value, begin=found.start(), stop=found.end(), kind=entity.split("的")[-1],
                         tags=(entity.split("的")[-1],))  # fmt: skip


def _given_name(words: str) -> str | None:
    value = words.removesuffix("哦").removesuffix("喔").removesuffix("啦")
    if not value or len(value) > 12 or re.search(r"[我你他她它什谁么这那醒救]|做$|作$", _folded(value)):
        return None
    return value


def _pets(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    if entity is None or _bare(scene):
        return
    kind = scene.said(found, "pet")
    groups = found.groupdict()
    names = [one for part in re.split(r"[和跟与、]", scene.said(found, "v")) if (one := _given_name(part))] if groups.get("v") else []
    for value in names or ([kind] if not groups.get("v") else []):
        yield StateDraft(entity=entity, key="pet", value=value, begin=found.start(), stop=found.end(), kind=kind if names else None,
                         timed=bool(groups.get("got")), tags=(kind,))  # fmt: skip


def _pet_named_later(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"……養了一隻貓，叫麻糬": the name in a clause of its own, right after the pet."""
    last = next(iter(scene.earlier()[-1:]), None)
    value = _given_name(scene.said(found, "v"))
    if last is None or last.key != "pet" or last.kind is not None or value is None:
        return
    yield StateDraft(entity=last.entity, key="pet", value=value, begin=found.start(), stop=found.end(), kind=last.value, tags=(last.value,))


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
    yield StateDraft(entity=entity, key="pet", value=value, begin=found.start(), stop=found.end(), statement="ended", announced=True,
                     timed=True, kind=kind, content=f"{kind if kind != value else ''}{value}{verb}")  # fmt: skip


_POINTING = re.compile(r"[我你他她它这那哪]|什么|自己|一下|一点|的时候|的话|过的?$|来$|去$|看到|听到|听你|你说|是$")


def _likes(key: str, *, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = _actor(scene)
        if entity is None or _bare(scene) or re.search(r"[它这那]|^[打吃喝看听玩]的", _folded(found["v"])):
            return
        for one in re.split(r"[和跟与及、]|还有|以及", scene.said(found, "v")):
            value = re.sub(r"(?:啦|喔|哦|呢|啊|呀|的|了)+$", "", one)
            if 1 < len(value) <= 12 and not _POINTING.search(_folded(value)):
                yield StateDraft(entity=entity, key=key, value=value, begin=found.start(), stop=found.end(), confidence=0.85,
                                 statement="ended" if ended else "asserted")  # fmt: skip

    return make


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = _actor(scene), scene.said(found, "v")
    folded = _folded(value)
    if entity is None or _bare(scene) or re.search(r"[我你他她]|一样|那种|这种|好|最|的$|大家", folded):
        return
    if folded in ("设计", "业务", "前端", "后端", "老师", "师傅", "组长", "队长") and "是" in found[0] and "个" not in found[0] and folded not in ("老师", "队长"):
        return
    yield StateDraft(entity=entity, key="occupation", value=value, begin=found.start(), stop=found.end(), timed=True,
                     announced=bool(found.groupdict().get("new")))  # fmt: skip


def _tools(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        subject = _actor(scene)
        if groups.get("p"):
            subject = _project(scene.said(found, "p"))
        if subject is None or (_bare(scene) and not groups.get("p") and not announced):
            return
        new = [one for part in re.split(r"[、和跟与]", scene.said(found, "v")) if (one := tool(part))]
        old = tool(scene.said(found, "o")) if groups.get("o") else None
        hint = next((key for _, key in new if key != "tool"), None)
        if old is not None and new:
            yield StateDraft(entity=subject, key=old[1] if old[1] != "tool" else hint or "tool", value=old[0], begin=found.start(),
                             stop=found.end(), statement="ended", announced=True, timed=True)  # fmt: skip
        for value, key in new:
            # An unlisted Latin word behind 用 is as often a size or a brand; a change says that it is a tool.
            if value.lower() not in TOOLS and not (announced or groups.get("p")):
                continue
            if key == "tool" and old is not None and old[1] != "tool":
                key = old[1]
            yield StateDraft(entity=subject, key=key, value=value, begin=found.start(), stop=found.end(), announced=announced or ended,
                             timed=announced or ended, statement="ended" if ended else "asserted")  # fmt: skip

    return make


def _project(words: str) -> str | None:
    name = re.sub(r"^(?:我们|我|这个|那个|的)+|(?:这个)?(?:专案|项目|计划|产品|系统|的)+$|[ ]+$", "", _folded(words))
    if not name:
        return "project"
    name = name.strip()
    begin = _folded(words).find(name)
    return words[begin : begin + len(name)] if begin >= 0 and len(name) <= 20 and not re.search(r"[我你他她它这那]", name) else None


_TIME_EDGE = re.compile(r"^(?:在|到|于|至|是|定在|预计|大概|大约)+|(?:左右)$")


def _dated(key: str, *, announced: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        said = scene.said(found, "p") if groups.get("p") else ""
        dated = [one for one in scene.earlier() if one.key == key]
        entity = _project(said) if said else (dated[-1].entity if dated else "project")
        if not said and not dated and groups.get("loose") is not None:
            return
        value = _TIME_EDGE.sub("", scene.said(found, "v"))
        if entity is not None and value:
            yield StateDraft(entity=entity, key=key, value=value, begin=found.start(), stop=found.end(), announced=announced)

    return make


def _stage(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _project(scene.said(found, "p")) if found.groupdict().get("p") else "project"
    if entity is not None:
        yield StateDraft(entity=entity, key="project_stage", value=scene.said(found, "v"), begin=found.start(), stop=found.end(), timed=True,
                         announced=bool(found.groupdict().get("new")))  # fmt: skip


def _decided(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = scene.owner if _actor(scene) in (None, scene.owner) else None
    rest = scene.said(found, "v")
    if entity is None or len(rest) < 2:
        return
    yield EventDraft(entity=entity, key="decision", begin=found.start(), stop=found.end(), content=scene.sentence.raw, value=rest, importance=7)
    if re.match(r"不|先不|暂时不", _folded(rest)):
        return
    chosen = re.search(r"(?:从(?P<o1>[A-Za-z][\w.+# -]*?)(?:换成|换到|改成|改用|转到|迁移到|改为))?(?:改用|使用|采用|选用|选择|选|用|换成|改成|转用)?\s?(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?)"
                       r"(?:[，,]?\s?(?:而不是|取代|代替|不用|而不用|不是)\s?(?P<o2>[A-Za-z][\w.+#-]*))?", _folded(rest))  # fmt: skip
    if chosen is None:
        return
    new = tool(chosen["v"])
    old = tool(chosen["o1"] or chosen["o2"]) if chosen["o1"] or chosen["o2"] else None
    if new is None or (new[1] == "tool" and (old is None or old[1] == "tool")):
        return
    if old is not None:
        yield StateDraft(entity=entity, key=old[1], value=old[0], begin=found.start(), stop=found.end(), statement="ended", announced=True, timed=True)
    yield StateDraft(entity=entity, key=new[1] if new[1] != "tool" else (old[1] if old else new[1]), value=new[0], begin=found.start(),
                     stop=found.end(), announced=True, timed=True)  # fmt: skip


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    if entity is not None and not _bare(scene):
        yield StateDraft(entity=entity, key="relationship_status", value=scene.said(found, "v"), begin=found.start(), stop=found.end(), timed=True,
                         announced="刚" in found[0] or "了" in found.string[found.end() : found.end() + 1])  # fmt: skip


def _happening(key: str, when: str) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = _actor(scene)
        said = scene.masked[found.start() : found.end()]
        if key == "plan" and re.search(r"了|过|按计划|计划[中的书内]", said):
            return
        if key == "activity" and re.search(rf"{TIME}的$|是{TIME}+的|(?:基于|关于|通过|希望|目标|需|待){TIME}", scene.masked):
            return
        if entity is not None and not (_bare(scene) and TIME not in scene.masked):
            yield EventDraft(entity=entity, key=key, begin=found.start(), stop=found.end(), content=scene.sentence.raw, when=when,
                             importance=6 if key == "plan" else 5)  # fmt: skip

    return make


_MEASURE = r"[一两二三四五几\d]?[只隻条个匹头]?(?:[\u4e00-\u9fff]{0,4}的)?"
_PROJ = r"(?P<p>(?:我们的?|这个)?(?:专案|项目|产品|系统)|[A-Za-z][\w.-]{1,29}(?: ?(?:专案|项目|这个专案|的))?|[\u4e00-\u9fff]{2,8}(?:专案|项目|计划|系统))"


def _settled(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    group = "v" if found["v"] else "w"
    value = _home(scene.said(found, group))
    if entity is not None and value and not _bare(scene):
        yield StateDraft(entity=entity, key="residence", value=value, begin=found.start(), stop=found.end(), timed=True)


_FIRM_LIKE = re.compile(rf"(?:{FIRMS})|(?:公司|集团|科技|银行|电子|半导体|软件|软体|事务所|医院|大学|工作室|新创|电信|汽车|实业|证券|保险|传媒|设计院|研究院|研究所)$|^[A-Z]")


def _joins(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """"加入 X": one joins clubs and chats too, so X must look like a firm or the words be about work."""
    value = _folded(scene.said(found, "v"))
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
    entity = _actor(scene)
    group = next(g for g in "vwxy" if found[g])
    value = _firm(scene.said(found, group))
    if entity is None or not value or _CITY.match(_folded(value)):
        return
    yield StateDraft(entity=entity, key="employer", value=value, begin=found.start(), stop=found.end(), statement="ended", announced=True, timed=True)


def _stops(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    if entity is None or _bare(scene):
        return
    value = scene.said(found, "v") if found["v"] else scene.said(found, "w")
    habit = found["w"] is not None or value[:1] in "抽喝"
    yield StateDraft(entity=entity, key="habit" if habit else "hobby", value=("抽" if value in ("烟", "菸", "煙") else "喝" if found["w"] else "") + value,
                     begin=found.start(), stop=found.end(), statement="ended", announced=True, timed=True)  # fmt: skip


def _learning(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    if entity is not None and not _bare(scene) and re.match(r"正在|在|开始|最近|\x01", found[0]):
        yield StateDraft(entity=entity, key="learning", value=scene.said(found, "v"), begin=found.start(), stop=found.end(), timed=True)


def _school(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = _actor(scene), scene.said(found, "v")
    if entity is None or _bare(scene) or (found[0].startswith(("在", "从")) and not re.search(r"读|念|学|毕业", found[0][len(value) + 1 :])):
        return
    if _folded(value) in ("大学", "高中", "国中") or re.search(r"[我你他她这那哪]", _folded(value)):
        return
    yield StateDraft(entity=entity, key="school", value=value, begin=found.start(), stop=found.end(), timed=True)


def _degree(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _actor(scene)
    if entity is None or _bare(scene) or not re.search(r"学历|学位|教育|读|念|毕业|博士|硕士", found[0]):
        return
    yield StateDraft(entity=entity, key="degree", value=scene.said(found, "v"), begin=found.start(), stop=found.end())


def clauses(scene: Scene) -> Iterator[tuple[ClauseScene, int, int]]:
    """The sentence's clauses with who each is about; a clause without a subject keeps that of the one before."""
    text = scene.masked
    borders = [border.start() for border in _CLAUSE_END.finditer(text)] + [len(text)]
    begin = 0
    actor: str | None = None
    for end in borders:
        found = _SUBJECT.match(text, begin)
        # "我上司，他……" puts the pronoun behind the comma; the subject may then end beyond this clause.
        rest = begin
        bare = False
        if found is not None and found.start("s") < end:
            actor = _named(found, scene, actor)
            rest = found.end()
        else:
            opening = _BARE.match(text, begin)
            rest = opening.end() if opening is not None else begin
            bare = actor is None
        inherited = _about(scene, actor if not bare else scene.owner, bare)
        if rest <= end:
            yield inherited, rest, end
        begin = end + 1


def _about(scene: Scene, actor: str | None, bare: bool) -> ClauseScene:
    return ClauseScene(scene.sentence, scene.masked, scene.owner, scene.traditional, scene.earlier, actor, bare)


def _named(found: re.Match[str], scene: Scene, actor: str | None) -> str | None:
    groups = found.groupdict()
    if groups["i"]:
        return scene.owner
    if groups["he"]:
        return actor if actor != scene.owner else None
    if groups["rel"]:
        if groups["reln"]:
            return scene.said(found, "reln")
        kin = scene.said(found, "rel")
        return kin if scene.owner == "user" else f"{scene.owner}的{kin}"
    if groups["rel2"]:
        kin = scene.said(found, "rel2")
        return kin if scene.owner == "user" else f"{scene.owner}的{kin}"
    return scene.said(found, "name")


RULES: tuple[Rule, ...] = (
    rule("住", r"(?:住在?|居住在|家住|住到|住进)(?:了)?(?P<v><PL>)(?:那边|这边)?(?=$|[，,。！!?；;、\s\x01了的呢喔哦啊啦]|这|那|附近|已经|快|小区|社区|工作|生活)(?!的(?:人|时候|朋友|那))", _states("residence", _home, timed=True)),
    rule("住", r"住的(?:那个|这个)?(?:小区|社区|地方|城市)(?:叫做?|是|在)(?P<v><PL>)<END>", _states("residence", _home)),
    rule("搬 移居 移民 迁居", r"(?:从(?P<o><PL>))?(?:搬家|搬迁|搬|移居|移民|迁居)(?:到|去|来|至|回|进)了?(?P<v><PL>)(?:来|去|住|那边|这边)?(?=$|[，,。！!?；;、\s\x01了啦呢喔哦啊]|工作|生活|定居|那)", _states("residence", _home, announced=True, timed=True, bare=True)),
    rule("定居", r"(?:在(?P<v><PL>)定居|定居(?:在|于|到)(?P<w><PL>)<END>)", _settled),
    rule("搬离 搬出 不住 不再住", r"(?:搬离了?|搬出了?|(?:已经不|不再)住在?|不住在?(?=[^，。]{2,10}了))(?P<v><PL>)<END>", _states("residence", _home, statement="ended", announced=True, timed=True), free=True),
    rule("以前 之前 曾", r"(?:曾经?)住在?过?(?P<v><PL>)<END>", _states("residence", _home, statement="ended"), free=True),
    rule("上班 工作 任职 服务 就职 实习 当 担任 做", r"(?:开始)?(?:在|于)(?P<v><ORG>)(?:上班|工作(?!坊|室|站|的时候|中|上|时)|任职|就职|服务(?!台)|实习|(?:当|担任|做)(?:一?[名个位])?(?P<r><OCC>)<END>)", _states("employer", _firm, timed=True)),
    rule("加入 入职 跳槽 换到 转职", r"(?:加入了?|入职了?|跳槽到了?|跳槽去了?|换到了?|转职到了?|转到)(?P<v><ORG>)(?:上班|工作|任职|(?:当|担任|做)(?P<r><OCC>))?<END>", _joins),
    rule("从 离职 辞职 跳槽 换到", r"从(?P<o><ORG>)(?:跳槽|换|转)(?:到|去|至)了?(?P<v><ORG>)(?:上班|工作|任职|(?:当|担任|做)(?:一?[名个位])?(?P<r><OCC>))?<END>", _switches),
    rule("离职 辞职 离开 辞掉 退休 不再 不在 已经不", r"(?:从(?P<v><ORG>)(?:离职|辞职|退休|毕业了离职)|辞掉了?(?P<w><ORG>)的(?:工作|职务)|(?:已经)?不(?:再)?在(?P<x><ORG>)(?:上班|工作|任职)|离开了?(?P<y>[^，。\s的了\x01]{2,12}?(?:公司|集团|银行|科技|电子))<END>)", lambda f, s: _quits(f, s), free=True),
    rule("是 当 做 干 担任 转行", r"(?:是(?:做|干|当|在做)?|在当|当(?![年时天初然地中场晚面成])|做|干|担任|(?P<new>升(?:为|上|任)了?|转行(?:做|当)了?|转职成))(?:了)?(?:一?[名个位])?(?P<v><OCC>)(?:的|这行的?|这一行)?<END>", _occupation),
    rule("是我", r"是我(?:的)?(?P<kin><REL>)<END>", _is_kin),
    rule("叫 名字 名叫", r"(?:的名字)?(?:叫做?|名叫|名字(?:叫做?|是)|名字就叫)(?P<v><NM>)<END>", _kin_named),
    rule("狗 猫 兔 鼠 鹦鹉 龟 鱼 犬 柯基 鸟", rf"(?:家里|家)?(?:养|有|(?P<got>领养|收养|认养|买))(?:了|着)?(?:\x01*){_MEASURE}(?P<pet><PET>)(?:，?(?:名字)?(?:叫做?|名叫|取名为?|名字是)(?P<v><NM>(?:[和跟与、]<NM>)?))?<END>", _pets),
    rule("狗 猫 兔 鼠 鹦鹉 龟 鱼 犬 柯基 鸟", rf"(?:家)?(?:的)?(?P<pet><PET>)(?:的名字)?(?:叫做?|名叫|是叫|名字(?:是|叫做?))(?P<v><NM>)<END>", _pets),
    rule("叫 取名 名字", r"(?:它|他|她|名字)?(?:就)?(?:叫做?|取名为?|取名叫|名叫|名字是)(?P<v><NM>)<END>", _pet_named_later),
    rule("过世 去世 走了 死了 离世", r"(?:家)?(?:的)?(?P<pet><PET>)(?P<v>[\u4e00-\u9fff]{1,4}?)?(?:[，\x01]|已经|在|突然|不幸)*(?:过世|去世|离世|死|走)了", _pet_died),
    rule("过世 去世 走了 死了 离世", r"(?P<v>[\u4e00-\u9fff]{1,4}?|[A-Z][a-z]+)(?:[，\x01 ]|已经|在|突然|不幸)*(?:过世|去世|离世|死|走)了", _pet_died),
    rule("喜欢 爱 热爱 喜爱 偏好", r"(?:很|最|特别|特|非常|超级?|蛮|挺|真的|一直|就|都|比较|尤其|从小就?){0,3}(?:喜欢|热爱|喜爱|爱(?=吃|喝|看|听|玩|打|搞|好|唱|跑|旅|运|读|写|画|做)|偏好)(?:好)?(?P<v>[^，,。！!?；;\s\x01\x02]{2,14})<END>", _likes("likes")),
    rule("讨厌 不喜欢 受不了 不爱 怕", r"(?:很|最|特别|非常|超级?|真的|一直|比较){0,2}(?:讨厌|不(?:太|怎么|是很)?喜欢|不爱(?=吃|喝|看)|厌恶)(?P<v>[^，,。！!?；;\s\x01\x02]{2,14})<END>", _likes("dislikes"), free=True),
    rule("不再喜欢", r"不再喜欢(?P<v>[^，,。！!?；;\s\x01\x02]{2,12})<END>", _likes("likes", ended=True), free=True),
    rule("不再 不打 不踢 不跑 不弹 不学 不练 不画 不抽 不喝 戒", r"(?:(?:已经)?不(?:再|(?=[^，。]{2,7}了))(?P<v>(?:打|踢|跑|弹|学|练|画|抽|喝)[\u4e00-\u9fff]{1,5}?)|戒(?:掉)?了?(?P<w>烟|酒|咖啡|糖))<END>", lambda f, s: _stops(f, s), free=True),
    rule("会说 会讲 会", r"会(?:说|讲)(?:一点|流利的?|一些)?(?P<v><LANG>(?:[和跟与、及]<LANG>){0,4})", _likes("language")),
    rule("人", rf"是(?P<v>(?:{CITIES})(?:市|县|省)?)人<END>", _states("hometown", _word)),
    rule("弹 拉 吹 打鼓", r"(?:很|也)?会(?:弹|拉|吹|打)(?P<v>钢琴|吉他|小提琴|大提琴|长笛|萨克斯风?|鼓|爵士鼓|古筝|二胡|乌克丽丽|贝斯|尤克里里|琵琶|电子琴|口琴)<END>", _states("instrument", _word)),
    rule("学", r"(?:正在|在|开始|最近在|\x01+)?(?:自学|学习|学)(?:了)?(?P<v><LANG>|钢琴|吉他|小提琴|大提琴|游泳|画画|书法|Python|Rust|Go|Java|写程式|编程|开车|滑雪|冲浪|潜水|瑜伽|烘焙|摄影)<END>", _learning),
    rule("过敏", r"对(?P<v>[^，,。\s的这那事很\x01]{1,10}?)(?:严重|会|很容易|有点|很)?过敏(?!感)", _states("allergy", _word)),
    rule("吃素 素食 全素 蛋奶素 生酮", r"(?:是|开始|改|都|一直|平常|\x01)*(?P<v>吃全素|吃素|吃蛋奶素|素食者|素食主义者|纯素|生酮饮食)", _states("diet", _word, timed=True)),
    rule("结婚 离婚 单身 订婚", r"(?:和[^，。]{1,8}|跟[^，。]{1,8})?(?:刚|是|还是|已经|都|又)*(?P<v>结婚|离婚|单身|订婚|未婚|已婚)(?:了|的)?<END>", _relationship),
    rule("念书 读书 台大 清大 交大 成大 政大 北大 清华 复旦 浙大 大学 高中 国中 学院 研究所 中学 小学 毕业 就读 考上", r"(?:在|就读于?|念|读|考上了?|毕业于|从)(?P<v>[\u4e00-\u9fff]{2,10}?(?:大学|学院|高中|中学|国中|小学|国小|科大|师大)|台大|清大|交大|成大|政大|师大|北大|清华|复旦|浙大|阳明交大)(?:[\u4e00-\u9fff]{1,6}系)?(?:读书|念书|上学|就读|念|读|毕业|学习)?<END>", _school),
    rule("学历 学位 本科 硕士 博士 专科 高中 大专 中专 读到 念到", r"(?:的)?(?:(?:学历|学位|教育背景|教育程度)(?:挺高|不高|很高|比较高)?的?，?(?:是|为|就是|就|只有|就只有|也就|才)*个?|(?:上学那会儿|上学的?时候)?，?(?:都|就|只)?(?:读|念)(?:到了?|的是)|(?:大学)?(?:是)?(?:个|一个|位)?(?:挺高的)?)(?P<v><DEG>)(?:学历|毕业|学位|文凭)?(?:的)?(?:呢|了)?<END>", _degree),
    rule("岁", r"(?:都|已经|今年|才|刚|快|满|也|\x01|的?年龄是|年纪是)*(?P<v>\d{1,3}岁|[一二三四五六七八九十]{1,3}岁)<END>", _states("age", _word)),
    rule("身高 公分 厘米", r"(?:的)?(?:身高|个子)(?:挺高的?|不高|很高|足足|大概|大约|只有|才|有|是|也|，|挺|不)*(?P<v>\d{3} ?(?:公分|厘米|cm|CM)?|1米\d{1,2}|一米[一二三四五六七八九]+)<END>", _states("height", _word)),
    rule(" ".join(ATTRIBUTES), r"(?:[的家]|他们|她们)?(?:的)?(?P<a><ATTR>)(?:名称|名字)?(?P<link>是在|改成|换成|变成|改为|就是|是|叫做?|为|在|就在|也在|：|:|=|只有)(?:叫)?(?P<v>[^，,。！!?；;\s\x02]{1,40})", _attribute),
    rule("用 使用", r"(?:都|主要|一直|平常|平时|目前|习惯|还是)*(?:在)?(?:用|使用)(?:的(?:是|浏览器是|编辑器是))?(?:着)?\s?(?P<v><TOOL>(?:[、和跟与]\s?<TOOL>)*)", _tools()),
    rule("改用 换成 换到 改成 换用 转用 转到", r"(?:把[^，。]{1,12}?)?(?:从\s?(?P<o><TOOL>)\s?)?(?:改用|换成|换到|改成|换用|转用|转到|切换到|迁移到)了?\s?(?P<v><TOOL>)", _tools(announced=True)),
    rule("用 采用 使用 改用", _PROJ + r"\s?(?:目前|现在|都|主要|是|\x01)*(?:用|使用|采用)(?:的是)?\s?(?P<v><TOOL>(?:[、和跟与]\s?<TOOL>)*)", _tools()),
    rule("不用 不再用 停用", r"(?:已经)?(?:不再用|不用|不再使用|停用)了?\s?(?P<v><TOOL>)\s?了?<END>", _tools(ended=True), free=True),
    rule("开源 发布 上线 推出 发行 上市", _PROJ + r"?\s?(?:的)?(?:原本|现在|目前|还是)?(?:预计|计划|打算|准备|将会?|会|要|定|预定|排)?(?:在|于|定在|定于)?(?P<v><T>)(?:在|会|要|正式|对外|才)?(?:开源|发布|上线|推出|发行|上市|发表|release)", _dated("release_date"), free=True),
    rule("开源 发布 上线 推出 发行 上市 延 改 提前 推迟", _PROJ + r"?\s?(?:的)?(?:开源|发布|上线|推出|发行|上市)(?:的)?(?:日期|时间|时程|日)?(?:是|定在|定于|订在|(?P<m>延后|延期|延|推迟|改|提前|延到|改到|改成|改在|挪))(?:到|至|在|成)?(?P<v><T>)", lambda f, s: _dated("release_date", announced=bool(f["m"]))(f, s), free=True),
    rule("延 推迟 改到 提前", r"(?P<loose>)(?:它|已经|又|被|时间|日期|现在)*(?:延后|延期|推迟|改|提前|挪|延)(?:到|至)了?(?P<v><T>)", _dated("release_date", announced=True), free=True),
    rule("截止 期限 死线 deadline", r"(?:[\u4e00-\u9fff]{0,6}的)?(?:截止日期?|期限|死线|deadline)(?:是|改到|延到|在|改成)(?P<v><T>)", lambda f, s: _dated("deadline", announced="改" in f[0] or "延" in f[0])(f, s)),
    rule("阶段 进入 处于", _PROJ + r"?\s?(?:目前|现在|已经|正式|终于|，|\x01)*(?:(?P<new>进入|来到|进到)了?|处于|处在|在|还在|正在)(?P<v><STAGE>)(?:的)?阶段", _stage),
    rule("决定 拍板 敲定 决议 定案", r"(?:在?[^，。]{0,10}?(?:会议|会|讨论)[上中里]?(?:后)?)?(?:最后|最终|终于|一致|已经|一起|\x01|还是|，)*(?:决定|拍板|敲定|决议|定案)(?!不了|不下)(?:了|要)?(?P<v>[^。！!?；;\x02]{2,60})", _decided),
    rule("会 要 打算 准备 计划 预计 将 预约 约", r"(?:[^，。]{0,4}?)(?:会(?!议|员|计)|要|打算|准备|计划|预计|将要?|预约了?|约了?|即将)[去在跟和到参飞搬出开看考回见带做办举做面有做打跑演拍买换上\u4e00-\u9fff][^，。]{1,40}", _happening("plan", "future"), free=True),
    rule("了 过 去", r"(?:[^，。了过]{0,14}?)(?:[\u4e00-\u9fff](?:了|过)(?!敏|程|世|期)|去|参加|看到|收到|遇到|拿到|买到|完成|结束)[^，。]{0,40}", _happening("activity", "past")),
)  # fmt: skip
