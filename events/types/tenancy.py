"""Tenants: the one place that knows how a tenant and its user become one storage id.

Two tenants may both have a user "ada". The log and every table therefore know a user by its storage id:
the tenant, a separator, and the user id of the app. The storage id of a user of the default tenant is the user id
itself, so an install with one tenant holds only plain user ids.
"""

from __future__ import annotations

import re

DEFAULT_TENANT = "default"
SEPARATOR = "\x1f"
"""Stands between tenant and user in a storage id. SQL has the same rule in ``log.tenant_of``."""

_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class TenantInvalidError(ValueError):
    """The text is no name of a tenant. The message gives the reason and the remedy."""


def checked_tenant(name: str) -> str:
    """Returns ``name``. Raises :class:`TenantInvalidError` unless it is the name of a tenant."""
    if not _TENANT.fullmatch(name):
        raise TenantInvalidError(
            "is no name of a tenant; use 1 to 63 lower-case letters, digits, - and _, a letter or a digit first"
        )
    return name


def storage_id(tenant: str, user_id: str) -> str:
    """Returns the storage id of a user. Different pairs of tenant and user have different storage ids.

    The caller guarantees that ``user_id`` holds no :data:`SEPARATOR`; the turn contract refuses such a user id.
    """
    return user_id if tenant == DEFAULT_TENANT else f"{tenant}{SEPARATOR}{user_id}"


def tenant_of(storage_id: str) -> str:
    """Returns the tenant of a storage id."""
    tenant, separator, _ = storage_id.partition(SEPARATOR)
    return tenant if separator else DEFAULT_TENANT


def user_of(storage_id: str) -> str:
    """Returns the user id, as the app knows it, of a storage id."""
    return storage_id.rpartition(SEPARATOR)[2]


def shown_user(storage_id: str) -> str:
    """Returns a user as text for an operator. It names the tenant unless it is the default one."""
    tenant = tenant_of(storage_id)
    return user_of(storage_id) if tenant == DEFAULT_TENANT else f"{user_of(storage_id)} of {tenant}"
