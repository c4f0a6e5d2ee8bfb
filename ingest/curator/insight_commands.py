"""The command that retracts an insight. Nobody concludes it from the same cards again."""

from __future__ import annotations

from uuid import UUID

from events.http.errors import missing
from events.insights import Insight, Insights, insights_of
from events.platform.database import Connection
from events.store import asking
from events.types.codec import Payload
from events.types.curation import STREAM as CURATOR
from events.types.envelope import Event
from events.types.insights import STREAM, InsightRetracted
from ingest.decider import Command, Outcome, UserStream, decide


class UserInsights(UserStream[Insights, Insight]):
    """The insights of a user, of which a command retracts the one with ``insight_id``."""

    name = STREAM

    def __init__(self, connection: Connection, owner: str, command: Command, insight_id: UUID) -> None:
        super().__init__(connection, owner, command)
        self.insight_id = insight_id

    def hold(self) -> None:
        asking.lock(self.connection, self.owner, CURATOR)

    def load(self) -> Insights:
        return insights_of(self.connection, self.owner)

    def present(self, state: Insights) -> Insight:
        """Returns the insight. Raises a 404 problem when the user has none in reach."""
        found = state.get(self.insight_id)
        if found is None or not self.command.reach.admits(found.project_id, found.mode):
            raise missing("insight", "insight_id")
        return found

    def answer(self, state: Insights, event: Event | None) -> Insight:
        return self.present(state if event is None else self.load())

    def first_answer(self, event: Event) -> Insight:
        return self.present(self.load())

    def position(self, state: Insights) -> int:
        return self.present(state).position


def retract(insights: UserInsights, reason: str) -> Outcome[Insight]:
    """Retracts an insight. A retracted one stays as it is."""

    def rule(known: Insights) -> Payload | None:
        insight = insights.present(known)
        return None if insight.status == "retracted" else retraction(insight, reason)

    return decide(insights, rule)


def retraction(insight: Insight, reason: str) -> InsightRetracted:
    """Returns the event that retracts an insight."""
    return InsightRetracted(
        insight_id=insight.insight_id, digest=insight.digest, sources=insight.sources, reason=reason
    )
