"""A Cardlog to measure: started in a temporary folder, stopped at the end."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from events.platform.database import connect, migrate, see_tenant_of
from events.platform.settings import Settings, variable_of
from events.store import authentication, log
from events.types.envelope import NewEvent, Payload, uuid7
from tests.support.databases import execute, url_of
from tests.support.stack import Running, start, stop


@contextmanager
def measured_stack(**environment: str) -> Iterator[Running]:
    """A running stack over an empty data folder, with the default embedding model."""
    with tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder:
        running = start(
            Path(folder) / "data", **({variable_of("embed_model"): Settings().embed_model} | environment)
        )
        try:
            yield running
        finally:
            stop(running)


def event_of(user: str, payload: Payload, at: datetime, stream: str = "s") -> NewEvent:
    return NewEvent(
        event_id=uuid7(), user_id=user, stream=stream, payload=payload, occurred_at=at, actor="bench"
    )


def append(running: Running, events: Sequence[NewEvent], batch: int = 500) -> None:
    """Appends events of one user straight to the log of a stack, in transactions of a few."""
    authentication.use_file(running.ready("log_key_file"))
    with connect(running.admin_database_url, application="bench") as connection:
        for first in range(0, len(events), batch):
            with connection.transaction():
                see_tenant_of(connection, events[0].user_id)
                log.append(connection, events[first : first + batch])
        log.announce(connection)
    authentication.use(None)


def new_database(server: str, name: str) -> str:
    """Makes a database with an empty log on a server. Returns its URL."""
    execute(server, "CREATE DATABASE {}", name)
    url = url_of(server, name)
    with connect(url, application="bench") as connection:
        migrate(connection)
    return url


def eval_data(*parts: str) -> Path | None:
    """Returns a file of the evaluation data in CARDLOG_EVAL_DATA, or prints a message and returns None."""
    folder = os.environ.get("CARDLOG_EVAL_DATA", "")
    path = Path(folder, *parts)
    if folder and path.exists():
        return path
    print(f"skipped: no {'/'.join(parts)}; set CARDLOG_EVAL_DATA to the folder that holds it")
    return None
