"""Proposals over HTTP: accept or refuse an op or a retraction that prose asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

import psycopg
from fastapi import APIRouter
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from events.http.database import problem_of
from events.http.service import JSONResponse
from events.http.uuids import Uuid
from events.references.document import ReferenceOut, reference_document
from events.store.log import Connection
from ingest.api.command_routes import Name, Words
from ingest.api.commands import commanding
from ingest.references import proposals


class AcceptIn(BaseModel):
    """Applies a proposal."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose proposal this is")


class RefuseIn(AcceptIn):
    """Refuses a proposal."""

    reason: Words | None = None


class Refused(BaseModel):
    """The proposal is refused."""

    proposal_id: UUID
    status: str


class Retracted(BaseModel):
    """The card of the proposal is retracted. ``events`` counts the statements and episodes that were withdrawn."""

    proposal_id: UUID
    status: Literal["accepted"]
    card_id: UUID
    events: int


def proposal_router(pool: ConnectionPool[Connection]) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["references"])

    @router.post(
        "/v1/proposals/{proposal_id}/accept",
        response_model=ReferenceOut | Retracted,
        summary="Apply an op that prose asked for",
        operation_id="accept_proposal",
    )
    def accept(proposal_id: Uuid, body: AcceptIn, caller: Writer) -> JSONResponse:
        owner = _mine(caller, body.user_id)
        with connected(owner) as connection:
            outcome = proposals.accept(
                connection, owner, proposal_id, by=body.user_id, at=datetime.now(UTC), reach=caller.reach
            )
        if isinstance(outcome, proposals.Retraction):
            return JSONResponse(
                {
                    "proposal_id": proposal_id,
                    "status": "accepted",
                    "card_id": outcome.card_id,
                    "events": outcome.events,
                }
            )
        return JSONResponse(reference_document(outcome.reference))

    @router.post(
        "/v1/proposals/{proposal_id}/refuse",
        response_model=Refused,
        summary="Refuse an op that prose asked for",
        operation_id="refuse_proposal",
    )
    def refuse(proposal_id: Uuid, body: RefuseIn, caller: Writer) -> JSONResponse:
        owner = _mine(caller, body.user_id)
        with connected(owner) as connection:
            proposals.refuse(
                connection,
                owner,
                proposal_id,
                by=body.user_id,
                reason=body.reason,
                at=datetime.now(UTC),
                reach=caller.reach,
            )
        return JSONResponse({"proposal_id": proposal_id, "status": "refused"})

    @contextmanager
    def connected(owner: str) -> Iterator[Connection]:
        try:
            with pool.connection(timeout=2.0) as connection, commanding(connection, owner):
                yield connection
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error

    return router


def _mine(caller: Principal, user_id: str) -> str:
    return owner_of(caller, user_id, thing="proposal", field="proposal_id")
