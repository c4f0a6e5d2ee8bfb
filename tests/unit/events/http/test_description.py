"""The OpenAPI document lists every status that a route can answer with."""

from __future__ import annotations

from events.platform.settings import Settings
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app


def test_every_command_documents_a_conflict_and_no_other_route_does() -> None:
    nowhere = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1/0")
    conflicts = {
        service: {
            f"{method} {path}"
            for path, methods in app.openapi()["paths"].items()
            for method, operation in methods.items()
            if "409" in operation["responses"]
        }
        for service, app in (("write", write_app(nowhere)), ("read", read_app(nowhere)))
    }
    commands = {
        f"{method} {path}"
        for path, methods in write_app(nowhere).openapi()["paths"].items()
        for method in methods
        if method != "get"
    }
    assert "post /v1/relations" in commands
    assert conflicts == {"write": commands, "read": set()}
