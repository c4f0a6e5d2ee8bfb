"""Makes English states of relationships: family, friends and pets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.grammar import is_name, name, subject
from ingest.extraction.rules.english.words import NOT_NAMES, PETS, RELATION_PLURALS, RELATIONS
from ingest.extraction.rules.scene import Make, Scene


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a relation of the owner to a named person ("My wife Anna", "Anna is my wife")."""
    said = name(scene.said(found, "v"))
    if said is None or not is_name(said) or said == scene.owner:
        return
    if _LISTED.search(scene.masked[found.end("kin") : found.start("v")]) and _AND.match(
        scene.masked, found.end()
    ):
        return
    kin = found["kin"].lower().split(" ")[-1]
    kind = found["kin"].lower()
    if kind.startswith(("late ", "former ", "old ")):
        return
    of = found.groupdict().get("of")
    if of is not None and not is_name(of, first=True):
        return
    new = kind.startswith("new ") or bool(found.groupdict().get("now"))
    yield StateDraft(
        entity=of or scene.owner,
        key=RELATIONS[kin],
        value=said,
        span=found.span(),
        announced=new or scene.masked.startswith(" now", found.end()),
        timed=new,
        kind=kind.removeprefix("new "),
        tags=(kin,),
    )


# "My girlfriend, Tomas and I": two people and no name of the first.
_LISTED = re.compile(r"^, ?$")
_AND = re.compile(r",? (?:and|&|or) |, (?:my|our|the|[A-Z])")


def _pets(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a state of each pet. The value is the name of the pet, or its kind when it has no name."""
    groups = found.groupdict()
    entity = subject(found, scene) if groups.get("s") else scene.owner
    kind = scene.said(found, "pet").lower()
    if (
        entity is None
        or not _is_pet(kind)
        or (not groups.get("v") and _FOOD.search(scene.said(found, "count_kind")))
    ):
        return
    names = [
        one
        for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", scene.said(found, "v"))
        if (one := name(part)) and is_name(one)
    ]
    singular = _singular(kind)
    if groups.get("v") and not names:
        return
    for value in names or [
        _LOOKS.sub("", scene.said(found, "count_kind")) if groups.get("count_kind") else singular
    ]:
        yield StateDraft(
            entity=entity,
            key="pet",
            value=value,
            span=found.span(),
            kind=singular if names else None,
            timed=bool(groups.get("got")),
            tags=(singular.split(" ")[-1],),
        )
    if groups.get("pet2") and _is_pet(other := groups["pet2"].lower()):
        yield StateDraft(
            entity=entity, key="pet", value=_singular(other), span=found.span(), tags=(_singular(other),)
        )


_LOOKS = re.compile(
    r"^(?:(?:cute|adorable|little|new|lovely|sweet|beautiful|tiny|small|big|young|old|rescue|new|super|so|"
    r"very) )+"
)


# Without a name, "we got two fish" is dinner and no pet.
_FOOD = re.compile(r"(?<!gold)(?<!pet )\bfish$|\b(?:few|couple|lots?|some)\b", re.IGNORECASE)


def _is_pet(kind: str) -> bool:
    return kind.rsplit(" ", maxsplit=1)[-1] in PETS or kind.replace(" ", "-") in PETS


def _singular(kind: str) -> str:
    irregular = {"puppies": "puppy", "kitties": "kitty", "bunnies": "bunny", "ponies": "pony", "fish": "fish"}
    last = kind.rsplit(" ", maxsplit=1)[-1]
    return irregular.get(last, last.removesuffix("s"))


# The name of a pet must open a clause. After "my friend" or another name, a name belongs to a person.
_OPENS = re.compile(r"(?:^|[,;:] |\b(?:and|but|so|when|since|that|because|[Ss]adly|[Yy]esterday) |\x01,? )$")


def _pet_died(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of a pet that died. An unknown bare name counts as a pet of the speaker.

    An end has an effect only when the state held before. So the name of a person does no harm.
    """
    groups = found.groupdict()
    said = name(scene.said(found, "v")) if groups.get("v") else None
    if groups.get("pet"):
        kind = scene.said(found, "pet").lower()
        if not _is_pet(kind):
            return
        named = [one for one in scene.earlier() if one.key == "pet" and one.kind == _singular(kind)]
        value = said or (named[-1].value if named else _singular(kind))
        entity = scene.owner
    else:
        match = [
            one
            for one in scene.earlier()
            if one.key == "pet" and said is not None and one.value.lower() == said.lower()
        ]
        if said is None:
            return
        if match:
            value, entity, kind = match[-1].value, match[-1].entity, match[-1].kind or "pet"
        elif _OPENS.search(scene.masked, 0, found.start()) and said.lower() not in NOT_NAMES:
            value, entity, kind = said, scene.owner, ""
        else:
            return
    yield StateDraft(
        entity=entity,
        key="pet",
        value=value,
        span=found.span(),
        statement="ended",
        announced=True,
        timed=True,
        kind=kind,
        content=f"{value} died"
        if not kind
        else f"{'The pet' if value.lower() in PETS else 'Pet'} {value} died",
        confidence=0.9 if kind else 0.6,
        impersonal=not kind,
    )


def _pronoun_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the name of a nameless pet ("Her name is Mochi" right after "I adopted a cat")."""
    nameless = [one for one in scene.earlier()[-2:] if one.key == "pet" and one.value.lower() in PETS]
    if not nameless:
        return
    names = [
        one
        for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s*&\s*", scene.said(found, "v"))
        if (one := name(part)) and is_name(one)
    ]
    for value in names:
        yield StateDraft(
            entity=nameless[-1].entity,
            key="pet",
            value=value,
            span=found.span(),
            kind=_singular(nameless[-1].value.lower()),
            tags=(_singular(nameless[-1].value.lower()),),
        )


def _children(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    kin = scene.said(found, "kin").lower().split(" ")[-1]
    key = RELATIONS.get(kin) or RELATION_PLURALS.get(kin)
    if entity is None or key is None:
        return
    names = [
        one
        for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", scene.said(found, "v"))
        if (one := name(part)) and is_name(one)
    ]
    if found["v"] and not names:
        return
    single = {"kids": "kid", "children": "child"}.get(kin, kin if kin in RELATIONS else kin.removesuffix("s"))
    value_of_kind = (
        f"{found['count']} {scene.said(found, 'kin')}"
        if found["count"] not in ("a", "an")
        else scene.said(found, "kin")
    )
    for value in names or [value_of_kind]:
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
            kind=single if names else None,
            tags=(single,),
        )


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is None:
        return
    status = found["v"].lower()
    yield StateDraft(
        entity=entity,
        key="relationship_status",
        value=status,
        span=found.span(),
        timed=True,
        announced="got" in found[0] or "just" in found[0],
    )
    if (
        found["n"]
        and status in ("married", "engaged")
        and (who := name(scene.said(found, "n"))) is not None
        and is_name(who)
    ):
        yield StateDraft(
            entity=entity,
            key="spouse" if status == "married" else "partner",
            value=who,
            span=found.span(),
            timed=True,
        )


MAKES: dict[str, Make] = {
    "kin": _kin_named,
    "children": _children,
    "relationship": _relationship,
    "pets": _pets,
    "pronoun_named": _pronoun_named,
    "pet_died": _pet_died,
}
