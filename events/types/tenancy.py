"""Tenants: the one place that knows how a tenant and its user become one storage id.

Two tenants may both have a user "ada". The log and every table therefore know a user by its storage id:
the tenant, a separator, and the user id of the app. The storage id of a user of the default tenant is the user id
itself, so an install with one tenant holds only plain user ids.
"""

import hmac
import re
from collections.abc import Callable
from functools import lru_cache

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
    tenant, separator, _ = storage_id.partition(SEPARATOR)
    return tenant if separator else DEFAULT_TENANT


def user_of(storage_id: str) -> str:
    """Returns the user id, as the app knows it, of a storage id."""
    return storage_id.rpartition(SEPARATOR)[2]


def shown_user(storage_id: str) -> str:
    """Returns a user as text for an operator. It names the tenant unless it is the default one."""
    tenant = tenant_of(storage_id)
    return user_of(storage_id) if tenant == DEFAULT_TENANT else f"{user_of(storage_id)} of {tenant}"


_BLOCK = 64  # bytes of a block of SHA-256

TOKENS = "/tokens"
"""The words of the claim that opens the key of tokens. No tenant has a name with a slash."""


class _InUse:
    key: Callable[[], bytes | None] = staticmethod(lambda: None)


def prove_with(key: Callable[[], bytes | None]) -> None:
    """Proves the later claims of this process with the key that ``key`` returns; None: they have no proof."""
    _InUse.key = staticmethod(key)


def vouch(words: str) -> str:
    """Returns the claim ``words`` with its proof, as ``log.vouched`` reads it."""
    key = _InUse.key()
    return words if key is None else _claim(key, words)


@lru_cache(4096)
def _claim(key: bytes, words: str) -> str:
    return f"{words} {hmac.digest(key, words.encode(), 'sha256').hex()}"


def pads_of(key: bytes) -> tuple[bytes, bytes]:
    """Returns both halves of the key of an HMAC-SHA-256. They check proofs, and PostgreSQL keeps them."""
    block = key.ljust(_BLOCK, b"\0")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)
