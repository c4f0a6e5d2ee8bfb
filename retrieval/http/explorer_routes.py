"""The explorer: the files that a browser loads, from ``retrieval/explorer/built``, and the session of the browser."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field

from events.access.principal import ANYBODY, Principal
from events.access.web_sessions import COOKIE, LIFETIME
from events.http.access import principal_of
from events.http.answering import routes_of
from events.http.authentication import EXPLORER, SESSION, Authentication, session_of
from events.http.body import Body
from events.http.errors import ProblemError
from events.resources.operating import WebSession

_INDEX = "index.html"
_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@cache
def built() -> Mapping[str, bytes]:
    """Returns the content of each file that a browser may ask for, by its name."""
    found = files("retrieval").joinpath("explorer", "built").iterdir()
    return {each.name: each.read_bytes() for each in found if each.name.rpartition(".")[2] in _MEDIA_TYPES}


class SignInIn(Body):
    """Who signs in."""

    key: Annotated[str, Field(min_length=1, max_length=200)]
    """an API key, or the code of the link that `cardlog up` printed"""


def explorer_router(authentication: Authentication | None) -> APIRouter:
    """Returns the routes of the explorer. Without authentication everybody is signed in."""
    router = routes_of("explorer")

    @router.post(SESSION, include_in_schema=False, operation_id="sign_in")
    async def sign_in(body: SignInIn, answer: Response) -> WebSession:
        if authentication is None:
            return _told(ANYBODY, None)
        principal, session = await authentication.sign_in(body.key)
        _set(answer, session)
        return _told(principal, datetime.now(UTC) + LIFETIME)

    @router.get(SESSION, include_in_schema=False, operation_id="renew_session")
    async def renew(request: Request, answer: Response) -> WebSession:
        principal, session = principal_of(request), session_of(request.headers)
        if authentication is None or not session:
            return _told(principal, None)
        _, renewed = await authentication.sign_in(session)
        _set(answer, renewed)
        return _told(principal, datetime.now(UTC) + LIFETIME)

    @router.delete(SESSION, include_in_schema=False, operation_id="sign_out")
    async def sign_out() -> Response:
        answer = Response(status_code=204)
        answer.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
        return answer

    @router.get(EXPLORER[:-1], include_in_schema=False, operation_id="explorer")
    async def to_folder() -> Response:
        return RedirectResponse(EXPLORER, status_code=308)

    @router.get(EXPLORER, include_in_schema=False, operation_id="explorer")
    async def index(if_none_match: Annotated[str | None, Header()] = None) -> Response:
        return _file(_INDEX, if_none_match)

    @router.get(EXPLORER + "{name}", include_in_schema=False, operation_id="explorer")
    async def file(name: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
        return _file(name, if_none_match)

    return router


def _file(name: str, known: str | None) -> Response:
    content = built().get(name)
    if content is None:
        raise ProblemError(404, "Not found", f"the explorer has no file {name[:100]!r}; open {EXPLORER}")
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    if known == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(content, media_type=_MEDIA_TYPES[name.rpartition(".")[2]], headers={"etag": tag})


def _set(answer: Response, session: str) -> None:
    lasts = int(LIFETIME.total_seconds())
    answer.set_cookie(COOKIE, session, max_age=lasts, path="/", secure=True, httponly=True, samesite="strict")


def _told(principal: Principal, expires_at: datetime | None) -> WebSession:
    return WebSession(
        tenant=principal.tenant,
        key_id=principal.key_id,
        scopes=sorted(principal.scopes),
        users=None if principal.users is None else sorted(principal.users),
        projects=None if principal.projects is None else sorted(principal.projects),
        modes=None if principal.modes is None else sorted(principal.modes),
        expires_at=expires_at,
    )
