"""Commands over HTTP: verdicts, relations, verifications."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import psycopg
from fastapi import APIRouter
from psycopg_pool import ConnectionPool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from events.http.database import problem_of
from events.http.instants import Instant, refuse_future
from events.http.service import JSONResponse
from events.http.tokens import Keyring, Sealer
from events.platform.sql import statement
from events.store.log import Connection
from events.types.relations import CardsConnected, Predicate
from events.types.turn_contract import MAX_NAME_BYTES, MAX_TEXT_BYTES, TurnInvalidError, text_of
from events.types.verdicts import ConflictRuled, Verdict
from ingest.api import commands
from ingest.api.commands import CommandResult


def _storable(longest: int) -> AfterValidator:
    def check(text: str) -> str:
        if not text.strip():
            raise ValueError("must not be empty")
        if len(text.encode("utf-8", "surrogatepass")) > longest:
            raise ValueError(f"is longer than {longest} bytes")
        try:
            return text_of("", text)
        except TurnInvalidError as error:
            raise ValueError(error.reason) from None

    return AfterValidator(check)


def _described(longest: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "minLength": 1, "maxLength": longest, "pattern": r"\S"})


Name = Annotated[str, _storable(MAX_NAME_BYTES), _described(MAX_NAME_BYTES)]
Words = Annotated[str, _storable(MAX_TEXT_BYTES), _described(MAX_TEXT_BYTES)]


class VerdictIn(BaseModel):
    """How a conflict is to be settled: the old fact stays, the new one takes its place, or both are true."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    verdict: Verdict
    reason: Annotated[Words, Field(description="why, for whoever asks later")] = "no reason given"
    by: Annotated[Name, Field(description="who decided")] = "user"


class RelationIn(BaseModel):
    """``from_card`` stands in relation to ``to_card``: the newer to the older, the finer to the coarser."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    from_card: UUID
    to_card: UUID
    predicate: Predicate
    reason: Words = Field(description="why, for whoever asks later")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    agent_id: Annotated[Name | None, Field(description="the agent that says so")] = None


class VerifyIn(BaseModel):
    """Somebody confirms that a card is still right."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    by: Annotated[Name, Field(description="who confirms")] = "user"
    note: Words | None = None
    verified_at: Annotated[Instant | None, Field(description="when it was confirmed; else now")] = None
    request_id: Annotated[Name | None, Field(description="idempotency key; else the instant is")] = None


class Accepted(BaseModel):
    """The event is in the log. ``duplicate``: it was before, and was not appended again."""

    event_id: UUID
    partition: int
    position: int
    recorded_at: datetime
    duplicate: bool
    token: str = Field(description="give it to wait_for to read cards that hold it")


def command_router(pool: ConnectionPool[Connection], keyring: Keyring) -> APIRouter:
    """The routes; ``pool`` gives connections in autocommit mode. 503 while Postgres is away."""
    router = APIRouter()

    @router.post(
        "/v1/arbitrations/{arbitration_id}/verdict",
        status_code=202,
        response_model=Accepted,
        responses={409: {"description": "it is settled, or was said, otherwise"}},
        summary="Settle a conflict",
        operation_id="settle_arbitration",
        tags=["arbitrations"],
    )
    def verdict(arbitration_id: UUID, body: VerdictIn) -> JSONResponse:
        ruled = ConflictRuled(
            arbitration_id=arbitration_id, verdict=body.verdict, reason=body.reason, by=body.by
        )
        return said(body.user_id, lambda c: commands.rule(c, body.user_id, ruled, now=datetime.now(UTC)))

    @router.post(
        "/v1/relations",
        status_code=202,
        response_model=Accepted,
        summary="Relate two cards; additive, nothing is changed or lost",
        operation_id="relate_cards",
        tags=["cards"],
    )
    def relate(body: RelationIn) -> JSONResponse:
        connected = CardsConnected(
            from_card=body.from_card,
            to_card=body.to_card,
            predicate=body.predicate,
            reason=body.reason,
            confidence=body.confidence,
        )
        actor = f"agent/{body.agent_id}" if body.agent_id else "api"
        return said(
            body.user_id,
            lambda c: commands.connect(c, body.user_id, connected, actor=actor, now=datetime.now(UTC)),
        )

    @router.post(
        "/v1/cards/{card_id}/verify",
        status_code=202,
        response_model=Accepted,
        summary="Confirm that a card is still right",
        operation_id="verify_card",
        tags=["cards"],
    )
    def verify(card_id: UUID, body: VerifyIn) -> JSONResponse:
        now = datetime.now(UTC)
        refuse_future("verified_at", body.verified_at, now)
        return said(
            body.user_id,
            lambda c: commands.verify(
                c,
                body.user_id,
                card_id,
                by=body.by,
                note=body.note,
                verified_at=body.verified_at or now,
                request_id=body.request_id,
            ),
        )

    def said(user_id: str, say: Callable[[Connection], CommandResult]) -> JSONResponse:
        try:
            with pool.connection(timeout=2.0) as connection:
                sealer = keyring.sealer or learned(connection)
                found = say(connection)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        return JSONResponse(document_of(user_id, found, sealer), status_code=202)

    def learned(connection: Connection) -> Sealer:
        row = connection.execute(statement("events.http", "token_key")).fetchone()
        assert row is not None
        return keyring.learn(row[0])

    return router


def document_of(user_id: str, said: CommandResult, sealer: Sealer) -> dict[str, Any]:
    """What a command is answered with."""
    return {
        "event_id": said.event_id,
        "partition": said.partition,
        "position": said.position,
        "recorded_at": said.recorded_at,
        "duplicate": said.duplicate,
        "token": sealer.seal({user_id: said.position}),
    }
