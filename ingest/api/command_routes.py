"""Commands over HTTP: verdicts, relations, verifications, corrections, retractions, states of sessions."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from events.http.access import Writer, owner_of
from events.http.answering import routes_of
from events.http.errors import invalid, missing
from events.http.fields import Instant, Name, Uuid, Words, refuse_future
from events.platform.database import Connection
from events.references.kinds.kind import ReferenceInvalidError, check_size
from events.resources.cards import Accepted
from events.types.envelope import Payload, uuid7
from events.types.relations import CardsConnected, Predicate
from events.types.sessions import SessionCheckpointed, checkpoint_stream
from events.types.verdicts import ConflictRuled, Verdict
from ingest.api import commands, corrections
from ingest.api.corrections import Correction
from ingest.api.transactions import ByAgent, OfUser, Sender, Sent, Transactions
from ingest.decider import OF_THE_USER, Command, Keyed, Outcome, decide


class VerdictIn(OfUser):
    """The verdict on a conflict: the old fact stays, the new fact replaces it, or both facts are true."""

    verdict: Verdict
    reason: Annotated[Words, Field(description="why, for whoever asks later")] = "no reason given"
    by: Annotated[Name, Field(description="who decided")] = "user"


class RelationIn(ByAgent, OfUser):
    """A relation from ``from_card`` to ``to_card``: from the newer to the older card, or the finer to the coarser."""

    from_card: Uuid
    to_card: Uuid
    predicate: Predicate
    reason: Words = Field(description="why, for whoever asks later")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class WithdrawIn(ByAgent, OfUser):
    """A relation that no longer holds, or a withdrawn relation that holds again."""

    reason: Words = Field(description="why, for whoever asks later")


class _TakenBackIn(ByAgent, OfUser):
    """A card that is taken back."""

    reason: Annotated[Words, Field(description="why, for whoever asks later")] = "no reason given"
    agent_id: Annotated[
        Name | None, Field(description="the agent that says so; it takes back nothing that the user stated")
    ] = None


class CorrectIn(_TakenBackIn):
    """What is right in the place of a card. ``value``, ``content`` or both are given."""

    value: Annotated[Words | None, Field(description="the right value of a fact, such as Milan")] = None
    content: Annotated[
        Words | None, Field(description="the right words; else those of the card with the new value")
    ] = None


class RetractIn(_TakenBackIn):
    """A card that was never true."""


class VerifyIn(OfUser):
    """The confirmation by a person or an agent that a card is still right."""

    by: Annotated[Name, Field(description="who confirms")] = "user"
    note: Words | None = None
    verified_at: Annotated[Instant | None, Field(description="when it was confirmed; else now")] = None
    request_id: Annotated[Name | None, Field(description="idempotency key; else the instant is")] = None


def command_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of the commands."""
    router = routes_of()

    @router.post(
        "/v1/arbitrations/{arbitration_id}/verdict",
        status_code=202,
        summary="Settle a conflict",
        tags=["arbitrations"],
    )
    def settle_arbitration(arbitration_id: Uuid, body: VerdictIn, caller: Writer) -> Accepted:
        owner = owner_of(caller, body.user_id, thing="arbitration", field="arbitration_id")
        ruled = ConflictRuled(
            arbitration_id=arbitration_id, verdict=body.verdict, reason=body.reason, by=body.by
        )
        command = Sender(caller).command(body.by)
        return accepted(transactions, owner, lambda c: commands.rule(c, owner, ruled, command))

    @router.post(
        "/v1/relations",
        status_code=202,
        summary="Relate two cards; additive, nothing is changed or lost",
        tags=["cards"],
    )
    def relate_cards(body: RelationIn, caller: Writer) -> Accepted:
        owner = owner_of(caller, body.user_id, thing="card", field="from_card")
        connected = CardsConnected(**body.model_dump(exclude={"user_id", "agent_id"}))
        command = _command(Sender(caller), body)
        return accepted(transactions, owner, lambda c: commands.relate(c, owner, connected, command))

    @router.post(
        "/v1/relations/{relation_id}/withdraw",
        status_code=202,
        summary="Take a relation back, or a withdrawal; both stay in the log",
        tags=["cards"],
    )
    def withdraw_relation(relation_id: Uuid, body: WithdrawIn, caller: Writer) -> Accepted:
        owner = owner_of(caller, body.user_id, thing="relation", field="relation_id")
        command = _command(Sender(caller), body)
        return accepted(
            transactions, owner, lambda c: commands.withdraw(c, owner, relation_id, body.reason, command)
        )

    @router.post(
        "/v1/cards/{card_id}/verify",
        status_code=202,
        summary="Confirm that a card is still right",
        tags=["cards"],
    )
    def verify_card(card_id: Uuid, body: VerifyIn, caller: Writer) -> Accepted:
        owner = owner_of(caller, body.user_id, thing="card", field="card_id")
        now = datetime.now(UTC)
        refuse_future("verified_at", body.verified_at, now)
        command = replace(Sender(caller, body.request_id).command(body.by), at=body.verified_at or now)
        return accepted(transactions, owner, lambda c: commands.verify(c, owner, card_id, body.note, command))

    @router.post(
        "/v1/cards/{card_id}/correct",
        status_code=202,
        summary="Put a card with the right words in the place of a card that was never true",
        tags=["cards"],
    )
    def correct_card(card_id: Uuid, body: CorrectIn, sender: Sent) -> Accepted:
        owner = sender.owner(body.user_id, thing="card", field="card_id")
        if body.value is None and body.content is None:
            raise invalid("value", "is missing, and so is content; give what is right")
        right = Correction(value=body.value, content=body.content, reason=body.reason)
        command = _command(sender, body)
        return accepted(transactions, owner, lambda c: corrections.correct(c, owner, card_id, right, command))

    @router.post(
        "/v1/cards/{card_id}/retract",
        status_code=202,
        summary="Mark a card as never true, until that is withdrawn",
        tags=["cards"],
    )
    def retract_card(card_id: Uuid, body: RetractIn, caller: Writer) -> Accepted:
        owner = owner_of(caller, body.user_id, thing="card", field="card_id")
        command = _command(Sender(caller), body)
        return accepted(
            transactions, owner, lambda c: corrections.retract(c, owner, card_id, body.reason, command)
        )

    return router


def _command(sender: Sender, body: ByAgent) -> Command:
    by = sender.author_of(body)
    return sender.command_of(body, OF_THE_USER if by == "user" else "agent", by=by)


def accepted(
    transactions: Transactions, owner: str, command: Callable[[Connection], Outcome[Any]]
) -> Accepted:
    """Returns the answer to a command: its event, or the event by which it holds already."""
    outcome = transactions.run(owner, command)
    event = outcome.event or outcome.state
    assert event is not None, "the command appended its event, or an earlier one did"
    token = transactions.token(owner, event.position)
    return Accepted.made_from(event, duplicate=not outcome.changed, token=token)


class CheckpointIn(ByAgent, OfUser):
    """The state of a session."""

    state: dict[str, object] = Field(description="any JSON object, at most 64 KiB")
    project_id: Name = "default"


def session_router(transactions: Transactions) -> APIRouter:
    """Returns the route."""
    router = routes_of("sessions")

    @router.post(
        "/v1/sessions/{session_id}/checkpoint", status_code=202, summary="Save the state of a session"
    )
    def save_checkpoint(session_id: Annotated[Name, Path()], body: CheckpointIn, sender: Sent) -> Accepted:
        owner = sender.owner(body.user_id, thing="session", field="session_id")
        command = sender.command_of(body)
        try:
            check_size(body.state, "state")
        except ReferenceInvalidError as error:
            raise invalid(error.field, error.reason) from None
        saved = SessionCheckpointed(session_id=session_id, project_id=body.project_id, state=body.state)
        return accepted(transactions, owner, lambda c: checkpoint(c, owner, saved, command))

    return router


def checkpoint(
    connection: Connection, owner: str, saved: SessionCheckpointed, command: Command
) -> Outcome[None]:
    """Saves the state of a session. Commands with one idempotency key count once.

    Raises a 404 problem out of reach. A state may hold words of every mode, so a key that is limited to modes has none.
    """
    if command.reach.modes is not None or not command.reach.admits(saved.project_id, None):
        raise missing("session", "session_id")
    stream = checkpoint_stream(saved.project_id, saved.session_id)
    key = f"{stream}/{command.idempotency_key or uuid7()}"

    def is_repeat(first: Payload) -> bool:
        return bool(first == saved)

    return decide(Keyed(connection, owner, stream, command, key), lambda _: saved, is_repeat)
