"""API keys: how they look, how they are stored, and what an operator does with them.

A key is ``clk_<id>_<secret>``. The id names the key and is no secret. The secret has 256 random bits. The database
keeps an HMAC-SHA-256 of the whole key under a secret of the database. Nobody can compute a key from it.
"""

import base64
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from psycopg.rows import dict_row

from events.access.principal import SCOPES, Principal, Scope
from events.platform.database import Connection, Row, statement
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, TenantInvalidError, checked_tenant
from events.types.turn_contract import MAX_NAME_BYTES, text_of

PREFIX = "clk_"
LONGEST_KEY = 128
USUAL_SCOPES: tuple[Scope, ...] = ("push", "read", "write")
"""The scopes of a key that is made without a choice: of an app, or an agent."""
FIRST_SCOPES: tuple[Scope, ...] = (*USUAL_SCOPES, "user")
"""The scopes of the key that ``cardlog up`` makes for the person at this machine. It is no administrator."""
MOST_NAMES = 1000
"""The most users, projects or modes that limit one key."""

_ID_BYTES, _SECRET_BYTES = 10, 32
_KEY = re.compile(r"clk_([a-z2-7]{16})_([A-Za-z0-9_-]{43})")
_PURPOSE = b"cardlog api key\0"


class KeyInvalidError(ValueError):
    """A key cannot be made or found as asked. The message names the field and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """One key as the database keeps it. ``users``, ``projects`` and ``modes`` limit the key; None means all."""

    key_id: str
    digest: bytes
    tenant: str
    name: str
    scopes: Sequence[Scope]
    users: Sequence[str] | None = None
    projects: Sequence[str] | None = None
    modes: Sequence[str] | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    replaces: str | None = None

    def status(self, now: datetime) -> str:
        """Returns what the key is at ``now``: valid, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"

    @property
    def principal(self) -> Principal:
        """The principal that a request with this key has."""
        return Principal(
            tenant=self.tenant,
            key_id=self.key_id,
            scopes=frozenset(self.scopes),
            users=_frozen(self.users),
            projects=_frozen(self.projects),
            modes=_frozen(self.modes),
        )


def key_id_of(text: str) -> str | None:
    """Returns the id in the text of a key; None when the text has not the form of a key."""
    found = _KEY.fullmatch(text) if len(text) <= LONGEST_KEY else None
    return found[1] if found else None


def digest_of(secret: bytes, text: str) -> bytes:
    """Returns the HMAC of the key ``text`` under the ``secret`` of the database: 32 bytes."""
    return hmac.digest(secret, _PURPOSE + text.encode(), sha256)


def new_text() -> str:
    key_id = base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode().lower()
    return f"{PREFIX}{key_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"


def create(
    connection: Connection,
    *,
    name: str,
    scopes: Sequence[str],
    tenant: str = DEFAULT_TENANT,
    users: Sequence[str] | None = None,
    projects: Sequence[str] | None = None,
    modes: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    replaces: str | None = None,
    text: str | None = None,
) -> tuple[ApiKey, str]:
    """Makes a key, and returns it with its text. Nobody can read the text again.

    ``text`` registers a given key; a key that is registered already does not change. Raises :class:`KeyInvalidError`.
    """
    text = text or new_text()
    key_id = key_id_of(text)
    if key_id is None:
        raise KeyInvalidError("the text is no API key; let Cardlog make one")
    values = {
        "key_id": key_id,
        "digest": digest_of(_secret(connection), text),
        "tenant": _tenant(tenant),
        "name": _name("name", name),
        "scopes": _scopes(scopes),
        "users": _names("users", users),
        "projects": _names("projects", projects),
        "modes": _names("modes", modes),
        "expires_at": expires_at,
        "replaces": replaces,
    }
    connection.execute(statement("events.access", "add_key"), values)
    return find(connection, key_id), text


def listed(connection: Connection, tenant: str | None = None) -> list[ApiKey]:
    """Returns the keys of a tenant, or all keys, the oldest first."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(statement("events.access", "list_keys"), {"tenant": tenant}).fetchall()
    return [ApiKey(**row) for row in rows]


def find(connection: Connection, key_id: str) -> ApiKey:
    """Returns a key. Raises :class:`KeyInvalidError` for an unknown id."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statement("events.access", "find_key"), {"key_id": key_id}).fetchone()
    found = None if row is None else key_of(row)
    if found is None:
        raise KeyInvalidError(f"there is no API key {key_id[:40]!r}; `cardlog keys list` shows the ids")
    return found


def key_of(row: Row) -> ApiKey | None:
    """Returns the key in a row of the statement ``find_key``; None when the row has only the secret."""
    fields = {name: value for name, value in row.items() if name != "secret"}
    return None if fields["key_id"] is None else ApiKey(**fields)


def rotate(connection: Connection, key_id: str, *, overlap: timedelta) -> tuple[ApiKey, str]:
    """Makes a new key with the rights of another key, which expires after ``overlap``. Returns it with its text.

    Raises :class:`KeyInvalidError` for an unknown key and for one that is not valid any more.
    """
    now = datetime.now(UTC)
    with connection.transaction():
        old = find(connection, key_id)
        if (status := old.status(now)) != "valid":
            raise KeyInvalidError(
                f"the API key {key_id} is {status}; make a new one with: cardlog keys create"
            )
        made, text = create(
            connection,
            name=old.name,
            scopes=old.scopes,
            tenant=old.tenant,
            users=old.users,
            projects=old.projects,
            modes=old.modes,
            expires_at=old.expires_at,
            replaces=key_id,
        )
        values = {"key_id": key_id, "expires_at": now + overlap, "revoked": False}
        connection.execute(statement("events.access", "end_key"), values)
    return made, text


def revoke(connection: Connection, key_id: str) -> ApiKey:
    """Ends a key for good, at once in all processes. A revoked key stays as it is. Raises :class:`KeyInvalidError`."""
    find(connection, key_id)
    values = {"key_id": key_id, "expires_at": None, "revoked": True}
    connection.execute(statement("events.access", "end_key"), values)
    return find(connection, key_id)


def _secret(connection: Connection) -> bytes:
    row = connection.execute(statement("events.access", "find_key"), {"key_id": ""}).fetchone()
    assert row is not None, "the migration makes the secret"
    return bytes(row[0])


def _tenant(tenant: str) -> str:
    try:
        return checked_tenant(tenant)
    except TenantInvalidError as error:
        raise KeyInvalidError(f"tenant: {tenant[:80]!r} {error}") from None


def _scopes(scopes: Sequence[str]) -> list[str]:
    for scope in scopes:
        if scope not in SCOPES:
            raise KeyInvalidError(f"scopes: {scope[:40]!r} is no scope; use some of {', '.join(SCOPES)}")
    if not scopes:
        raise KeyInvalidError(f"scopes: name at least one of {', '.join(SCOPES)}")
    return [scope for scope in SCOPES if scope in scopes]


def _names(field: str, names: Sequence[str] | None) -> list[str] | None:
    if not names:
        return None
    if len(names) > MOST_NAMES:
        raise KeyInvalidError(f"{field}: a key is limited to at most {MOST_NAMES} of them")
    return sorted({_name(field, name) for name in names})


def _name(field: str, name: str) -> str:
    text_of(field, name, lambda field, reason: KeyInvalidError(f"{field}: {reason}"))
    if not name.strip() or SEPARATOR in name or len(name.encode()) > MAX_NAME_BYTES:
        raise KeyInvalidError(
            f"{field}: {name[:40]!r} cannot be used; use 1 to {MAX_NAME_BYTES} bytes of text"
        )
    return name


def _frozen(names: Sequence[str] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)
