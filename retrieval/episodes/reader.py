"""Reads the episodes of a user that may have the best scores for topics and paths."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg

from events.access.principal import Reach
from events.core.related_paths import pointer_of, related_paths, touches
from events.language.concepts import all_concepts
from events.language.terms import analyse, term_keys
from events.platform.database import Row
from events.platform.sql import statement
from retrieval.episodes.score import Episode, Scored, best
from retrieval.pool.connections import Pool, rows_of

_PACKAGE = "retrieval.episodes"
_OTHERS = "/dynamicCategories"


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
        rows = await rows_of(self._pool, owner, statement(_PACKAGE, "candidates"), parameters)
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
