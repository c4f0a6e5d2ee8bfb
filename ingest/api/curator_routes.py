"""The commands of the curator over HTTP: run it for one user, undo a run, and retract an insight."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from events.curator import acts_of, all_keys, fold, runs_of, shown
from events.http.access import owner_of, require_whole
from events.http.answering import routes_of
from events.http.errors import ProblemError
from events.http.fields import Uuid, storable
from events.platform.database import Connection, see_tenant_of
from events.platform.settings import Settings
from events.resources.curator import WrittenCuratorRun, WrittenInsight
from ingest.api.transactions import OfUser, Sent, Transactions
from ingest.curator.asking import create_asker
from ingest.curator.curator_commands import UserInsights, UserRuns, retract, undo
from ingest.curator.runner import BehindError, curate


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
