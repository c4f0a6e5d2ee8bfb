"""Makes Chinese states of work and projects: employers, schools, tools, stages, dates and decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.facts import states
from ingest.extraction.rules.chinese.grammar import CITY, TIME_EDGE, actor, is_bare
from ingest.extraction.rules.chinese.words import FIRMS, NOT_EMPLOYERS
from ingest.extraction.rules.drafts import Draft, EventDraft, StateDraft
from ingest.extraction.rules.english.projects import tool
from ingest.extraction.rules.english.words import TOOLS
from ingest.extraction.rules.scene import Make, Scene

_FIRMLESS = re.compile(rf"(?:{NOT_EMPLOYERS})$")


def _firm(words: str) -> str | None:
    folded = to_simplified(words)
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


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = actor(scene), scene.said(found, "v")
    folded = to_simplified(value)
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
        span=found.span(),
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
        replaced_by = next((group for group in ("o", "q") if groups.get(group)), None)
        old = tool(scene.said(found, replaced_by)) if replaced_by is not None else None
        hint = next((key for _, key in new if key != "tool"), None)
        if old is not None and new:
            yield StateDraft(
                entity=subject,
                key=old[1] if old[1] != "tool" else hint or "tool",
                value=old[0],
                span=found.span(),
                statement="ended",
                announced=True,
                timed=True,
            )
        for value, key in new:
            # An unlisted Latin word after 用 may be a size or a brand. In a change it is a tool.
            if value.lower() not in TOOLS and not (announced or groups.get("p")):
                continue
            replaced = old is not None and old[1] != "tool"
            yield StateDraft(
                entity=subject,
                key=old[1] if key == "tool" and old is not None and replaced else key,
                value=value,
                span=found.span(),
                announced=announced or ended,
                timed=announced or ended,
                statement="ended" if ended else "asserted",
            )

    return make


def _project(words: str) -> str | None:
    name = re.sub(
        r"^(?:我们|我|这个|那个|的)+|(?:这个)?(?:专案|项目|计划|产品|系统|的)+$|[ ]+$",
        "",
        to_simplified(words),
    )
    if not name:
        return "project"
    name = name.strip()
    begin = to_simplified(words).find(name)
    return (
        words[begin : begin + len(name)]
        if begin >= 0 and len(name) <= 20 and not re.search(r"[我你他她它这那]", name)
        else None
    )


# "飛魚專案延期了，改到三月上線": the clause before names the project.
_PROJECT_BEFORE = re.compile(r"(?P<p>[\u4e00-\u9fff\w.-]{2,16}?(?:专案|项目|产品|系统))(?=[^，。]{0,8}，)")
_MOVES = re.compile("延|推迟|改|提前|挪")


def _dated(key: str) -> Make:
    """Returns a function that makes a state whose value is a date: a release, a deadline.

    A moved date is an announced change.
    """

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        groups = found.groupdict()
        said = scene.said(found, "p") if groups.get("p") else ""
        dated = [one for one in scene.earlier() if one.key == key]
        if not said and (named := _PROJECT_BEFORE.match(scene.masked, 0, found.start())) is not None:
            said = scene.said(named, "p")
        if key == "deadline" and not said and scene.masked.endswith("报告", 0, found.start()):
            return  # 報告截止日 is the deadline of a report; 報告 alone opens a sentence
        entity = _project(said) if said else (dated[-1].entity if dated else "project")
        if not said and not dated and groups.get("loose") is not None:
            return
        value = TIME_EDGE.sub("", scene.said(found, "v"))
        if entity is not None and value:
            yield StateDraft(
                entity=entity,
                key=key,
                value=value,
                span=found.span(),
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
            span=found.span(),
            timed=True,
            announced=bool(found.groupdict().get("new")),
        )


def _decided(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = scene.owner if actor(scene) in (None, scene.owner) else None
    rest = scene.said(found, "v")
    if entity is None or len(rest) < 2:
        return
    yield EventDraft(
        entity=entity, key="decision", span=found.span(), content=scene.sentence.raw, value=rest, importance=7
    )
    if re.match(r"不|先不|暂时不", to_simplified(rest)):
        return
    chosen = re.search(
        r"(?:从(?P<o1>[A-Za-z][\w.+# -]*?)(?:换成|换到|改成|改用|转到|迁移到|改为))?"
        r"(?:改用|使用|采用|选用|选择|选|用|换成|改成|转用)?\s?(?P<v>[A-Za-z][\w.+#-]*(?: [A-Z]\w*)?)"
        r"(?:[，,]?\s?(?:而不是|取代|代替|不用|而不用|不是)\s?(?P<o2>[A-Za-z][\w.+#-]*))?",
        to_simplified(rest),
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
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
        )
    yield StateDraft(
        entity=entity,
        key=new[1] if new[1] != "tool" else (old[1] if old else new[1]),
        value=new[0],
        span=found.span(),
        announced=True,
        timed=True,
    )


_FIRM_LIKE = re.compile(
    rf"(?:{FIRMS})|(?:公司|集团|科技|银行|电子|半导体|软件|软体|事务所|医院|大学|工作室|新创|电信|汽车|实业|证券|保险|传媒|设计院|研究院|研究所)$|^[A-Z]"
)


def _joins(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes an employer from "加入 X". People join clubs and chats too, so X must look like a firm, or the words must
    be about work."""
    value = to_simplified(scene.said(found, "v"))
    known = tool(value)
    if known is not None and known[1] != "tool":
        return
    about_work = re.search(r"跳槽|入职|转职|上班|工作|任职|当|担任", found[0]) is not None
    if not about_work and (_FIRM_LIKE.search(value) is None or found[0].startswith("转到")):
        return
    yield from states("employer", _firm, announced=True, timed=True, bare=True)(found, scene)


def _switches(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(r"跳槽|上班|工作|公司", scene.masked):
        return
    yield from states("employer", _firm, announced=True, timed=True, bare=True)(found, scene)


def _quits(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    group = next(g for g in "vwxy" if found[g])
    value = _firm(scene.said(found, group))
    if entity is None or not value or CITY.match(to_simplified(value)):
        return
    yield StateDraft(
        entity=entity,
        key="employer",
        value=value,
        span=found.span(),
        statement="ended",
        announced=True,
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
    if to_simplified(value) in ("大学", "高中", "国中") or re.search(
        r"[我你他她这那哪]", to_simplified(value)
    ):
        return
    yield StateDraft(entity=entity, key="school", value=value, span=found.span(), timed=True)


def _degree(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or is_bare(scene) or not re.search(r"学历|学位|教育|读|念|毕业|博士|硕士", found[0]):
        return
    yield StateDraft(entity=entity, key="degree", value=scene.said(found, "v"), span=found.span())


def _occupation_ended(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of an occupation ("我不當老師了")."""
    entity = actor(scene)
    if entity is not None and not is_bare(scene):
        yield StateDraft(
            entity=entity,
            key="occupation",
            value=scene.said(found, "v"),
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
        )


MAKES: dict[str, Make] = {
    "employer": states("employer", _firm, timed=True),
    "employer_past": states("employer", _firm, statement="ended"),
    "joined": _joins,
    "switched": _switches,
    "quit": _quits,
    "occupation": _occupation,
    "occupation_ended": _occupation_ended,
    "school": _school,
    "degree": _degree,
    "tools": _tools(),
    "tools_changed": _tools(announced=True),
    "tools_ended": _tools(ended=True),
    "release_date": _dated("release_date"),
    "release_moved": _dated("release_date"),
    "deadline": _dated("deadline"),
    "stage": _stage,
    "decision": _decided,
}
