"""The grammar of Chinese sentences: clauses, the entity of each clause, and the pieces of patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.extraction.rules.chinese.words import (
    ATTRIBUTES,
    CAR_MAKERS,
    CITIES,
    DEGREES,
    GIVEN,
    LANGUAGES,
    NOT_GIVEN,
    OCCUPATIONS,
    PETS,
    RELATIONS,
    SPORTS,
    STAGES,
    SURNAMES,
)
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN

_REL = "|".join(sorted(RELATIONS, key=len, reverse=True))
_ATTR = "|".join(sorted(ATTRIBUTES, key=len, reverse=True))
_GIVEN_NAME = rf"(?!(?:{NOT_GIVEN}|{CITIES}))[{GIVEN}]{{2}}"
_NAME = rf"(?:[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|{_GIVEN_NAME}|[小阿老][\u4e00-\u9fff]|[A-Z][a-z]+)"
_ADVERB = (
    rf"(?:{TIME}{{1,40}}+|[ ]|已经|正式|刚刚|刚|才|又|终于|也|就|都|还|仍然?|其实|真的|一直|目前|现在|最近|后来|"
    rf"平常|平时|通常|主要|大多|从小就?|应该说|全家|一个人|一家人?|[跟和与](?:我)?(?:{_REL}|家人)(?:一起)?|全都|，)"
)
_OPENING = (
    r"(?:[\s,，、~～]|所以|但是|但|不过|而且|然后|后来|因为|由于|其实|对了|顺便[说一提下]{1,3}|跟[你您]说|告诉[你您]|话说|嗯+|啊|好的?|是的|"
    rf"没错|原来|另外|还有|而|结果|总之|目前|现在|最近|记得|请记住|记住|记一下|记下来|更新一下|报告|(?:医生|医师|护士|诊所|医院|报告上?|检查结果)(?:跟我)?(?:说|显示|写)|哈哈+|嗨|你好|您好|大家好|{TIME}{{1,40}}+|：|:|于是|终于)"
)
_THINGS = (
    "婚礼|婚宴|喜宴|生日会|派对|聚会|聚餐|大餐|公司|学校|课|班|店|考试|比赛|手术|门诊|面试|毕业典礼|演唱会"
)
_SUBJECT = re.compile(
    rf"{_OPENING}{{0,6}}(?P<s>(?P<me>我们|咱们|我|咱|本人)(?:家)?(?:自己)?(?:的)?(?:那个|这个|有个|有一个|一个|有位|最好的|最要好的|新的?)?(?P<rel>{_REL})"
    r"(?![家们\u4e00-\u9fff]?说话)"
    rf"(?:(?P<reln>{_NAME})(?=[住在是搬养有换喜讨]))?(?:，?(?:他们|她们|他|她|其))?|"
    rf"(?P<i>我们|咱们|我|咱|本人)(?![家的]{{1,2}}(?:{_REL}))|(?P<he>他|她|其)(?!们)|(?P<rel2>{_REL})"
    rf"(?=[的在是住喜名今学身生电手特爱工干做念读上转调退考出这搬{TIME}])|"
    rf"(?P<name>{_GIVEN_NAME}(?!说)|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?|(?P<twice>[\u4e00-\u9fff])(?P=twice)(?=是我)|"
    rf"[小阿老][\u4e00-\u9fff]|[A-Z][a-z]+)(?=[ ]?(?:是|在|住|搬|养|的|"
    rf"今年|身高|喜欢|叫|现在|目前|刚|加入|从|对|会|用|开一|{TIME})))"
    rf"{_ADVERB}{{0,6}}"
)
_SOMEBODY = re.compile(
    r"们?的(?:[^，,。：:]{0,6}(?:客户|用户|病人|患者|角色|主角|学生|读者|受众|粉丝|房东|房客|网友|偶像|老师|医生|律师))(?=[是叫在住今有])"
)
# 妹妹的婚礼因为漏水，搬去…: the next clause is about the wedding and not about the sister.
_THEIR_THING = re.compile(rf"的(?!(?:{_ATTR}))[^，,。是]{{0,6}}(?:{_THINGS})")
_BARE = re.compile(rf"{_OPENING}{{0,6}}{_ADVERB}{{0,4}}")
ANIMAL = re.compile(PETS)
_CLAUSE_END = re.compile(r"[，,；;：:（）()—]|——")
_END = rf"(?=$|[，,。！!?？；;、\s~～（(\"”」{TIME}{HIDDEN}]|了|啦|呢|喔|哦|啊|呀|耶|吧)"
_V = rf"[^，,。！!?？；;、\s的了{TIME}{HIDDEN}]"
_MEASURE = r"[一两二三四五几\d]?[只隻条个匹头]?(?:[\u4e00-\u9fff]{0,4}的)?"
_PROJECT = (
    r"(?P<p>(?:我们的?|这个)?(?:专案|项目|产品|系统)|[A-Za-z][\w.-]{1,29}(?: ?(?:专案|项目|这个专案|的))?|"
    r"[\u4e00-\u9fff]{2,8}(?:专案|项目|计[划画]|系统))"
)
_PLACE = rf"[^，,。！!?？；;、\s的了在跟和与是有不还也就都去来到从着得{TIME}{HIDDEN}A-Za-z0-9]"
PIECES = {
    "<END>": _END,
    # Cities come first: 成都 and 永和 contain characters that otherwise end a place.
    "<PL>": rf"(?:{CITIES})(?:[市县区]{_PLACE}{{0,6}}?)?|{_PLACE}{{2,10}}?|"
    rf"[A-Z][A-Za-z]+(?: [A-Z][a-z]+){{0,2}}",
    "<ORG>": rf"[^，,。！!?？；;、\s了在{TIME}{HIDDEN}]{{2,20}}?|[A-Z][\w&.+-]*(?: [A-Z][\w&.+-]*){{0,3}}?",
    "<OCC>": rf"(?:[^，,。！!?？；;、\s是在有跟着过了和年时我你他她{TIME}]{{0,8}}?(?:{OCCUPATIONS}))",
    "<PET>": rf"(?:{PETS})",
    "<NM>": r"[「“\"『]?(?:[\u4e00-\u9fff]{1,4}?|[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)[」”\"』]?",
    "<PERSON>": rf"[「“\"]?{_NAME}[」”\"]?",
    # A full name, a nickname with 小 or 阿, two characters of given names, or a Latin name.
    "<INTRO>": rf"[{SURNAMES}][小大]?[{GIVEN}]{{1,2}}|[小阿][{GIVEN}]|{_GIVEN_NAME}|[A-Z][a-z]+(?: [A-Z][a-z]+)?",
    "<MAKER>": CAR_MAKERS,
    "<SPORT>": rf"(?:{SPORTS})",
    "<CAR>": r"(?:[A-Z][\w-]+)(?: [A-Z0-9][\w-]*){0,3}",
    "<DEG>": rf"(?:{DEGREES})",
    "<PROJECT>": _PROJECT,
    "<MEASURE>": _MEASURE,
    "<CITY>": f"(?:{CITIES})",
    "<ATTR>": rf"(?:{_ATTR})",
    "<REL>": rf"(?:{_REL})",
    "<T>": rf"{TIME}{{1,40}}",
    "<V>": _V,
    "<TOOL>": r"[A-Za-z][\w.+#-]*(?: [A-Za-z0-9][\w.+#-]*){0,2}",
    "<LANG>": rf"(?:{LANGUAGES})",
    "<SKILL>": "(?:[\u4e00-\u9fff]{0,2}(?:吉他|钢琴|鼓|小提琴|大提琴|贝斯|古筝|二胡|长笛)|游泳|画画|书法|编程|写程式|"
    "Python|Rust|Go|Java|瑜伽|烘焙|摄影|滑雪|冲浪|潜水|陶艺|插花|开车|街舞|芭蕾|拳击|空手道|围棋|日语|英语)",
    "<STAGE>": rf"(?:[\u4e00-\u9fffA-Za-z-]{{0,6}}?(?:{STAGES}))",
}
_PIECE = re.compile("<[A-Z]+>")


@dataclass(frozen=True, slots=True)
class ClauseScene(Scene):
    """A clause and the entity it is about.

    ``actor`` is None when neither this clause nor an earlier one names an entity. ``carried`` is true when an earlier
    clause named the entity. ``bare`` is true when no clause named it, so the speaker is assumed.
    """

    actor: str | None = None
    bare: bool = False
    carried: bool = False


def actor(scene: Scene) -> str | None:
    """Returns the entity that the clause is about, or None."""
    return scene.actor if isinstance(scene, ClauseScene) else scene.owner


def is_carried(scene: Scene) -> bool:
    """Returns True when an earlier clause named the entity."""
    return isinstance(scene, ClauseScene) and scene.carried


def is_bare(scene: Scene) -> bool:
    """Returns True when no clause named the entity, so the speaker is assumed."""
    return isinstance(scene, ClauseScene) and scene.bare


def clauses(scene: Scene) -> Iterator[tuple[ClauseScene, int, int]]:
    """Yields each clause with its entity, and the bounds of the text after its subject.

    A clause without a subject keeps the entity of the clause before.
    """
    text = scene.masked
    borders = [border.start() for border in _CLAUSE_END.finditer(text)] + [len(text)]
    begin = 0
    actor: str | None = None
    another = False
    for end in borders:
        found = _SUBJECT.match(text, begin)
        # "我上司，他……" has the pronoun after the comma. The subject may then end after this clause.
        rest = begin
        bare = False
        if found is not None and found.start("s") < end:
            actor = _named(found, scene, actor)
            rest = found.end()
            # 我的客户是医生，住在杭州: after somebody of the speaker, a clause without a subject is about that person.
            another = (found["i"] is not None and _SOMEBODY.match(text, found.end("i")) is not None) or (
                found["he"] is None and _THEIR_THING.match(text, found.end("s")) is not None
            )
            if another and found["i"] is None:
                yield _about(scene, actor, bare, False), rest, end
                actor, begin = None, end + 1
                continue
        else:
            opening = _BARE.match(text, begin)
            rest = opening.end() if opening is not None else begin
            bare = actor is None and not another
        if rest <= end:
            carried = rest == begin or found is None or found.start("s") >= end
            yield _about(scene, scene.owner if bare else actor, bare, carried), rest, end
        # After "我養了一隻貓", a clause without a subject may be about the cat or about the owner.
        if another or ANIMAL.search(text, begin, end):
            actor = None
        begin = end + 1


def _about(scene: Scene, actor: str | None, bare: bool, carried: bool) -> ClauseScene:
    return ClauseScene(
        scene.sentence, scene.masked, scene.owner, scene.traditional, scene.told, actor, bare, carried
    )


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


def expand(source: str) -> str:
    """Returns a pattern with its ``<PIECES>`` replaced."""
    return _PIECE.sub(lambda found: f"(?:{PIECES[found[0]]})", source)


# A city alone: 在台北上班 names the place and not the employer.
CITY = re.compile(rf"(?:{CITIES})+(?:市|县|省|区|那边|这边)?$|[\u4e00-\u9fff]{{2,3}}[市县镇乡]$")
# Words before and after a date that are no part of it.
TIME_EDGE = re.compile(r"^(?:在|到|于|至|是|定在|预计|大概|大约)+|(?:左右)$")
