"""Makes English states and events of what people like, do, suffer and plan."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.values import word_set
from ingest.extraction.rules.drafts import Draft, EventDraft, StateDraft
from ingest.extraction.rules.english.grammar import LEISURE, is_name, many, organisation, subject, thing
from ingest.extraction.rules.english.people import is_demonym, states
from ingest.extraction.rules.english.words import (
    CAR_MAKERS,
    GIVEN_NAMES,
    INSTRUMENTS,
    LANGUAGES,
    NOT_NAMES,
    PLACES,
    SPORTS,
)
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Make, Scene
from ingest.extraction.rules.sentences import HIDDEN, hedged

_SPORT = re.compile(rf"(?:{SPORTS})$", re.IGNORECASE)
_INSTRUMENT = re.compile(rf"(?:the )?(?:{INSTRUMENTS})$", re.IGNORECASE)
_INDULGENCES = word_set("smoking drinking vaping gambling coffee meat sugar alcohol")
_PASTIMES = word_set("yoga pilates pottery photography")


def _likes(key: str, *, statement: str = "asserted") -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        value = thing(scene.said(found, "v"))
        if entity is None or value is None or not _agrees(found) or is_cut(found, scene):
            return
        # "I prefer calls in the morning" is about the morning. "She prefers Ana" is about a choice.
        if found.groupdict().get("verb") in ("prefer", "prefers") and (
            _TIMED.match(scene.masked, found.end("v")) or value.partition(" ")[0].lower() in GIVEN_NAMES
        ):
            return
        if is_demonym(value) and scene.masked.startswith(",", found.end("v")):
            return  # "I enjoy Thai, Greek and Korean dishes"
        if (
            found.groupdict().get("verb") in _CHOOSES
            and _UNKNOWN.fullmatch(value)
            and value.lower() not in PLACES
        ):
            return  # "I like Rigs": one of several proposed names
        items = many(value) if not re.search(r"\d", value) else [value]
        for one in items:
            item = one.removeprefix("to ").removeprefix("playing ")
            if thing(item) is not None:
                yield StateDraft(
                    entity=entity,
                    key=key,
                    value=item,
                    span=found.span(),
                    confidence=0.85,
                    statement="ended" if statement == "ended" else "asserted",
                )

    return make


_CHOOSES = frozenset(("like", "prefer"))
_UNKNOWN = re.compile(rf"(?!(?:{LANGUAGES})$)[A-Z][a-z]+")
_TIMED = re.compile(f"[^,.;:!?]{{0,14}}{TIME}")
_WITHIN_WORD = re.compile(r"[.:][^\s.,:;!?]|[(\[/]")


def is_cut(found: re.Match[str], scene: Scene) -> bool:
    """Returns True when group ``v`` is a quotation or ends inside a word: an address, a version, a call."""
    plain = scene.sentence.plain
    return plain[found.start("v")] in "'\"" or _WITHIN_WORD.match(plain, found.end("v")) is not None


def _agrees(found: re.Match[str]) -> bool:
    """Returns True when subject and verb agree ("Anna loves", "I love"). "Themes" of "themes like …" is no name."""
    verb = found.groupdict().get("verb")
    return verb is None or (found["s"] in ("I", "We", "we")) != verb.endswith("s")


def _hobby(*, announced: bool = False, ended: bool = False) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        words = thing(scene.said(found, "v"))
        if entity is None or words is None:
            return
        value = re.sub(r"^(?:playing|doing|practicing|practising) ", "", words)
        ending = found["verb"] in ("stopped", "quit", "gave up", "given up")
        if (
            value == words
            and ending
            and words.split(" ")[0] not in LEISURE | _INDULGENCES
            and _pastime_of(words) is None
        ):
            return
        key = "instrument" if _INSTRUMENT.match(value) else "hobby"
        if value.lower() in _INDULGENCES:
            key = "habit"
        yield StateDraft(
            entity=entity,
            key=key,
            value=value.removeprefix("the "),
            span=found.span(),
            timed=announced or ended,
            announced=announced or ended,
            statement="ended" if ended else "asserted",
        )

    return make


def _pastime_of(words: str) -> tuple[str, str] | None:
    """Returns a pastime as spoken and its concept key, or None."""
    for form in (words, words.split(" ", maxsplit=1)[0]):
        if _INSTRUMENT.match(form):
            return form, "instrument"
        if _SPORT.match(form) or form in LEISURE | _PASTIMES:
            return form, "hobby"
    return None


def _pastime_changed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of one pastime and the start of another ("Switched from tennis to squash")."""
    entity = subject(found, scene)
    old, new = _pastime_of(scene.said(found, "o")), _pastime_of(scene.said(found, "v"))
    if entity is None or old is None or new is None:
        return
    for (value, key), ended in ((old, True), (new, False)):
        yield StateDraft(
            entity=entity,
            key=key,
            value=value,
            span=found.span(),
            statement="ended" if ended else "asserted",
            announced=True,
            timed=True,
        )


def _several(key: str, allowed: str | None = None, *, timed: bool = False) -> Make:
    """Returns a function that makes a state of each member of the list in group ``v``.

    With ``allowed``, only members that match this pattern count.
    """
    pattern = re.compile(rf"(?:{allowed})$", re.IGNORECASE) if allowed else None

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene)
        if entity is None:
            return
        for one in many(scene.said(found, "v")):
            value = one if pattern is not None else thing(one)
            if value is None or (pattern is not None and pattern.match(value) is None):
                continue
            yield StateDraft(entity=entity, key=key, value=value, span=found.span(), timed=timed)

    return make


def _happening(key: str, when: str, importance: int = 5) -> Make:
    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        entity = subject(found, scene) if "s" in found.groupdict() else scene.owner
        if entity is None or (key == "plan" and hedged(scene.sentence, found.start(), found.start())):
            return
        yield EventDraft(
            entity=entity,
            key=key,
            span=found.span(),
            content=scene.sentence.raw,
            when=when,
            importance=importance,
            status="planned" if key == "plan" else "happened",
        )

    return make


def _diet(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity = subject(found, scene)
    if entity is not None:
        yield StateDraft(
            entity=entity,
            key="diet",
            value=scene.said(found, "v"),
            span=found.span(),
            timed=True,
            announced=bool(found.groupdict().get("new")),
        )


def _school(words: str) -> str | None:
    found = organisation(words)
    return None if found is None or found.lower() in PLACES else found


def _as_said(words: str) -> str | None:
    return words or None


# "Read, write and speak": the members of a list belong to the goal. "…, so what can I do" does not.
_LIST_GOES_ON = re.compile(
    r"(?:, (?!(?:so|but|which|because|not|I|we|what|how|can|could|since|though|although|while|if|please|any|do|is|are|"
    r"right|especially|and (?:I|we|my))\b)[^.,;!?\x01\x02]{1,60}){0,4}?,? (?:and|or) (?!I\b|we\b|my\b|so\b)"
    r"[^.,;!?\x02]{2,60}(?=$|[.,;!?])"
)
_GOAL_EDGE = re.compile(
    r"(?: (?:by|before|in|on|until|till|at|within|for|of|with|from|around|after|during|this|next|the))+$"
)
_POINTS_ELSEWHERE = re.compile(r"\b(?:this|it|them|here|there)\b|\bthat$", re.IGNORECASE)
_UNFINISHED = re.compile(r"\b(?:and|or|but|to|then|a|an|is|are|be|my|not|as|than|so|show that)$")


def _goal(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a goal of whole words. A goal that points elsewhere ("sell it") or breaks off gives nothing."""
    stop = found.end("v")
    if (more := _LIST_GOES_ON.match(scene.masked, stop)) is not None and more[0].startswith(","):
        stop = more.end()
    value = _GOAL_EDGE.sub("", scene.sentence.raw[found.start("v") : stop].strip(' ,.;:!?"“”'))
    whole = scene.sentence.raw[found.start("v") : stop].strip(' ,.;:!?"“”')
    cut_short = value != whole and scene.masked[stop : stop + 1] != TIME
    broken = cut_short or scene.masked[stop : stop + 1] == HIDDEN or _UNFINISHED.search(value) is not None
    if (
        3 < len(value) <= 110
        and not broken
        and _WITHIN_WORD.match(scene.sentence.plain, stop) is None
        and not _POINTS_ELSEWHERE.search(value)
        and not re.match(r"(?:not|that|the same|simple|clear|still|always)\b", value)
    ):
        yield StateDraft(entity=scene.owner, key="goal", value=value, span=found.span(), confidence=0.85)


def _started(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a new pastime when the words clearly name one ("Started playing guitar", "began painting")."""
    entity = subject(found, scene)
    words = re.sub(r"^play(?:ing)? (?:the )?", "", scene.said(found, "v"))
    if "learn" in found[0]:
        return
    for form in (words, words.split(" ")[0]):
        key = (
            "hobby"
            if _SPORT.match(form) or form in LEISURE
            else "instrument"
            if _INSTRUMENT.match(form)
            else None
        )
        if entity is not None and key is not None:
            yield StateDraft(
                entity=entity, key=key, value=form, span=found.span(), timed=True, announced=True
            )
            return


def _car(words: str) -> str | None:
    kept = words.split(" ")
    while kept and kept[-1].lower() in NOT_NAMES:
        kept.pop()
    names = [word for word in kept if not word[:1].islower()]
    return " ".join(kept) if names and names[0].lower() not in NOT_NAMES else None


def is_car(words: str) -> bool:
    """Returns True when the words name a car by its maker."""
    return any(word.lower() in CAR_MAKERS for word in words.split(" ")[:2])


def _car_changed(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes a change of vehicle ("Sold the Yaris and bought a Volvo").

    A maker's name or an earlier vehicle of the conversation must show that the words name cars.
    """
    entity = subject(found, scene)
    old, new = (_car(scene.said(found, group)) for group in "ov")
    if entity is None:
        return
    known = {one.value.lower() for one in scene.earlier() if one.key == "vehicle"}
    about_cars = any(one and (is_car(one) or one.lower() in known) for one in (old, new))
    if not about_cars:
        return
    for value, ended in ((old, True), (new, False)):
        if value:
            yield StateDraft(
                entity=entity,
                key="vehicle",
                value=value,
                span=found.span(),
                statement="ended" if ended else "asserted",
                announced=True,
                timed=True,
            )


def _plays(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    words = re.split(
        r" (?:with|at|in|on|for|every|and I|but|because|since|when|together|regularly|professionally|to|as|"
        r"after|now|again|too|instead|most|badly)\b",
        found["v"],
    )[0].strip(" \x01")
    entity = subject(found, scene)
    if entity is None:
        return
    for one in many(words):
        said = one.strip()
        if _SPORT.match(said):
            yield StateDraft(entity=entity, key="hobby", value=said, span=found.span())
        elif _INSTRUMENT.match(said):
            yield StateDraft(
                entity=entity, key="instrument", value=said.removeprefix("the "), span=found.span()
            )


def _diet_stated(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    if not re.search(r"(?:'m|'re|'s| am| is| are|been|went|gone|became|turned|go|eat|I|We)\b", found[0]):
        return
    if (
        is_name(found["s"])
        or found["s"].lower() in ("i", "we", "he", "she")
        or found["s"].lower().startswith("my ")
    ):
        yield from _diet(found, scene)


MAKES: dict[str, Make] = {
    "likes": _likes("likes"),
    "dislikes": _likes("dislikes"),
    "avoids": _likes("avoids"),
    "likes_ended": _likes("likes", statement="ended"),
    "hobby_begun": _hobby(announced=True),
    "hobby_changed": _pastime_changed,
    "hobby_ended": _hobby(ended=True),
    "hobbies": _several("hobby"),
    "started": _started,
    "plays": _plays,
    "speaks": _several("language", LANGUAGES),
    "learning": _several("learning", timed=True),
    "allergies": _several("allergy"),
    "allergy": states("allergy", _as_said),
    "diet": _diet_stated,
    "condition": states("medical_condition", _as_said, timed=True),
    "school": states("school", _school, timed=True),
    "majors": _several("major"),
    "volunteering": states("volunteering", organisation),
    "vehicle": states("vehicle", _car),
    "vehicle_owned": states("vehicle", _car),
    "vehicle_changed": _car_changed,
    "bank": states("bank", _as_said),
    "promoted": states("occupation", _as_said),
    "degree": states("degree", _as_said),
    "subscription": states("subscription", _as_said),
    "subscription_ended": states("subscription", _as_said, statement="ended", announced=True, timed=True),
    "wake_time": states("wake_time", _as_said),
    "goal": _goal,
    "plan": _happening("plan", "future", 6),
    "activity": _happening("activity", "past"),
}
