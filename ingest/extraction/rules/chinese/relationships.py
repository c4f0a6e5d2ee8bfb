"""Makes Chinese states of relationships: family, friends and pets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.grammar import ANIMAL, actor, is_bare, is_carried
from ingest.extraction.rules.chinese.words import OCCUPATIONS, RELATIONS, SURNAMES
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.scene import Make, Scene


def _is_kin(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a relation of the owner to the named person ("王磊是我的上司")."""
    entity = actor(scene)
    if entity is None or entity == scene.owner or is_bare(scene):
        return
    kin = scene.said(found, "kin")
    yield StateDraft(
        entity=scene.owner,
        key=RELATIONS[to_simplified(kin)],
        value=entity,
        span=found.span(),
        kind=kin,
        tags=(kin,),
    )


def _is_pet(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a pet of the owner of the named animal ("豆豆是我的狗")."""
    entity = actor(scene)
    if entity is None or entity == scene.owner or is_bare(scene):
        return
    kind = scene.said(found, "pet")
    yield StateDraft(entity=scene.owner, key="pet", value=entity, span=found.span(), kind=kind, tags=(kind,))


_TOGETHER = re.compile("(?:我|咱)们[^，]{0,4}$")


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a relation from the name of a relative ("我太太叫小芳"). The name is the value."""
    entity = actor(scene)
    value = _given_name(scene.said(found, "v"))
    if entity is None or value is None or is_bare(scene):
        return
    if entity == scene.owner:
        # "我住的小區，叫陽光小區" names the estate and not the person. "我們叫壓蓋" names a thing.
        if is_carried(scene) or _TOGETHER.search(scene.masked[: found.start()]):
            return
        yield StateDraft(entity=entity, key="name", value=value, span=found.span())
        return
    kin = RELATIONS.get(to_simplified(entity.split("的")[-1]))
    if kin is not None:
        yield StateDraft(
            entity=scene.owner,
            key=kin,
            value=value,
            span=found.span(),
            kind=entity.split("的")[-1],
            tags=(entity.split("的")[-1],),
        )


def _kin_is(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a relation from "我的主管是雅婷" or "我的主管換成雅婷了" when the value is a name."""
    entity = actor(scene)
    value = _given_name(scene.said(found, "v"))
    if entity is None or entity == scene.owner or value is None or is_bare(scene):
        return
    if _NO_NAME.search(to_simplified(value)):
        return
    of, _, kind = entity.rpartition("的")
    key = RELATIONS.get(to_simplified(kind))
    if key is None:
        return
    new = found["new"] is not None or f"新{to_simplified(kind)}" in scene.masked
    yield StateDraft(
        entity=of or scene.owner,
        key=key,
        value=value,
        span=found.span(),
        announced=new,
        timed=new,
        kind=kind,
        tags=(kind,),
    )


_NO_NAME = re.compile(rf"^(?:{OCCUPATIONS}|{'|'.join(RELATIONS)})$|[的很最好坏大高老师人]$")


def _given_name(words: str) -> str | None:
    value = words.removesuffix("哦").removesuffix("喔").removesuffix("啦")
    if not value or len(value) > 12 or re.search(r"[我你他她它什谁么这那醒救]|做$|作$", to_simplified(value)):
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
            span=found.span(),
            kind=kind if names else None,
            timed=bool(groups.get("got")),
            tags=(kind,),
        )


def _pet_named_later(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a pet from a name in its own clause right after the pet ("……養了一隻貓，叫麻糬")."""
    last = next(iter(scene.earlier()[-1:]), None)
    value = _given_name(scene.said(found, "v"))
    if last is None or last.key != "pet" or last.kind is not None or value is None:
        return
    yield StateDraft(
        entity=last.entity, key="pet", value=value, span=found.span(), kind=last.value, tags=(last.value,)
    )


_KIN = re.compile("|".join(RELATIONS))
_FULL_NAME = re.compile(rf"[{SURNAMES}].{{2}}$|[老阿]")


def _may_be_a_pet(name: str, words: str, scene: Scene) -> bool:
    folded = to_simplified(name)
    if (
        not 2 <= len(folded) <= 4
        or _FULL_NAME.match(folded)
        or _KIN.search(folded)
        or _NOBODY.search(folded)
        or name == scene.owner
    ):
        return False
    # "走了" often means "left". Then another word must name an animal.
    return re.search("过世|去世|离世|死", words) is not None or ANIMAL.search(scene.masked) is not None


_NOBODY = re.compile(
    "[我你他她它这那哪们人的了在]|手机|电脑|花|树|爷|奶|叔|姨|伯|公|婆|先生|小姐|老师|总统|明星"
)


def _pet_died(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of a pet that died. A pet without a known owner counts as the speaker's.

    An end has an effect only when the state held before. So a wrong owner does no harm.
    """
    groups = found.groupdict()
    said = scene.said(found, "v")
    if groups.get("pet"):
        kind = scene.said(found, "pet")
        named = [one for one in scene.earlier() if one.key == "pet" and one.kind == kind]
        value, entity = said or (named[-1].value if named else kind), scene.owner
    else:
        subject = actor(scene)
        said = said or (subject if subject is not None and not is_bare(scene) else "")
        known = [one for one in scene.earlier() if one.key == "pet" and one.value == said]
        if known:
            value, entity, kind = known[-1].value, known[-1].entity, known[-1].kind or ""
        elif _may_be_a_pet(said, found[0], scene):
            value, entity, kind = said, scene.owner, ""
        else:
            return
    verb = "過世了" if scene.traditional else "过世了"
    yield StateDraft(
        entity=entity,
        key="pet",
        value=value,
        span=found.span(),
        statement="ended",
        announced=True,
        timed=True,
        kind=kind,
        content=f"{kind if kind != value else ''}{value}{verb}",
        confidence=0.9 if kind else 0.6,
    )


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = actor(scene)
    if entity is not None and not is_bare(scene):
        yield StateDraft(
            entity=entity,
            key="relationship_status",
            value=scene.said(found, "v"),
            span=found.span(),
            timed=True,
            announced="刚" in found[0] or "了" in found.string[found.end() : found.end() + 1],
        )


MAKES: dict[str, Make] = {
    "is_kin": _is_kin,
    "kin": _kin_is,
    "is_pet": _is_pet,
    "named": _kin_named,
    "pets": _pets,
    "pet_named": _pet_named_later,
    "pet_died": _pet_died,
    "relationship": _relationship,
}
