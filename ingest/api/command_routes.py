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

from events.http.access import Writer, owner_of
from events.http.database import problem_of
from events.http.instants import Instant, refuse_future
from events.http.service import JSONResponse
from events.http.tokens import Keyring, Sealer
from events.http.uuids import Uuid
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


def storable(longest: int) -> tuple[AfterValidator, WithJsonSchema]:
    """Returns the annotations of a text that the log can hold, with at most ``longest`` bytes."""
    return _storable(longest), _described(longest)


Name = Annotated[str, _storable(MAX_NAME_BYTES), _described(MAX_NAME_BYTES)]
Words = Annotated[str, _storable(MAX_TEXT_BYTES), _described(MAX_TEXT_BYTES)]


class VerdictIn(BaseModel):
    """The verdict on a conflict: the old fact stays, the new fact replaces it, or both facts are true."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    verdict: Verdict
    reason: Annotated[Words, Field(description="why, for whoever asks later")] = "no reason given"
    by: Annotated[Name, Field(description="who decided")] = "user"


class RelationIn(BaseModel):
    """A relation from ``from_card`` to ``to_card``: from the newer to the older card, or the finer to the coarser."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    from_card: Uuid
    to_card: Uuid
    predicate: Predicate
    reason: Words = Field(description="why, for whoever asks later")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    agent_id: Annotated[Name | None, Field(description="the agent that says so")] = None


class VerifyIn(BaseModel):
    """The confirmation by a person or an agent that a card is still right."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    by: Annotated[Name, Field(description="who confirms")] = "user"
    note: Words | None = None
    verified_at: Annotated[Instant | None, Field(description="when it was confirmed; else now")] = None
    request_id: Annotated[Name | None, Field(description="idempotency key; else the instant is")] = None


class Accepted(BaseModel):
    """The event is in the log. ``duplicate`` is true when an earlier request already appended it."""

    event_id: UUID
    partition: int
    position: int
    recorded_at: datetime
    duplicate: bool
    token: str = Field(description="give the token to wait_for to read cards that include this event")


def command_router(pool: ConnectionPool[Connection], keyring: Keyring) -> APIRouter:
    """Returns the routes of the commands. They answer 503 while Postgres is away.

    The connections of ``pool`` must be in autocommit mode.
    """
    router = APIRouter()

    @router.post(
        "/v1/arbitrations/{arbitration_id}/verdict",
        status_code=202,
        response_model=Accepted,
        summary="Settle a conflict",
        operation_id="settle_arbitration",
        tags=["arbitrations"],
    )
    def verdict(arbitration_id: Uuid, body: VerdictIn, caller: Writer) -> JSONResponse:
        owner = owner_of(caller, body.user_id, thing="arbitration", field="arbitration_id")
        ruled = ConflictRuled(
            arbitration_id=arbitration_id, verdict=body.verdict, reason=body.reason, by=body.by
        )
        return answer(
            owner, lambda c: commands.rule(c, owner, ruled, now=datetime.now(UTC), reach=caller.reach)
        )

    @router.post(
        "/v1/relations",
        status_code=202,
        response_model=Accepted,
        summary="Relate two cards; additive, nothing is changed or lost",
        operation_id="relate_cards",
        tags=["cards"],
    )
    def relate(body: RelationIn, caller: Writer) -> JSONResponse:
        owner = owner_of(caller, body.user_id, thing="card", field="from_card")
        connected = CardsConnected(
            from_card=body.from_card,
            to_card=body.to_card,
            predicate=body.predicate,
            reason=body.reason,
            confidence=body.confidence,
        )
        actor = f"agent/{body.agent_id}" if body.agent_id else "api"
        return answer(
            owner,
            lambda c: commands.connect(
                c, owner, connected, actor=actor, now=datetime.now(UTC), reach=caller.reach
            ),
        )

    @router.post(
        "/v1/cards/{card_id}/verify",
        status_code=202,
        response_model=Accepted,
        summary="Confirm that a card is still right",
        operation_id="verify_card",
        tags=["cards"],
    )
    def verify(card_id: Uuid, body: VerifyIn, caller: Writer) -> JSONResponse:
        owner = owner_of(caller, body.user_id, thing="card", field="card_id")
        now = datetime.now(UTC)
        refuse_future("verified_at", body.verified_at, now)
        return answer(
            owner,
            lambda c: commands.verify(
                c,
                owner,
                card_id,
                by=body.by,
                note=body.note,
                verified_at=body.verified_at or now,
                request_id=body.request_id,
                reach=caller.reach,
            ),
        )

    def answer(user_id: str, command: Callable[[Connection], CommandResult]) -> JSONResponse:
        try:
            with pool.connection(timeout=2.0) as connection:
                sealer = keyring.sealer or commands.load_sealer(connection, keyring)
                with commands.commanding(connection, user_id):
                    result = command(connection)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        return JSONResponse(document_of(user_id, result, sealer), status_code=202)

    return router


def document_of(user_id: str, result: CommandResult, sealer: Sealer) -> dict[str, Any]:
    """Returns the JSON answer to a command, with a token for read your own writes."""
    return {
        "event_id": result.event_id,
        "partition": result.partition,
        "position": result.position,
        "recorded_at": result.recorded_at,
        "duplicate": result.duplicate,
        "token": sealer.seal({user_id: result.position}),
    }
