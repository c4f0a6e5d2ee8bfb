"""``cardlog users``: lists, exports and imports users."""

import sys
from collections.abc import Iterator
from typing import Annotated

from cyclopts import App, Parameter

from deploy.options import Answer, Count, File, Given, Json
from deploy.security.private_files import reading, writing
from events.platform.counting import counted
from events.platform.database import Connection
from events.types.tenancy import DEFAULT_TENANT, checked_tenant, storage_id
from retrieval.export.export import export, users
from retrieval.export.user_import import ImportRefusedError, import_user

app = App(
    name="users", help="List the users of a tenant. Export everything that is known of a user, and import it."
)

Tenant = Annotated[str, Parameter(help="the tenant (default: default)")]
_PAGE = 1000


@app.command(name="list", help="list the users, in order")
def run_list(
    *,
    tenant: Tenant = DEFAULT_TENANT,
    after: Annotated[str, Parameter(help="only users after this one")] = "",
    limit: Annotated[Count, Parameter(help="the most users to print")] = None,
    as_json: Json = False,
    connection: Given[Connection],
) -> Answer:
    found = _pages(connection, checked_tenant(tenant), after, limit)
    lines = (f"{each}  (erased {erased})" if erased else each for each, erased in found)
    return Answer(({"user_id": each, "erased_at": erased} for each, erased in found), lines, by_line=True)


def _pages(
    connection: Connection, tenant: str, after: str, left: int | None
) -> Iterator[tuple[str, str | None]]:
    """Yields (user, instant of the erasure of the user), at most ``left`` of them."""
    while left is None or left > 0:
        asked = _PAGE if left is None else min(left, _PAGE)
        page = users(connection, tenant, after=after, limit=asked)
        for one in page:
            yield one.user_id, None if one.erased_at is None else one.erased_at.isoformat()
        if len(page) < asked:
            return
        after = page[-1].user_id
        left = None if left is None else left - len(page)


@app.command(name="export")
def run_export(
    user: Annotated[str, Parameter(help="the user")],
    file: Annotated[File, Parameter(help="the file to write, or - for standard output")],
    /,
    *,
    tenant: Tenant = DEFAULT_TENANT,
    connection: Given[Connection],
) -> int:
    """Write everything that is known of a user.

    The file holds JSON lines: every turn, event and card with its sources. Its last line counts them.
    """
    owner = storage_id(checked_tenant(tenant), user)
    with writing(file) as out:
        out.writelines(export(connection, owner))
    return 0


@app.command(name="import")
def run_import(
    file: Annotated[File, Parameter(help="an exported file, or - for standard input")],
    user: Annotated[str, Parameter(help="the name of the user here; the log must not know this user")],
    /,
    *,
    tenant: Tenant = DEFAULT_TENANT,
    connection: Given[Connection],
) -> int:
    """Append the turns and events of an exported user.

    The same cards follow from them. All events are appended, or none.
    """
    owner = storage_id(checked_tenant(tenant), user)
    with reading(file) as source:
        try:
            done = import_user(connection, source, owner)
        except ImportRefusedError as error:
            print(f"cardlog users import: {error}", file=sys.stderr)
            return 1
    print(
        f"imported {counted(done.turns, 'turn')} and {counted(done.events, 'other event')}", file=sys.stderr
    )
    return 0
