"""Users over HTTP: the users of a tenant, and the export of one user."""

from collections.abc import Callable, Iterator
from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse

from events.access.principal import NotYoursError
from events.http.access import Administrator, Reader, require_whole
from events.http.answering import routes_of
from events.http.database import or_problem
from events.http.errors import ProblemError
from events.http.fields import text_given
from events.platform.database import Connection, keep_to_tenant_of
from events.resources.operating import UsersPage
from events.types.tenancy import storage_id
from events.types.turn_contract import MAX_NAME_BYTES
from retrieval.export.export import UserUnknownError, export, users

_MOST = 1000


def users_router(connect: Callable[[], Connection]) -> APIRouter:
    """Returns the routes. ``connect`` opens a connection in autocommit mode, which the routes close."""
    router = routes_of("users")

    @router.get("/v1/users", summary="The users of the tenant, in order")
    def list_users(
        caller: Administrator,
        after: Annotated[
            str, Query(max_length=MAX_NAME_BYTES, description="only users after this one: ``next`` of a page")
        ] = "",
        limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
    ) -> UsersPage:
        with or_problem("Users unavailable"), connect() as connection:
            keep_to_tenant_of(connection, storage_id(caller.tenant, ""))
            known = text_given("after", after)
            found = users(connection, caller.tenant, after=known, limit=limit, among=caller.users)
        more = found[-1].user_id if len(found) == limit else None
        return UsersPage(users=found, next=more)

    @router.get(
        "/v1/users/{user_id}/export",
        response_class=StreamingResponse,
        responses={
            200: {
                "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
                "description": "JSON lines; the last has the kind end",
            },
        },
        summary="Everything that is known of a user, as JSON lines",
    )
    def export_user(
        caller: Reader,
        user_id: Annotated[str, Path(min_length=1, max_length=MAX_NAME_BYTES, pattern=r"\S")],
    ) -> StreamingResponse:
        require_whole(caller)
        try:
            owner = caller.storage_id(text_given("user_id", user_id))
        except NotYoursError:
            raise _missing() from None
        with or_problem("Log unavailable"):
            lines = _lines(connect(), owner)
            try:
                first = next(lines)
            except UserUnknownError:
                raise _missing() from None

        def body() -> Iterator[bytes]:
            yield first
            yield from lines

        return StreamingResponse(body(), media_type="application/x-ndjson")

    return router


def _lines(connection: Connection, owner: str) -> Iterator[bytes]:
    with connection:
        keep_to_tenant_of(connection, owner)
        yield from export(connection, owner)


def _missing() -> ProblemError:
    return ProblemError(404, "Not found", "there is no such user", field="user_id")
