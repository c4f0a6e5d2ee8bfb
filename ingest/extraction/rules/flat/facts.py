"""Facts that notes tell in fixed words and conversations seldom do: medicines and routines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.sentences import Sentence

HEDGED = 0.6
"""The confidence of what a note itself is not sure of."""

_DOSE = r"\d+(?:[.,]\d+)? ?(?:mg|mcg|µg|ml|g|iu|units?)\b"
_MEDICINE = re.compile(
    rf"^I (?:(?:currently|also|now|regularly) )?(?:take|use|am (?:on|taking|using|prescribed)|was prescribed|inject) "
    rf"(?P<dose>{_DOSE} (?:of )?)?(?P<name>[A-Za-z][A-Za-z-]{{3,30}})\b(?P<after> {_DOSE})?(?P<rest>[^.;]*)",
    re.IGNORECASE,
)
_STEMS = re.compile(
    r"(?:formin|statin|pril|sartan|olol|azole|idine|oxetine|aline|zepam|zolam|mycin|cycline|cillin|profen|gliptin|"
    r"gliflozin|glutide|thyroxine|caine|setron|triptan|lukast|tadine|prazole|barbital|warfarin|insulin|aspirin|"
    r"paracetamol|acetaminophen|methotrexate|prednisone|lithium|albuterol|salbutamol)$",
    re.IGNORECASE,
)
_NO_MEDICINE = re.compile(r"^(?:the|a|an|my|some|care|notes|part|pictures|photos|classes|lessons)$", re.I)
_MEDICINE_ZH = re.compile(r"(?:服用|注射)(?:了)?(?P<name>[^，。；、\s的了]{2,12})")
_MOVES = (
    r"walk|run|jog|swim|cycle|bike|hike|exercise|work out|meditate|stretch|dance|"
    r"(?:do|practi[cs]e) (?:yoga|pilates|tai chi|karate|judo)|lift weights|"
    r"go (?:running|swimming|walking|cycling|hiking|jogging|climbing|to the gym)|play (?:tennis|football|soccer|golf)"
)
_OFTEN = (
    r"daily|weekly|every (?:single |other )?(?:day|morning|evening|night|week|weekend)|regularly|on weekends|"
    r"(?:once|twice|thrice|\d+ times|(?:two|three|four|five|six) times)(?: (?:a|per) (?:day|week|month)| weekly)"
)
_ROUTINE = re.compile(
    rf"^I (?:(?:also|usually|often|currently) )?(?P<what>(?:{_MOVES})\b[^.;,]{{0,40}}?\b(?:{_OFTEN}))", re.I
)


def facts(sentence: Sentence) -> Iterator[StateDraft]:
    """Yields the medicine and the routine of a clause in the first person."""
    if sentence.chinese:
        if (found := _MEDICINE_ZH.search(sentence.plain)) is not None:
            yield _draft(sentence, found, "name", "medication", 0.85)
        return
    if (found := _MEDICINE.match(sentence.plain)) is not None and not _NO_MEDICINE.match(found["name"]):
        told = found["dose"] or found["after"] or _STEMS.search(found["name"])
        spoken = sentence.raw[slice(*found.span("name"))]
        if told or (spoken[:1].isupper() and not found["rest"].strip()):
            yield _draft(sentence, found, "name", "medication", 0.85 if told else HEDGED)
    if (found := _ROUTINE.match(sentence.plain)) is not None:
        yield _draft(sentence, found, "what", "exercise_routine", 0.85)


def _draft(sentence: Sentence, found: re.Match[str], group: str, key: str, confidence: float) -> StateDraft:
    return StateDraft(
        entity="user",
        key=key,
        value=sentence.raw[slice(*found.span(group))].strip(),
        span=found.span(),
        cardinality="multi_value",
        confidence=confidence,
    )
