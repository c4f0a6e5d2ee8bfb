"""Makes a thread of an undertaking that is told of in several sessions, and adds what is told of it later."""

import re
from collections import defaultdict
from datetime import timedelta

from events.language.chinese_script import has_cjk, to_simplified
from events.language.terms import analyse
from events.types.threads import ThreadOpened
from ingest.curator.memory import Memory, MemoryCard, Proposal, assignment, new_thread

_SESSIONS = 3
_SPAN = timedelta(days=2)
_MOST = 50  # cards that a thread begins with
_ENGLISH = re.compile(
    r"\b(?:the|our|my) ((?:[\w-]+ )?(?:project|move|trip|wedding|renovation|thesis|marathon|exam|garden|start-?up))\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"搬家|婚礼|装修|论文|旅行|马拉松|考试|创业|([\u4e00-\u9fff]{2}项目)")
_VAGUE = frozenset(
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
            begun = tuple(card.card_id for card in cards[:_MOST])
            found.append(new_thread(opened, begun, number, reason, 0.9))
    return found


def _goes_on(cards: list[MemoryCard]) -> bool:
    times = [card.said_at for card in cards]
    return len({card.session_id for card in cards}) >= _SESSIONS and max(times) - min(times) >= _SPAN


def _titles(text: str) -> set[str]:
    if has_cjk(text):
        return {match[0] for match in _CHINESE.finditer(to_simplified(text))}
    named = (match[1].casefold() for match in _ENGLISH.finditer(text))
    return {name for name in named if name.split()[0] not in _VAGUE and analyse(name)}
