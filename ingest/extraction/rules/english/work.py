"""Makes English states of work: employers joined and left, and occupations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.english.grammar import organisation, place, role, subject
from ingest.extraction.rules.english.people import states
from ingest.extraction.rules.english.words import GIVEN_NAMES, PLACES, TOOLS
from ingest.extraction.rules.scene import Make, Scene


def _known_place(words: str) -> str | None:
    found = place(words)
    return found if found is not None and found.lower().split(",")[0] in PLACES else None


_EMPLOYMENT = re.compile(
    r"\b(?:job|jobs|work|worked|working|works|company|employer|role|position|career|boss|colleagues?|"
    r"coworkers?|resign|"
    r"startup|start-up|hired|joined|joining|team|salary|offer|engineer|developer|designer|manager|laid)\b"
)


def _joined(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes an employer from "joined X". X must be no tool and no club.

    A role, another word about work, or a time must be in the sentence.
    """
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
    yield StateDraft(entity=entity, key="employer", value=firm, span=found.span(), announced=True, timed=True)
    if job is not None:
        yield StateDraft(
            entity=entity, key="occupation", value=job, span=found.span(), announced=True, timed=True
        )


def _left(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of an employer from "left X".

    The employer must be known, or the sentence must be about work, or "left X" must be the whole clause.
    """
    entity, firm = subject(found, scene), organisation(scene.said(found, "v"))
    if entity is None or firm is None or firm.lower() in PLACES:
        return
    certain = found["sure"] is not None or found.group("verb") not in ("left", "leaving")
    known = certain or any(
        one.key == "employer" and one.value.lower() == firm.lower() for one in scene.earlier()
    )
    if not (known or _EMPLOYMENT.search(scene.masked)):
        # "I left Google last month" without more words. Google is neither a place nor a given name.
        after = scene.masked[found.end() :].strip(" \x01")
        if firm[:1].islower() or firm.lower() in GIVEN_NAMES or not re.match(r"$|[.,!;]", after):
            return
    yield StateDraft(
        entity=entity,
        key="employer",
        value=firm,
        span=found.span(),
        statement="ended",
        announced=True,
        timed=True,
        confidence=0.9 if known else 0.8,
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
                span=found.span(),
                statement="ended",
                announced=True,
                timed=True,
            )


def _occupation(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    entity, job = subject(found, scene), role(scene.said(found, "v"))
    if entity is None or job is None:
        return
    groups = found.groupdict()
    # "I'm the author", "Ada is the cook": a part in this text or scheme. "We are a reseller": a firm.
    if (f" the {job}" in found[0] and not groups.get("e")) or (
        groups.get("s") in ("We", "we") and _SINGULAR.search(found[0])
    ):
        return
    if re.match(
        r" (?:of|to|for|at heart|in training|when|types?|kind|persona|personality|here)\b",
        scene.masked[found.start("v") + len(job) :],
    ) and not groups.get("e"):
        return
    announced = bool(groups.get("new")) or "now" in found[0].split(" ")
    if (aged := _AGED.match(job)) is not None:
        job = job[aged.end() :]
        yield StateDraft(entity=entity, key="age", value=aged[1], span=found.span())
    yield StateDraft(
        entity=entity, key="occupation", value=job, span=found.span(), timed=True, announced=announced
    )
    if groups.get("e") and (firm := organisation(scene.said(found, "e"))) is not None:
        yield StateDraft(
            entity=entity, key="employer", value=firm, span=found.span(), timed=True, announced=announced
        )


_SINGULAR = re.compile(r" (?:an?|the) ")
_AGED = re.compile(r"(\d{1,2})[- ]years?[- ]old ")


def _occupation_ended(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes the end of an occupation ("I'm not a nurse anymore", "no longer a nurse")."""
    entity = subject(found, scene) if found["s"] else scene.owner
    job = role(next(said for group in "vwx" if (said := scene.said(found, group))))
    if entity is not None and job is not None:
        yield StateDraft(
            entity=entity,
            key="occupation",
            value=job,
            span=found.span(),
            statement="ended",
            announced=True,
            timed=True,
        )


def _said(words: str) -> str | None:
    return words or None


_DIETS = re.compile(r"(?:(?:strict|lifelong|new) )?(vegan|vegetarian|pescatarian)$", re.IGNORECASE)


# "As a manager, I want to approve requests" asks for software. A language model is no trade.
_USER_STORY = re.compile(r" (?:want|need)$|language model")


def _as_a(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
    """Makes an occupation or a diet of "As a nurse, I often …"."""
    words = scene.said(found, "v")
    diet, job = _DIETS.match(words), role(words)
    if diet is not None:
        yield StateDraft(entity=scene.owner, key="diet", value=diet[1], span=found.span())
    elif job is not None and job == words and not _USER_STORY.search(found[0]):
        yield StateDraft(entity=scene.owner, key="occupation", value=job, span=found.span())


MAKES: dict[str, Make] = {
    "salary": states("salary", _said, timed=True),
    "business": states("business", _said),
    "industry": states("industry", _said),
    "standing": states("occupation", _said, timed=True),
    "as_a": _as_a,
    "employer": states("employer", organisation, timed=True),
    "new_job": states("employer", organisation, announced=True, timed=True),
    "employer_ended": states("employer", organisation, statement="ended", timed=True),
    "employer_past": states("employer", organisation, statement="ended"),
    "work_location": states("work_location", _known_place, timed=True),
    "joined": _joined,
    "left": _left,
    "lost_job": _lost_job,
    "occupation": _occupation,
    "occupation_ended": _occupation_ended,
}
