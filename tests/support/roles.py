"""Database roles with the rights of one process each."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg

from deploy.security.roles import Process, create, grant, url_of
from events.platform.database import Connection, connect
from tests.support.databases import execute


@contextmanager
def roles_for(database: str, *processes: tuple[Process, ...]) -> Iterator[list[str]]:
    """Yields the URL of a new role for each group of processes, and drops the roles at the end."""
    names = [f"{'_'.join(group)[:40]}_{uuid.uuid4().hex[:8]}" for group in processes]
    with ExitStack() as stack:
        urls = []
        with connect(database, application="roles") as owner:
            for name, group in zip(names, processes, strict=True):
                password = create(owner, name)
                stack.callback(_drop, database, name)
                grant(owner, name, group)
                urls.append(url_of(database, name, password))
        yield urls


def _drop(database: str, name: str) -> None:
    execute(database, "REASSIGN OWNED BY {} TO cardlog", name)
    execute(database, "DROP OWNED BY {}", name)
    execute(database, "DROP ROLE {}", name)


@contextmanager
def seeing(url: str, tenant: str | None) -> Iterator[Connection]:
    """Yields a connection in a transaction of one tenant, or of none."""
    with psycopg.connect(url) as connection:
        if tenant is not None:
            connection.execute("SELECT set_config('cardlog.tenant', %s, true)", [tenant])
        yield connection
        connection.rollback()
