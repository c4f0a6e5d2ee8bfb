"""The command about sessions: an assistant saves the state of a conversation, to go on with it later."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from events.http.answering import routes_of
from events.http.errors import invalid, missing
from events.http.fields import Name
from events.platform.database import Connection
from events.references.kinds.kind import ReferenceInvalidError, check_size
from events.resources.cards import Accepted
from events.types.envelope import Payload, uuid7
from events.types.sessions import SessionCheckpointed, checkpoint_stream
from ingest.api.command_routes import accepted
from ingest.api.transactions import ByAgent, OfUser, Sent, Transactions
from ingest.decider import Command, Keyed, Outcome, decide


class CheckpointIn(ByAgent, OfUser):
    """The state of a session."""

    state: dict[str, object] = Field(description="any JSON object, at most 64 KiB")
    project_id: Name = "default"
    agent_id: Annotated[Name | None, Field(description="the agent that saves it")] = None


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
