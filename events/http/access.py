"""The principal of a request as a parameter of a route. The guard's authentication puts the principal there."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Request, Security
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from events.access.principal import ANYBODY, NotYoursError, Principal, Scope
from events.http.errors import ProblemError, missing
from events.http.guard import PRINCIPAL
from events.http.limits import RequestLimits
from events.types.tenancy import DEFAULT_TENANT


def principal_of(request: Request) -> Principal:
    principal: Principal = request.scope.get(PRINCIPAL, ANYBODY)
    return principal


def require(principal: Principal, scope: Scope) -> None:
    """Raises a 403 problem when ``principal`` lacks ``scope``."""
    if not principal.may(scope):
        raise ProblemError(
            403,
            "Scope missing",
            f"this key may not do this: it needs the scope {scope}; make such a key with "
            f"`cardlog keys create --name NAME --scope {scope}`",
        )


def require_user(principal: Principal, field: str) -> None:
    """Raises a 403 problem that names ``field`` when the key of ``principal`` may not act as the users."""
    if not principal.may("user"):
        raise ProblemError(
            403,
            "Key of no user",
            f"{field}: this key does not act as the user; leave that to a key of `cardlog keys create --acts-as user`",
            field=field,
        )


def require_everybody(principal: Principal) -> None:
    """Raises a 403 problem unless ``principal`` may change what all users of the installation share.

    Such a key has the scope admin and no limit, and is of the default tenant.
    """
    require(principal, "admin")
    require_no_limit(principal)


def require_no_limit(principal: Principal) -> None:
    """Raises a 403 problem unless ``principal`` is of the default tenant and has no limit."""
    if principal.tenant != DEFAULT_TENANT or principal.users is not None or principal.reach.limited:
        raise ProblemError(
            403,
            "Limited key",
            "this concerns everybody, and this key is limited: use a key of the default tenant without limits",
        )


def require_whole(principal: Principal) -> None:
    """Raises a 403 problem when ``principal`` is limited to projects or modes.

    The request is about the whole memory of users, or about what all projects of a tenant share.
    """
    if principal.reach.limited:
        raise ProblemError(
            403,
            "Limited key",
            "this concerns every project and mode, and this key is limited to some: use a key without that limit",
        )


class Needs(SecurityBase):
    """A dependency of a route: gives the principal, within its limits.

    Raises a 403 problem when the principal lacks the scope, and a 429 problem above a limit.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.scheme_name = "bearer"
        self.model = HTTPBearer(
            description="an API key (clk_…) or a signed token; the listed scope is the one that it must have"
        )

    async def __call__(self, request: Request) -> AsyncIterator[Principal]:
        principal = principal_of(request)
        require(principal, self.scope)
        limits: RequestLimits | None = getattr(request.app.state, "limits", None)
        if limits is None:
            yield principal
        else:
            async with limits.admitted(request, principal):
                yield principal


Pusher = Annotated[Principal, Security(Needs("push"), scopes=["push"])]
Reader = Annotated[Principal, Security(Needs("read"), scopes=["read"])]
Writer = Annotated[Principal, Security(Needs("write"), scopes=["write"])]
Administrator = Annotated[Principal, Security(Needs("admin"), scopes=["admin"])]


def owner_of(
    caller: Principal, user_id: str, *, thing: str = "user", field: str = "user_id", **extra: object
) -> str:
    """Returns the storage id of a user.

    Raises the 404 problem of a missing ``thing`` when the caller may not see the user. The problem is the same for a
    user that exists and for one that does not.
    """
    try:
        return caller.storage_id(user_id)
    except NotYoursError:
        raise missing(thing, field, **extra) from None


def reaches_document(caller: Principal) -> bool:
    """True when the key reaches the default project and the general mode, whose words the core documents hold."""
    return caller.reach.admits("default", None)
