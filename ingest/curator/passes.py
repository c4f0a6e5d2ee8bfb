"""The passes of the curator that look at many cards. The pass that relates pairs is :mod:`ingest.curator.connect`.

Patterns conclude what recurs. Consolidation makes one statement of what several sessions tell of one theme, in their
own sentences. Threads collect what is told of an undertaking.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import combinations, pairwise
from math import comb
from uuid import UUID

from events.insights import digest_of
from events.language.chinese_script import has_cjk, to_simplified
from events.language.terms import analyse
from events.types.insights import InsightDerived, InsightKind
from events.types.threads import ThreadOpened
from ingest.curator.memory import Memory, MemoryCard, Proposal, assignment, derivation, new_thread
from ingest.curator.statements import happened, sentences

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


_MOST_SESSIONS = 6  # of one statement; more sessions make a further statement
_LONGEST = 200  # characters of a sentence
_LEAST_TERMS = 3  # of a sentence, so that it says something of its theme
_VAGUE = (
    "go went get have make take come see last next week weekend month year day morning evening night time really "
    "feel like good bad great nice new old one two thing lot bit start finally monday tuesday wednesday thursday "
    "friday saturday sunday 今天 昨天 星期 最近 时候 觉得 感觉 开始 终于 事情 一起 已经 还是"
)


@cache
def _vague() -> frozenset[str]:
    """Returns the terms that tell no theme. The first call loads the Chinese dictionary."""
    return frozenset(analyse(_VAGUE))


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence of an episode about a theme."""

    card: MemoryCard
    sentence: str


def consolidate(memory: Memory, patterns: Sequence[Proposal]) -> list[Proposal]:
    """Returns the statements to derive, each of three to six sessions of one project, mode and theme.

    A theme is two terms that stand side by side. A card of a current insight, or of one of the ``patterns`` of this
    run, is no source of another statement, so a run after this one derives nothing from the same memory. Cards of a
    retracted statement of a theme do not count.
    """
    taken = {card for each in memory.insights.present if each.status == "current" for card in each.sources}
    taken.update(card for each in patterns for card in each.evidence)
    walls: dict[tuple[str, str], dict[tuple[str, str], list[_Told]]] = defaultdict(lambda: defaultdict(list))
    for card in memory.cards:
        if card.card_id not in taken and may_count(card):
            for theme, sentence in _themes_of(card):
                walls[card.wall][theme].append(_Told(card, sentence))
    return [each for wall in sorted(walls) for each in _of_wall(memory, walls[wall])]


def _of_wall(memory: Memory, themes: dict[tuple[str, str], list[_Told]]) -> Iterator[Proposal]:
    taken: set[UUID] = set()
    often = sorted(
        (item for item in themes.items() if len(item[1]) >= SESSIONS),
        key=lambda item: (-len(item[1]), item[0]),
    )
    for pair, told in often:
        theme, first = " ".join(pair), told[0].card
        refused = memory.insights.refused_sources(
            digest_of("consolidated", theme, first.project_id, first.mode)
        )
        left = [each for each in told if each.card.card_id not in taken | refused]
        while (batch := _first_sessions(left)) and (found := _consolidated(theme, batch)) is not None:
            taken.update(found.evidence)
            left = [each for each in left if each.card.card_id not in taken]
            yield found


def _first_sessions(told: list[_Told]) -> list[_Told]:
    sessions = list(dict.fromkeys(each.card.session_id for each in told))[:_MOST_SESSIONS]
    return [each for each in told if each.card.session_id in sessions][:_MOST_SOURCES]


def _themes_of(card: MemoryCard) -> Iterator[tuple[tuple[str, str], str]]:
    """Yields the themes of an episode, each with its first sentence about it."""
    seen: set[tuple[str, str]] = set()
    for sentence in sentences(card.content):
        terms = [term for term in analyse(sentence) if len(term) > 1 or not has_cjk(term)]
        if len(sentence) > _LONGEST or len(terms) < _LEAST_TERMS or not happened(sentence):
            continue
        for pair in pairwise(terms):
            one, other = pair
            vague = not _vague().isdisjoint(pair) or one in other or other in one
            if pair not in seen and not vague and not (one + other).isdigit():
                seen.add(pair)
                yield pair, sentence


def _consolidated(theme: str, told: list[_Told]) -> Proposal | None:
    """Returns the statement of one sentence of each session. None: too few sessions, days or different sentences."""
    cards = [each.card for each in told]
    if not recurs(cards):
        return None
    of_session: dict[str, str] = {}
    for each in told:
        if each.sentence not in of_session.values():
            of_session.setdefault(each.card.session_id, each.sentence)
    quoted = list(of_session.values())
    if len(quoted) < SESSIONS:
        return None
    if has_cjk(quoted[0]):
        content = f"{len(quoted)}次说到：{''.join(f'「{each}」' for each in quoted)}"
    else:
        content = f"Told {len(quoted)} times: {' '.join(f'“{each}”' for each in quoted)}"
    return derived("consolidated", theme, content, cards)


_SPAN = timedelta(days=2)
_MOST_BEGUN = 50  # cards that a thread begins with
_ENGLISH = re.compile(
    r"\b(?:the|our|my) ((?:[\w-]+ )?(?:project|move|trip|wedding|renovation|thesis|marathon|exam|garden|start-?up))\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"搬家|婚礼|装修|论文|旅行|马拉松|考试|创业|([\u4e00-\u9fff]{2}项目)")
_NO_TITLE = frozenset(
    ("whole", "same", "other", "next", "last", "first", "new", "old", "big", "this", "that", "only")
)


def threads(memory: Memory) -> list[Proposal]:
    """Returns the threads to open and the cards to add to open threads. A card is never in a thread of another wall."""
    topics: dict[tuple[str, str, str | None], list[MemoryCard]] = defaultdict(list)
    for card in memory.cards:
        if card.episode and not card.retracted and card.provenance == "user_stated":
            for title in _titles(card.content):
                topics[title, card.project_id, card.mode].append(card)
    known = {(each.title.casefold(), each.project_id, each.mode): each for each in memory.threads}
    found: list[Proposal] = []
    for topic, cards in sorted(topics.items(), key=lambda item: (item[1][0].position, item[0][0])):
        title, project_id, mode = topic
        thread = known.get(topic)
        if thread is not None:
            found += [
                assignment(thread.thread_id, card, f"tells of {title}", 0.9)
                for card in cards
                if thread.status == "open" and card.card_id not in thread.cards
            ]
        elif _goes_on(cards):
            reason = f"{len({card.session_id for card in cards})} sessions tell of {title}"
            opened = ThreadOpened(title=title, project_id=project_id, mode=mode, reason=reason)
            number = sorted(_titles(cards[0].content)).index(title)
            begun = tuple(card.card_id for card in cards[:_MOST_BEGUN])
            found.append(new_thread(opened, begun, number, reason, 0.9))
    return found


def _goes_on(cards: list[MemoryCard]) -> bool:
    times = [card.said_at for card in cards]
    return len({card.session_id for card in cards}) >= SESSIONS and max(times) - min(times) >= _SPAN


def _titles(text: str) -> set[str]:
    if has_cjk(text):
        return {match[0] for match in _CHINESE.finditer(to_simplified(text))}
    named = (match[1].casefold() for match in _ENGLISH.finditer(text))
    return {name for name in named if name.split()[0] not in _NO_TITLE and analyse(name)}
