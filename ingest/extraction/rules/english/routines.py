"""Makes English states of routines and things: hours, names, hosting, recipients, openings, phones, banks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.attributes.nouns import english_key
from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.changes import content, is_now, name_of_place
from ingest.extraction.rules.english.grammar import is_name, name, subject
from ingest.extraction.rules.scene import Make, Scene


def _keyed(key: str, words: str, *, timed: bool = False) -> Make:
    """Returns a function that makes the single value in group ``v`` of one key."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = scene.said(found, "v")
        if entity is None or not value or _ONE_DAY.search(scene.sentence.plain):
            return
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
            announced=is_now(found, scene) or (found.groupdict().get("new") is not None),
            timed=timed,
            cardinality="single_value",
            content=content(scene, entity, words.format(v=value)),
            confidence=0.85,
        )

    return make


_ONE_DAY = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last night|this morning|once|sometimes|have to|got to)\b", re.I
)


def _frequency(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    what = re.sub(r"\W+", "_", scene.said(found, "n").lower())
    value = scene.said(found, "v")
    if entity is None or not value:
        return
    yield StateDraft(
        entity=entity,
        key=f"{what}_frequency",
        value=value,
        span=found.span(),
        announced=is_now(found, scene),
        cardinality="single_value",
        content=content(scene, entity, f"{scene.said(found, 'n')} {value}"),
        tags=("attribute",),
        confidence=0.85,
    )


def _called(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the name of a project, a team or a product, with a key that no other fact has."""
    noun = (scene.said(found, "n") or scene.said(found, "n2")).lower()
    value = re.sub(r"^(?:the|The) (?=[A-Z])", "", scene.said(found, "v"))
    key = {"project": "project_codename"}.get(noun.split(" ")[-1], f"{noun.split(' ')[-1]}_called")
    new = found.groupdict().get("new") is not None
    yield StateDraft(
        entity=scene.owner,
        key=key,
        value=value,
        span=found.span(),
        announced=new or is_now(found, scene),
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        content=f"The {noun} is called {value}",
        confidence=0.85,
    )


def _recipient(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    noun = scene.said(found, "n").lower().removeprefix("the ").removeprefix("my ").removeprefix("our ")
    person = name(scene.said(found, "v"))
    if person is None or not is_name(person):
        return
    if noun:
        yield StateDraft(
            entity=scene.owner,
            key=f"{_slug(noun)}_recipient",
            value=person,
            span=found.span(),
            announced=is_now(found, scene),
            cardinality="single_value",
            tags=("attribute",),
            content=f"The {noun} {'go' if noun.endswith('s') else 'goes'} to {person}",
            confidence=0.85,
        )


def _slug(noun: str) -> str:
    """Returns the key of a noun: one form for its singular and its plural."""
    words = re.sub(r"^(?:new|the|my|our|weekly|monthly) ", "", noun).split(" ")
    return "_".join((*words[:-1], words[-1].removesuffix("s")))


def _opens(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    noun, verb = scene.said(found, "n").lower(), scene.said(found, "verb").lower()
    late = re.search(r"won't|not|until|only|now|pushed|delayed", found[0]) is not None
    value = re.sub(r"^(?:in|on|until|till|by) ", "", scene.sentence.raw[slice(*found.span("v"))]).strip()
    verb = verb if verb.endswith("s") else f"{verb}s"
    yield StateDraft(
        entity=scene.owner,
        key=f"{_slug(noun)}_{verb}_time",
        value=value,
        span=found.span(),
        announced=late,
        cardinality="single_value",
        tags=("attribute",),
        value_span=found.span("v"),
        content=f"The {noun} {verb} in {value}",
        confidence=0.85,
    )


def _phone(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        yield StateDraft(
            entity=entity,
            key="phone_model",
            value=scene.said(found, "v"),
            span=found.span(),
            announced=bool(found["new"]) or is_now(found, scene),
        )


def _switched(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the new provider of "I switched banks to Monzo" and "we moved our internet to Verizon"."""
    noun = scene.said(found, "n").lower()
    value = name_of_place(scene.said(found, "v"))
    if value is None:
        return
    plain = noun.removesuffix("s")
    key = "bank" if plain == "bank" else english_key(plain, "value", shared=False)
    if key is None:
        return
    yield StateDraft(
        entity=scene.owner,
        key=key,
        value=value,
        span=found.span(),
        announced=True,
        cardinality="single_value",
        tags=("attribute",),
        content=f"The {plain} is {value}",
        confidence=0.85,
    )


MAKES: dict[str, Make] = {
    "major_changed": _keyed("major", "majors in {v}", timed=True),
    "hour_of_rising": _keyed("wake_time", "wakes up at {v}"),
    "hour_of_sleep": _keyed("hour_of_sleep", "goes to bed at {v}"),
    "breakfast": _keyed("breakfast", "has {v} for breakfast"),
    "hosting": _keyed("hosting", "runs on {v}"),
    "staying": _keyed("staying_at", "is staying at {v}"),
    "frequency": _frequency,
    "called": _called,
    "recipient": _recipient,
    "opens": _opens,
    "phone_owned": _phone,
    "switched": _switched,
}
