"""Episodes by topic, by place in the core document and by importance, each score with its explanation."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg

from events.access.principal import Reach
from events.core.places import pointer_of, related_paths, touches
from events.language.chinese_script import to_simplified
from events.language.concepts import all_concepts
from events.language.terms import analyse, stem, term_keys
from events.platform.database import Row, statement
from retrieval.pool import Pool, rows_of

TOPIC, PATH = 3, 4
NO_IMPORTANCE = 5
"""The importance of an episode that has none."""
_PACKAGE = "retrieval"
_OTHERS = "/dynamicCategories"


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


class EpisodeReader:
    """Reads episodes of one user at a time from the live card tables. Raises psycopg.Error when Postgres is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def best(
        self,
        owner: str,
        topics: Sequence[str],
        paths: Sequence[str],
        k: int,
        *,
        project_id: str | None,
        reach: Reach,
    ) -> list[Scored]:
        """Returns the ``k`` episodes with the highest scores.

        The candidates are the latest 2,000 episodes with a topic or a path, and the 200 most important ones.
        """
        try:
            rows = await self._candidates(owner, topics, paths, project_id, reach)
        except psycopg.errors.UndefinedTable:
            return []  # nothing is folded yet
        return best([_episode(row) for row in rows], topics, paths, k)

    async def _candidates(
        self, owner: str, topics: Sequence[str], paths: Sequence[str], project_id: str | None, reach: Reach
    ) -> list[Row]:
        terms = {term for topic in topics for term in analyse(topic)}
        keys = [
            each.key for each in all_concepts() if any(touches(pointer_of(each.key), path) for path in paths)
        ]
        parameters = {
            "user_id": owner,
            "keys": keys,
            "other_keys": any(touches(_OTHERS, path) or touches(path, _OTHERS) for path in paths),
            "registered": [each.key for each in all_concepts()],
            "terms": term_keys(owner, terms),
            "project_id": project_id,
            **{f"reached_{name}": names for name, names in reach.parameters().items()},
        }
        rows = await rows_of(self._pool, owner, statement(_PACKAGE, "episode_candidates"), parameters)
        named = {"user_id": owner, "turn_ids": sorted({turn for row in rows for turn in row["turn_ids"]})}
        concepts: dict[str, set[str]] = {}
        for row in await rows_of(self._pool, owner, statement(_PACKAGE, "concepts_of_turns"), named):
            concepts.setdefault(row["turn_id"], set()).add(row["concept_key"])
        for row in rows:
            row["concepts"] = {key for turn in row["turn_ids"] for key in concepts.get(turn, ())}
        return rows


def _episode(row: Row) -> Episode:
    concepts = row.pop("concepts")
    return Episode(
        related_paths=related_paths(concepts),
        topics=tuple(row.pop("topics") or ()),
        turn_ids=tuple(row.pop("turn_ids")),
        **row,
    )
