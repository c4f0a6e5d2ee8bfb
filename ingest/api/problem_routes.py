"""The commands of active problems over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import psycopg
from fastapi import APIRouter
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from events.http.database import problem_of
from events.http.instants import Instant, refuse_future
from events.http.service import JSONResponse
from events.http.tokens import Keyring
from events.http.uuids import Uuid
from events.problems.rows import document_of
from events.store.log import Connection
from ingest.api.command_routes import Name, storable
from ingest.api.commands import commanding, load_sealer
from ingest.api.reference_routes import IdempotencyKey
from ingest.problems import problem_commands
from ingest.problems.problem_commands import Command, Outcome

Short = Annotated[str, *storable(1000)]
Long = Annotated[str, *storable(4000)]
Priority = Annotated[int, Field(ge=1, le=10, description="1: a trifle, 10: urgent")]


class _Sent(BaseModel):
    """Who sends a command."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None
    turn_ids: Annotated[list[Name], Field(max_length=100, description="the turns that tell it")] = []


class ProblemIn(_Sent):
    """A new problem."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"description": "Post-dinner glucose spikes", "priority": 8}]},
    )

    description: Short = Field(description="what troubles the user, in a few words")
    priority: Annotated[Priority | None, Field(description="1: a trifle, 10: urgent; 5 unless given")] = None
    project_id: Name = "default"
    mode: Annotated[Name | None, Field(description="the mode, such as journal")] = None


class AttemptIn(_Sent):
    """Something that the user tried."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"approach": "Walking after dinner", "outcome": "20-30 point reduction", "successful": True}
            ]
        },
    )

    approach: Short = Field(description="what was tried; the same approach again updates its outcome")
    outcome: Annotated[Short | None, Field(description="what came of it")] = None
    successful: Annotated[bool | None, Field(description="null while nobody knows")] = None
    date: Annotated[Instant | None, Field(description="when it was tried; else now")] = None


class CloseIn(_Sent):
    """The problem is over."""

    resolution: Annotated[Long | None, Field(description="how it ended")] = None


class ReopenIn(_Sent):
    """The problem is back."""

    reason: Long | None = None


class PriorityIn(_Sent):
    """Another priority."""

    priority: Priority
    reason: Long | None = None


class AttemptOut(BaseModel):
    """An attempt. ``successful`` is null while nobody knows."""

    attempt_id: UUID
    date: datetime
    approach: str
    outcome: str | None
    successful: bool | None
    turn_ids: list[str]


class ProblemOut(BaseModel):
    """A problem after a command."""

    problem_id: UUID
    project_id: str
    mode: str | None
    description: str
    status: str
    priority: int
    attempts: list[AttemptOut]
    opened_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    resolution: str | None
    turn_ids: list[str]
    version: int
    token: str = Field(description="give the token to wait_for of a recall to find the problem there")


def problem_router(pool: ConnectionPool[Connection], keyring: Keyring) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["problems"])

    @router.post(
        "/v1/memory/{user_id}/problems",
        status_code=201,
        response_model=ProblemOut,
        summary="Open a problem",
        operation_id="open_problem",
    )
    def open_problem(
        user_id: str, body: ProblemIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = owner_of(caller, user_id)
        return answer(
            caller,
            user_id,
            owner,
            body,
            idempotency_key,
            lambda connection, command: problem_commands.open_problem(
                connection, owner, body.description, body.priority, body.project_id, body.mode, command
            ),
            status=201,
        )

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/attempt",
        response_model=ProblemOut,
        summary="Record what was tried against a problem",
        operation_id="attempt_problem",
    )
    def attempt(
        user_id: str,
        problem_id: Uuid,
        body: AttemptIn,
        caller: Writer,
        idempotency_key: IdempotencyKey = None,
    ) -> JSONResponse:
        owner, now = _mine(caller, user_id), datetime.now(UTC)
        refuse_future("date", body.date, now)
        tried = {"approach": body.approach, "outcome": body.outcome, "successful": body.successful}
        return answer(
            caller,
            user_id,
            owner,
            body,
            idempotency_key,
            lambda connection, command: problem_commands.attempt(
                connection, owner, problem_id, tried, body.date or now, command
            ),
        )

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/close",
        response_model=ProblemOut,
        summary="Close a problem",
        operation_id="close_problem",
    )
    def close(
        user_id: str, problem_id: Uuid, body: CloseIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = _mine(caller, user_id)
        return answer(
            caller,
            user_id,
            owner,
            body,
            idempotency_key,
            lambda connection, command: problem_commands.close(
                connection, owner, problem_id, body.resolution, command
            ),
        )

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/reopen",
        response_model=ProblemOut,
        summary="Open a closed problem again",
        operation_id="reopen_problem",
    )
    def reopen(
        user_id: str, problem_id: Uuid, body: ReopenIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = _mine(caller, user_id)
        return answer(
            caller,
            user_id,
            owner,
            body,
            idempotency_key,
            lambda connection, command: problem_commands.reopen(
                connection, owner, problem_id, body.reason, command
            ),
        )

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/priority",
        response_model=ProblemOut,
        summary="Give a problem another priority",
        operation_id="prioritize_problem",
    )
    def prioritize(
        user_id: str,
        problem_id: Uuid,
        body: PriorityIn,
        caller: Writer,
        idempotency_key: IdempotencyKey = None,
    ) -> JSONResponse:
        owner = _mine(caller, user_id)
        return answer(
            caller,
            user_id,
            owner,
            body,
            idempotency_key,
            lambda connection, command: problem_commands.prioritize(
                connection, owner, problem_id, body.priority, body.reason, command
            ),
        )

    def answer(
        caller: Principal,
        user_id: str,
        owner: str,
        body: _Sent,
        idempotency_key: str | None,
        run: Callable[[Connection, Command], Outcome],
        *,
        status: int = 200,
    ) -> JSONResponse:
        command = Command(
            actor=f"agent/{body.agent_id}" if body.agent_id else f"user/{user_id}",
            at=datetime.now(UTC),
            agent_id=body.agent_id,
            turn_ids=tuple(body.turn_ids),
            idempotency_key=idempotency_key,
            reach=caller.reach,
        )
        try:
            with pool.connection(timeout=2.0) as connection, commanding(connection, owner):
                outcome = run(connection, command)
                sealer = keyring.sealer or load_sealer(connection, keyring)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        token = sealer.seal({owner: outcome.position})
        return JSONResponse(document_of(outcome.problem) | {"token": token}, status_code=status)

    return router


def _mine(caller: Principal, user_id: str) -> str:
    return owner_of(caller, user_id, thing="problem", field="problem_id")
