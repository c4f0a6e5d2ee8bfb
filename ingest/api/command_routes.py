"""Commands over HTTP: verdicts, relations, verifications, corrections, retractions, states of sessions."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from events.http.access import Writer
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
from ingest.api.transactions import ByAgentOfUser, OfUser, Sender, Sent, Transactions
from ingest.decider import OF_THE_USER, Command, Keyed, Outcome, decide


class VerdictIn(OfUser):
    """The verdict on a conflict: the old fact stays, the new fact replaces it, or both facts are true."""

    verdict: Verdict
    reason: Annotated[Words, Field(description="why, for whoever asks later")] = "no reason given"
    by: Annotated[Name, Field(description="who decided")] = "user"


class RelationIn(ByAgentOfUser):
    """A relation from ``from_card`` to ``to_card``: from the newer to the older card, or the finer to the coarser."""

    from_card: Uuid
    to_card: Uuid
    predicate: Predicate
    reason: Words = Field(description="why, for whoever asks later")
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0


class WithdrawIn(ByAgentOfUser):
    """A relation that no longer holds, or a withdrawn relation that holds again."""

    reason: Words = Field(description="why, for whoever asks later")


class _TakenBackIn(ByAgentOfUser):
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
    arbitrations, cards = routes_of("arbitrations"), routes_of("cards")

    @arbitrations.post(
        "/v1/arbitrations/{arbitration_id}/verdict", status_code=202, summary="Settle a conflict"
    )
    def settle_arbitration(arbitration_id: Uuid, body: VerdictIn, caller: Writer) -> Accepted:
        command = Sender(caller).command(body.user_id, "arbitration", actor=body.by)
        ruled = ConflictRuled(
            arbitration_id=arbitration_id, verdict=body.verdict, reason=body.reason, by=body.by
        )
        return transactions.accepted(command, lambda c: commands.rule(c, ruled, command))

    @cards.post(
        "/v1/relations", status_code=202, summary="Relate two cards; additive, nothing is changed or lost"
    )
    def relate_cards(body: RelationIn, caller: Writer) -> Accepted:
        command = _command(Sender(caller), body, "card", "from_card")
        connected = CardsConnected(**body.model_dump(exclude={"user_id", "agent_id"}))
        return transactions.accepted(command, lambda c: commands.relate(c, connected, command))

    @cards.post(
        "/v1/relations/{relation_id}/withdraw",
        status_code=202,
        summary="Take a relation back, or a withdrawal; both stay in the log",
    )
    def withdraw_relation(relation_id: Uuid, body: WithdrawIn, caller: Writer) -> Accepted:
        command = _command(Sender(caller), body, "relation")
        return transactions.accepted(
            command, lambda c: commands.withdraw(c, relation_id, body.reason, command)
        )

    @cards.post("/v1/cards/{card_id}/verify", status_code=202, summary="Confirm that a card is still right")
    def verify_card(card_id: Uuid, body: VerifyIn, caller: Writer) -> Accepted:
        command = Sender(caller, body.request_id).command(body.user_id, "card", actor=body.by)
        refuse_future("verified_at", body.verified_at, command.at)
        command = replace(command, at=body.verified_at or command.at)
        return transactions.accepted(command, lambda c: commands.verify(c, card_id, body.note, command))

    @cards.post(
        "/v1/cards/{card_id}/correct",
        status_code=202,
        summary="Put a card with the right words in the place of a card that was never true",
    )
    def correct_card(card_id: Uuid, body: CorrectIn, sender: Sent) -> Accepted:
        command = _command(sender, body, "card")
        if body.value is None and body.content is None:
            raise invalid("value", "is missing, and so is content; give what is right")
        right = Correction(value=body.value, content=body.content, reason=body.reason)
        return transactions.accepted(command, lambda c: corrections.correct(c, card_id, right, command))

    @cards.post(
        "/v1/cards/{card_id}/retract",
        status_code=202,
        summary="Mark a card as never true, until that is withdrawn",
    )
    def retract_card(card_id: Uuid, body: RetractIn, caller: Writer) -> Accepted:
        command = _command(Sender(caller), body, "card")
        return transactions.accepted(command, lambda c: corrections.retract(c, card_id, body.reason, command))

    arbitrations.routes.extend(cards.routes)
    return arbitrations


def _command(sender: Sender, body: ByAgentOfUser, *thing: str) -> Command:
    by = sender.author_of(body)
    actor = OF_THE_USER if by == "user" else "agent"
    return sender.command_of(body, body.user_id, *thing, actor=actor, by=by)


class CheckpointIn(ByAgentOfUser):
    """The state of a session."""

    state: dict[str, object] = Field(description="any JSON object, at most 64 KiB")
    project_id: Name = "default"


def session_router(transactions: Transactions) -> APIRouter:
    router = routes_of("sessions")

    @router.post(
        "/v1/sessions/{session_id}/checkpoint", status_code=202, summary="Save the state of a session"
    )
    def save_checkpoint(session_id: Annotated[Name, Path()], body: CheckpointIn, sender: Sent) -> Accepted:
        command = sender.command_of(body, body.user_id, "session", actor=OF_THE_USER)
        try:
            check_size(body.state, "state")
        except ReferenceInvalidError as error:
            raise invalid(error.field, error.reason) from None
        saved = SessionCheckpointed(session_id=session_id, project_id=body.project_id, state=body.state)
        return transactions.accepted(command, lambda c: checkpoint(c, saved, command))

    return router


def checkpoint(connection: Connection, saved: SessionCheckpointed, command: Command) -> Outcome[None]:
    """Saves the state of a session. Commands with one idempotency key count once.

    Raises a 404 problem out of reach. A state may hold words of every mode, so a key that is limited to modes has none.
    """
    if command.reach.modes is not None or not command.reach.admits(saved.project_id, None):
        raise missing("session", "session_id")
    stream = checkpoint_stream(saved.project_id, saved.session_id)
    key = f"{stream}/{command.idempotency_key or uuid7()}"

    def is_repeat(first: Payload) -> bool:
        return bool(first == saved)

    return decide(Keyed(connection, stream, command, key), lambda _: saved, is_repeat)
