"""Makes Chinese states whose key is in the verb: 週報發給…, 新辦公室五月搬, 一週健身三天, 早餐吃…, 最喜歡的店是…."""

from __future__ import annotations

import re

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.words import ATTRIBUTES, GIVEN, RELATIONS, SURNAMES
from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN

_END = rf"(?=$|[，,。；;！!、 {HIDDEN}]|了|啦|喔|哦|啊|呀|吧)"
_LEAD = rf"(?:对了|所以|但是|不过|而且|然后|因为|其实|结果|后来|另外|{TIME}|以后|之后| )*+"
_NOUN = rf"(?P<n>[^，,。；;！!？?、：:我你他她是在把{TIME}{HIDDEN}]{{2,10}}?)"
_SO = f"(?:都|就|又|还是|改|只|固定|通常|大概|差不多|开始|现在|以后|之后|要|{TIME})*+"
_PERSON = (
    rf"(?P<v>[{SURNAMES}][\u4e00-\u9fff]?(?:老师|医师|教授|总|经理|副理|阿姨|先生|小姐|律师|主任|哥|姐)|[{SURNAMES}][{GIVEN}]{{1,2}}|"
    rf"[小阿老][\u4e00-\u9fff]|[{GIVEN}]{{2}}|[A-Z][a-z]+(?: [A-Z][a-z]+)?|(?:会计|助理|秘书|主任|组长|班长"
    rf"|财务)[\u4e00-\u9fff]{{1,3}}?)"
)
_RECIPIENT = re.compile(rf"{_LEAD}{_NOUN}{_SO}(?P<verb>交给|发给|寄给|送给|报给|传给){_PERSON}{_END}")
_SENT = re.compile(
    "(?:报|报告|单|表|文件|资料|发票|帐单|账单|合约|合同|稿|作业|信|申请书|收据|月报|周报|日报)$"
)
_DUE = re.compile(
    rf"{_LEAD}(?:[^，。我你他她]{{0,5}}(?:说|通知|公告|宣布))?{_NOUN}(?:预计|预定|要|会|得|等到|确定|改成|延到|提前|到)*(?P<v>{TIME}{{2,}})(?:才|就|会|能|可以|正式)*"
    rf"(?P<verb>上市|开幕|开张|交房|交屋|交车|完工|启用|搬家|搬迁|搬|开工|动工|出货|到货|入住|通车|首映|营运|开始营业|竣工|开学){_END}"
)
_WEEKLY = re.compile(
    rf"{_LEAD}(?:我)?(?:一[周天]|一个[周月]|每[周天月]|{TIME}|都|就|又|还是|改成|改|只|固定|通常|大概|差不多|开始|现在|要|去)*+"
    rf"(?P<n>健身房?|运动|跑步|游泳|慢跑|重训|练琴|瑜伽|打球|爬山|上健身房|上班|进公司|居家办公|远端工作|冥想|健走|骑车)"
    rf"(?P<v>[一二三四五六七两\d](?:次|天|回|趟|个?小时)|{TIME}{{2,}}){_END}"
)
_MEAL = re.compile(
    rf"{_LEAD}(?:我)?(?:平常|平时|每天|现在|早餐|午餐|晚餐|消夜|宵夜|早饭|午饭|晚饭|都|改成|改|固定|通常|只|一律|一般|习惯|{TIME})*+"
    rf"(?P<verb>吃|喝)(?!完|到|了|过|饱|药|素|肉|荤|什么)(?P<v>[^，,。；;！!？?、的{TIME}{HIDDEN}]{{1,8}}?){_END}"
)
_PARTS = (("早", "早餐"), ("午", "午餐"), ("中午", "午餐"), ("晚", "晚餐"))
_FAVOURITE = re.compile(
    rf"{_LEAD}(?:我)?(?P<now>目前|{TIME})*+最(?:喜欢|爱)的(?P<n>[^，,。是的换变改{TIME}{HIDDEN}]{{1,6}}?)(?:{TIME}|就)*+(?P<verb>是|换成|变成|改成)了?(?P<v>[^，,。；;！!？?、了的{TIME}{HIDDEN}]{{1,12}}?){_END}"
)
_MAY_HOLD = re.compile(
    "[交发寄送报传]给|最[喜爱]|[早午晚].{0,8}[吃喝]|[周月天].{0,8}[次天回趟时]|上市|开[幕张工学]|交[房屋车]|完工|启用|搬|动工|[出到]货|入住|通车|首映|营[运业]|竣工"
)
_ORDER = re.compile("^(?:请|帮|麻烦)")
_POINTS = re.compile("^(?:[这那哪谁我你他她它]|什么|自己|一[个种]|因为|可以|能|要|不|没|很|有)")


def may_hold(plain: str) -> bool:
    """Returns True when the words of a sentence may state such a fact."""
    return _MAY_HOLD.search(plain) is not None


def stated(scene: Scene, start: int, end: int) -> StateDraft | None:
    """Returns the fact of the clause between ``start`` and ``end``, or None."""
    text = scene.masked
    if _ORDER.match(text, start):
        return None
    for pattern, make in _PHRASES:
        found = pattern.match(text, start, end)
        if found is not None and (draft := make(found, scene)) is not None:
            return draft
    return None


def _recipient(found: re.Match[str], scene: Scene) -> StateDraft | None:
    noun = to_simplified(scene.said(found, "n"))
    if not _SENT.search(noun):
        return None
    now = "以后" in found[0] or "改" in found[0]
    return _made(
        found,
        scene,
        f"{noun}_收件人",
        content=f"{scene.said(found, 'n')}{scene.said(found, 'verb')}",
        now=now,
    )


_NOBODY = re.compile(f"^(?:{'|'.join(RELATIONS)}|大家|公司|我们|学校|说好|店家)$|[说想问]")


def _due(found: re.Match[str], scene: Scene) -> StateDraft | None:
    noun = to_simplified(scene.said(found, "n"))
    if _NOBODY.search(noun) or (
        found["verb"] in ("搬", "搬家", "搬迁", "入住") and not re.search("[室房家屋店部司厂]$", noun)
    ):
        return None
    key = f"{noun}{found['verb']}_time"
    content = f"{scene.said(found, 'n')}{scene.said(found, 'v')}{scene.said(found, 'verb')}"
    later = re.search("才|改成|延到|提前", found[0]) is not None
    return _made(found, scene, key, content=content, now=later, time=True, whole=True)


def _weekly(found: re.Match[str], scene: Scene) -> StateDraft | None:
    if not re.search("一[周天个]|每[周天个月]|星期", _said(found, scene)) or _OTHER_DAY.search(
        _said(found, scene)
    ):
        return None
    whole = scene.sentence.raw[found.start("n") : found.end("v")]
    week = "一週" if scene.traditional else "一周"
    return _made(
        found,
        scene,
        f"{found['n']}_频率",
        content=f"{week}{whole}",
        now=_NOW.search(_said(found, scene)) is not None,
        whole=True,
    )


_NOW = re.compile("现在|改|目前|最近|开始|如今")
_OTHER_DAY = re.compile("昨|今天|明天|前天|后天|刚|上[周次个]|下[周次个]|那天|有一天|周[一二三四五六日]")


def _said(found: re.Match[str], scene: Scene) -> str:
    """Returns the clause with its times, in simplified script."""
    return scene.sentence.plain[found.start() : found.end()]


def _meal(found: re.Match[str], scene: Scene) -> StateDraft | None:
    said = _said(found, scene)
    if _OTHER_DAY.search(said) or not re.search("每天|都|改|固定|通常|习惯|平常|平时", said):
        return None
    part = next((meal for sign, meal in _PARTS if sign in said), None)
    if part is None or _POINTS.match(found["v"]):
        return None
    drinks = found["verb"] == "喝"
    words = {"早餐": "早上", "午餐": "中午", "晚餐": "晚上"}[part] if drinks else part
    return _made(
        found,
        scene,
        f"{part}_{found['verb']}",
        content=f"{words}{found['verb']}",
        now=_NOW.search(said) is not None,
    )


def _favourite(found: re.Match[str], scene: Scene) -> StateDraft | None:
    if (
        _POINTS.match(found["v"])
        or _POINTS.match(found["n"])
        or re.search("人$|事$|东西|部分|地方$|方案|版本|选项|句", found["n"])
    ):
        return None
    noun = f"最喜欢的{found['n']}"
    key = ATTRIBUTES.get(noun, noun)
    said = "最喜歡的" if scene.traditional else "最喜欢的"
    now = _NOW.search(_said(found, scene)) is not None or found["verb"] != "是"
    return _made(found, scene, key, content=f"{said}{scene.said(found, 'n')}是", now=now)


def _made(
    found: re.Match[str],
    scene: Scene,
    key: str,
    *,
    content: str,
    now: bool,
    time: bool = False,
    whole: bool = False,
) -> StateDraft | None:
    value = scene.said(found, "v").removesuffix("了")
    value = re.sub("^[在於于到]", "", value)
    if not value:
        return None
    whose = "" if scene.owner == "user" else f"{scene.owner}的" if found.re is _FAVOURITE else scene.owner
    return StateDraft(
        entity=scene.owner,
        key=key,
        value=value,
        span=found.span(),
        announced=now,
        cardinality="single_value",
        tags=("attribute",),
        value_span=found.span("v") if time else None,
        content=f"{whose}{content}{'' if whole else value}",
        confidence=0.85,
    )


_PHRASES = (
    (_FAVOURITE, _favourite),
    (_RECIPIENT, _recipient),
    (_DUE, _due),
    (_WEEKLY, _weekly),
    (_MEAL, _meal),
)
