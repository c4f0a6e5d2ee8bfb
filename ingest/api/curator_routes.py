"""The commands about what the curator did, and their routes: run it for one user, undo a run, and retract an insight.

A run is taken back by further events and tombstones.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.curator import Run, acts_of, all_keys, fold, runs_of, shown
from events.http.access import owner_of, require_whole
from events.http.answering import routes_of
from events.http.errors import ProblemError, missing
from events.http.fields import Uuid, storable
from events.insights import Insight, Insights, insights_of
from events.platform.database import Connection, see_tenant_of
from events.platform.settings import Settings
from events.resources.curator import WrittenCuratorRun, WrittenInsight
from events.store import asking
from events.store.asking import latest_events
from events.types.curation import ACTOR, CuratorUndone
from events.types.curation import STREAM as CURATOR
from events.types.envelope import Event, NewEvent, Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived, InsightRetracted
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.threads import STREAM as THREADS
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened
from ingest.api.transactions import OfUser, Sent, Transactions
from ingest.curator.asking import create_asker
from ingest.curator.runner import BehindError, curate
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
        [last] = latest_events(runs.connection, runs.owner, act.stream, 1)
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


class CurateIn(OfUser):
    """Whose memory is curated."""

    dry_run: Annotated[bool, Field(description="only tell what would be added")] = False


class UndoRunIn(OfUser):
    """Why a run is undone."""

    reason: Annotated[str, *storable(1000)] = Field(description="why, for whoever asks later")


def curator_router(transactions: Transactions, settings: Settings) -> APIRouter:
    """Returns the routes. A run of another user gives the same 404 as none.

    Only the worker asks a model, because a call could hold a connection of this service for a minute.
    """
    router = routes_of("curator")

    @router.post("/v1/curator/runs", summary="Curate the memory of a user now")
    def run_curator(body: CurateIn, sender: Sent) -> WrittenCuratorRun:
        require_whole(sender.caller)
        owner = owner_of(sender.caller, body.user_id)
        try:
            with transactions.connection() as connection:
                transactions.sealer(connection)
                asker = create_asker(settings) if body.dry_run else None
                ran = curate(connection, owner, dry_run=body.dry_run, asker=asker)
                with connection.transaction():
                    see_tenant_of(connection, owner)
                    runs = fold(runs_of(connection, owner))
        except BehindError as error:
            raise ProblemError(503, "Tables behind", f"{error}; try again") from error
        run = runs.get(ran.events[0].event_id) if ran.events and not body.dry_run else None
        answer = shown(run, [(each.event_id, each.payload) for each in ran.events], ran.asked)
        token = transactions.token(owner, 0 if run is None else run.position + len(ran.events) - 1)
        return WrittenCuratorRun(**dict(answer), token=token)

    @router.post("/v1/curator/runs/{run_id}/undo", summary="Take back what a run of the curator added")
    def undo_run(run_id: Uuid, body: UndoRunIn, sender: Sent) -> WrittenCuratorRun:
        require_whole(sender.caller)
        command = sender.command(body.user_id, "run")

        def run(connection: Connection) -> WrittenCuratorRun:
            outcome = undo(UserRuns(connection, command, run_id), body.reason)
            acts = acts_of(connection, command.owner, all_keys(outcome.state))
            answer = shown(outcome.state, [(act.event_id, act.payload) for act in acts])
            token = transactions.token(command.owner, outcome.position)
            return WrittenCuratorRun(**dict(answer), token=token)

        return transactions.run(command.owner, run)

    return router


class InsightRetractIn(UndoRunIn):
    """Why an insight is wrong."""


def insight_router(transactions: Transactions) -> APIRouter:
    """Returns the route. An insight of another user or out of reach gives the same 404 as none."""
    router = routes_of("insights")

    @router.post(
        "/v1/insights/{insight_id}/retract", summary="Retract an insight, so it is not derived again"
    )
    def retract_insight(insight_id: Uuid, body: InsightRetractIn, sender: Sent) -> WrittenInsight:
        command = sender.command(body.user_id, "insight")
        return transactions.written(
            WrittenInsight, command, lambda c: retract(UserInsights(c, command, insight_id), body.reason)
        )

    return router
