"""Concludes what recurs: episodes of several sessions that say the same of one theme, in their own words."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import comb

from events.insights import digest_of
from events.language.chinese_script import has_cjk, to_simplified
from events.language.terms import analyse
from events.types.insights import InsightDerived, InsightKind
from ingest.curator.memory import Memory, MemoryCard, Proposal, derivation
from ingest.curator.statements import happened

SESSIONS = 3
"""The sessions, and the days, of which an insight is made."""
_MOST_TERMS = 4  # of a card; two common terms are then half of what it says
_MOST_SOURCES = 50
_CHANCE = 0.05  # a weekday that is as frequent by chance as this is no rhythm
_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_GENERAL = frozenset(("go", "went", "get", "do", "have", "today", "again", "今天", "昨天"))
"""Terms that tell no theme."""


def patterns(memory: Memory) -> list[Proposal]:
    """Returns the patterns to derive. A pattern needs three sessions on three days, of one project and mode.

    A pattern whose insight is current is not derived again. Cards of a retracted insight of its theme do not count.
    """
    walls: dict[tuple[str, str], list[tuple[MemoryCard, frozenset[str]]]] = defaultdict(list)
    for card in memory.cards:
        terms = _terms(card.content) if may_count(card) and happened(card.content) else frozenset()
        if 2 <= len(terms) <= _MOST_TERMS:
            walls[card.wall].append((card, terms))
    current = {each.digest for each in memory.insights.present if each.status == "current"}
    found: list[Proposal] = []
    for wall in sorted(walls):
        for theme, members in _themes(walls[wall]):
            first = members[0]
            digest = digest_of("pattern", theme, first.project_id, first.mode)
            refused = memory.insights.refused_sources(digest)
            left = [card for card in members if card.card_id not in refused]
            # The words of an insight tell the theme and nothing else: the rest of a source happened once.
            plain = [
                card for card in left[-_MOST_SOURCES:] if " ".join(sorted(_terms(card.content))) == theme
            ]
            if digest not in current and plain and recurs(left):
                found.append(_pattern(theme, left, plain))
    return found


def may_count(card: MemoryCard) -> bool:
    """True for an episode of the user that may tell what happened."""
    said = card.episode and card.provenance == "user_stated" and not card.retracted
    return said and card.superseded_at is None and card.event_status in (None, "happened")


def _terms(text: str) -> frozenset[str]:
    """Returns the terms of a text without the single characters of a Chinese name, which the name has too."""
    terms = analyse(to_simplified(text))
    return frozenset(term for term in terms if term not in _GENERAL and (len(term) > 1 or not has_cjk(term)))


def recurs(cards: list[MemoryCard]) -> bool:
    """True when three sessions of three days tell of it."""
    days = {card.said_at.date() for card in cards}
    return len({card.session_id for card in cards}) >= SESSIONS and len(days) >= SESSIONS


def _themes(told: list[tuple[MemoryCard, frozenset[str]]]) -> list[tuple[str, list[MemoryCard]]]:
    """Returns what recurs, with its cards, the most frequent first. A card is about one theme at most."""
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (_, terms) in enumerate(told):
        for pair in combinations(sorted(terms), 2):
            one, other = pair
            if not (one in other or other in one):
                places[pair].append(place)
    found: list[tuple[str, list[MemoryCard]]] = []
    taken: set[int] = set()
    often = sorted(
        (item for item in places.items() if len(item[1]) >= SESSIONS), key=lambda item: (-len(item[1]), item)
    )
    for _, alike in often:
        free = [place for place in alike if place not in taken]
        cards = [told[place][0] for place in free]
        if recurs(cards):
            taken.update(free)
            found.append((" ".join(sorted(frozenset.intersection(*(told[each][1] for each in free)))), cards))
    return found


def _pattern(theme: str, cards: list[MemoryCard], plain: list[MemoryCard]) -> Proposal:
    sources = cards[-_MOST_SOURCES:]
    shortest = min(plain, key=lambda card: (len(card.content), card.position))
    words, weekday = shortest.content.strip().rstrip(".。"), _rhythm(sources)
    if has_cjk(words):
        often = "一再" if weekday is None else f"每逢星期{'一二三四五六日'[weekday]}"
        content = f"{often}：「{words}」"
    else:
        often = "Again and again" if weekday is None else f"On {_WEEKDAYS[weekday]}"
        content = f"{often}: “{words}”"
    return derived("pattern", theme, content, sources)


def derived(kind: InsightKind, theme: str, content: str, sources: Sequence[MemoryCard]) -> Proposal:
    """Returns an insight that rests on ``sources``, which are of one project and mode."""
    first = sources[0]
    return derivation(
        InsightDerived(
            content=content,
            kind=kind,
            theme=theme,
            project_id=first.project_id,
            mode=first.mode,
            sources=tuple(card.card_id for card in sources),
            reason=f"{len({card.session_id for card in sources})} sessions tell of it",
            confidence=0.8,
        )
    )


def _rhythm(cards: list[MemoryCard]) -> int | None:
    """Returns the weekday of most days on which it was told, Monday is 0. None: chance explains the days."""
    days = {card.begun.date() for card in cards}
    weekday, most = min(Counter(day.weekday() for day in days).items(), key=lambda item: (-item[1], item[0]))
    count = len(days)
    by_chance = 7 * sum(comb(count, hits) * 6 ** (count - hits) / 7**count for hits in range(most, count + 1))
    return weekday if most >= SESSIONS and by_chance < _CHANCE else None
