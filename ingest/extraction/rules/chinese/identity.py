"""Makes Chinese states of who somebody is: names, telephone numbers, birthdays."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.chinese_script import to_simplified
from ingest.extraction.rules.chinese.grammar import TIME_EDGE, actor, is_bare
from ingest.extraction.rules.chinese.words import CITIES, FIRMS, OCCUPATIONS, RELATIONS
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.grammar import is_name
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Make, Scene

_DIALLED = re.compile(r"\+?\d[\d -]{5,18}\d")


def _phone_is(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a phone number of the number just before the words ("有事打…，這是我的電話")."""
    numbers = _DIALLED.findall(scene.sentence.raw, 0, found.start())
    if numbers:
        yield StateDraft(
            entity=scene.owner,
            key="phone",
            value=numbers[-1],
            span=found.span(),
            announced=found["new"] is not None,
        )


_DAY_OF_YEAR = re.compile(r"月.*[日号\d一二三四五六七八九十]|\d[-/]\d")


def _birthday(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a birthday of the day right before the word ("我五月十四號生日")."""
    entity = actor(scene)
    date = re.search(rf"{TIME}+$", scene.masked[: found.start()])
    if entity is None or date is None or is_bare(scene):
        return
    value = TIME_EDGE.sub("", scene.sentence.raw[date.start() : date.end()])
    if _DAY_OF_YEAR.search(to_simplified(value)):
        yield StateDraft(entity=entity, key="birthday", value=value, span=(date.start(), found.end()))


def _introduced(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the name of somebody who introduces themselves ("我是小美", "叫我小美就好").

    "叫我小美" is the name unless another name is known. A nationality, a firm and a sign are no names.
    """
    value = scene.said(found, "v")
    called = found["called"] is not None
    folded = to_simplified(value)
    if (
        (is_bare(scene) and not called)
        or (actor(scene) != scene.owner and not called)
        or value == scene.owner
    ):
        return
    if _NO_NAME.search(folded) or (value.isascii() and not is_name(value)):
        return
    if called:
        yield StateDraft(entity=scene.owner, key="nickname", value=value, span=found.span())
        if any(one.key == "name" and one.entity == scene.owner for one in scene.earlier()):
            return
    if scene.owner == "user":
        yield StateDraft(entity=scene.owner, key="name", value=value, span=found.span())


_NO_NAME = re.compile(
    rf"^(?:{CITIES}|{FIRMS}|{OCCUPATIONS}|{'|'.join(RELATIONS)})|座$|人$|控$|迷$|粉$|派$|型$|[生员师]$"
)


def _nickname(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    yield StateDraft(entity=scene.owner, key="nickname", value=scene.said(found, "v"), span=found.span())


MAKES: dict[str, Make] = {
    "phone": _phone_is,
    "birthday": _birthday,
    "nickname": _nickname,
    "introduction": _introduced,
}
