"""``cardlog episodes``: the human words of turns about topics and places of the core document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from cardlog_client import Client
from deploy.options import Answer, Flat, Given, OfUser, between

if TYPE_CHECKING:
    from cardlog_client import types


@dataclass(frozen=True, kw_only=True)
class Options(OfUser):
    """The options of the verb."""

    user: Annotated[str, Parameter(help="whose episodes are meant")]
    topics: Annotated[str, Parameter(metavar="A,B", help="topics, such as stress,yoga")] = ""
    paths: Annotated[str, Parameter(metavar="/A,/B", help="places, such as /healthProfile/conditions")] = ""
    project: Annotated[str | None, Parameter(help="only of this project")] = None
    k: Annotated[int, Parameter(name=["--k", "-k"], validator=between(1, 100), help="the most episodes")] = 5


def episodes(*, options: Flat[Options], client: Given[Client]) -> Answer:
    """List the episodes of a user with the best scores: 3 a topic, 4 a path, and the importance."""
    found = client.episodes(
        options.user, topics=options.topics, paths=options.paths, project_id=options.project, k=options.k
    )["episodes"]
    lines = [line for each in found for line in _lines(each)]
    return Answer(found, lines or [f"{options.user} has no episodes"])


def _lines(episode: types.Episode) -> Iterator[str]:
    yield f"{episode['score']:>3}  {episode['said_at'][:10]}  {episode['content'][:100]}"
    explained = episode["explanation"]
    parts = [f"importance {explained['importance']}"]
    for kind, named, points in (
        ("topic", explained["topics"], explained["topic_points"]),
        ("path", explained["paths"], explained["path_points"]),
    ):
        parts += [f"{kind} {each} +{points // len(named)}" for each in named]
    yield f"     {', '.join(parts)}"
