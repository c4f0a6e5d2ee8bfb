"""What operators ask for over HTTP: the health of stages, work on generations and parked users, and dead letters."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import Annotated
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Path, Query
from psycopg.rows import dict_row
from pydantic import Field

from events.access.principal import Principal
from events.health.stage_health import Overview
from events.http.access import (
    Administrator,
    Reader,
    owner_of,
    require_everybody,
    require_no_limit,
    require_whole,
)
from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import ProblemError, invalid, missing
from events.http.fields import Name, Uuid, storable
from events.http.tokens import read_queue_key
from events.platform.database import see_tenant_of, statement
from events.platform.projections import ProjectionName
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, connect_redis
from events.resources.operating import DeadLetter as DeadLetterResource
from events.resources.operating import DeadLetters as DeadLettersResource
from events.resources.operating import Operation, OperationAction, SettledLetter
from events.resources.status import StageHealth, Stages
from events.types.envelope import uuid7
from events.types.tenancy import DEFAULT_TENANT, user_of
from events.types.turn_contract import FIELDS, TurnInvalidError
from ingest.api.transactions import IdempotencyKey, Transactions
from ingest.recording.dead_letters import DeadLetter, DeadLetters

_PACKAGE = "ingest.api"
_LONGEST = 2_000
_MOST_LOOKED_AT = 10_000
_WITHIN_S = 5
_Because = Annotated[str, *storable(500)]
LetterId = Annotated[str, Path(min_length=1, max_length=100, description="as listed")]


class OperationIn(Body, json_schema_extra={"examples": [{"action": "rebuild", "projection": "cards"}]}):
    """An operation. Retries and drops need a user, and the others concern everybody."""

    action: OperationAction
    projection: ProjectionName
    generation: Annotated[int | None, Field(ge=1, le=2**31 - 1)] = Field(
        None, description="the retired generation that is made live or dropped"
    )
    verify: bool = Field(
        False, description="rebuild: make the tables live only when they equal the live ones"
    )
    user_id: Name | None = Field(None, description="the parked user")
    event_id: Uuid | None = Field(None, description="the parked event that stands first and is dropped")
    because: _Because | None = Field(None, description="why the event is dropped")


class RetryIn(Body, json_schema_extra={"examples": [{"changes": {"timezone": "UTC"}}]}):
    """How a dead letter is corrected."""

    changes: dict[str, Annotated[str, Field(max_length=100_000)]] = Field(
        {}, description="fields of the turn to set first", max_length=len(FIELDS)
    )
    without: Annotated[list[Annotated[str, Field(max_length=512)]], Field(max_length=100)] = Field(
        [], description="fields to remove first"
    )


class DropIn(Body, json_schema_extra={"examples": [{"because": "a test"}]}):
    """Why a dead letter is dropped."""

    because: _Because = Field(description="the reason, which is recorded")


def operation_router(transactions: Transactions, settings: Settings) -> APIRouter:
    """Returns the routes. An operation is a row that a worker of its projection carries out once.

    A key acts on parked users and dead letters of its own tenant and users, and on generations only when it is of the
    default tenant without limits.
    """
    router = routes_of("operation", prefix="/v1")

    @router.post(
        "/operations", status_code=202, summary="Ask the workers for a rebuild, a swap, a retry or a drop"
    )
    def operate(
        body: OperationIn, caller: Administrator, idempotency_key: IdempotencyKey = None
    ) -> Operation:
        owner = _owner(body, caller)
        given = f"cardlog operation {caller.tenant} {caller.key_id} {idempotency_key}"
        asked = body.model_dump(exclude={"user_id"}) | {
            "operation_id": uuid7() if idempotency_key is None else uuid5(NAMESPACE_URL, given),
            "user_id": owner,
            "requested_by": caller.key_id,
        }
        with transactions.connection() as connection, connection.transaction():
            see_tenant_of(connection, owner)
            with connection.cursor(row_factory=dict_row) as cursor:
                meant = cursor.execute(statement(_PACKAGE, "operation_target"), asked).fetchone()
                assert meant is not None
                asked |= _target(body, meant)
                cursor.execute(statement(_PACKAGE, "request_operation"), asked)
                found = cursor.execute(statement(_PACKAGE, "requested_operation"), asked).fetchone()
        if found is None:
            raise ProblemError(503, "Operation unavailable", "the operation before has just ended; try again")
        same = ("action", "projection", "user_id", "verify", *(["generation"] if body.generation else []))
        if any(found[name] != asked[name] for name in same):
            raise ProblemError(
                409,
                "Operation open",
                f"{found['action']} of {found['projection']} is not done; wait until it is",
            )
        return Operation(**{**found, "user_id": user_of(owner) or None})

    @router.get("/dead-letters", summary="The turns that broke the contract, the oldest first")
    def list_dead_letters(
        caller: Administrator, limit: Annotated[int, Query(ge=1, le=200)] = 50
    ) -> DeadLettersResource:
        require_whole(caller)
        with _letters() as letters:
            looked_at = list(islice(letters, _MOST_LOOKED_AT + 1))
        found = [each for each in looked_at if _admits(caller, each)]
        return DeadLettersResource(
            letters=[_shown(each) for each in found[:limit]],
            more=len(found) > limit or len(looked_at) > _MOST_LOOKED_AT,
        )

    @router.post(
        "/dead-letters/{letter_id}/retry", summary="Push a dead letter again, corrected or unchanged"
    )
    def retry_dead_letter(letter_id: LetterId, body: RetryIn, caller: Administrator) -> SettledLetter:
        require_whole(caller)
        for name in body.changes:
            if name not in FIELDS:
                raise invalid("changes", f"{name!r} is not a field of a turn", allowed=list(FIELDS))
        with _letters() as letters:
            letter = _named(letters, letter_id, caller)
            key = None if letter.tenant == DEFAULT_TENANT else read_queue_key(settings)
            try:
                fields = letter.fields_to_retry(body.changes, frozenset(body.without), key)
            except TurnInvalidError as error:
                raise invalid(
                    "changes", f"the turn still breaks the contract: {error.field}: {error.reason}"
                ) from None
            owner_of(caller, fields[b"user_id"].decode(), thing="dead letter", field="letter_id")
            entry_id = letters.push_again(letter, fields)
        if entry_id is None:
            raise missing("dead letter", "letter_id")
        return SettledLetter(letter_id=letter.id, entry_id=entry_id)

    @router.post("/dead-letters/{letter_id}/drop", summary="Drop a dead letter, with the reason")
    def drop_dead_letter(letter_id: LetterId, body: DropIn, caller: Administrator) -> SettledLetter:
        require_whole(caller)
        with _letters() as letters:
            letter = _named(letters, letter_id, caller)
            if not letters.drop(letter, body.because):
                raise missing("dead letter", "letter_id")
        return SettledLetter(letter_id=letter.id, entry_id=None)

    @contextmanager
    def _letters() -> Iterator[DeadLetters]:
        try:
            with closing(
                connect_redis(settings.redis_url, socket_timeout=_WITHIN_S, socket_connect_timeout=_WITHIN_S)
            ) as queue:
                yield DeadLetters(queue, settings.turns_stream)
        except REDIS_AWAY as error:
            raise ProblemError(503, "Queue unavailable", f"redis is away: {type(error).__name__}") from error

    return router


def _owner(body: OperationIn, caller: Principal) -> str:
    """Returns the storage id of the parked user, or an empty text. Raises a problem for a request that does not fit."""
    of_user = body.action in ("retry_parked", "drop_parked")
    wanted = {
        "user_id": of_user,
        "event_id": body.action == "drop_parked",
        "because": body.action == "drop_parked",
        "generation": body.action in ("swap", "drop_generation"),
    }
    if not of_user:
        require_everybody(caller)
    for name, needed in wanted.items():
        if needed != (getattr(body, name) is not None):
            raise invalid(
                name, f"is required for {body.action}" if needed else f"does not belong to {body.action}"
            )
    if body.verify and body.action != "rebuild":
        raise invalid("verify", f"does not belong to {body.action}")
    if not of_user:
        return ""
    require_whole(caller)
    assert body.user_id is not None
    return owner_of(caller, body.user_id)


def _target(body: OperationIn, meant: dict[str, object]) -> dict[str, object]:
    """Returns the generation and the event that the operation is about. Raises a problem when there is none."""
    if body.user_id is not None:
        if meant["event_id"] is None or body.event_id not in (None, meant["event_id"]):
            raise missing("parked event", "user_id" if body.event_id is None else "event_id")
        return {"generation": None, "event_id": meant["event_id"]}
    if body.generation is None:
        return {"generation": meant["live"], "event_id": None}
    if meant["status"] != "retired":
        state = "does not exist" if meant["status"] is None else f"is {meant['status']}"
        raise invalid(
            "generation", f"generation {body.generation} of {body.projection} {state}; name a retired one"
        )
    return {"generation": body.generation, "event_id": None}


def _admits(caller: Principal, letter: DeadLetter) -> bool:
    user = letter.opened.get(b"user_id", b"").decode("utf-8", "replace")
    return letter.tenant == caller.tenant and (caller.users is None or user in caller.users)


def _named(letters: DeadLetters, letter_id: str, caller: Principal) -> DeadLetter:
    letter = letters.find(letter_id)
    if letter is None or not _admits(caller, letter):
        raise missing("dead letter", "letter_id")
    return letter


def _shown(letter: DeadLetter) -> DeadLetterResource:
    return DeadLetterResource(
        letter_id=letter.id,
        entry_id=letter.entry_id,
        pushed_at=letter.pushed_at,
        field=letter.field,
        reason=letter.reason,
        fields={_text(name): _text(value) for name, value in letter.opened.items()},
    )


def _text(value: bytes) -> str:
    return value[: 4 * _LONGEST].decode("utf-8", "backslashreplace")[:_LONGEST]


def status_router(look: Callable[[], Overview]) -> APIRouter:
    """Returns the route of the status. ``look`` returns the health of all stages now, in bounded time.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    """
    router = routes_of("operation", prefix="/v1")

    @router.get("/status", summary="The health and the lag of every stage")
    async def stages(caller: Reader) -> Stages:
        require_no_limit(caller)
        seen = await asyncio.to_thread(look)
        return Stages.made_from(seen, stages={each.name: StageHealth.made_from(each) for each in seen.stages})

    return router
