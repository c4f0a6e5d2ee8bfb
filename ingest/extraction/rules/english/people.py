"""Makes English states of people: residence, names, and the attributes in "my … is"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from events.language.concepts import canonical_key
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.grammar import is_name, name, place, role, subject
from ingest.extraction.rules.english.words import GIVEN_NAMES, OCCUPATIONS, PETS, RELATIONS, TOOLS
from ingest.extraction.rules.scene import Make, Scene

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
    """Returns a function that makes the state in group ``v``. Group ``o`` is the replaced value, ``r`` the role."""

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
                span=found.span(),
                statement="ended",
                announced=True,
                timed=True,
                confidence=confidence,
            )
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
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
                span=found.span(),
                statement="ended" if statement == "ended" else "asserted",
                announced=announced,
                timed=timed,
            )

    return make


def _whole(words: str) -> str | None:
    return words or None


def _person_free_place(words: str) -> str | None:
    found = place(words)
    return None if found is None or found.lower() in TOOLS or _OFFICE.search(found) else found


# "I'm from Sales" names a department.
_DEPARTMENT = re.compile(
    r"(?:Marketing|Sales|Finance|Engineering|Legal|Support|Accounting|Operations|Procurement|Logistics|Product|Design|"
    r"Research|Security|Compliance|Payroll|Section|Group|Team|Class|Department|Unit|Building|Room|Table|Part|Chapter|"
    r"Page|Step|IT|HR|PR|QA|R&D)\b"
)


_OFFICE = re.compile(
    r"\b(?:Ministry|Department|Bureau|Agency|Institute|Committee|Council|Corporation|Foundation|Inc|Ltd)\b"
)


def _origin(words: str) -> str | None:
    return None if _DEPARTMENT.match(words.removeprefix("the ")) else _person_free_place(words)


def _residence(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a residence. "Acme is based in Ohio" is about a firm, and only a given name shows a person there."""
    entity = subject(found, scene)
    unknown = entity is not None and entity[:1].isupper() and entity != scene.owner
    if unknown and "based" in found[0] and str(entity).partition(" ")[0].lower() not in GIVEN_NAMES:
        return
    yield from states("residence", _person_free_place, timed=True)(found, scene)


_TIME_EDGE = re.compile(r"^(?:(?:on|in|at|is) )+")
_DAY_OF_YEAR = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d|\d(?:st|nd|rd|th)?(?: of)? "
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|\d{1,4}[-/]\d",
    re.IGNORECASE,
)


def _date_of(found: re.Match[str], scene: Scene) -> str | None:
    """Returns the date at the start of group ``v`` as said, or None."""
    time = re.match("[^\x01]{0,20}\x01+", found["v"])
    if time is None:
        return None
    begin = found.start("v")
    return _TIME_EDGE.sub("", scene.sentence.raw[begin : begin + time.end()].strip(" ,")) or None


_NUMBER = re.compile(r"\+?[\d(][\d() -]{5,18}\d")


def _number_of(found: re.Match[str], scene: Scene) -> str | None:
    """Returns the telephone number in group ``v``, or None."""
    number = _NUMBER.search(scene.sentence.raw, *found.span("v"))
    return number[0] if number is not None and sum(c.isdigit() for c in number[0]) >= 6 else None


_FREE_VALUE = re.compile(
    r"^(?:a bit|just|set to|so|very|really|too|not|always|never|going|getting|coming|that|it|this|kind of|pretty|great|"
    r"good|bad|about|"
    r"more|different|hard|amazing|the best|one of|when|where|how|what|to)\b",
    re.IGNORECASE,
)


# A favourite part or version belongs to the text at hand.
_NO_FAVOURITE = re.compile(
    r"favourite_(?:\w+_)?(?:part|parts|thing|one|way|line|lines|section|option|approach|version)$"
)
_MEASURED = frozenset(("age", "height", "weight", "salary", "rent", "shoe_size"))


def _attribute(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes an attribute ("My sister's birthday is May 4", "my email is …", "my favourite colour is blue")."""
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
    key = "phone" if attribute.endswith(("number", "cell", "phone")) else canonical_key(attribute)
    if key == "birthday":
        date = _date_of(found, scene)
        if date is None:
            return
        value = date
    if key == "phone":
        number = _number_of(found, scene)
        if number is None:
            return
        value = number
    if key == "pet" or (key == "name" and name(value) is None) or _NO_FAVOURITE.match(key):
        return
    if key in _MEASURED and not re.search(r"\d(?!\d*%)", value):
        return
    if key == "residence" and value.islower():
        return  # "My address is localhost"
    if key == "name":
        value = name(value) or value
        kin = entity.split(" ")[-1].lower()
        if entity != scene.owner and kin in RELATIONS:
            yield StateDraft(
                entity=scene.owner,
                key=RELATIONS[kin],
                value=value,
                span=found.span(),
                kind=entity,
            )
            return
        if entity != scene.owner and kin in PETS:
            yield StateDraft(entity=scene.owner, key="pet", value=value, span=found.span(), kind=kin)
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
    if len(value) > 80 or (key not in ("residence", "email") and len(value.split(" ")) > 8):
        return
    yield StateDraft(
        entity=entity,
        key=key,
        value=value,
        # The span ends with the value. A condition after the value ("… if anybody asks") does not make it doubtful.
        span=(found.start(), max(found.end("attr"), found.start("v") + len(value))),
        announced=" new " in f" {attribute} " or re.search(r" (?:now|changed)\b", found[0]) is not None,
        timed=key in ("residence", "employer", "occupation"),
    )


def _lived_until(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if re.match(r"[ ,]*(?:until|till)\b", scene.sentence.plain[found.end() :]):
        yield from states("residence", _person_free_place, statement="ended", timed=True)(found, scene)


def _phone(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    number = _number_of(found, scene)
    if number is not None:
        yield StateDraft(
            entity=scene.owner,
            key="phone",
            value=number,
            span=found.span(),
            announced=found["new"] is not None,
        )


def _born(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a birthday when the words name a day and not only a year ("I was born on May 4")."""
    entity, date = subject(found, scene), _date_of(found, scene)
    if entity is not None and date is not None and _DAY_OF_YEAR.search(date):
        yield StateDraft(entity=entity, key="birthday", value=date, span=found.span())


_DEMONYM = re.compile(
    r"(?:[A-Z][a-z]+(?:ian|ean|ese|ish|ist|ic|ite|can|rican|wegian|aelite)|(?:German|French|Dutch|Greek|Thai|Swiss|Czech|Turk|Swede|"
    r"Dane|Finn|Pole|Scot|Jew|Arab|Asian|Latino|Latina|Black|White|Muslim|Hindu|Sikh|Welsh|Kiwi|Aussie|Brit|American|"
    r"African|Mexican|Texan|Mormon|Quaker|Lutheran|Virgo|Leo|Libra|Aries|Taurus|Gemini|Cancer|Scorpio|Pisces|"
    r"Capricorn|Aquarius|Sagittarius|Christian))s?$"
)


def is_demonym(word: str) -> bool:
    """Returns True for a word such as "French", "Virgo" or "Muslim", which names a group and no person."""
    return _DEMONYM.match(word) is not None


def _introduced(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the name of somebody who introduces themselves ("Hi! I'm Mei", "call me Mei").

    "I'm French" names nobody. "Call me Mei" is the name unless another name is known.
    """
    said = name(scene.said(found, "v"))
    words = found[0]
    if said is None or said == scene.owner:
        return
    first = said.split(" ", maxsplit=1)[0]
    if (
        not is_name(first)
        or (first.lower() not in GIVEN_NAMES and is_demonym(first))
        or first.lower() in OCCUPATIONS
    ):
        return
    called = "all me" in words
    if called:
        yield StateDraft(entity=scene.owner, key="nickname", value=said, span=found.span())
        if any(one.key == "name" and one.entity == scene.owner for one in scene.earlier()):
            return
    if "his is" in words and found["hi"] is None and not found["rest"].strip().startswith("here"):
        return
    if scene.owner == "user":
        yield StateDraft(entity=scene.owner, key="name", value=said, span=found.span())


def _weight(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        yield StateDraft(
            entity=entity, key="weight", value=scene.said(found, "v"), span=found.span(), timed=True
        )


def _age(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    years = re.match(r"\d{1,3}", scene.said(found, "v"))
    if entity is not None and years is not None:
        yield StateDraft(entity=entity, key="age", value=years[0], span=found.span())


MAKES: dict[str, Make] = {
    "residence": _residence,
    "residence_now": states("residence", _person_free_place),
    "move": states("residence", _person_free_place, announced=True, timed=True),
    "residence_ended": states("residence", _person_free_place, statement="ended", timed=True),
    "residence_past": states("residence", _person_free_place, statement="ended"),
    "lived_until": _lived_until,
    "origin": states("hometown", _origin, confidence=0.85),
    "grew_up": states("hometown", _person_free_place),
    "birthday": _born,
    "phone": _phone,
    "birthplace": states("birthplace", _person_free_place),
    "attribute": _attribute,
    "nickname": states("nickname", name),
    "introduction": _introduced,
    "weight": _weight,
    "height": states("height", _whole),
    "age": _age,
}
