"""Makes English states of what changes in a life: roles, schools, studies, partners, stays in hospital, hours."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.attributes.nouns import ROLES, english_key
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.grammar import is_name, name, subject
from ingest.extraction.rules.english.words import NOT_NAMES, PLACES, RELATIONS
from ingest.extraction.rules.scene import Make, Scene
from ingest.extraction.rules.sentences import hedged

_NOW = re.compile(
    r"\b(?:now|these days|instead|from now on|took over|taken over|again|lately|no longer|new)\b"
)


def is_now(found: re.Match[str], scene: Scene) -> bool:
    """Returns True when the words of the find, or those right after it, tell of a change."""
    return _NOW.search(scene.masked, found.start(), min(len(scene.masked), found.end() + 18)) is not None


def content(scene: Scene, entity: str, words: str) -> str:
    """Returns the words with a capital, or after the entity when it is not the owner of the memory."""
    return words[:1].upper() + words[1:] if entity == "user" else f"{entity} {words}"


def _role(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the person of a role ("Rosa is my piano teacher"): the role is the key, the person the value."""
    person = name(scene.said(found, "v"))
    noun = scene.said(found, "n").lower()
    groups = found.groupdict()
    head = noun.split(" ")[-1]
    if (
        person is None
        or person in _TITLES
        or not is_name(person.removeprefix("Dr. ").removeprefix("Mr. ").removeprefix("Ms. "), first=True)
    ):
        return
    # A relation such as a manager has a pattern of its own.
    if (
        head not in ROLES
        or _PRAISED.search(noun)
        or noun in RELATIONS
        or (groups.get("det") == "the" and " " not in noun)
    ):
        return
    key = english_key(noun.removeprefix("new "), "value", shared=False)
    if key is None:
        return
    yield StateDraft(
        entity=scene.owner,
        key=key,
        value=person,
        span=found.span(),
        announced=groups.get("new") is not None or is_now(found, scene),
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        content=f"The {noun.removeprefix('new ')} is {person}",
        confidence=0.85,
    )


_PRAISED = re.compile(r"\b(?:best|worst|own|only|real|great|greatest|favou?rite|first|last|old|former|ex)\b")
_TITLES = frozenset(("Dr", "Mr", "Mrs", "Ms", "Prof"))
_DOES = {"teaches": "teacher", "tutors": "tutor", "coaches": "coach", "trains": "trainer"}


def _leads(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the lead of a team or a project ("Kwame leads the team now")."""
    person = name(scene.said(found, "v"))
    if person is None or person in _TITLES or not is_name(person, first=True):
        return
    noun = f"{scene.said(found, 'n').lower()} lead"
    yield StateDraft(
        entity=scene.owner,
        key=noun.replace(" ", "_"),
        value=person,
        span=found.span(),
        announced=is_now(found, scene),
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        content=f"The {noun} is {person}",
        confidence=0.85,
    )


def _learns(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        yield StateDraft(
            entity=entity,
            key="learning",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=True,
            timed=True,
        )


def _teaches(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    person = name(scene.said(found, "v"))
    if person is None:
        return
    noun = f"{scene.said(found, 'n')} {_DOES[found['verb']]}".strip().lower()
    key = english_key(noun, "value", shared=False)
    if key is not None:
        yield StateDraft(
            entity=scene.owner,
            key=key,
            value=person,
            span=found.span(),
            announced=is_now(found, scene),
            kind=noun,
            cardinality="single_value",
            tags=("attribute",),
            content=f"The {noun} is {person}",
            confidence=0.85,
        )


_SCHOOL = re.compile(
    r"\b(?:Elementary|Middle|High|School|Academy|College|University|Prep|Montessori|Kindergarten|Preschool|Primary|Grammar|"
    r"Institute|Secondary|Nursery|Daycare)\b"
)


_DEPARTMENT = re.compile(
    r"\b(?:Accounting|Sales|Marketing|HR|Engineering|Finance|Legal|Support|Operations|IT|Design|Research)\b"
)


def _school(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    groups = found.groupdict()
    kin = groups.get("kin")
    entity = (kin if scene.owner == "user" else f"{scene.owner}'s {kin}") if kin else subject(found, scene)
    value = name_of_place(scene.said(found, "v"))
    sure = groups.get("sure") is not None
    if entity is None or value is None or not (sure or _SCHOOL.search(value)):
        return
    # "Transferred to Accounting" and "transferred to Chicago" are of a job.
    if not _SCHOOL.search(value) and (value.lower() in PLACES or _DEPARTMENT.search(value)):
        return
    yield StateDraft(
        entity=entity,
        key="school",
        value=value,
        span=found.span(),
        announced=sure or is_now(found, scene),
        timed=True,
    )


def name_of_place(words: str) -> str | None:
    """Returns a name with capitals without words that only follow it, or None."""
    kept = words.split(" ")
    while kept and kept[-1].lower() in NOT_NAMES | {"of", "the", "for"}:
        kept.pop()
    return " ".join(kept) or None if kept and kept[0].lower() not in NOT_NAMES - {"the"} else None


def _ended(key: str, words: str) -> Make:
    """Returns a function that makes the end of the state in group ``v``."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = scene.said(found, "v") or scene.said(found, "w")
        if entity is None or not value or value.lower() in _POINTING:
            return
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
            content=content(scene, entity, words.format(v=value)),
            confidence=0.75,
        )

    return make


_POINTING = frozenset(
    ("it", "that", "this", "them", "everything", "work", "dinner", "lunch", "breakfast", "school", "i")
)


_NO_TITLES = frozenset(
    ("TV", "YouTube", "Netflix", "TikTok", "Instagram", "Reddit", "Twitter", "Twitch", "Hulu", "X", "I")
)


def _following(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the book or the series that somebody reads or watches. Several at a time may hold."""
    entity = subject(found, scene)
    value = scene.said(found, "v")
    groups = found.groupdict()
    verb = (groups.get("verb") or groups.get("did") or "").lower()
    if entity is None or not value or not any(word[:1].isupper() for word in value.split(" ")[:2]):
        return
    if value.split(" ")[0].lower() in NOT_NAMES - {"the", "a"} or value in _NO_TITLES:
        return
    doing = "reading" if verb.startswith(("read", "reread")) else "watching"
    yield StateDraft(
        entity=entity,
        key="following",
        value=value,
        span=found.span(),
        announced=is_now(found, scene),
        cardinality="multi_value",
        content=content(scene, entity, f"is {doing} {value}"),
        confidence=0.85,
    )


def _finished(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of a book or a series, and the next one. An end without a state changes nothing."""
    value = scene.said(found, "o")
    after = scene.said(found, "v")
    if not value[:1].isupper() or value.split(" ")[0].lower() in NOT_NAMES - {"the", "a"}:
        return
    yield StateDraft(
        entity=scene.owner,
        key="following",
        value=value,
        span=found.span(),
        statement="ended",
        announced=True,
        cardinality="multi_value",
        content=content(scene, scene.owner, f"finished {value}"),
        confidence=0.75,
    )
    if after:
        yield StateDraft(
            entity=scene.owner,
            key="following",
            value=after,
            span=found.span(),
            announced=True,
            cardinality="multi_value",
            content=content(scene, scene.owner, f"is on {after} now"),
            confidence=0.75,
        )


def _weight(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene) if "s" in found.re.groupindex and found["s"] else scene.owner
    value = scene.said(found, "v")
    if entity is None or not 25 <= float(re.match(r"[\d.]+", value)[0]) <= 450:  # type: ignore[index]
        return
    yield StateDraft(
        entity=entity, key="weight", value=value, span=found.span(), announced=True, timed=False,
        content=content(scene, entity, f"weighs {value}"),
    )  # fmt: skip


def _eats_again(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        value = f"eats {scene.said(found, 'v').lower()}"
        yield StateDraft(
            entity=entity, key="diet", value=value, span=found.span(), announced=True, timed=True,
            content=content(scene, entity, f"{value} again"),
        )  # fmt: skip


def _partner(*, ended: bool) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        value = scene.said(found, "v")
        if (
            not is_name(value, first=True)
            or value.lower() in NOT_NAMES
            or hedged(scene.sentence, 0, found.end())
        ):
            return
        entity = subject(found, scene)
        if entity is not None:
            yield StateDraft(
                entity=entity,
                key="partner",
                value=value,
                span=found.span(),
                statement="ended" if ended else "asserted",
                announced=ended,
                timed=ended,
                content=content(scene, entity, f"broke up with {value}" if ended else f"is dating {value}"),
            )

    return make


_NOT_YET = re.compile(
    r"\b(?:wish|if|when|not|never|until|once|hope|might|could|soon|isn't|hasn't|wasn't|yet|used to)\b|n't\b"
)


def _hospital(*, out: bool) -> Make:
    """Returns a function that makes a stay in hospital, or its end. Both are values of one key."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        if _NOT_YET.search(scene.sentence.plain.lower()):
            return
        kin = scene.said(found, "kin").removeprefix("My ").removeprefix("my ").lower()
        if kin not in RELATIONS and kin != "i":
            return
        entity = scene.owner if kin == "i" else kin if scene.owner == "user" else f"{scene.owner}'s {kin}"
        value = "home from hospital" if out else scene.said(found, "v") or "in hospital"
        words = (
            "is out of hospital" if out else f"is in {value}" if scene.said(found, "v") else "is in hospital"
        )
        yield StateDraft(
            entity=entity,
            key="hospital_stay",
            value=value,
            span=found.span(),
            announced=out,
            cardinality="single_value",
            content=content(scene, entity, words),
            tags=("health",),
        )

    return make


MAKES: dict[str, Make] = {
    "role": _role,
    "teaches": _teaches,
    "leads": _leads,
    "learns": _learns,
    "school_attended": _school,
    "learning_ended": _ended("learning", "no longer learns {v}"),
    "allergy_ended": _ended("allergy", "is not allergic to {v}"),
    "following": _following,
    "finished": _finished,
    "weight_now": _weight,
    "eats_again": _eats_again,
    "dating": _partner(ended=False),
    "parted": _partner(ended=True),
    "in_hospital": _hospital(out=False),
    "out_of_hospital": _hospital(out=True),
}
