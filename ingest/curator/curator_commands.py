"""The commands on what the curator did: take a run back, by further events and tombstones, and retract an insight."""

from uuid import UUID

from events.curator import Run, acts_of, all_keys, fold, runs_of
from events.http.errors import missing
from events.insights import Insight, Insights, insights_of
from events.store import asking
from events.store.asking import events_below
from events.types.curation import ACTOR, CuratorUndone
from events.types.curation import STREAM as CURATOR
from events.types.envelope import Event, NewEvent, Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived, InsightRetracted
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.threads import STREAM as THREADS
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened
from ingest.decider import Decision, Outcome, UserStream, decide


class UserRuns(UserStream[dict[UUID, Run], Run]):
    """The runs of a user, of which a command undoes one."""

    name = CURATOR

    def hold(self) -> None:
        super().hold()
        asking.lock(self.connection, self.owner, THREADS)

    def load(self) -> dict[UUID, Run]:
        return fold(runs_of(self.connection, self.owner))

    def present(self, state: dict[UUID, Run], event: Event | None = None) -> Run:
        if self.id not in state:
            raise missing("run", "run_id")
        return state[self.id]


def undo(runs: UserRuns, reason: str) -> Outcome[Run]:
    """Takes back what a run added. A run that was undone stays undone. Raises a 404 problem for an unknown run.

    A relation that somebody else stated again meanwhile stays, and so does a card that the user put into a thread.
    """

    def rule(known: dict[UUID, Run]) -> Decision | None:
        run = runs.present(known)
        if run.undone_at is not None:
            return None
        undone = CuratorUndone(run_id=run.run_id, digests=run.ran.digests, reason=reason)
        acts = acts_of(runs.connection, runs.owner, all_keys(run))
        concluded = insights_of(runs.connection, runs.owner)
        after = [back for act in acts if (back := _taken_back(runs, act, concluded, reason)) is not None]
        return Decision(payload=undone, key=f"curator/undone/{run.run_id}", after=after)

    return decide(runs, rule)


def _taken_back(runs: UserRuns, act: Event, concluded: Insights, reason: str) -> NewEvent | None:
    payload = act.payload
    back: Payload | None = None
    if isinstance(payload, CardsConnected):
        [last] = events_below(runs.connection, runs.owner, act.stream, None, 1)
        if last.actor == ACTOR and isinstance(last.payload, CardsConnected):
            back = ConnectionWithdrawn(
                from_card=payload.from_card,
                to_card=payload.to_card,
                predicate=payload.predicate,
                reason=reason,
            )
    elif isinstance(payload, CardsThreaded):
        back = CardsUnthreaded(thread_id=payload.thread_id, card_ids=payload.card_ids, reason=reason)
    elif isinstance(payload, InsightDerived):
        insight = concluded.get(act.event_id)
        back = None if insight is None else retraction(insight, reason)
    elif isinstance(payload, ThreadOpened):
        back = ThreadClosed(thread_id=act.event_id, reason=reason)
    return None if back is None else runs.command.event(act.stream, back)


class UserInsights(UserStream[Insights, Insight]):
    """The insights of a user, of which a command retracts one."""

    name = INSIGHTS

    def hold(self) -> None:
        asking.lock(self.connection, self.owner, CURATOR)

    def load(self) -> Insights:
        return insights_of(self.connection, self.owner)

    def present(self, state: Insights, event: Event | None = None) -> Insight:
        found = state.get(self.id)
        if found is None or not self.command.reach.admits(found.project_id, found.mode):
            raise missing("insight", "insight_id")
        return found


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
