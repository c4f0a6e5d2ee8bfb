"""The events of sessions: conversations between a user and an assistant."""

from events.types.codec import event_type
from events.types.json_values import Json
from events.types.turn_contract import part_of_key


@event_type(version=1)
class SessionCheckpointed:
    """An assistant saved the ``state`` of a session, so that the session can go on after an interruption.

    The latest event of a session counts.
    """

    session_id: str
    project_id: str
    state: Json


def checkpoint_stream(project_id: str, session_id: str) -> str:
    return f"checkpoint/{part_of_key(project_id)}/{part_of_key(session_id)}"
