"""Consolidates episodes: what several sessions tell of one theme becomes one statement of their own sentences."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from uuid import UUID

from events.insights import digest_of
from events.language.chinese_script import has_cjk
from events.language.terms import analyse
from ingest.curator.memory import Memory, MemoryCard, Proposal
from ingest.curator.passes.patterns import SESSIONS, derived, may_count, recurs
from ingest.curator.statements import happened, sentences

_MOST_SESSIONS = 6  # of one statement; more sessions make a further statement
_MOST_SOURCES = 50
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
            for theme, sentence in _themes(card):
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
        while (batch := _first_sessions(left)) and (found := _statement(theme, batch)) is not None:
            taken.update(found.evidence)
            left = [each for each in left if each.card.card_id not in taken]
            yield found


def _first_sessions(told: list[_Told]) -> list[_Told]:
    sessions = list(dict.fromkeys(each.card.session_id for each in told))[:_MOST_SESSIONS]
    return [each for each in told if each.card.session_id in sessions][:_MOST_SOURCES]


def _themes(card: MemoryCard) -> Iterator[tuple[tuple[str, str], str]]:
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


def _statement(theme: str, told: list[_Told]) -> Proposal | None:
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
