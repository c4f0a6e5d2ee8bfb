"""The context that a session of an assistant starts with."""

from dataclasses import replace

from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import ORIGIN, apart, fold_live, settings_of
from tests.support.retrieval.channels import noted
from tests.support.waiting import ALONE


def test_a_session_starts_with_what_was_told_and_not_with_what_was_asked(connection: Connection) -> None:
    told = ("The release is on Friday", "We deploy from the branch stable", "Dana reviews the parser")
    asked = ("What is the current plan for the open tasks?", "Which decisions matter for the work now?")
    at_work = replace(ORIGIN, context_layer="work")
    log.append(connection, [*map(apart, (replace(noted(text), origin=at_work) for text in asked))])
    log.append(connection, [*map(apart, map(noted, told))])
    fold_live(connection)
    with TestClient(create_app(settings_of(connection, **ALONE, hook_deadline_ms=60_000))) as client:
        answer = client.post(
            "/v1/hooks/claude-code",
            params={"user_id": "alex"},
            json={"hook_event_name": "SessionStart", "session_id": "new"},
        )
    context = answer.json()["hookSpecificOutput"]["additionalContext"]
    assert max(context.index(text) for text in told) < min(context.index(text) for text in asked)
