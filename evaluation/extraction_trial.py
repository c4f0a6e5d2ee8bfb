"""Measures an extractor on turns labelled by hand: precision and recall of every kind of card.

``extraction_cases.jsonl`` holds the cases: turns, and the cards that a careful reader takes from them. The cards under
``may`` are optional and count neither for nor against.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from events.language.chinese_script import to_simplified
from events.language.concepts import canonical_key, normalise_entity, normalise_value
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.extraction import Usage
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import CardEvent, Extractor, RecordedTurn, SessionBatch

KINDS = ("state", "event", "knowledge")
SAID_AT = datetime.fromisoformat("2026-05-08T16:44:10")  # a Friday; the time of every case, in its own zone


@dataclass(frozen=True, slots=True)
class Case:
    """Turns with the expected cards."""

    name: str
    turns: tuple[RecordedTurn, ...]
    states: tuple[dict[str, str], ...]
    events: tuple[dict[str, Any], ...]
    knowledge: tuple[str, ...]
    may: tuple[dict[str, str], ...]

    @property
    def language(self) -> str:
        return self.name.split("-", 1)[0]


@dataclass(slots=True)
class Score:
    """Counts of one kind of card. ``dated`` of ``datable`` found events have the right day."""

    expected: int = 0
    missed: int = 0
    found: int = 0
    wrong: int = 0
    datable: int = 0
    dated: int = 0

    @property
    def precision(self) -> float | None:
        """The share of found cards that are right, or None when nothing was found."""
        return None if not self.found else (self.found - self.wrong) / self.found

    @property
    def recall(self) -> float | None:
        """The share of expected cards that were found, or None when no card is expected."""
        return None if not self.expected else (self.expected - self.missed) / self.expected

    def document(self) -> dict[str, float | int | None]:
        """Returns the score as a JSON document."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "expected": self.expected,
            "found": self.found,
            "missed": self.missed,
            "wrong": self.wrong,
            "dated": self.dated,
            "datable": self.datable,
        }


@dataclass(slots=True)
class Result:
    """The scores of a trial by kind and language, with every mistake as text."""

    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    refused: int = 0
    failed: int = 0

    def score(self, kind: str, language: str | None = None) -> Score:
        """Returns the counts of a kind for one language, or for all languages."""
        total = Score()
        for (each, spoken), score in self.scores.items():
            if each == kind and language in (None, spoken):
                for name in Score.__slots__:
                    setattr(total, name, getattr(total, name) + getattr(score, name))
        return total

    def languages(self) -> list[str]:
        """Returns the languages of the cases."""
        return sorted({language for _, language in self.scores})


def cases() -> list[Case]:
    """Returns all cases in the order of the file."""
    text = files("evaluation").joinpath("extraction_cases.jsonl").read_text("utf-8")
    return [_case(json.loads(line)) for line in text.splitlines()]


def _case(row: dict[str, Any]) -> Case:
    zone = ZoneInfo(row["zone"])
    turns = tuple(
        RecordedTurn(
            "labelled",
            number,
            TurnRecorded(
                turn_id=f"{row['id']}-{number}",
                text=turn["text"],
                role=turn.get("role", "user"),
                said_at=(SAID_AT + timedelta(seconds=10 * (number - 1))).replace(tzinfo=zone),
                timezone=row["zone"],
                session_id=row["id"],
                project_id="default",
            ),
        )
        for number, turn in enumerate(row["turns"], 1)
    )
    return Case(
        row["id"],
        turns,
        tuple(row.get("states", ())),
        tuple(row.get("events", ())),
        tuple(row.get("knowledge", ())),
        tuple(row.get("may", ())),
    )


def trial(extractor: Extractor, some: Sequence[Case], progress: Callable[[int, int], None]) -> Result:
    """Lets ``extractor`` read every case. A failed call counts as no cards and is listed as a mistake."""
    result = Result()
    for number, case in enumerate(some, 1):
        cards: tuple[CardEvent, ...] = ()
        try:
            extraction = extractor.extract(SessionBatch(case.turns))
            cards, result.refused = extraction.cards, result.refused + extraction.refused
            result.usage = result.usage + extraction.usage
        except RuntimeError as error:
            result.failed += 1
            result.mistakes.append(f"{case.name}: no answer: {error}")
        _judge(case, cards, result)
        progress(number, len(some))
    return result


def _judge(case: Case, cards: Sequence[CardEvent], result: Result) -> None:
    for kind in KINDS:
        result.scores.setdefault((kind, case.language), Score())
    _judge_states(case, [card for card in cards if isinstance(card, StateAsserted)], result)
    _judge_events(case, [c for c in cards if isinstance(c, EventNoted) and not c.episode], result)
    _judge_knowledge(case, [card for card in cards if isinstance(card, KnowledgeLearned)], result)


def _judge_states(case: Case, cards: Sequence[StateAsserted], result: Result) -> None:
    score = result.scores["state", case.language]
    left = list(case.states)
    for card in cards:
        right = next((want for want in left if _is(card, want, case)), None)
        if right is not None:
            left.remove(right)
            score.found += 1
        elif not any(_is(card, may, case, statement=False) for may in (*case.may, *case.states)):
            score.found += 1
            score.wrong += 1
            what = f"{card.entity} {card.concept_key} = {card.value} ({card.statement})"
            result.mistakes.append(f"{case.name}: wrong state: {what}")
    score.expected += len(case.states)
    score.missed += len(left)
    for want in left:
        what = f"{want['entity']} {want['key']} = {want['value']} ({want.get('statement', 'asserted')})"
        result.mistakes.append(f"{case.name}: missed state: {what}")


def _is(card: StateAsserted, want: dict[str, str], case: Case, *, statement: bool = True) -> bool:
    key = canonical_key(want["key"])
    if canonical_key(card.concept_key) != key or normalise_entity(card.entity) != normalise_entity(
        want["entity"]
    ):
        return False
    if statement and card.statement != want.get("statement", "asserted"):
        return False
    found, wanted = normalise_value(key, card.value), normalise_value(key, want["value"])
    return found == wanted or (len(wanted) > 1 and (wanted in found or found in wanted))


def _judge_events(case: Case, cards: Sequence[EventNoted], result: Result) -> None:
    score = result.scores["event", case.language]
    left = list(case.events)
    zone = ZoneInfo(case.turns[0].turn.timezone)
    for card in cards:
        quote = card.origin.source_span.text if card.origin.source_span is not None else ""
        words = to_simplified(f"{card.content} {quote}").casefold()
        right = next(
            (
                want
                for want in case.events
                if all(to_simplified(say).casefold() in words for say in want["says"])
            ),
            None,
        )
        if right is None:
            # An event that repeats an expected state is not a mistake.
            if not any(to_simplified(one["value"]).casefold() in words for one in (*case.states, *case.may)):
                score.found += 1
                score.wrong += 1
                result.mistakes.append(f"{case.name}: wrong event: {card.content}")
            continue
        if right not in left:
            continue
        left.remove(right)
        score.found += 1
        if right.get("on"):
            score.datable += 1
            day = card.occurred_at.astimezone(zone).date().isoformat()
            if card.time_resolved and day == right["on"]:
                score.dated += 1
            else:
                result.mistakes.append(f"{case.name}: wrong day: {day}, not {right['on']}: {card.content}")
    score.expected += len(case.events)
    score.missed += len(left)
    result.mistakes += [f"{case.name}: missed event: {' '.join(want['says'])}" for want in left]


def _judge_knowledge(case: Case, cards: Sequence[KnowledgeLearned], result: Result) -> None:
    score = result.scores["knowledge", case.language]
    left = list(case.knowledge)
    for card in cards:
        score.found += 1
        names = set(_names(card))
        right = next((want for want in left if to_simplified(want).casefold() in names), None)
        if right is not None:
            left.remove(right)
        else:
            score.wrong += 1
            result.mistakes.append(f"{case.name}: wrong knowledge: {card.title}")
    score.expected += len(case.knowledge)
    score.missed += len(left)
    result.mistakes += [f"{case.name}: missed knowledge: {want}" for want in left]


def _names(card: KnowledgeLearned) -> Iterator[str]:
    for name in (card.title, *card.aliases):
        plain = to_simplified(name).casefold()
        yield plain
        yield plain.removeprefix("a ").removeprefix("an ").removeprefix("the ")
