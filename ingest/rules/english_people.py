"""English states of people: where they live and work, whom they belong with, what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from events.concepts import canonical_key
from ingest.rules.drafts import Draft, StateDraft
from ingest.rules.english_grammar import is_name, name, organisation, place, role, subject
from ingest.rules.english_words import (
    GIVEN_NAMES,
    PETS,
    PLACES,
    RELATION_PLURALS,
    RELATIONS,
    TOOLS,
)
from ingest.rules.scene import Make, Scene

Clean = Callable[[str], str | None]


def states(
    key: str,
    clean: Clean,
    *,
    statement: str = "asserted",
    announced: bool = False,
    timed: bool = False,
    confidence: float = 0.9,
) -> Make:
    """A builder of the state in group ``v``; ``o`` is what it replaced, ``r`` the role that comes with it."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = clean(scene.said(found, "v"))
        if entity is None or not value:
            return
        groups = found.groupdict()
        if groups.get("o") and (old := clean(scene.said(found, "o"))) is not None:
            yield StateDraft(
                entity=entity,
                key=key,
                value=old,
                begin=found.start(),
                stop=found.end(),
                statement="ended",
                announced=True,
                timed=True,
                confidence=confidence,
            )
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            begin=found.start(),
            stop=found.end(),
            statement="ended" if statement == "ended" else "asserted",
            announced=announced or bool(groups.get("new")),
            timed=timed,
            confidence=confidence,
        )
        if groups.get("r") and (job := role(scene.said(found, "r"))) is not None:
            yield StateDraft(
                entity=entity,
                key="occupation",
                value=job,
                begin=found.start(),
                stop=found.end(),
                statement="ended" if statement == "ended" else "asserted",
                announced=announced,
                timed=timed,
            )

    return make


def _whole(words: str) -> str | None:
    return words or None


def _person_free_place(words: str) -> str | None:
    found = place(words)
    return found if found is None or found.lower() not in TOOLS else None


def _known_place(words: str) -> str | None:
    found = place(words)
    return found if found is not None and found.lower().split(",")[0] in PLACES else None


_EMPLOYMENT = re.compile(
    r"\b(?:job|jobs|work|worked|working|works|company|employer|role|position|career|boss|colleagues?|"
    r"coworkers?|resign|"
    r"startup|start-up|hired|joined|joining|team|salary|offer|engineer|developer|designer|manager|laid)\b"
)


def _joined(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "Joined X": an employer where a role or talk of work says so, or X is a name that is no tool or club."""
    entity, firm = subject(found, scene), organisation(scene.said(found, "v"))
    if entity is None or firm is None or firm.lower() in TOOLS:
        return
    if re.search(
        r"\b(?:club|group|choir|band|gym|class|league|church|community|server|call|meeting|army|navy|party|"
        r"forum|program|team)\b",
        firm.lower(),
    ):
        return
    job = role(scene.said(found, "r")) if found["r"] else None
    if (
        job is None
        and not _EMPLOYMENT.search(scene.masked.replace("joined", ""))
        and "\x01" not in scene.masked
    ):
        return
    yield StateDraft(
        entity=entity,
        key="employer",
        value=firm,
        begin=found.start(),
        stop=found.end(),
        announced=True,
        timed=True,
    )
    if job is not None:
        yield StateDraft(
            entity=entity,
            key="occupation",
            value=job,
            begin=found.start(),
            stop=found.end(),
            announced=True,
            timed=True,
        )


def _left(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "Left X": an employer left only where it is known as one, or the sentence is about work."""
    entity, firm = subject(found, scene), organisation(scene.said(found, "v"))
    if entity is None or firm is None or firm.lower() in PLACES:
        return
    known = any(one.key == "employer" and one.value.lower() == firm.lower() for one in scene.earlier())
    certain = found["sure"] is not None or found.group("verb") not in ("left", "leaving")
    if not (known or certain or _EMPLOYMENT.search(scene.masked)):
        # "I left Google last month" and no more: a name that is no place and no person's.
        after = scene.masked[found.end() :].strip(" \x01")
        if firm[:1].islower() or firm.lower() in GIVEN_NAMES or not re.match(r"$|[.,!;]", after):
            return
    yield StateDraft(
        entity=entity,
        key="employer",
        value=firm,
        begin=found.start(),
        stop=found.end(),
        statement="ended",
        announced=True,
        timed=True,
        confidence=0.9 if known or certain else 0.8,
    )


def _lost_job(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is None:
        return
    ended = [
        ("occupation", role(scene.said(found, "r"))),
        ("employer", organisation(scene.said(found, "v" if found["v"] else "v2"))),
    ]
    for key, value in ended:
        if value:
            yield StateDraft(
                entity=entity,
                key=key,
                value=value,
                begin=found.start(),
                stop=found.end(),
                statement="ended",
                announced=True,
                timed=True,
            )


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, job = subject(found, scene), role(scene.said(found, "v"))
    if entity is None or job is None:
        return
    groups = found.groupdict()
    if re.match(
        r" (?:of|to|for|at heart|in training|when)\b", scene.masked[found.start("v") + len(job) :]
    ) and not groups.get("e"):
        return
    announced = bool(groups.get("new")) or "now" in found[0].split(" ")
    yield StateDraft(
        entity=entity,
        key="occupation",
        value=job,
        begin=found.start(),
        stop=found.end(),
        timed=True,
        announced=announced,
    )
    if groups.get("e") and (firm := organisation(scene.said(found, "e"))) is not None:
        yield StateDraft(
            entity=entity,
            key="employer",
            value=firm,
            begin=found.start(),
            stop=found.end(),
            timed=True,
            announced=announced,
        )


def _kin_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "My wife Anna", "Anna is my wife": the name is the owner's spouse."""
    said = name(scene.said(found, "v"))
    if said is None or not is_name(said) or said == scene.owner:
        return
    kin = found["kin"].lower().split(" ")[-1]
    if found["kin"].lower().startswith(("late ", "former ", "old ")):
        return
    yield StateDraft(
        entity=scene.owner,
        key=RELATIONS[kin],
        value=said,
        begin=found.start(),
        stop=found.end(),
        kind=found["kin"].lower(),
        tags=(kin,),
    )


def _pets(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Pets one has, each by its name where it has one, else by its kind."""
    groups = found.groupdict()
    entity = subject(found, scene) if groups.get("s") else scene.owner
    kind = scene.said(found, "pet").lower()
    if entity is None or not _is_pet(kind):
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
            begin=found.start(),
            stop=found.end(),
            kind=singular if names else None,
            timed=bool(groups.get("got")),
            tags=(singular.split(" ")[-1],),
        )
    if groups.get("pet2") and _is_pet(other := groups["pet2"].lower()):
        yield StateDraft(
            entity=entity,
            key="pet",
            value=_singular(other),
            begin=found.start(),
            stop=found.end(),
            tags=(_singular(other),),
        )


_LOOKS = re.compile(
    r"^(?:(?:cute|adorable|little|new|lovely|sweet|beautiful|tiny|small|big|young|old|rescue|new|super|so|"
    r"very) )+"
)


def _is_pet(kind: str) -> bool:
    return kind.rsplit(" ", maxsplit=1)[-1] in PETS or kind.replace(" ", "-") in PETS


def _singular(kind: str) -> str:
    irregular = {"puppies": "puppy", "kitties": "kitty", "bunnies": "bunny", "ponies": "pony", "fish": "fish"}
    last = kind.rsplit(" ", maxsplit=1)[-1]
    return irregular.get(last, last.removesuffix("s"))


def _pet_died(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
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
        if not match or said is None:
            return
        value, entity, kind = match[-1].value, match[-1].entity, match[-1].kind or "pet"
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
        content=f"{'The pet' if value.lower() in PETS else 'Pet'} {value} died",
    )


def _pronoun_named(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "Her name is Mochi" right after "I adopted a cat": the nameless pet's name."""
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
            begin=found.start(),
            stop=found.end(),
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
            begin=found.start(),
            stop=found.end(),
            kind=kin if names else None,
            tags=(kin,),
        )


_FREE_VALUE = re.compile(
    r"^(?:a bit|so|very|really|too|not|always|never|going|getting|coming|that|it|this|kind of|pretty|great|"
    r"good|bad|about|"
    r"more|different|hard|amazing|the best|one of|when|where|how|what|to)\b",
    re.IGNORECASE,
)


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """ "My sister's birthday is May 4", "my email is …", "my favourite colour is blue"."""
    owner, attribute = found["of"], found["attr"].lower()
    begin = found.start()
    if owner.lower() == "my":
        entity: str | None = scene.owner
    else:
        words = owner.removesuffix("'s")
        if words.lower().startswith("my "):
            entity = words[3:] if scene.owner == "user" else f"{scene.owner}'s {words[3:]}"
            if words[3:].split(" ")[-1].lower() in (
                "job",
                "company",
                "work",
                "project",
                "app",
                "house",
                "car",
            ):
                return
        else:
            entity = words if is_name(words, first=begin == 0) else None
    value = scene.said(found, "v")
    if entity is None or not value or _FREE_VALUE.match(value):
        return
    key = canonical_key(attribute)
    if key in ("birthday",) and "\x01" not in found["v"]:
        return
    if key == "pet" or (key == "name" and name(value) is None):
        return
    if key == "name":
        value = name(value) or value
        kin = entity.split(" ")[-1].lower()
        if entity != scene.owner and kin in RELATIONS:
            yield StateDraft(
                entity=scene.owner,
                key=RELATIONS[kin],
                value=value,
                begin=begin,
                stop=found.end(),
                kind=entity,
            )
            return
        if entity != scene.owner and kin in PETS:
            yield StateDraft(
                entity=scene.owner, key="pet", value=value, begin=begin, stop=found.end(), kind=kin
            )
            return
    if key.startswith("favourite_") or key in ("hobby", "likes"):
        value = re.split(
            r",| (?:because|since|but|so|and I|and it|as it|which|who|from|for|to)\b| - ", value
        )[0].strip(" ,")
        if len(value.split(" ")) > 5:
            return
    if key == "email":
        address = re.search(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", scene.sentence.raw[found.start("v") :])
        if address is None:
            return
        value = address[0]
    if key == "phone" and sum(c.isdigit() for c in value) < 6:
        return
    if len(value) > 80 or (key not in ("residence", "email") and len(value.split(" ")) > 8):
        return
    yield StateDraft(
        entity=entity,
        key=key,
        value=value,
        begin=begin,
        stop=found.end(),
        announced=" new " in f" {attribute} ",
        timed=key in ("residence", "employer", "occupation"),
    )


def _lived_until(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if re.match(r"[ ,]*(?:until|till)\b", scene.sentence.plain[found.end() :]):
        yield from states("residence", _person_free_place, statement="ended", timed=True)(found, scene)


def _relationship(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is None:
        return
    status = found["v"].lower()
    yield StateDraft(
        entity=entity,
        key="relationship_status",
        value=status,
        begin=found.start(),
        stop=found.end(),
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
            begin=found.start(),
            stop=found.end(),
            timed=True,
        )


MAKES: dict[str, Make] = {
    "residence": states("residence", _person_free_place, timed=True),
    "residence_now": states("residence", _person_free_place),
    "move": states("residence", _person_free_place, announced=True, timed=True),
    "residence_ended": states("residence", _person_free_place, statement="ended", timed=True),
    "residence_past": states("residence", _person_free_place, statement="ended"),
    "lived_until": _lived_until,
    "origin": states("hometown", _person_free_place, confidence=0.85),
    "grew_up": states("hometown", _person_free_place),
    "birthplace": states("birthplace", _person_free_place),
    "employer": states("employer", organisation, timed=True),
    "work_location": states("work_location", _known_place, timed=True),
    "joined": _joined,
    "new_job": states("employer", organisation, announced=True, timed=True),
    "left": _left,
    "lost_job": _lost_job,
    "employer_ended": states("employer", organisation, statement="ended", timed=True),
    "employer_past": states("employer", organisation, statement="ended"),
    "occupation": _occupation,
    "kin": _kin_named,
    "children": _children,
    "relationship": _relationship,
    "pets": _pets,
    "pronoun_named": _pronoun_named,
    "pet_died": _pet_died,
    "attribute": _attribute,
}
