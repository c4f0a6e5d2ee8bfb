"""The score of an episode: three for each topic asked for, four for each path, and its importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from events.core.related_paths import touches
from events.language.chinese_script import to_simplified
from events.language.terms import stem

TOPIC, PATH = 3, 4
NO_IMPORTANCE = 5
"""The importance of an episode that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The words of a turn with what they are about. ``related_paths`` are places in the core document."""

    card_id: UUID
    content: str
    occurred_at: datetime
    said_at: datetime
    speaker: str | None
    topics: tuple[str, ...]
    sentiment: str | None
    importance: int | None
    related_paths: tuple[str, ...]
    turn_ids: tuple[str, ...]
    session_id: str
    project_id: str
    mode: str | None


@dataclass(frozen=True, slots=True)
class Scored:
    """An episode with its score, and the asked topics and paths that made it."""

    episode: Episode
    topics: tuple[str, ...]
    paths: tuple[str, ...]

    @property
    def importance(self) -> int:
        return NO_IMPORTANCE if self.episode.importance is None else self.episode.importance

    @property
    def score(self) -> int:
        return TOPIC * len(self.topics) + PATH * len(self.paths) + self.importance


def scored(episode: Episode, topics: Sequence[str], paths: Sequence[str]) -> Scored:
    """Returns the score of an episode for a question. Case, script and word endings of a topic do not count."""
    own = [plain(topic) for topic in episode.topics]
    words = {word for topic in own for word in topic.split()}
    return Scored(
        episode,
        tuple(topic for topic in dict.fromkeys(topics) if _names(plain(topic), own, words)),
        tuple(
            path
            for path in dict.fromkeys(paths)
            if any(touches(each, path) for each in episode.related_paths)
        ),
    )


def best(episodes: Sequence[Episode], topics: Sequence[str], paths: Sequence[str], k: int) -> list[Scored]:
    """Returns the ``k`` episodes with the highest scores.

    Of equal scores, the one with more asked topics and paths comes first, then the latest.
    """
    found = [scored(each, topics, paths) for each in episodes]
    return sorted(
        found,
        key=lambda each: (
            -each.score,
            each.importance,
            -each.episode.said_at.timestamp(),
            str(each.episode.card_id),
        ),
    )[:k]


def plain(topic: str) -> str:
    """Returns a topic in one form: simplified script, lower case, word stems."""
    folded = to_simplified(topic).casefold().replace("’", "'").removesuffix("'s")
    return " ".join(stem(word) if word.isascii() else word for word in folded.split())


def _names(asked: str, own: Sequence[str], words: set[str]) -> bool:
    """True when an episode has the asked topic. A topic of several words is had when each of its words is."""
    if not asked:
        return False
    if asked in own or set(asked.split()) <= words:
        return True
    return not asked.isascii() and any(asked in topic for topic in own)
