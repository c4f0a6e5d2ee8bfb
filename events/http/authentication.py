"""Authentication of requests: API keys and signed tokens in the header Authorization, and the cookie of a browser."""

import ipaddress
from contextlib import AsyncExitStack
from typing import Self

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from events.access.key_cache import KeyCache, KeysUnavailableError
from events.access.keys import PREFIX
from events.access.principal import Principal
from events.access.signed_tokens import SignedTokens
from events.access.web_sessions import COOKIE
from events.http.errors import ProblemError
from events.http.guard import PRINCIPAL, words_of
from events.platform.settings import Settings

OPEN = frozenset(("/", "/healthz", "/readyz", "/openapi.json", "/docs"))
"""Paths that need no key, because they hold no memory: probes, and the description of the API."""
METRICS = "/metrics"
EXPLORER, SESSION = "/explorer/", "/explorer/session"
"""The files of the explorer hold no memory. Its session begins and ends without a credential."""
_SAFE = ("GET", "HEAD")


class Authentication:
    """The guard's check of credentials. It puts the principal of each request into its scope.

    A request without a valid credential gets the one 401 problem: nobody learns whether a key is unknown, wrong,
    expired or revoked. 503: the credential cannot be checked now. Use it as an asynchronous context manager.
    """

    def __init__(self, settings: Settings, service: str) -> None:
        """Raises SettingsError for settings of signed tokens that do not fit together."""
        self._keys = KeyCache(settings.database_url, service)
        self._tokens = SignedTokens(settings) if settings.jwt_jwks else None
        self._metrics_from = list(map(ipaddress.ip_network, words_of(settings.metrics_from)))
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._keys)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def __call__(self, scope: Scope, headers: Headers) -> None:
        path = scope["path"]
        if _is_open(scope) or _is_preflight(scope, headers) or (path == METRICS and self._may_scrape(scope)):
            return
        try:
            principal = await self._principal(headers.getlist("authorization"), headers, scope["method"])
        except KeysUnavailableError as error:
            raise _unchecked(error) from error
        if principal is None:
            raise _unauthenticated()
        if path == METRICS and not (principal.may("read") or principal.may("admin")):
            raise ProblemError(403, "Scope missing", "metrics need a key with the scope read or admin")
        scope[PRINCIPAL] = principal

    async def sign_in(self, text: str) -> tuple[Principal, str]:
        """Returns the principal and the text of a new session, for the text of a key, a link or a session.

        Raises the 401 problem for any other text, and a 503 problem when it cannot be checked now.
        """
        try:
            found = await self._keys.sign_in(text)
        except KeysUnavailableError as error:
            raise _unchecked(error) from error
        if found is None:
            raise _unauthenticated()
        return found

    async def _principal(self, given: list[str], headers: Headers, method: str) -> Principal | None:
        if not given and (session := session_of(headers)):
            if not _is_of_explorer(headers, method):
                return None
            return await self._keys.session(session)
        if len(given) != 1:
            return None
        scheme, _, credential = given[0].partition(" ")
        credential = credential.strip()
        if scheme.lower() != "bearer":
            return None
        if credential.startswith(PREFIX) or self._tokens is None:
            return await self._keys.principal(credential)
        return await self._tokens.principal(credential)

    def _may_scrape(self, scope: Scope) -> bool:
        client = scope.get("client")
        try:
            address = ipaddress.ip_address(client[0]) if client else None
        except ValueError:
            return False
        return address is not None and any(address in network for network in self._metrics_from)


def authentication_of(settings: Settings, service: str) -> Authentication | None:
    """Returns the authentication of a service; None when CARDLOG_AUTH is off."""
    return Authentication(settings, service) if settings.auth == "on" else None


def session_of(headers: Headers) -> str:
    """Returns the session in the cookie of a request; an empty text without one."""
    cookies = headers.getlist("cookie")
    return cookie_parser(cookies[0]).get(COOKIE, "") if len(cookies) == 1 else ""


def _is_open(scope: Scope) -> bool:
    path = scope["path"]
    if path == SESSION:
        return scope["method"] not in _SAFE
    return path in OPEN or path == EXPLORER[:-1] or path.startswith(EXPLORER)


def _is_of_explorer(headers: Headers, method: str) -> bool:
    """True when a page of this origin sent the request. Only then the cookie is a credential.

    The guard has checked that an Origin that is not allowed by name is this service's own. A browser gives
    ``Sec-Fetch-Site`` itself, and pages cannot change it, so an allowed foreign origin fails here too.
    """
    return headers.getlist("sec-fetch-site") == ["same-origin"] and (
        method in _SAFE or len(headers.getlist("origin")) == 1
    )


def _unchecked(error: KeysUnavailableError) -> ProblemError:
    return ProblemError(503, "Key unchecked", f"{error}, so this credential cannot be checked; try again")


def _unauthenticated() -> ProblemError:
    return ProblemError(
        401,
        "Not authenticated",
        "this request has no valid credential; send one API key as Authorization: Bearer KEY "
        "(`cardlog keys create` makes a key)",
        field="Authorization",
        headers={"www-authenticate": "Bearer"},
    )


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    """True when a browser asks whether a page may send a request. It sends no credential with that question.

    The guard has already refused foreign origins, and no route answers OPTIONS.
    """
    return scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers
