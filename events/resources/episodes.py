"""Episodes: the human words of turns, found by topics and by places of the core document."""

from uuid import UUID

from pydantic import AwareDatetime

from events.resources.resource import Resource


class Explanation(Resource):
    """Why an episode has its score: 3 for each topic, 4 for each path, and the importance."""

    topics: list[str]
    paths: list[str]
    topic_points: int
    path_points: int
    importance: int


class Episode(Resource):
    """The words of a turn. ``related_paths`` are the places in the core document that its concepts touch."""

    card_id: UUID
    content: str
    occurred_at: AwareDatetime
    said_at: AwareDatetime
    speaker: str | None
    topics: list[str]
    sentiment: str | None
    importance: int | None
    related_paths: list[str]
    turn_ids: list[str]
    session_id: str
    project_id: str
    score: int
    explanation: Explanation


class EpisodesPage(Resource):
    """Episodes, the best score first."""

    episodes: list[Episode]
