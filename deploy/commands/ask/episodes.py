"""``cardlog episodes``: the human words of turns about topics and places of the core document."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Flat, Given, Json, Tenant, between
from events.access.principal import EVERYTHING
from events.platform.settings import Settings
from events.resources.resource import plain
from events.types.tenancy import DEFAULT_TENANT, storage_id
from retrieval.episodes.reader import EpisodeReader
from retrieval.episodes.score import PATH, TOPIC, Scored
from retrieval.http.episode_routes import asked, shown
from retrieval.pool.connections import open_pool


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of the verb."""

    user: Annotated[str, Parameter(help="whose episodes are meant")]
    tenant: Tenant = DEFAULT_TENANT
    topics: Annotated[str, Parameter(metavar="A,B", help="topics, such as stress,yoga")] = ""
    paths: Annotated[str, Parameter(metavar="/A,/B", help="places, such as /healthProfile/conditions")] = ""
    project: Annotated[str | None, Parameter(help="only of this project")] = None
    k: Annotated[int, Parameter(name=["--k", "-k"], validator=between(1, 100), help="the most episodes")] = 5
    json: Json = False


def episodes(*, options: Flat[Options], settings: Given[Settings], data: Given[Path | None]) -> int:
    """List the episodes of a user with the best scores: 3 a topic, 4 a path, and the importance."""
    settings, _ = find(settings, data)
    topics, paths = asked("topics", [options.topics]), asked("paths", [options.paths])

    async def look() -> list[Scored]:
        pool = open_pool(settings, "episodes")
        await pool.open()
        try:
            return await EpisodeReader(pool).best(
                storage_id(options.tenant, options.user),
                topics,
                paths,
                options.k,
                project_id=options.project,
                reach=EVERYTHING,
            )
        finally:
            await pool.close()

    found = asyncio.run(look())
    if options.json:
        print(json.dumps(plain([shown(each) for each in found]), ensure_ascii=False))
        return 0
    for each in found:
        parts = [f"importance {each.importance}"]
        parts += [f"topic {topic} +{TOPIC}" for topic in each.topics]
        parts += [f"path {path} +{PATH}" for path in each.paths]
        print(f"{each.score:>3}  {each.episode.said_at:%Y-%m-%d}  {each.episode.content[:100]}")
        print(f"     {', '.join(parts)}")
    if not found:
        print(f"{options.user} has no episodes")
    return 0
