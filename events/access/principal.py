"""The principal of a request: who asks, for which tenant, and what the API key allows."""

from dataclasses import dataclass
from typing import Literal, get_args

from events.access.fair_share import Asker
from events.platform.modes import GENERAL_MODE
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, storage_id

Scope = Literal["push", "read", "write", "admin", "user"]
"""What a key may do. With ``user`` it may write in the name of the users, whose word outweighs that of agents."""
SCOPES: tuple[Scope, ...] = get_args(Scope)


class NotYoursError(LookupError):
    """The principal may not see the named thing. The answer is the same as for a thing that does not exist."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The projects and modes that a key is limited to. None means all of them."""

    projects: frozenset[str] | None = None
    modes: frozenset[str] | None = None

    @property
    def limited(self) -> bool:
        """True when some project or mode is out of reach."""
        return self.projects is not None or self.modes is not None

    def admits(self, project_id: str, mode: str | None) -> bool:
        """True when a card or turn of this project and mode is in reach. Without a mode it is in the general mode."""
        return (self.projects is None or project_id in self.projects) and (
            self.modes is None or (mode or GENERAL_MODE) in self.modes
        )

    def parameters(self) -> dict[str, list[str] | None]:
        """Returns the named parameters ``projects`` and ``modes`` of a statement."""
        return {"projects": _listed(self.projects), "modes": _listed(self.modes)}


EVERYTHING = Reach()


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks. ``users``, ``projects`` and ``modes`` limit the key; None means all of the tenant.

    ``key_id`` names the API key, or the subject of a signed token. None: the service runs without authentication.
    """

    tenant: str = DEFAULT_TENANT
    key_id: str | None = None
    scopes: frozenset[Scope] = frozenset(SCOPES)
    users: frozenset[str] | None = None
    projects: frozenset[str] | None = None
    modes: frozenset[str] | None = None

    @property
    def asker(self) -> Asker:
        """Whose share of a service the request uses."""
        return self.tenant, self.key_id or ""

    @property
    def reach(self) -> Reach:
        """The projects and modes that the key is limited to."""
        return Reach(self.projects, self.modes)

    def may(self, scope: Scope) -> bool:
        """True when the principal has ``scope``. The scope admin does not include the others."""
        return scope in self.scopes

    def storage_id(self, user_id: str) -> str:
        """Returns the storage id of the tenant's user ``user_id``, as the app knows the user.

        Raises :class:`NotYoursError` when the key is limited to other users.
        """
        if SEPARATOR in user_id or (self.users is not None and user_id not in self.users):
            raise NotYoursError(user_id)
        return storage_id(self.tenant, user_id)


ANYBODY = Principal()
"""The principal of every request while authentication is off: the default tenant with every right."""


def _listed(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)
