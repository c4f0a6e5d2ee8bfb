"""Episodes over HTTP: the human words of turns by topic, by place in the core document and by importance."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import invalid
from events.resources.turns import Episode, EpisodesPage, Explanation
from retrieval.episodes import PATH, TOPIC, EpisodeReader, Scored

_MOST = 50
_LONGEST = 200

_read = Reading("Cards unavailable")


class EpisodeParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """What the episodes are about. A parameter that is repeated, or has commas, names several."""

    topics: Annotated[list[str], Field(description="topics, such as stress or 血糖")] = []
    paths: list[str] = []
    """JSON Pointers into the core document, such as /healthProfile/conditions"""
    k: Annotated[int, Field(ge=1, le=100, description="the most episodes")] = 5
    project_id: Annotated[str | None, Field(description="only of this project")] = None


def episodes_router(reader: EpisodeReader) -> APIRouter:
    """Returns the route. Episodes out of the caller's reach do not exist for the caller."""
    router = routes_of("memory")

    @router.get(
        "/v1/memory/{user_id}/episodes", summary="The episodes about topics and places of the core document"
    )
    async def list_episodes(
        user_id: str, query: Annotated[EpisodeParams, Query()], caller: Reader
    ) -> EpisodesPage:
        owner = owner_of(caller, user_id)
        topics, paths = asked("topics", query.topics), asked("paths", query.paths)
        found = await _read(
            reader.best, owner, topics, paths, query.k, project_id=query.project_id, reach=caller.reach
        )
        return EpisodesPage(episodes=[shown(each) for each in found])

    return router


def asked(field: str, given: list[str]) -> list[str]:
    """Returns the distinct names in a repeated parameter with commas. Raises a 422 problem for names that cannot be."""
    names = list(
        dict.fromkeys(
            name.strip() for each in given for name in each.replace("，", ",").split(",") if name.strip()
        )
    )
    if len(names) > _MOST:
        raise invalid(field, f"are {len(names)}; name at most {_MOST}")
    for name in names:
        if len(name) > _LONGEST:
            raise invalid(field, f"has a name of {len(name)} characters; use at most {_LONGEST}")
        if field == "paths" and not name.startswith("/"):
            raise invalid(field, f"{name[:40]!r} is no JSON Pointer; begin it with /")
    return names


def shown(found: Scored) -> Episode:
    """Returns an episode as a resource, with the explanation of its score."""
    explanation = Explanation(
        topics=list(found.topics),
        paths=list(found.paths),
        topic_points=TOPIC * len(found.topics),
        path_points=PATH * len(found.paths),
        importance=found.importance,
    )
    return Episode.made_from(found.episode, score=found.score, explanation=explanation)
