"""Makes Chinese states of what changes in a life: schools, studies, partners, stays in hospital, hours, phones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.grammar import actor, is_bare
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Make, Scene
from ingest.extraction.rules.sentences import clause, hedged

_SCHOOL = re.compile(
    "(?:国小|小学|幼儿园|幼稚园|国中|高中|中学|大学|附中|附小|学院|科大|[一二三四五六七八九]中|女中|学校)$"
)
_SECOND = re.compile("第[一二三四五六七八九十]|别的|其他|另|新学校")


def _owner(scene: Scene) -> str | None:
    """Returns the entity of the clause. A clause without a subject is about the speaker."""
    return scene.owner if is_bare(scene) else actor(scene)


def _doubtful(found: re.Match[str], scene: Scene) -> bool:
    first, _ = clause(scene.sentence, *found.span())
    return hedged(scene.sentence, first, found.start()) or _SOMEDAY.search(scene.masked, first) is not None


_SOMEDAY = re.compile("想|希望|如果|要是|打算|应该|考虑|可能|会不会|要不要|建议|还没|还不")


def _school_changed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, value = actor(scene), scene.said(found, "v")
    folded = to_simplified(value)
    if entity is None or is_bare(scene) or _doubtful(found, scene) or _SECOND.search(folded):
        return
    if found["sure"] or _SCHOOL.search(folded):
        yield StateDraft(
            entity=entity, key="school", value=value, span=found.span(), announced=True, timed=True
        )


def _major_changed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene):
        yield StateDraft(
            entity=entity,
            key="major",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=True,
            timed=True,
        )


def _learning_changed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _owner(scene)
    # A time takes 开始 with it: 最近开始学.
    begun = found["new"] is not None or scene.sentence.plain[: found.start()].endswith("开始")
    if entity is not None and begun and not _doubtful(found, scene):
        yield StateDraft(
            entity=entity,
            key="learning",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=True,
            timed=True,
        )


def _learning_ended(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _owner(scene)
    value = scene.said(found, "v") or scene.said(found, "w")
    if entity is not None and value and not re.search("如果|要是|想|打算|会不会", scene.masked):
        yield StateDraft(
            entity=entity,
            key="learning",
            value=value,
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
        )


_FOLLOWS = {"追": "following", "看": "following", "读": "following", "玩": "playing", "听": "listening_to"}
_VERBS = {"追": "看", "看": "看", "读": "讀", "玩": "玩", "听": "聽"}


def _following(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _owner(scene)
    if entity is None or _doubtful(found, scene):
        return
    verb = found["verb"][0]
    key = _FOLLOWS[verb]
    value = scene.said(found, "v")
    yield StateDraft(
        entity=entity,
        key=key,
        value=value,
        span=found.span(),
        announced=found["new"] is not None or "现在" in scene.sentence.plain,
        cardinality="multi_value",
        content=_of(scene, entity, f"正在{_script(scene, _VERBS[verb])}《{value}》"),
        confidence=0.85,
    )


def _followed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of a series or a book. An end has an effect only when the state held before."""
    entity = _owner(scene)
    value = scene.said(found, "v")
    if entity is None or re.search(
        "想|如果|还没|没有?|要是|等|快|书$|剧$|电影$|这|那|篇|文件|报告", scene.masked[: found.end()]
    ):
        return
    verb = (found["verb"] or "追")[0]
    key = _FOLLOWS[verb]
    yield StateDraft(
        entity=entity,
        key=key,
        value=value,
        span=found.span(),
        statement="ended",
        announced=True,
        cardinality="multi_value",
        content=_of(scene, entity, f"{_script(scene, _VERBS[verb])}完《{value}》了"),
        confidence=0.7,
    )


def _of(scene: Scene, entity: str, words: str) -> str:
    return words if entity == "user" else f"{entity}{words}"


def _script(scene: Scene, words: str) -> str:
    return words if scene.traditional else to_simplified(words)


def _allergy_ended(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _owner(scene)
    value = scene.said(found, "v") or scene.said(found, "w")
    told = re.search("其实|已经|不再|现在|重[新测]|检查|原来|报告|了$|医[生师]说", scene.sentence.plain)
    if entity is not None and value and told and not re.search("如果|要是|希望|吗|会不会", scene.masked):
        yield StateDraft(
            entity=entity,
            key="allergy",
            value=value,
            span=found.span(),
            statement="ended",
            announced=True,
            content=_of(scene, entity, f"{_script(scene, '對')}{value}{_script(scene, '不過敏')}"),
        )


def _partner(*, ended: bool) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = _owner(scene)
        value = scene.said(found, "v")
        if entity is None or not value or (is_bare(scene) and not ended):
            return
        if re.search("[我你他她它们人的家]|男友|女友|客户|老板|公司|前任|大家|对方", to_simplified(value)):
            return
        if re.search("朋友|同学|主角|如果|要是|差点|没有?|梦", scene.masked[: found.end()]):
            return
        content = f"{_script(scene, '跟')}{value}{_script(scene, '分手了' if ended else '在交往')}"
        yield StateDraft(
            entity=entity,
            key="partner",
            value=value,
            span=found.span(),
            statement="ended" if ended else "asserted",
            announced=ended,
            timed=ended,
            content=_of(scene, entity, content),
        )

    return make


def _hospital(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a stay in hospital, and its end. Both are values of one key, so the end replaces the stay."""
    entity = actor(scene)
    if entity is None or is_bare(scene) or _doubtful(found, scene):
        return
    home = "out" if found.re.pattern.find("出院") >= 0 else "in"
    said = scene.said(found, "v")
    if re.search("时候|以前|之前|那年|当时|小时候|曾|附近|隔壁|过$", scene.masked):
        return
    value = said or "住院"
    content = "出院了" if home == "out" else f"在{value}住院" if said else "住院"
    yield StateDraft(
        entity=entity,
        key="hospital_stay",
        value=value,
        span=found.span(),
        announced=home == "out",
        cardinality="single_value",
        content=_of(scene, entity, content),
        tags=("health",),
    )


def _posted(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene) and not _doubtful(found, scene):
        yield StateDraft(
            entity=entity,
            key="work_location",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=True,
            timed=True,
        )


_RUN = re.compile(f"{TIME}+")
_CLOCK = re.compile("[点點:：]|半夜|凌晨|中午")
_ONE_DAY = re.compile("昨|今天|今晚|今早|明|前天|上次|那天|周[一二三四五六日]|刚|了一|小时候|以前|之前|有时")


def _keeps_hours(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the hour of going to bed or getting up, for an habit and not for one day."""
    entity = _owner(scene)
    first, last = clause(scene.sentence, *found.span())
    said = scene.sentence.plain[first:last]
    # The subject of a clause takes the adverbs and the time after it, so the time may stand before the match.
    times = list(_RUN.finditer(scene.masked, first, found.start("verb")))
    value = scene.sentence.raw[slice(*times[-1].span())] if times else ""
    value = re.sub("^(?:每天|每晚|現在|现在|最近|平常|目前|後來|后来|都|在|到)+|起$", "", value)
    if (
        entity is None
        or not _CLOCK.search(to_simplified(value))
        or _ONE_DAY.search(said)
        or _SOMEDAY.search(said)
    ):
        return
    up = found["verb"][0] in "起床"
    usual = re.search("每|都|平常|平时|通常|固定|习惯|改|现在|最近|就睡|晚上", scene.sentence.plain)
    if usual is None:
        return
    words = f"{value}{'起床' if up else '睡'}"
    yield StateDraft(
        entity=entity,
        key="wake_time" if up else "hour_of_sleep",
        value=value,
        span=found.span(),
        announced=re.search("改|现在|最近|才睡", scene.sentence.plain) is not None,
        cardinality="single_value",
        content=_of(scene, entity, words),
    )


def _eats_again(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is None or _doubtful(found, scene) or scene.masked.endswith("吃肉的"):
        return
    if is_bare(scene) and "素" not in scene.masked:
        return
    if not re.search("又|恢复|重新|开始|现在|不吃素", scene.sentence.plain):
        return
    yield StateDraft(
        entity=entity, key="diet", value=scene.said(found, "v"), span=found.span(), announced=True, timed=True
    )


def _phone(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = _owner(scene)
    if entity is not None and not _doubtful(found, scene):
        yield StateDraft(
            entity=entity,
            key="phone_model",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=found["new"] is not None,
        )


MAKES: dict[str, Make] = {
    "school_changed": _school_changed,
    "major_changed": _major_changed,
    "learning_changed": _learning_changed,
    "learning_ended": _learning_ended,
    "following": _following,
    "followed": _followed,
    "allergy_ended": _allergy_ended,
    "dating": _partner(ended=False),
    "parted": _partner(ended=True),
    "in_hospital": _hospital,
    "out_of_hospital": _hospital,
    "posted": _posted,
    "keeps_hours": _keeps_hours,
    "eats_again": _eats_again,
    "phone_owned": _phone,
}
