"""The known facts, open plans, problems and threads that a prompt shows. A label lets the model answer with one."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Generic, TypeVar

from events.language.concepts import concepts_asked, normalise_entity
from events.language.terms import analyse
from events.types.turn_contract import on_clock
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.known_cards import KnownEvent, KnownFact
from ingest.extraction.memory_blocks import without_memory_blocks
from ingest.extraction.token_budget import about_tokens

MOST_TOKENS = 600
"""Estimated tokens of all facts and plans that one prompt shows."""
_PLANS_TOKENS = 200
_ONGOING_TOKENS = 100
"""Estimated tokens of the open problems, and of the open threads."""
_MOST_UNRELATED = 6
"""Facts of the speakers that share no word with the turns. The latest are shown, because the turns may mean them."""
_MOST_MEANT = 3
"""Facts of others that are shown when a pronoun of the turns may mean them."""
_SOMEBODY = re.compile(r"\b(?:he|him|his|she|hers?|they|them|theirs?)\b|(?<![其吉])[他她牠]", re.IGNORECASE)
_LONGEST_VALUE, _LONGEST_CONTENT = 80, 120
_LONGEST_TEXT = 6_000  # Characters of the turns that are compared.
_LABEL = re.compile(r"\s*[\[(]?\s*([FPR])\s*(\d{1,3})\s*[\])]?\s*[.:]?\s*", re.IGNORECASE)
_SPACE = re.compile(r"\s+")

_Card = TypeVar("_Card", KnownFact, KnownEvent)
_Shown = TypeVar("_Shown", KnownFact, KnownEvent, str)


class KnownLabels:
    """The labels of the known cards in the prompt of one batch: ``F1``, ``F2`` for facts, ``P1`` for open plans.

    ``R1`` are open problems. Open threads are shown without labels.

    The same batch always gives the same labels. The most relevant card comes first: a card that shares words with the
    turns, then a card about somebody whom the turns name or may mean by a pronoun, then the latest. All lists together
    are bounded by :data:`MOST_TOKENS`.
    """

    def __init__(self, batch: SessionBatch) -> None:
        turns, known, ongoing = _Turns(batch), batch.known, batch.ongoing
        self._problems = _labelled("R", turns.ongoing(ongoing.problems), _text_line, _ONGOING_TOKENS)
        self._threads = _labelled("T", turns.ongoing(ongoing.threads), _text_line, _ONGOING_TOKENS)
        self._plans = _labelled("P", turns.plans(known.plans), _plan_line, _PLANS_TOKENS)
        left = MOST_TOKENS - self._problems.cost - self._threads.cost - self._plans.cost
        self._facts = _labelled("F", turns.facts(known.facts), _fact_line, left)

    def fact(self, label: str | None) -> KnownFact | None:
        """Returns the fact with this label, or None. Case, spaces and brackets do not count."""
        return None if label is None else self._facts.cards.get(_canonical(label))

    def plan(self, label: str | None) -> KnownEvent | None:
        """Returns the open plan with this label, or None. Case, spaces and brackets do not count."""
        return None if label is None else self._plans.cards.get(_canonical(label))

    def problem(self, label: str) -> str | None:
        """Returns the description of the open problem with this label, or None."""
        return self._problems.cards.get(_canonical(label))

    def facts(self) -> tuple[KnownFact, ...]:
        """Returns the facts that are shown, in the order of their labels."""
        return tuple(self._facts.cards.values())

    def words(self) -> str:
        """Returns the entities, the values and the contents that are shown, one card a line."""
        facts = (f"{fact.entity} {fact.value}" for fact in self._facts.cards.values())
        plans = (plan.content for plan in self._plans.cards.values())
        threads = map(_text_line, self._threads.cards.values())
        return "\n".join((*facts, *plans, *self._problems.cards.values(), *threads))

    def sections(self) -> dict[str, str]:
        """Returns the text of each section of the prompt, escaped, with one line for each card.

        A line of a fact is ``F1 2026-05-02 Evan.partner = Canadian woman``, of a plan ``P1 2026-05-09 Prague weekend``,
        and of a problem ``R1 Nora's insomnia``.
        """
        threads = map(_text_line, self._threads.cards.values())
        return {
            "known_facts": "\n".join(self._facts.lines),
            "open_plans": "\n".join(self._plans.lines),
            "open_problems": "\n".join(self._problems.lines),
            "open_threads": "\n".join(threads),
        }


class _Turns:
    """The words of a batch, to which known cards are compared."""

    def __init__(self, batch: SessionBatch) -> None:
        texts = [without_memory_blocks(one.turn.text) for one in batch.turns]
        self._text = "\n".join(texts)[:_LONGEST_TEXT]
        self._speakers = {normalise_entity(one.turn.speaker or "user") for one in batch.turns}

    @cached_property
    def _terms(self) -> frozenset[str]:
        return frozenset(analyse(self._text))

    @cached_property
    def _asked(self) -> frozenset[str]:
        return frozenset(concepts_asked(self._text))

    def facts(self, facts: Sequence[KnownFact]) -> list[KnownFact]:
        scored = [
            (self._shared(f"{fact.value} {fact.concept_key.replace('_', ' ')}") + (fact.concept_key in self._asked)
             + self._named(fact.entity), place, fact)
            for place, fact in enumerate(facts)
        ]  # fmt: skip
        related = [each for each in scored if each[0] > 0]
        others = [each for each in scored if each[0] == 0 and self._speaks(each[2].entity)]
        strangers = [each for each in scored if each[0] == 0 and not self._speaks(each[2].entity)]
        meant = strangers if _SOMEBODY.search(self._text) else []
        shown = (
            *_best_first(related),
            *_best_first(meant)[:_MOST_MEANT],
            *_best_first(others)[:_MOST_UNRELATED],
        )
        return [each[2] for each in shown]

    def plans(self, plans: Sequence[KnownEvent]) -> list[KnownEvent]:
        scored = [
            (self._shared(f"{plan.content} {plan.words}") + self._named(plan.entity), place, plan)
            for place, plan in enumerate(plans)
        ]
        return [each[2] for each in _best_first(scored)]

    def ongoing(self, texts: Sequence[str]) -> list[str]:
        return sorted(texts, key=self._shared, reverse=True)

    def _shared(self, words: str) -> int:
        return len(self._terms.intersection(analyse(words)))

    def _named(self, entity: str) -> int:
        """Returns 1 when the turns name somebody who does not speak. The facts of the speakers are many."""
        return int(not self._speaks(entity) and not self._terms.isdisjoint(analyse(entity)))

    def _speaks(self, entity: str) -> bool:
        return normalise_entity(entity) in self._speakers


def _best_first(scored: Iterable[tuple[int, int, _Card]]) -> list[tuple[int, int, _Card]]:
    return sorted(scored, key=lambda each: (-each[0], -each[1]))


@dataclass(slots=True)
class _Labelled(Generic[_Shown]):
    """Cards by their labels, the line of each, and the estimated tokens of all lines."""

    cards: dict[str, _Shown] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    cost: int = 0


def _labelled(
    letter: str, cards: Sequence[_Shown], line_of: Callable[[_Shown], str], most: int
) -> _Labelled[_Shown]:
    """Returns the first cards that fit into ``most`` tokens."""
    shown = _Labelled[_Shown]()
    for card in cards:
        label = f"{letter}{len(shown.lines) + 1}"
        line = f"{label} {line_of(card)}"
        cost = about_tokens(line) + 1
        if shown.cost + cost <= most:  # A shorter card may still fit.
            shown.cards[label] = card
            shown.lines.append(line)
            shown.cost += cost
    return shown


def _fact_line(fact: KnownFact) -> str:
    return f"{fact.since:%Y-%m-%d} {_shown(fact.entity)}.{_shown(fact.concept_key)} = {_shown(fact.value)}"


def _plan_line(plan: KnownEvent) -> str:
    return f"{_day(plan)} {_shown(plan.content, _LONGEST_CONTENT)}"


def _text_line(text: str) -> str:
    return _shown(text, _LONGEST_CONTENT)


def _day(plan: KnownEvent) -> str:
    """Returns the date of a plan on the clock of its speaker, as exact as it was said."""
    if not plan.time_resolved:
        return "undated"
    local = on_clock(plan.occurred_at, plan.time_zone)
    if plan.time_grain in ("month", "quarter", "season"):
        return f"{local:%Y-%m}"
    return f"{local:%Y}" if plan.time_grain in ("year", "decade", "century") else f"{local:%Y-%m-%d}"


def _shown(text: str, longest: int = _LONGEST_VALUE) -> str:
    """Returns ``text`` in one line, bounded and escaped. No text can look like another line or an element."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    plain = _SPACE.sub(" ", plain).strip()
    return escape(plain if len(plain) <= longest else plain[: longest - 1] + "…", quote=False)


def _canonical(label: str) -> str:
    found = _LABEL.fullmatch(label[:20])
    return "" if found is None else f"{found[1].upper()}{int(found[2])}"
