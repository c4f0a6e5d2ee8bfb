"""The events of insights: what the curator concludes from several cards. All insights of a user are in one stream."""

from typing import Literal
from uuid import UUID

from events.types.codec import event_type

STREAM = "insights"
InsightKind = Literal["pattern", "consolidated"]


@event_type(version=1)
class InsightDerived:
    """The cards ``sources`` of one project and mode say ``content`` together. The id of the event is its id.

    ``theme`` is what the sources have in common. A pattern is one thing that recurs. A consolidated insight holds the
    words of several cards of one theme.
    """

    content: str
    kind: InsightKind
    theme: str
    project_id: str
    sources: tuple[UUID, ...]
    reason: str
    mode: str | None = None
    confidence: float = 1.0


@event_type(version=1)
class InsightRetracted:
    """An insight is refused. Nobody concludes the same ``digest`` from these ``sources`` again."""

    insight_id: UUID
    digest: str
    sources: tuple[UUID, ...]
    reason: str
