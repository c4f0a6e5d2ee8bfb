"""A recall as prompt blocks, in an order that a prompt cache can use.

The stable block comes first, then the cards, the contradictions, and the time last. The text before the first card is
therefore the same for every question, byte for byte.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from uuid import UUID
from xml.sax.saxutils import escape, quoteattr

from events.language.concepts import normalise_entity
from events.problems.problem import Attempt, Problem
from events.references.reference import Reference
from events.resources.cards import Contradiction
from events.resources.recall import Block, Numbered
from events.threads import Thread
from projectors.cards.card import Card
from retrieval.cards.card_times import plan_of, time_expressions, times_of
from retrieval.cards.told_times import told_day, zone_of
from retrieval.context.token_estimate import count_tokens
from retrieval.context.turn_words import EXCERPT, best_sentences, newer_words, turn_words
from retrieval.recall.answer import CardAnswer, RecallAnswer

_STABLE = "core"
_CARDS = "memory"
_REFERENCES = "references"
_PROBLEMS = "problems"
_INSIGHTS = "insights"
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_LEADING = 5
"""The first cards, whose turn words count as part of the card. Words of later turns take what room is left."""
_SHORT_CARD = 60
"""The tokens of a short card with its time."""
_MOST_CARDS = 50
"""The most cards of a prompt that does not say how many."""
# Characters that XML 1.0 does not allow, escaped or not.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BudgetTooSmallError(ValueError):
    """The token budget is smaller than ``least``, the tokens of the blocks that are always present."""

    def __init__(self, least: int) -> None:
        super().__init__(f"the blocks that are always there take {least} tokens")
        self.least = least


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """An answer as prompt blocks. ``left_out`` are the cards that the budget has no room for."""

    blocks: Sequence[Block]
    token_budget: int | None
    guard_rules_version: str
    cards: Sequence[Numbered]
    left_out: Sequence[UUID]
    answer: RecallAnswer

    @property
    def text(self) -> str:
        """All blocks in order."""
        return "".join(block.text for block in self.blocks)

    @property
    def tokens(self) -> int:
        """The tokens of all blocks, as :func:`count_tokens` counts them."""
        return sum(block.tokens for block in self.blocks)


@dataclass(frozen=True, slots=True)
class PromptParts:
    """What a prompt shows beside the cards of its recall.

    ``facts`` are the pointers and values of the core document that were asked for. ``warnings`` name the parts that
    could not be read.
    """

    references: Sequence[Reference] = ()
    problems: Sequence[Problem] = ()
    facts: Sequence[tuple[str, str]] = ()
    goals: Sequence[str] = ()
    concepts: Sequence[Card] = ()
    threads: Sequence[Thread] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """The lines of a block that questions do not change, and the share of the room that they may take.

    ``shorter`` are the same lines in ever fewer words.
    """

    name: str
    lines: Sequence[str]
    share: float
    what: str
    shorter: Sequence[Sequence[str]] = ()

    def within(self, room: int) -> Sequence[str]:
        """Returns all lines in the longest form that fits into ``room`` tokens, or the first ones of the shortest."""

        def tokens(lines: Sequence[str]) -> int:
            return _standing_block(self.name, lines).tokens

        forms = (self.lines, *self.shorter)
        lines = next((each for each in forms if tokens(each) <= room), forms[-1])
        return lines[: bisect_right(range(1, len(lines) + 1), room, key=lambda n: tokens(lines[:n]))]


@dataclass(frozen=True, slots=True)
class _Element:
    """A card as escaped text. ``content`` are its words, and ``turn`` adds what else its turn says; it may be empty.

    ``short`` are the sentences of a long turn that answer best, and ``whole`` are all words of the turn.
    """

    card_id: UUID
    kind: str
    attributes: str
    content: str
    short: str
    turn: str
    whole: str

    def text(self, number: int) -> str:
        return f'<{self.kind} n="{number}"{self.attributes}>{self.content}{self.turn}</{self.kind}>'


def _block(name: str, text: str, *, stable: bool = False) -> Block:
    return Block(name=name, text=text, tokens=count_tokens(text), stable=stable)


@cache
def stable_block() -> Block:
    """Returns the block that every prompt begins with: how to read the cards, and the guard rules."""
    return _block(_STABLE, files("retrieval.context").joinpath("core.xml").read_text("utf-8"), stable=True)


def guard_rules_version() -> str:
    """Returns the version of the guard rules."""
    found = re.search(r'<core version="([^"]+)"', stable_block().text)
    assert found is not None
    return found[1]


def cards_within(token_budget: int) -> int:
    """Returns how many cards to ask for, so that they can fill the budget."""
    return min(_MOST_CARDS, max(_LEADING, token_budget // _SHORT_CARD))


def context_of(
    answer: RecallAnswer,
    token_budget: int | None = None,
    parts: PromptParts = PromptParts(),
) -> Prompt:
    """Returns the prompt for an answer, in at most ``token_budget`` tokens as :func:`count_tokens` counts them.

    Of ``parts``, open problems have the first claim: a third of the budget. They tell fewer attempts before one is left
    out. Facts may take half of the rest, then the pinned references half, and concepts, goals and open threads a
    quarter of what is left, and the insights of the answer a tenth. Each block but that of the insights stays the same,
    byte for byte, while its lines do.

    A card is in the prompt whole or not at all. A card that alone exceeds the budget is left out first, then the
    cards with the lowest scores. What room is left goes to the words of the turns, the best card first: an excerpt of
    each, then the whole words.
    Raises :class:`BudgetTooSmallError`: when the blocks without cards do not fit.
    """
    asked_budget = token_budget
    kept = {*(one.reference_id for one in parts.references), *(one.card_id for one in parts.concepts)}
    elements = [_element(card, answer) for card in answer.cards if card.card_id not in kept]
    facts = [f"<fact path={quoteattr(_clean(path))}>{_text(value)}</fact>" for path, value in parts.facts]
    references = [f"<reference>{_text(one.rendering)}</reference>" for one in parts.references]
    concepts = [
        f"<concept title={quoteattr(_clean(one.title or ''))}>{_text(one.definition or '')}</concept>"
        for one in parts.concepts
    ]
    longest, *shorter = ([_problem(one, most) for one in parts.problems] for most in (5, 2, 1, 0))
    goals = [f"<goal>{_text(one)}</goal>" for one in parts.goals]
    threads = [
        f'<thread since="{one.opened_at:%Y-%m-%d}">{_text(one.title)}</thread>' for one in parts.threads
    ]
    insights = [
        f'<insight by="inference" sources="{len(one.sources)}">{_text(one.content)}</insight>'
        for one in answer.insights
    ]
    groups = (
        _Group("facts", facts, 1 / 2, "facts"),
        _Group(_REFERENCES, references, 1 / 2, "pinned references"),
        _Group("concepts", concepts, 1 / 4, "pinned concepts"),
        _Group(_PROBLEMS, longest, 1 / 3, "open problems", shorter),
        _Group("goals", goals, 1 / 4, "goals"),
        _Group("threads", threads, 1 / 4, "open threads"),
        _Group(_INSIGHTS, insights, 1 / 10, "insights"),
    )
    standing = {group.name: group.lines for group in groups if group.lines}
    warnings = (*answer.warnings, *parts.warnings)
    if token_budget is not None:
        least = _tokens(answer, [])
        if least > token_budget:
            raise BudgetTooSmallError(least)
        for group in sorted(groups, key=lambda each: each.name != _PROBLEMS):
            lines = group.within(int((token_budget - least) * group.share))
            if len(lines) < len(group.lines):
                lacking = f"{len(group.lines) - len(lines)} {group.what} have no room in the token budget"
                warnings = (*warnings, lacking)
            standing[group.name] = lines
            token_budget -= _standing_block(group.name, lines).tokens if lines else 0
        bare = [replace(one, content=one.short, turn="") for one in elements]
        plain = [one for one in bare if _tokens(answer, [one]) <= token_budget]
        whole = {one.card_id: one for one in elements}
        leading = [replace(one, turn=whole[one.card_id].turn) for one in plain[:_LEADING]]
        count = max(
            _fitting(answer, [*leading, *plain[_LEADING:]], token_budget),
            _fitting(answer, plain[:_LEADING], token_budget),
        )
        elements = _with_turns(plain[:count], whole, token_budget - _tokens(answer, plain[:count]))
    shown = {one.card_id for one in elements}
    return Prompt(
        blocks=_blocks(answer, elements, standing),
        token_budget=asked_budget,
        guard_rules_version=guard_rules_version(),
        cards=[Numbered(n=number, card_id=one.card_id) for number, one in enumerate(elements, 1)],
        left_out=[card.card_id for card in answer.cards if card.card_id not in shown | kept],
        answer=replace(answer, warnings=warnings),
    )


def _fitting(answer: RecallAnswer, elements: Sequence[_Element], token_budget: int) -> int:
    """Returns the number of cards in the longest prompt that fits. A prompt only grows with its cards."""
    return bisect_right(
        range(1, len(elements) + 1), token_budget, key=lambda n: _tokens(answer, elements[:n])
    )


def _with_turns(elements: Sequence[_Element], whole: Mapping[UUID, _Element], room: int) -> list[_Element]:
    """Gives the elements words of their turns while these fit into ``room`` tokens, the best card first.

    Every card gets an excerpt before one gets all words. The tokens of an element inside another add to the tokens of
    the outer one.
    """
    given = list(elements)
    for all_words in (False, True):
        for place, one in enumerate(given):
            full = whole[one.card_id]
            more = replace(full, turn=full.whole) if all_words else replace(one, turn=full.turn)
            tokens = _words_in(more) - _words_in(one)
            if tokens <= room:
                room -= tokens
                given[place] = more
    return given


def _words_in(one: _Element) -> int:
    return count_tokens(one.content) + count_tokens(one.turn)


def _tokens(answer: RecallAnswer, elements: Sequence[_Element]) -> int:
    return sum(block.tokens for block in _blocks(answer, elements))


def _standing_block(name: str, lines: Sequence[str]) -> Block:
    """Returns a block that changes only when one of its lines does."""
    return _block(name, _element_of(name, lines), stable=True)


def _element_of(name: str, lines: Sequence[str]) -> str:
    return "\n".join((f"<{name}>", *lines, f"</{name}>\n"))


def _blocks(
    answer: RecallAnswer,
    elements: Sequence[_Element],
    standing: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Block]:
    """Every block in its fixed place. Empty blocks are absent."""
    numbered = list(enumerate(elements, 1))
    lines = {
        _REFERENCES: [one.text(number) for number, one in numbered if one.kind == "reference"],
        _CARDS: [one.text(number) for number, one in numbered if one.kind != "reference"],
        "contradiction_alert": _conflicts(answer.contradictions, [one.card_id for one in elements]),
    }
    blocks = [stable_block()]
    told = {name: _standing_block(name, kept) for name, kept in standing.items() if kept}
    concluded = told.pop(_INSIGHTS, None)
    blocks += told.values()
    for name, inner in lines.items():
        if inner:
            blocks.append(_block(name, _element_of(name, inner)))
    if concluded is not None:
        blocks.append(
            concluded.model_copy(update={"stable": False})
        )  # below what was said, and chosen by the question
    now = answer.current_time
    at = now.isoformat(timespec="minutes")
    blocks.append(_block("current_time", f'<current_time day="{_DAYS[now.weekday()]}">{at}</current_time>\n'))
    return blocks


def _element(found: CardAnswer, answer: RecallAnswer) -> _Element:
    """Returns a card as an element named after its kind. An attribute is there only when it says something."""
    card, content = found.card, found.card.content.casefold()
    speaker = _speaker(found)
    attributes: dict[str, str | None] = {}
    if card.kind == "knowledge":
        attributes["title"] = card.title if card.title and card.title.casefold() not in content else None
    elif card.kind == "reference":
        pass  # its words tell all of it
    else:
        attributes |= {"who": _whom(found, content)} | times_of(card)
        attributes["times"] = (
            "; ".join(f"{each.words}: {each.time}" for each in time_expressions(card)) or None
        )
        attributes["plan"] = plan_of(card, answer.current_time)
    if found.aging or found.outdated:
        attributes["old"] = told_day(card.last_verified, zone_of(card.time_zone))
        if attributes.get("said") == attributes["old"]:
            del attributes["said"]
    attributes["newer"] = newer_words(found.perhaps_no_longer, found.past_facts if card.episode else ())
    attributes["by"] = None if speaker is None or speaker.casefold() in content else speaker
    return _Element(
        card_id=found.card_id,
        kind=card.kind,
        attributes=_attributes(attributes),
        content=_text(card.content),
        short=_text(best_sentences(card.content, answer.terms) if card.episode else card.content),
        turn=_turn(found, EXCERPT),
        whole=_turn(found, sys.maxsize),
    )


def _turn(found: CardAnswer, room: int) -> str:
    """Returns what the card's turn adds to it in at most ``room`` tokens: what else was read from it, and its words."""
    also, said = turn_words(found, room) if found.beside else ("", "")
    past = _attributes({"newer": None if found.card.episode else newer_words(None, found.past_facts)})
    return (f"<also>{_text(also)}</also>" if also else "") + (
        f"<turn{past}>{_text(said)}</turn>" if said else ""
    )


def _speaker(found: CardAnswer) -> str | None:
    """Returns who said the words of a card, or None for the user."""
    card = found.card
    if card.provenance == "agent_inferred":
        return "inference"
    if card.provenance == "assistant_stated":
        return "assistant"
    return card.speaker if card.speaker and normalise_entity(card.speaker) != "user" else None


def _whom(found: CardAnswer, content: str) -> str | None:
    """Returns whom a card concerns, unless its words, its speaker or the default say it."""
    entity = found.card.entity
    speaker = _speaker(found)
    if entity is None or entity == "user" or entity in content:
        return None
    return None if speaker is not None and normalise_entity(speaker) == normalise_entity(entity) else entity


def _conflicts(contradictions: Sequence[Contradiction], cards: Sequence[UUID]) -> list[str]:
    """The contradictions that concern a card of the prompt, a line each, with the words of all sides."""
    lines = []
    for found in contradictions:
        numbers = [number for number, card_id in enumerate(cards, 1) if card_id in found.card_ids]
        if numbers:
            whom = None if found.entity == "user" else found.entity
            attributes = {"cards": " ".join(map(str, numbers)), "who": whom, "concept": found.concept_key}
            sides = " / ".join(each.content for each in found.cards or ())
            told = f"{sides}: {found.reason}" if sides else found.reason
            lines.append(f"<conflict{_attributes(attributes)}>{_text(told)}</conflict>")
    return lines


def _attributes(values: Mapping[str, str | None]) -> str:
    """The attributes as text. A value that is None is absent."""
    return "".join(
        f" {name}={quoteattr(_clean(value))}" for name, value in values.items() if value is not None
    )


def _text(value: str) -> str:
    """Escapes a text for an element, so it can neither close its block nor open another."""
    return escape(_clean(value), {"\r": "&#13;"})


def _clean(value: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", value)


def _problem(problem: Problem, most: int) -> str:
    """Returns a problem as one XML element, with its ``most`` latest attempts of each outcome."""
    since = f"{problem.since:%Y-%m-%d}"
    parts = [f'<problem priority="{problem.priority}" since="{since}">{_text(problem.description)}']
    for name, wanted in (("worked", True), ("failed", False), ("tried", None)):
        found = [each for each in reversed(problem.attempts) if each.successful is wanted][:most]
        parts += [f"<{name}>{_text(_told(each))}</{name}>" for each in reversed(found)]
    return "".join((*parts, "</problem>"))


def _told(attempt: Attempt) -> str:
    said = attempt.approach if attempt.outcome is None else f"{attempt.approach}: {attempt.outcome}"
    return f"{said} ({attempt.date:%Y-%m-%d})"
